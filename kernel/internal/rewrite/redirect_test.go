package rewrite

import (
	"slices"
	"strings"
	"testing"
)

// Where an io.Reader is wanted, os.Stdin asks in the notebook; elsewhere it stays the file that it is. Either way the
// program compiles.
func TestStdin(t *testing.T) {
	const show, file, told = "lecternshow.Stdin", "os.Stdin", "os.Stdin is used as a file here"
	for code, want := range map[string]string{
		"s := bufio.NewScanner(os.Stdin)\ns.Scan()":                          show,
		"fmt.Fscan(os.Stdin, new(int))":                                      show,
		"os.Stdin.Read(nil)":                                                 show,
		"r := io.Reader(os.Stdin)\nr.Read(nil)":                              show,
		"var r io.Reader = os.Stdin\nr.Read(nil)":                            show,
		"var r io.Reader\nr = (os.Stdin)\nr.Read(nil)":                       show,
		"rs := []io.Reader{os.Stdin}\nlen(rs)":                               show,
		"m := map[string]io.Reader{\"in\": os.Stdin}\nlen(m)":                show,
		"r := struct{ n int; r io.Reader }{1, os.Stdin}\nr.n":                show,
		"r := &struct{ r io.Reader }{r: os.Stdin}\nr.r.Read(nil)":            show,
		"f := func() (int, io.Reader) { return 1, os.Stdin }\nf()":           show,
		"func in() io.Reader { return os.Stdin }\nin().Read(nil)":            show,
		"s := io.MultiReader(nil, os.Stdin)\ns.Read(nil)":                    show,
		"type in struct{ r io.Reader }\nrs := []*in{{os.Stdin}}\nlen(rs)":    show,
		"type in struct{ r io.Reader }\nrs := []*in{{r: os.Stdin}}\nlen(rs)": show,
		"rs := map[string]*[]io.Reader{\"in\": {os.Stdin}}\nlen(rs)":         show,
		"m := map[io.Reader]int{os.Stdin: 1}\nlen(m)":                        show,
		"m := map[struct{ r io.Reader }]int{{os.Stdin}: 1}\nlen(m)":          show,
		"m := map[io.Reader]int{}\nm[os.Stdin] = 1":                          show,
		"m := map[io.Reader]int{}\ndelete(m, os.Stdin)":                      show,
		"c := make(chan io.Reader, 1)\nc <- os.Stdin":                        show,
		"m := map[*os.File]int{os.Stdin: 1}\nlen(m)":                         told,
		"m := map[*os.File]int{}\nm[os.Stdin] = 1":                           told,
		"m := map[any]int{os.Stdin: 1}\nlen(m)":                              file,
		"c := make(chan *os.File, 1)\nc <- os.Stdin":                         told,
		"st, err := os.Stdin.Stat()\nst.Mode()\nerr":                         file,
		"os.Stdin.Fd()":                                  file,
		"p := &os.Stdin\n*p == os.Stdin":                 file,
		"os.Stdin":                                       file,
		"fmt.Println(os.Stdin)":                          file,
		"in := os.Stdin\nin.Name()":                      told,
		"fs := []*os.File{os.Stdin, os.Stdout}\nlen(fs)": told,
		"func f(f *os.File) string { return f.Name() }\nf(os.Stdin)": told,
		"f := func() *os.File { return os.Stdin }\nf().Name()":       told,
		"import \"io\"\nvar in io.ReadCloser = os.Stdin\nin.Close()": told,
	} {
		r := newNotebook(t).run(code)
		shown := strings.Contains(r.code(), show) && !strings.Contains(strings.ReplaceAll(r.code(), "\"os.Stdin\", os.Stdin", ""), "(os.Stdin")
		isTold := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, told) })
		if len(r.Errors) > 0 || !compiles(t, r) || want == show && !shown || isTold != (want == told) {
			t.Errorf("%s: %v, notes %q, want %s\n%s", code, r.Errors, r.Notes, want, r.code())
		}
	}
}
