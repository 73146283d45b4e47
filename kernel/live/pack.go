package live

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/glob"
	"github.com/lectern-go/lectern/kernel/internal/names"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

var (
	//go:embed assets/machine.js
	machineScript string
	//go:embed assets/cells.js
	cellsScript string
	//go:embed assets/engine.js
	engineScript string
	//go:embed assets/linker.js
	linkerScript string
	//go:embed assets/program.js
	programScript string
	//go:embed assets/unlzma.js
	unlzmaScript string
	//go:embed assets/unpacker.js
	unpackerScript string
	//go:embed assets/editor.js
	editorScript string
	//go:embed assets/scripts.LICENSE.txt
	scriptsLicense string
	//go:embed assets/host.js
	hostScript string
	//go:embed assets/loading.js
	loadingScript string
	//go:embed assets/page.js
	pageScript string

	// PageScript is what a page runs if its cells can run.
	PageScript = loadingScript + hostScript + pageScript
	// PageStyle is how that looks.
	//
	//go:embed assets/page.css
	PageStyle string
)

// A Part is a file that a page loads when a cell runs for the first time, or when it is edited.
type Part struct {
	Name  string `json:"name"`  // of the file; pages that were opened as files load it with .js appended
	Bytes int    `json:"bytes"` // to be loaded over http
}

// Files are what pages load, and who needs which of them.
type Files struct {
	Content   map[string][]byte // by name below the folder of the pages' parts
	Untrimmed []string          // what pages go without, as it doesn't fit this version of Go
	parts     map[string]Part   // by what they are
	notebooks []Part            // of each lesson
	bundles   []Part
	lessons   [][]int    // the bundles of each lesson
	mine      [][]string // what each lesson calls of the package mine
	looks     map[string]json.RawMessage
}

// beginAnew tells cells.js that tools begin anew for each cell.
const beginAnew = "globalThis.lecternBeginAnew = true;\n"

// common are packages that cells may want, whether a lesson has them or not. They are loaded when a cell does.
var common = strings.Fields(`bufio bytes cmp container/heap container/list container/ring context crypto/sha256 encoding/base64 encoding/binary encoding/csv
	encoding/hex encoding/json errors fmt hash/fnv io iter maps math math/big math/bits math/cmplx math/rand math/rand/v2 os path path/filepath reflect regexp
	runtime runtime/debug slices sort strconv strings sync sync/atomic text/tabwriter text/template time unicode unicode/utf8 unsafe`)

// library is what lessons are about.
var library = []string{"./accounting", "./autograd", "./checkpoint", "./data", "./einops", "./gpu", "./nn", "./nn/parallel", "./nn/train", "./nn/transformer", "./notebooks/lesson", "./notebooks/mine", "./optim",
	"./plots", "./plots/diagram", "./tensor", "./tensor/gradcheck", "./tokenizer", "./tokenizer/vocab", "./kernel/show", "./kernel/show/widget"}

// Pack builds all that pages need for lessons. What takes long is kept in the folder dir. root is the checkout.
func Pack(ctx context.Context, root, dir string, lessons []*notebook.Notebook, say Progress) (*Files, error) {
	p, err := Build(ctx, root, dir, say, slices.Concat(common, library)...)
	if err != nil {
		return nil, err
	}
	say("packing for the way to the reader", 30*time.Second)
	sources := make([][]string, len(lessons))
	for i, n := range lessons {
		for _, c := range n.Cells {
			if c.Type == "code" {
				sources[i] = append(sources[i], c.Source)
			}
		}
	}
	list, err := tools(p)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	for _, n := range lessons {
		list = append(list, &packing{kind: readerCopy, content: n.Bytes(), pack: gz})
	}
	f := &Files{Content: map[string][]byte{}, Untrimmed: p.Untrimmed, parts: map[string]Part{}, lessons: make([][]int, len(lessons))}
	index, bundles, err := f.bundlePackages(p.Packages, sources)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	list = append(list, bundles...)
	ours, err := solutions(root)
	if err != nil {
		return nil, err
	}
	lines, err := json.Marshal(map[string]any{"packages": index, "mine": ours})
	if err != nil {
		return nil, err
	}
	for _, cells := range sources {
		f.mine = append(f.mine, calledOf(ours, cells))
	}
	list = append(list, &packing{kind: "index", content: lines, pack: lz})
	if err := packAll(ctx, filepath.Join(dir, "packed"), list); err != nil {
		return nil, err
	}
	f.take(list)
	share(f.lessons, f.bundles)
	if f.Content[licenseOfGo], err = os.ReadFile(p.License); err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	f.Content["LICENSE-scripts.txt"] = []byte(scriptsLicense)
	f.looks, err = firstLooks(ctx, root)
	return f, err
}

// A packageLine says where pages find a package's archive.
type packageLine struct {
	Path    string   `json:"path"`
	Name    string   `json:"name"`
	Imports []string `json:"imports,omitempty"`
	File    string   `json:"file"`
	Bundle  int      `json:"bundle"`
	At      int      `json:"at"`
	Bytes   int      `json:"bytes"`
}

// bundlePackages puts packages that the same lessons need into one file, and each that no lesson needs into one alone.
// sources are the lessons' cells.
func (f *Files) bundlePackages(packages []Package, sources [][]string) (index []packageLine, bundles []*packing, err error) {
	index = make([]packageLine, len(packages))
	used := usedBy(packages, sources)
	groups := map[string][]int{} // packages by who needs them
	for i, k := range packages {
		index[i] = packageLine{Path: k.Path, Name: k.Name, Imports: k.Imports, File: fmt.Sprintf("/pkg/%d.a", i)}
		who := fmt.Sprint(used[k.Path])
		if len(used[k.Path]) == 0 {
			who = k.Path
		}
		groups[who] = append(groups[who], i)
	}
	archives := &leaner{map[[hashBytes]byte]uint64{}}
	for number, who := range slices.Sorted(maps.Keys(groups)) {
		var content bytes.Buffer
		for _, i := range groups[who] {
			b, err := os.ReadFile(packages[i].Archive)
			if err != nil {
				return nil, nil, err
			}
			if b, err = archives.lean(b, names.Importable(packages[i].Path)); err != nil {
				return nil, nil, fmt.Errorf("the archive of %s: %w", packages[i].Path, err)
			}
			index[i].Bundle, index[i].At, index[i].Bytes = number, content.Len(), len(b)
			content.Write(b)
		}
		bundles = append(bundles, &packing{kind: bundle, content: content.Bytes(), pack: lz})
		for _, lesson := range used[packages[groups[who][0]].Path] {
			f.lessons[lesson] = append(f.lessons[lesson], number)
		}
	}
	return index, bundles, nil
}

// take adds what has been packed.
func (f *Files) take(list []*packing) {
	for _, x := range list {
		f.Content[x.part.Name] = x.packed
		f.Content[x.part.Name+".js"] = x.carrier()
		switch x.kind {
		case bundle:
			f.bundles = append(f.bundles, x.part)
		case readerCopy:
			f.notebooks = append(f.notebooks, x.part)
		default:
			f.parts[x.kind] = x.part
		}
	}
}

var calledMine = regexp.MustCompile(`\bmine\.([A-Z]\w*)`)

// calledOf lists what cells call of the package mine, whose files are given, in order. A variable may have its name,
// too.
func calledOf(files map[string]string, cells []string) []string {
	var list []string
	for _, m := range calledMine.FindAllStringSubmatch(strings.Join(cells, "\n"), -1) {
		if files[strings.ToLower(m[1])+".go"] != "" && !slices.Contains(list, m[1]) {
			list = append(list, m[1])
		}
	}
	return list
}

// solutions reads the files of our package mine, except its tests, and adds a list of the functions that a package of
// the reader's can hold.
func solutions(root string) (map[string]string, error) {
	functions, err := json.Marshal(lesson.KeptFunctions())
	if err != nil {
		return nil, err
	}
	files := map[string]string{"functions.json": string(functions)}
	list, err := glob.In(filepath.Join(root, "notebooks", "mine"), "*.go")
	for _, file := range list {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, readErr := os.ReadFile(file)
		err = cmp.Or(err, readErr)
		files[filepath.Base(file)] = string(b)
	}
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	return files, nil
}

// tools are the programs and scripts that pages need to run cells, and those that explorers need.
func tools(p *Parts) (list []*packing, err error) {
	list, start, exploreErr := explorers(p)
	read := func(kind, file string) {
		b, readErr := os.ReadFile(file)
		list = append(list, &packing{kind: kind, content: b, pack: lz})
		err = cmp.Or(err, readErr)
	}
	script := func(kind string, sources ...string) { list = append(list, packedScript(kind, sources...)) }
	read("compiler", p.Compiler)
	read("linker", p.Linker)
	read("rewriter", p.Rewriter)
	cells := cellsScript
	if slices.Contains(p.Untrimmed, snapshots) {
		cells = beginAnew + cells
	}
	script("engine", machineScript, start, cells, engineScript)
	script("linkerscript", machineScript, start, cells, linkerScript)
	script("program", machineScript, start, programScript)
	script("editor", editorScript)
	return list, cmp.Or(err, exploreErr)
}

// packedScript is a script that pages load.
func packedScript(kind string, sources ...string) *packing {
	return &packing{kind: kind, content: []byte(strings.Join(sources, "")), pack: gz}
}

// further is how many bytes a lesson may load at most if another one has run in the browser before.
const further = 2_000_000

// share has all lessons load the large packages, so that readers who go on to another lesson don't have to wait for
// much more.
func share(lessons [][]int, bundles []Part) {
	for {
		most, largest := further, -1
		for _, before := range lessons {
			for _, after := range lessons {
				bytes, candidate := 0, -1
				for _, b := range after {
					if !slices.Contains(before, b) {
						bytes += bundles[b].Bytes
						if candidate < 0 || bundles[b].Bytes > bundles[candidate].Bytes {
							candidate = b
						}
					}
				}
				if bytes > most {
					most, largest = bytes, candidate
				}
			}
		}
		if largest < 0 {
			return
		}
		for i, l := range lessons {
			if !slices.Contains(l, largest) {
				lessons[i] = append(l, largest)
				slices.Sort(lessons[i])
			}
		}
	}
}

// Lesson is what the page of a lesson has to know.
func (f *Files) Lesson(i int) map[string]any {
	return map[string]any{"parts": f.parts, "bundles": f.bundles, "first": f.lessons[i], "notebook": f.notebooks[i], "mine": f.mine[i]}
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

var selector = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.[A-Z]|"([a-zA-Z0-9./_-]+)"`)

// alone has the names that occur somewhere in a cell without a dot: no package's does.
func alone(cell string) map[string]bool {
	names := map[string]bool{}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(cell)), []byte(cell), nil, 0)
	for name, last := "", token.ILLEGAL; last != token.EOF; {
		_, tok, text := s.Scan()
		if name != "" && tok != token.PERIOD {
			names[name] = true
		}
		if name = ""; tok == token.IDENT && last != token.PERIOD {
			name = text
		}
		last = tok
	}
	return names
}

// usedBy says which lessons need a package: by its name in front of a selector, as an import, or because a package that
// they need needs it. A lesson that names a package by chance loads it too early, and one that is missed is loaded when
// a cell asks for it.
func usedBy(list []Package, lessons [][]string) map[string][]int {
	byName := map[string]string{}
	byPath := map[string]Package{}
	for _, k := range list {
		byPath[k.Path] = k
		if old := byName[k.Name]; names.Importable(k.Path) && (old == "" || names.Better(k.Name, k.Path, old)) {
			byName[k.Name] = k.Path
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
		need("fmt") // which nearly every cell needs
		for _, source := range sources {
			variables := alone(source)
			for _, m := range selector.FindAllStringSubmatch(source, -1) {
				if m[2] != "" {
					need(m[2])
				} else if !variables[m[1]] {
					need(byName[m[1]])
				}
			}
		}
	}
	return used
}
