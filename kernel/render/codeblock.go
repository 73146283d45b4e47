package render

import (
	"html"
	"strings"
)

// codeBlock is a box of code that scrolls inside itself and can be copied.
func codeBlock(language, code string) string {
	code = strings.TrimRight(code, "\n")
	return `<div class="code"><pre><code data-lang="` + html.EscapeString(language) + `">` + highlight(language, code) + "</code></pre></div>"
}
