// Package install says what an installed kernel consists of besides its own program: which version of Lectern it is,
// and the programs that tools/cells/go.mod pins.
package install

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
)

// Go leaves a module within another one out of what it downloads, and embeds nothing of it. So these are copies of the
// parts of tools that are needed, and a test fails when they differ.
//
//go:embed modules
var modules embed.FS

// Modules are the files of the folder tools that an installed kernel needs, by name.
func Modules() map[string][]byte {
	files := map[string][]byte{}
	err := fs.WalkDir(modules, "modules", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := modules.ReadFile(name)
		files[strings.TrimSuffix(strings.TrimPrefix(name, "modules/"), ".txt")] = b
		return err
	})
	if err != nil {
		panic(err) // they are part of this program
	}
	return files
}

// What cells need that are not plain Go: GoNB, and the program with which it finds imports.
var GoNB = []string{"github.com/janpfeifer/gonb", "golang.org/x/tools/cmd/goimports"}

// Tools is a command that builds programs of the module in root/tools/cells into the folder bin. The arguments are
// packages, and flags of go install before them.
func Tools(ctx context.Context, root, bin string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append([]string{"install"}, args...)...)
	cmd.Dir = filepath.Join(root, "tools", "cells")
	cmd.Env = append(cellenv.Online(os.Environ()), "GOBIN="+bin, "GOFLAGS=-buildvcs=false", "GOWORK=off")
	return cmd
}
