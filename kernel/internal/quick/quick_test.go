package quick

import (
	"go/build"
	"go/importer"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

// The bar stands where the name is being written.
func TestComplete(t *testing.T) {
	imports := importer.ForCompiler(token.NewFileSet(), "source", nil)
	const before = "package main\n\nimport (\n\t\"strings\"\n\t\"bytes\"\n)\n\ntype inner struct{ Deep int }\n\ntype point struct {\n\tinner\n\tX, y float64\n}\n\n" +
		"// Norm is a length.\nfunc (p *point) Norm() float64 { return 0 }\n\nvar total int\n\n"
	for _, c := range []struct{ body, want, not string }{
		{"strings.ToU|", "ToUpper", "ToLower"},
		{"strings.tou|", "ToUpper", ""},
		{"strings.|\n\ttotal = 3", "ToUpper", "explode"},
		{"tot|", "total", "strings"},
		{"str|", "strings", "total"},
		{"p := point{}\n\tp.|", "Norm Deep X y inner", "total"},
		{"p := &point{}\n\tp.No|", "Norm", "X"},
		{"var b bytes.Buffer\n\tb.|", "WriteString", "buf"},
		{"var e error\n\te.|", "Error", ""},
		{"for i := range total {\n\t\tif ind|\n\t}\n\tindex := 3\n\t_ = index", "", "index"},
		{"index := 3\n\tfor i := range ind|", "index", ""},
		{"ret|", "return", ""},
		{"mak|", "make", ""},
		{"mat|", "math", ""},
		{"f(strings.Rep|", "Repeat Replace", ""},
		{"x := total.|", "", "total"},
		{"if x := strings.Inde|", "Index", ""},
	} {
		text := before + "func main() {\n\t" + c.body + "\n}\n"
		off := strings.IndexByte(text, '|')
		text = text[:off] + text[off+1:]
		items, start := Complete(text, off, imports, []string{"math"})
		var got []string
		for _, it := range items {
			got = append(got, it.Text)
		}
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s is not in %.200q", c.body, want, got)
			}
		}
		if slices.Contains(got, c.not) {
			t.Errorf("%s: %s is in %.200q", c.body, c.not, got)
		}
		if typed := text[start:off]; strings.ContainsAny(typed, ". \t\n") {
			t.Errorf("%s: %q is replaced", c.body, typed)
		}
	}
}

func TestDescribe(t *testing.T) {
	imports := importer.ForCompiler(token.NewFileSet(), "source", nil)
	const text = "package main\n\nimport (\n\t\"slices\"\n\t\"strings\"\n\t\"unicode/utf8\"\n)\n\n// scale multiplies.\nfunc scale(x float64) float64 { return 2 * x }\n\n" +
		"// A point is somewhere.\ntype point struct{ x int }\n\n// main is the program.\nfunc main() {\n\tvar own *point\n\tprintln(own)\n\tvar b strings.Builder\n\tb.WriteString(strings.ToUpper(\"a\"))\n\tprintln(scale(3), len(\"x\"), slices.Max([]int{1}), utf8.UTFMax)\n\tvar local int // of no comment\n\tprintln(local)\n}\n"
	for at, want := range map[string]Description{
		"ToUpper":     {Declaration: "func strings.ToUpper(s string) string", Path: "strings", Name: "ToUpper"},
		"WriteString": {Declaration: "func (b *strings.Builder) WriteString(s string) (int, error)", Path: "strings", Name: "Builder.WriteString"},
		"scale(3)":    {Declaration: "func scale(x float64) float64", Comment: "scale multiplies.\n"},
		"Max(":        {Declaration: "func slices.Max(x []int) int", Path: "slices", Name: "Max"},
		"UTFMax":      {Declaration: "const utf8.UTFMax untyped int = 4", Path: "unicode/utf8", Name: "UTFMax"},
		"local)":      {Declaration: "var local int"},
		"len":         {Declaration: "builtin len", Path: "builtin", Name: "len"},
		"b.Write":     {Declaration: "var b strings.Builder", TypePath: "strings", TypeName: "Builder"},
		"own)":        {Declaration: "var own *point", TypeComment: "A point is somewhere.\n"},
	} {
		if got, ok := Describe(text, strings.Index(text, at), imports); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", at, got, want)
		}
	}
	if d, ok := Describe(text, strings.Index(text, "return"), imports); ok {
		t.Errorf("a keyword is %+v", d)
	}
}

func TestDocumentation(t *testing.T) {
	for _, c := range []struct{ pkg, name, declaration, text string }{
		{"strings", "ToUpper", "func ToUpper(s string) string", "ToUpper returns s with"},
		{"strings", "Builder.WriteString", "func (b *Builder) WriteString(s string) (int, error)", "WriteString appends"},
		{"strings", "Builder", "Builder struct{ … }", "A Builder is used to efficiently build a string using [Builder.Write](https://pkg.go.dev/strings#Builder.Write) methods"},
		{"io", "EOF", "EOF = errors.New(\"EOF\")", "EOF is the error"},
		{"sync/atomic", "Pointer.Load", "func (x *Pointer[T]) Load() *T", "Load atomically"},
		{"builtin", "len", "func len(v Type) int", "The len built-in function"},
		{"strings", "", "package strings", "Package strings implements"},
		{"strings", "Nothing", "", ""},
		{"syscall", "Waitmsg", "", ""}, // Plan 9 has it
		{"strings", "NewReader", "func NewReader(s string) *Reader", "NewReader returns a new [Reader](https://pkg.go.dev/strings#Reader) reading"},
		{"strings", "ToUpperSpecial", "func ToUpperSpecial(", "ToUpperSpecial returns"},
	} {
		declaration, text := Documentation(filepath.Join(build.Default.GOROOT, "src", filepath.FromSlash(c.pkg)), c.pkg, c.name)
		if !strings.HasPrefix(declaration, c.declaration) || !strings.HasPrefix(text, c.text) || (c.text == "") != (text == "") || (c.declaration == "") != (declaration == "") {
			t.Errorf("%s.%s: %q, %.60q", c.pkg, c.name, declaration, text)
		}
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
