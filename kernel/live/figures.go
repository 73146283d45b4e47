package live

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/internal/glob"
)

// fontModule has the fonts of figures, a package for each face. All of them would be a tenth of what a lesson loads.
const fontModule = "codeberg.org/go-fonts/liberation"

// standIns are the faces that a page goes without, and which it draws instead.
var standIns = map[string]string{
	"liberationmonobold": "liberationmonoregular", "liberationmonobolditalic": "liberationmonoregular", "liberationmonoitalic": "liberationmonoregular",
	"liberationserifbold": "liberationserifregular", "liberationserifbolditalic": "liberationserifregular", "liberationserifitalic": "liberationserifregular",
	"liberationsansbolditalic": "liberationsansbold", "liberationsansitalic": "liberationsansregular",
}

// plotModule draws figures. Its package text can set TeX, for which it needs half a megabyte of packages. Plots here
// have no TeX, and in a page they can't.
const (
	plotModule = "gonum.org/v1/plot"
	texFile    = "text/latex.go"
)

// slimmer writes what is left of both modules into folders of dir, and returns a go.mod of the checkout that uses these
// in place of the originals.
func (b *builder) slimmer(dir string) (modfile string, err error) {
	out, err := b.run("list", "-m", "-f", "{{.Dir}}", fontModule, plotModule)
	if err != nil {
		return "", err
	}
	fonts, plot, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
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
		write(filepath.Join("fonts", face, "data.go"), fmt.Appendf(nil, "package %s\n\nimport %q\n\nvar TTF = %s.TTF\n", face, path.Join(fontModule, other), other))
	}
	for face := range kept {
		files, globErr := glob.In(filepath.Join(fonts, face), "*")
		if len(files) == 0 || globErr != nil {
			return "", fmt.Errorf("live: the font %s of %s is missing", face, fontModule)
		}
		for _, file := range files {
			write(filepath.Join("fonts", face, filepath.Base(file)), read(file))
		}
	}
	write(filepath.Join("fonts", "go.mod"), []byte("module "+fontModule+"\n"))
	walkErr := fs.WalkDir(os.DirFS(plot), ".", func(name string, d fs.DirEntry, walkErr error) error {
		if ext := path.Ext(name); walkErr == nil && !d.IsDir() && name != texFile && (ext == ".go" && !strings.HasSuffix(name, "_test.go") || name == "go.mod") {
			write(filepath.Join("plot", name), read(filepath.Join(plot, name)))
		}
		return walkErr
	})
	// The checkout's go.mod and go.sum, for the go command's -modfile.
	write("checkout.mod", fmt.Appendf(read(filepath.Join(b.root, "go.mod")), "\nreplace %s => %q\n\nreplace %s => %q\n",
		fontModule, filepath.Join(dir, "fonts"), plotModule, filepath.Join(dir, "plot")))
	write("checkout.sum", read(filepath.Join(b.root, "go.sum")))
	if err = cmp.Or(err, walkErr); err != nil {
		return "", fmt.Errorf("live: %w", err)
	}
	return filepath.Join(dir, "checkout.mod"), nil
}
