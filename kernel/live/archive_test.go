package live

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/names"
)

// Lean archives are enough to compile, link and run a program.
func TestLean(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args[:min(3, len(args))], " "), err, &said)
		}
		return string(out)
	}
	archives := &leaner{map[[hashBytes]byte]uint64{}}
	var config strings.Builder
	before, after := 0, 0
	for i, line := range strings.Split(strings.TrimSpace(run("go", "list", "-export", "-deps", "-f", "{{with .Export}}{{$.ImportPath}} {{.}}{{end}}", "--", "fmt", "go/ast", "sort", "runtime")), "\n") {
		path, file, ok := strings.Cut(line, " ")
		if !ok {
			continue
		}
		archive, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lean, err := archives.lean(archive, names.Importable(path))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if names.Importable(path) != (len(lean) == len(archive)) || len(lean) > len(archive) {
			t.Errorf("of the %d bytes of %s %d are left", len(archive), path, len(lean))
		}
		before, after = before+len(archive), after+len(lean)
		to := filepath.Join(dir, fmt.Sprint(i, ".a"))
		if err := os.WriteFile(to, lean, 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&config, "packagefile %s=%s\n", path, to)
	}
	t.Logf("%d of %d bytes are left, and %d different hashes were numbered", after, before, len(archives.numbers))
	if len(archives.numbers) < 1000 {
		t.Errorf("only %d hashes were found", len(archives.numbers))
	}
	source, object, importcfg, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.a"), filepath.Join(dir, "importcfg"), filepath.Join(dir, "main.exe")
	fmt.Fprintf(&config, "packagefile main=%s\n", object)
	for name, text := range map[string]string{
		importcfg: config.String(),
		source: "package main\n\nimport (\n\t\"fmt\"\n\t\"go/ast\"\n\t\"sort\"\n)\n\ntype pair struct {\n\tname string\n\tnumbers []float64\n}\n\n" +
			"func main() {\n\tx := sort.StringSlice{\"b\", \"a\"}\n\tsort.Sort(x)\n\tfmt.Printf(\"%v %+v\\n\", x, pair{\"p\", []float64{1, 2.5}})\n" +
			// The library knows its own type behind an interface of the program's.
			"\tast.Inspect(&ast.Ident{Name: \"x\"}, func(n ast.Node) bool { return n != nil })\n}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("go", "tool", "compile", "-o", object, "-p", "main", "-complete", "-pack", "-importcfg", importcfg, source)
	run("go", "tool", "link", "-o", program, "-importcfg", importcfg, "-buildmode=exe", object)
	if out := run(program); out != "[a b] {name:p numbers:[1 2.5]}\n" {
		t.Errorf("the program prints %q", out)
	}
}

func TestLeanRefusesWhatIsDamaged(t *testing.T) {
	object := objectMagic + strings.Repeat("\xff", 8+4+4*objectBlocks)
	entry := func(name, content string) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8d%-10d`\n%s", name, 0, 0, 0, 0, len(content), content)
	}
	for name, archive := range map[string]string{
		"no archive":     "!<text>\n",
		"a short header": archiveBegin + "__.PKGDEF",
		"a large size":   archiveBegin + entry("x", "")[:48] + "99        `\n",
		"no exports":     archiveBegin + entry(exportsName, "text"),
		"a short object": archiveBegin + entry("_go_.o", objectMagic),
		"wild blocks":    archiveBegin + entry("_go_.o", object),
	} {
		if _, err := (&leaner{map[[hashBytes]byte]uint64{}}).lean([]byte(archive), false); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	other := archiveBegin + entry("readme", "text")
	if lean, err := (&leaner{}).lean([]byte(other), false); err != nil || string(lean) != other {
		t.Errorf("what is no object became %q (%v)", lean, err)
	}
}
