// Package ask has the script by which pages and JupyterLab ask a question of a lesson: its form, and what a guess is
// worth. It is a package of its own, as Go embeds only files that lie below the package that uses them.
package ask

import _ "embed"

// Script defines the object lecternAsk.
//
//go:embed ask.js
var Script string

// Say defines the function lecternSay, by which all scripts of pages say something. It comes before them.
//
//go:embed say.js
var Say string
