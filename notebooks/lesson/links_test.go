package lesson_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGoIsLinkedWhereItFirstOccurs: the text before the first cell with a piece of Go that Python doesn't have, or has
// otherwise, links to where 0-go.ipynb explains it. A new cell may come earlier, and needs the link then.
func TestGoIsLinkedWhereItFirstOccurs(t *testing.T) {
	all := lessons(t)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(f string) bool { return strings.HasPrefix(f, "0-") })
	for _, piece := range []struct{ name, heading, code string }{
		{":=", "Variables-have-a-type", `:=`},
		{"packages", "Names-with-a-dot", `\b[a-z]+\.[A-Z]`},
		{"[]any", "any,-and-types-in-brackets", `\[\]any`},
		{"slices", "Slices", `\[\][a-z]`},
		{"loops", "Loops", `\bfor\b`},
		{"functions", "Functions,-and-errors-instead-of-exceptions", `(?m)^func \w`},
		{"errors", "Functions,-and-errors-instead-of-exceptions", `lesson\.Must`},
		{"structs", "Structs,-methods-and-pointers", `\bstruct\b`},
		{"pointers", "Structs,-methods-and-pointers", `&\w`},
		{"pointers in types", "Structs,-methods-and-pointers", `[ (\]]\*[a-z]+\.[A-Z]`},
		{"functions without a name", "Functions-are-values", `\bfunc\(`},
		{"range over an integer", "Loops", `\bfor (\w+ := )?range [0-9]`},
		{"range over a function", "Loops", `range \w+\.Generate\(`},
		{"types in brackets", "any,-and-types-in-brackets", `\w\[[a-z]+[0-9]+\]\(`},
		{"maps", "Slices", `\bmap\[`},
		{"runes", "Strings-are-bytes", `\brune\b`},
		{"methods", "Structs,-methods-and-pointers", `(?m)^func \(`},
	} {
		code := regexp.MustCompile(piece.code)
		first, text := "", ""
	search:
		for _, f := range names {
			for _, c := range all[f].Cells {
				switch has := tags(c); {
				case c.Type == "markdown":
					text = c.Source
				case slices.Contains(has, "check-only"), slices.Contains(has, "solution"), !code.MatchString(c.Source):
				default:
					first = f + ", cell " + c.ID
					break search
				}
			}
		}
		if first == "" {
			t.Errorf("no lesson has %s", piece.name)
		} else if !strings.Contains(text, "](0-go.ipynb#"+piece.heading+")") {
			t.Errorf("%s has %s first; the text before it has no link to 0-go.ipynb#%s", first, piece.name, piece.heading)
		}
	}
}
