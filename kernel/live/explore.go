package live

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
)

var (
	//go:embed assets/explore-worker.js
	exploreWorkerScript string

	//go:embed assets/explore.js
	exploreScript string

	// ExploreStyle is how they look.
	//
	//go:embed assets/explore.css
	ExploreStyle string
)

// licenseOfGo is the file with the license of Go, parts of which are in WebAssembly programs.
const licenseOfGo = "LICENSE-Go.txt"

// explorePackage are the explorers. Pages load them when a reader comes near one; they need none of the other parts.
const explorePackage = "./notebooks/explore"

// Explorers are what pages have to know, and have beside them, to have explorers.
type Explorers struct {
	Script  string                     // that runs on a page with explorers
	Content map[string][]byte          // what it loads, by name below the folder of the pages' parts
	Parts   map[string]Part            // of it, by what they are
	Scripts bool                       // each part is there as a script alone
	Looks   map[string]json.RawMessage // of each explorer, by name: how it looks before anything has been set
}

// PackExplorers builds what explorers need on pages whose cells don't run. Each part exists only as a script, which
// works over http as well as in a page that was opened as a file. What takes long to build is kept in the folder dir.
// It uses the network only for modules that are not on the machine yet.
func PackExplorers(ctx context.Context, root, dir string, say Progress) (e *Explorers, err error) {
	b, p, err := begin(ctx, root, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = b.explained(err) }()
	if err := b.explorers(p, say); err != nil {
		return nil, err
	}
	list, _, err := explorers(p)
	if err != nil {
		return nil, err
	}
	if err := packAll(ctx, filepath.Join(b.dir, "explore"), list); err != nil {
		return nil, err
	}
	e = &Explorers{Script: loadingScript + exploreScript, Content: map[string][]byte{}, Parts: map[string]Part{}, Scripts: true}
	for _, x := range list {
		e.Content[x.part.Name+".js"], e.Parts[x.kind] = x.carrier(), x.part
	}
	if e.Content[licenseOfGo], err = os.ReadFile(p.License); err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	e.Looks, err = firstLooks(ctx, root)
	return e, err
}

// explorers are the parts that explorers need, and Go's script that starts a program.
func explorers(p *Parts) (list []*packing, start string, err error) {
	program, err := os.ReadFile(p.Explore)
	starts, startErr := os.ReadFile(p.Start)
	unlzma, inlineErr := inlineBits(unlzmaScript)
	start = string(starts)
	list = []*packing{
		{kind: "explore", content: program, pack: lz},
		packedScript("explorescript", start, exploreWorkerScript),
		packedScript("unpacker", unlzma, unpackerScript),
	}
	if err = cmp.Or(err, startErr, inlineErr); err != nil {
		err = fmt.Errorf("live: %w", err)
	}
	return list, start, err
}

// firstLooks asks the explorers how they look at first, by name.
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

// Explorers are those of pages whose cells run. What they load is part of Content, and PageScript comes before their
// script.
func (f *Files) Explorers() *Explorers {
	parts := map[string]Part{}
	for _, kind := range []string{"explore", "explorescript", "unpacker"} {
		parts[kind] = f.parts[kind]
	}
	return &Explorers{Script: exploreScript, Parts: parts, Looks: f.looks}
}
