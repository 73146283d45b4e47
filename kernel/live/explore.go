package live

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
)

var (
	//go:embed assets/explore-worker.js
	exploreWorkerScript string

	// ExploreScript is what a page runs that has explorers, behind PageScript.
	//
	//go:embed assets/explore.js
	ExploreScript string
	// ExploreStyle is how they look.
	//
	//go:embed assets/explore.css
	ExploreStyle string
)

// explorePackage are the explorers. Pages load them when a reader comes near one; they need none of the other parts.
const explorePackage = "./notebooks/explore"

// firstLooks asks the explorers how they look at first: by name, what the page has to know of each.
func firstLooks(ctx context.Context, root string) (map[string]json.RawMessage, error) {
	cmd := exec.CommandContext(ctx, "go", "run", explorePackage)
	cmd.Dir = root
	cmd.Env = append(cellenv.Offline(os.Environ()), "GOWORK=off")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("live: go run %s: %w\n%s", explorePackage, err, bytes.TrimSpace(said.Bytes()))
	}
	looks := map[string]json.RawMessage{}
	if err := json.Unmarshal(out, &looks); err != nil {
		return nil, fmt.Errorf("live: %s: %w", explorePackage, err)
	}
	return looks, nil
}

// Explorers are what pages have to know of each explorer, by name.
func (f *Files) Explorers() map[string]json.RawMessage { return f.explorers }
