//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

// Which program is built anew follows from what its files hold, and from nothing else.
func TestEmbeddedContents(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[2026]")
	var names []string
	files := map[string]string{}
	for i := range 8 {
		names = append(names, fmt.Sprint(i, ".txt"))
		files[names[i]] = names[i]
	}
	writeFiles(t, dir, files)
	var first []byte
	for range 20 {
		e, err := embedded(dir, names)
		if err != nil {
			t.Fatal(err)
		}
		contents, err := e.write(filepath.Join(t.TempDir(), "list"))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = contents
		}
		if !bytes.Equal(contents, first) {
			t.Fatalf("%q, and before %q", contents, first)
		}
	}
}

// Files that stand behind //go:embed are those of the folder that cells run in, as they are when the cell runs.
func TestEmbed(t *testing.T) {
	t.Parallel()
	needRace(t)
	bin, err := tools()
	need(t, err)
	dir := filepath.Join(t.TempDir(), "course [2026]") // no pattern
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("h.txt", "hello")
	write("a b.txt", "blank")
	write("sub/one.txt", "1")
	write("sub/_no.txt", "0")
	l := startLabIn(t, bin, dir, nil)
	l.want("import _ \"embed\"", "")
	l.want("//go:embed h.txt\nvar hs string\nhs", "[result]\"hello\"")
	l.want("hs + \"!\"", "[result]\"hello!\"")
	write("h.txt", "other")
	l.want("//go:embed h.txt\nvar hs string\nhs", "[result]\"other\"")
	l.want("// Bytes.\n//go:embed h.txt\nvar hb []byte\nvar (\n\tn = 3\n\t//go:embed \"a b.txt\"\n\tab string\n)\nfmt.Println(len(hb), ab, n)", "5 blank 3")
	l.want("//go:embed sub\n//go:embed *.txt\nvar files embed.FS\nb, err := files.ReadFile(\"sub/one.txt\")\nfmt.Println(string(b), err)", "1 <nil>")
	l.want("names, err := fs.Glob(files, \"*/*\")\nfmt.Println(names, err)", "[sub/one.txt] <nil>")
	l.want("%race\n//go:embed sub/one.txt\nvar one string\none", "[result]\"1\"")
	for _, name := range []string{"hello.c", "hello.go"} {
		write(name, "no program")
		l.want("%race\n//go:embed "+name+"\nvar program string", "go:embed "+name+": the go command, which builds this cell, would compile the file")
		l.want("//go:embed "+name+"\nvar program string\nprogram", "[result]\"no program\"")
		write("sub/"+name, "no program")
	}
	names := "%race\n//go:embed sub\nvar files embed.FS\nnames, err := fs.Glob(files, \"*/*\")\nfmt.Println(names, err)"
	l.want(names, "[sub/hello.c sub/hello.go sub/one.txt] <nil>")
	if err := os.Remove(filepath.Join(dir, "sub", "hello.c")); err != nil {
		t.Fatal(err)
	}
	l.want(names, "[sub/hello.go sub/one.txt] <nil>")
	l.want("//go:embed none.txt\nvar none string", "go:embed none.txt: there is no such file in "+dir)
	l.want("//go:embed ../h.txt\nvar none string", "must be in it")
	l.want("//go:embed h.txt\nvar wrong int", "go:embed cannot apply to var of type int")
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
