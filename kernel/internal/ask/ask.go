// Package ask has the script with which pages and JupyterLab ask a lesson's questions: the form, and the verdict on a
// guess. It is a package of its own, since Go embeds only files below the package that uses them.
package ask

import _ "embed"

// Script defines the object lecternAsk.
//
//go:embed ask.js
var Script string

// Say defines the function lecternSay, through which all scripts of pages say what they say. It comes before them.
//
//go:embed say.js
var Say string
