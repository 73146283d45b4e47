package export

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

const plainProgram = Begin + `05-x.ipynb as a program. More.
package main

import (
	"fmt"
)

// %% [markdown]
// # Text

// %% [1]

var n int

func cell1() {
	n = 4
}

// %% [2]

func cell2() {
	fmt.Println(n)
}

// %% [3] is left out: %autoget is the notebook's
// %autoget

// %% [4]

func cell4() {
	fmt.Println("end")
}

func main() {
	cell1()
	cell2()
	cell4()
}
`

// A program gives the cells that it says something else of, and no others, a new text.
func TestChanges(t *testing.T) {
	n := &notebook.Notebook{}
	for i, source := range []string{"# Text", "n := 4", "", "fmt.Println(n)", "%autoget", `fmt.Println("end")`} {
		c := &notebook.Cell{ID: fmt.Sprint("c", i), Type: "code", Source: source}
		if i == 0 {
			c.Type = "markdown"
		}
		n.Cells = append(n.Cells, c)
	}
	edit := func(pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(plainProgram, pairs[i]) {
				t.Fatalf("the program has no %q", pairs[i])
			}
		}
		return strings.NewReplacer(pairs...).Replace(plainProgram)
	}
	for _, tt := range []struct {
		name, program string
		want          map[string]string
		strange       int
		err           string
	}{
		{name: "nothing", program: plainProgram},
		{name: "a number", program: edit("n = 4", "n = 5"), want: map[string]string{"c1": "var n int\n\nn = 5"}},
		{name: "Windows", program: strings.ReplaceAll(edit("n = 4", "n = 5"), "\n", "\r\n"), want: map[string]string{"c1": "var n int\n\nn = 5"}},
		{name: "another text and other cells", program: edit("# Text", "# Other", `"end"`, `"the end"`), want: map[string]string{"c5": `fmt.Println("the end")`}},
		{name: "an import that its name tells", program: edit(`"fmt"`, "\"fmt\"\n\t\"strings\"", "fmt.Println(n)", "fmt.Println(strings.Repeat(`a`, n))"),
			want: map[string]string{"c3": "fmt.Println(strings.Repeat(`a`, n))"}},
		{name: "one that it does not", program: edit(`"fmt"`, "\"fmt\"\n\tr \"math/rand\"", "fmt.Println(n)", "fmt.Println(r.IntN(n))"),
			want: map[string]string{"c3": "import r \"math/rand\"\nfmt.Println(r.IntN(n))"}},
		{name: "a cell without code", program: edit("// %% [2]\n\nfunc cell2() {\n\tfmt.Println(n)\n}\n", "", "\tcell2()\n", ""), want: map[string]string{"c3": ""}},
		{name: "a cell too many", program: edit("func main() {", "// %% [9]\n\nvar nine = 9\n\nfunc main() {"), strange: 1},
		{name: "another notebook", program: edit("05-x.ipynb", "06-y.ipynb"), err: "it is a program of another notebook, 06-y.ipynb"},
		{name: "no Go", program: "{", err: "it is no Go file"},
		{name: "no cells", program: "package main\n\nfunc main() {}\n", err: "it has no numbered cells"},
		{name: "a main of one's own", program: edit("\tcell4()\n", "\tcell4()\n\tn++\n"), err: "its func main does more than call the cells"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			byName := func(name string) string { return map[string]string{"strings": "strings"}[name] }
			got, strange, err := Changes(n, "05-x.ipynb", []byte(plainProgram), []byte(tt.program), byName)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("the error is %v, want %q in it", err, tt.err)
				}
				return
			}
			if err != nil || !maps.Equal(got, tt.want) || strange != tt.strange {
				t.Errorf("%q and %d strange cells (%v), want %q and %d", got, strange, err, tt.want, tt.strange)
			}
		})
	}
}
