package live

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	//go:embed assets/machine.js
	machineScript string
	//go:embed assets/cells.js
	cellsScript string
	//go:embed assets/engine.js
	engineScript string
	//go:embed assets/program.js
	programScript string
	//go:embed assets/editor.js
	editorScript string
	//go:embed assets/editor.LICENSE.txt
	editorLicence string

	// PageScript is what a page runs that has cells which can run.
	//
	//go:embed assets/page.js
	PageScript string
	// PageStyle is how that looks.
	//
	//go:embed assets/page.css
	PageStyle string
)

// A Part is a file that a page loads when a cell runs for the first time, or when it is edited.
type Part struct {
	Name  string `json:"name"`  // of the file, without .gz or .gz.js
	Bytes int    `json:"bytes"` // to be loaded over http
}

// Files are what pages load, and who needs which of them.
type Files struct {
	Content map[string][]byte // by name below the folder of the pages' parts
	parts   map[string]Part   // by what they are
	bundles []Part
	lessons [][]int // the bundles of each lesson

	explorers map[string]json.RawMessage
}

// common are packages that cells may want, whether a lesson has them or not. They are loaded when a cell does.
var common = strings.Fields(`bufio bytes cmp container/heap container/list container/ring context crypto/sha256 encoding/base64 encoding/binary encoding/csv
	encoding/hex encoding/json errors fmt hash/fnv io iter maps math math/big math/bits math/cmplx math/rand math/rand/v2 os path path/filepath reflect regexp
	runtime runtime/debug slices sort strconv strings sync sync/atomic text/tabwriter text/template time unicode unicode/utf8 unsafe`)

// library is what lessons are about.
var library = []string{"./accounting", "./autograd", "./autograd/gradcheck", "./checkpoint", "./data", "./einops", "./gpu", "./nn", "./nn/parallel", "./nn/train", "./nn/transformer", "./notebooks/lesson", "./optim",
	"./plots", "./plots/diagram", "./tensor", "./tokenizer", "./kernel/show", "./kernel/show/widget"}

// Pack builds all that pages need for lessons, each given by the sources of its cells. What takes long is kept in the
// folder dir. root is the checkout.
func Pack(ctx context.Context, root, dir string, lessons [][]string) (*Files, error) {
	p, err := Build(ctx, root, dir, slices.Concat(common, library)...)
	if err != nil {
		return nil, err
	}
	f := &Files{Content: map[string][]byte{}, parts: map[string]Part{}}
	packed := filepath.Join(dir, "packed")
	if err := os.MkdirAll(packed, 0o755); err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	add := func(kind string, content []byte) (Part, error) {
		sum := sha256.Sum256(content)
		part := Part{Name: kind + "-" + hex.EncodeToString(sum[:8])}
		file := filepath.Join(packed, part.Name+".gz")
		zipped, err := os.ReadFile(file)
		if err != nil {
			if zipped, err = zip(content); err == nil {
				err = os.WriteFile(file, zipped, 0o644)
			}
			if err != nil {
				return part, fmt.Errorf("live: %w", err)
			}
		}
		part.Bytes = len(zipped)
		f.Content[part.Name+".gz"] = zipped
		// Pages that are opened as files can't fetch anything, but they can run scripts that lie beside them.
		f.Content[part.Name+".gz.js"] = fmt.Appendf(nil, "lecternPart(%q, %q)\n", part.Name, base64.StdEncoding.EncodeToString(zipped))
		return part, nil
	}
	for kind, file := range map[string]string{"compiler": p.Compiler, "linker": p.Linker, "rewriter": p.Rewriter, "explore": p.Explore} {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("live: %w", err)
		}
		if f.parts[kind], err = add(kind, b); err != nil {
			return nil, err
		}
	}
	start, err := os.ReadFile(p.Start)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	for kind, script := range map[string]string{
		"engine": machineScript + string(start) + cellsScript + engineScript, "program": machineScript + string(start) + programScript, "editor": editorScript,
		"explorescript": string(start) + exploreWorkerScript,
	} {
		if f.parts[kind], err = add(kind, []byte(script)); err != nil {
			return nil, err
		}
	}
	licence, err := os.ReadFile(p.Licence)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	f.Content["LICENSE-Go.txt"] = licence
	f.Content["LICENSE-editor.txt"] = []byte(editorLicence)

	// Packages that the same lessons need lie in one file; those that no lesson needs, alone.
	type line struct {
		Path    string   `json:"path"`
		Name    string   `json:"name"`
		Imports []string `json:"imports,omitempty"`
		File    string   `json:"file"`
		Bundle  int      `json:"bundle"`
		At      int      `json:"at"`
		Bytes   int64    `json:"bytes"`
	}
	index := make([]line, len(p.Packages))
	used := usedBy(p.Packages, lessons)
	groups := map[string][]int{} // packages by who needs them
	for i, k := range p.Packages {
		index[i] = line{Path: k.Path, Name: k.Name, Imports: k.Imports, File: fmt.Sprintf("/pkg/%d.a", i), Bytes: k.Bytes}
		who := fmt.Sprint(used[k.Path])
		if len(used[k.Path]) == 0 {
			who = k.Path
		}
		groups[who] = append(groups[who], i)
	}
	f.lessons = make([][]int, len(lessons))
	for number, who := range slices.Sorted(maps.Keys(groups)) {
		var content bytes.Buffer
		for _, i := range groups[who] {
			b, err := os.ReadFile(p.Packages[i].Archive)
			if err != nil {
				return nil, fmt.Errorf("live: %w", err)
			}
			index[i].Bundle, index[i].At, index[i].Bytes = number, content.Len(), int64(len(b))
			content.Write(b)
		}
		part, err := add("packages", content.Bytes())
		if err != nil {
			return nil, err
		}
		f.bundles = append(f.bundles, part)
		for _, lesson := range used[p.Packages[groups[who][0]].Path] {
			f.lessons[lesson] = append(f.lessons[lesson], number)
		}
	}
	b, err := json.Marshal(map[string]any{"packages": index})
	if err != nil {
		return nil, err
	}
	if f.parts["index"], err = add("index", b); err != nil {
		return nil, err
	}
	f.explorers, err = firstLooks(ctx, root)
	return f, err
}

// Lesson is what the page of a lesson has to know.
func (f *Files) Lesson(i int) map[string]any {
	return map[string]any{"parts": f.parts, "bundles": f.bundles, "first": f.lessons[i]}
}

// FirstRun is how many bytes the first cell of a lesson loads over http, and all lessons together.
func (f *Files) FirstRun(lesson int) (one, all int) {
	for kind, p := range f.parts {
		if kind != "editor" && !strings.HasPrefix(kind, "explore") {
			one += p.Bytes
		}
	}
	all = one
	seen := map[int]bool{}
	for i, bundles := range f.lessons {
		for _, b := range bundles {
			if i == lesson {
				one += f.bundles[b].Bytes
			}
			if !seen[b] {
				seen[b] = true
				all += f.bundles[b].Bytes
			}
		}
	}
	return one, all
}

func zip(b []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err = z.Write(b); err == nil {
		err = z.Close()
	}
	return out.Bytes(), err
}

var selector = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.[A-Z]|"([a-zA-Z0-9./_-]+)"`)

// usedBy says which lessons need a package: by its name in front of a selector, as an import, or because a package
// needs it that they do. A lesson that names a package by chance loads it too early, and one that is missed is loaded
// when a cell asks for it.
func usedBy(list []Package, lessons [][]string) map[string][]int {
	byName := map[string][]string{}
	byPath := map[string]Package{}
	for _, k := range list {
		byPath[k.Path] = k
		if !strings.Contains(k.Path, "internal/") && !strings.HasPrefix(k.Path, "vendor/") {
			byName[k.Name] = append(byName[k.Name], k.Path)
		}
	}
	used := map[string][]int{}
	for i, sources := range lessons {
		seen := map[string]bool{}
		var need func(path string)
		need = func(path string) {
			if k, ok := byPath[path]; ok && !seen[path] {
				seen[path] = true
				used[path] = append(used[path], i)
				for _, p := range k.Imports {
					need(p)
				}
			}
		}
		for _, p := range own {
			need(p)
		}
		need("fmt") // nobody gets far without
		for _, source := range sources {
			for _, m := range selector.FindAllStringSubmatch(source, -1) {
				if m[2] != "" {
					need(m[2])
				} else if paths := byName[m[1]]; len(paths) > 0 {
					need(slices.MinFunc(paths, func(a, b string) int { return len(a) - len(b) }))
					if m[1] == "rand" {
						need("math/rand/v2")
					}
				}
			}
		}
	}
	return used
}
