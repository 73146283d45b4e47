// Package gotools builds the programs that tools/go.mod pins.
package gotools

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
)

// What cells need that are not plain Go: GoNB, and what it finds imports with.
var GoNB = []string{"github.com/janpfeifer/gonb", "golang.org/x/tools/cmd/goimports"}

// Gopls completes code.
const Gopls = "golang.org/x/tools/gopls"

// Install is a command that builds programs of the module in root/tools into the folder bin. The arguments are
// packages, and flags of go install before them.
func Install(ctx context.Context, root, bin string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", append([]string{"install"}, args...)...)
	cmd.Dir = filepath.Join(root, "tools")
	cmd.Env = append(cellenv.Online(os.Environ()), "GOBIN="+bin, "GOFLAGS=-buildvcs=false", "GOWORK=off")
	return cmd
}
