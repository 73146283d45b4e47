package live

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// fontModule has the fonts of figures, a package for each face. All of them would be a tenth of what a lesson loads.
const fontModule = "codeberg.org/go-fonts/liberation"

// standIns are the faces that a page goes without, and which it draws instead.
var standIns = map[string]string{
	"liberationmonobold": "liberationmonoregular", "liberationmonobolditalic": "liberationmonoregular", "liberationmonoitalic": "liberationmonoregular",
	"liberationserifbold": "liberationserifregular", "liberationserifbolditalic": "liberationserifregular", "liberationserifitalic": "liberationserifregular",
	"liberationsansbolditalic": "liberationsansbold", "liberationsansitalic": "liberationsansregular",
}

// fewerFonts writes a module with the faces that are left into dir, and returns a go.mod of the checkout that has it in
// place of the other.
func (b *builder) fewerFonts(dir string) (modfile string, err error) {
	out, err := b.run("list", "-m", "-f", "{{.Dir}}", fontModule)
	if err != nil {
		return "", err
	}
	write := func(name string, content []byte) {
		if err == nil {
			if err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err == nil {
				err = os.WriteFile(filepath.Join(dir, name), content, 0o644)
			}
		}
	}
	read := func(file string) (content []byte) {
		if err == nil {
			content, err = os.ReadFile(file)
		}
		return content
	}
	kept := map[string]bool{}
	for face, other := range standIns {
		kept[other] = true
		write(filepath.Join(face, "data.go"), fmt.Appendf(nil, "package %s\n\nimport %q\n\nvar TTF = %s.TTF\n", face, path.Join(fontModule, other), other))
	}
	for face := range kept {
		files, globErr := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), face, "*"))
		if len(files) == 0 || globErr != nil {
			return "", fmt.Errorf("live: the font %s of %s is missing", face, fontModule)
		}
		for _, file := range files {
			write(filepath.Join(face, filepath.Base(file)), read(file))
		}
	}
	write("go.mod", []byte("module "+fontModule+"\n"))
	// The checkout's go.mod and go.sum, for the go command's -modfile.
	write("checkout.mod", fmt.Appendf(read(filepath.Join(b.root, "go.mod")), "\nreplace %s => %q\n", fontModule, dir))
	write("checkout.sum", read(filepath.Join(b.root, "go.sum")))
	if err != nil {
		return "", fmt.Errorf("live: %w", err)
	}
	return filepath.Join(dir, "checkout.mod"), nil
}
