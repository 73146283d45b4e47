package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// An edit changes a source file of Go's tools for their work in a page. Edits that make up the same trim go together:
// all of them or none. Each trim knows how sources look in some versions of Go, and can be left out by itself: pages
// are slower then, but still work.
type edit struct {
	trim string
	file string // below GOROOT/src
	cut  func(source string) (string, error)
}

// snapshots is the trim without which a page takes no snapshots of tools at work: their memory would grow each time.
const snapshots = "snapshots of tools at work"

// The trims leave the back end for WebAssembly alone, the other twelve are a quarter of the compiler; they save the
// linker's memory, which a page gets page by page: that takes longer than to fill it; and they have the linker load
// packages before the program, which is compiled meanwhile.
var edits = []edit{
	{"a compiler for WebAssembly alone", "cmd/compile/main.go", func(s string) (string, error) {
		return without(s, `\t"cmd/compile/internal/(?:`+backEnds+`)"\n|\t"(?:`+architectures+`)": +\w+\.Init,\n`)
	}},
	{"a linker for WebAssembly alone", "cmd/link/main.go", func(s string) (string, error) {
		return without(s, `\t"cmd/link/internal/(?:`+backEnds+`)"\n|\tcase "(?:`+architectures+`)"[^\n]*:\n\t\tarch, theArch = \w+\.Init\(\)\n`)
	}},
	{"a compiler without rules for other processors", "cmd/compile/internal/ssa/config.go", func(s string) (string, error) {
		// The cases of the first switch: those of its other switches cost nothing.
		from, to := strings.Index(s, "\tcase \"amd64\":\n"), strings.Index(s, "\tcase \"wasm\":\n")
		if from < 0 || to < from {
			return "", fmt.Errorf("it has no case for amd64 before the one for wasm")
		}
		return s[:from] + s[to:], nil
	}},
	{snapshots, "runtime/mem_wasm.go", func(s string) (string, error) {
		// A tool that goes on from a snapshot of its memory may have more memory by now than it knows about.
		return replaced(s, "\t\tsize := growMemory(int32(grow))\n", "\t\tgrow = min(grow, uintptr(max(0, int((bl+n)/physPageSize)-int(currentMemory()))))\n\t\tsize := growMemory(int32(grow))\n")
	}},
	{"packages loaded before the program", "cmd/link/internal/ld/lib.go", func(s string) (string, error) {
		const loop = "\t// ctxt.Library grows during the loop, so not a range loop.\n\ti := 0\n"
		return replaced(s, loop, `	program := ctxt.Library
	ctxt.Library = nil
	for pkg, file := range ctxt.PackageFile {
		addlibpath(ctxt, "internal", "internal", file, pkg, "", goobj.FingerprintType{})
	}
	slices.SortFunc(ctxt.Library, func(x, y *sym.Library) int { return strings.Compare(x.Pkg, y.Pkg) })
	for i := 0; i < len(ctxt.Library); i++ {
		loadobjfile(ctxt, ctxt.Library[i])
	}
	ctxt.loader.LoadLibraries()
	i := len(ctxt.Library)
	ctxt.Library = append(ctxt.Library, program...)
`)
	}},
	{"packages loaded before the program", "cmd/link/internal/loader/loader.go", func(s string) (string, error) {
		// LoadSyms becomes two functions: what it does before it looks for references, enter now does for the
		// libraries, and then for the program.
		const all = "\tfor _, r := range l.objs[goObjStart:] {\n"
		var err error
		for _, r := range [][2]string{
			{"type Loader struct {\n", "type Loader struct {\n\tentering *loadState\n"},
			{"type loadState struct {\n", "type loadState struct {\n\tentered int // objects\n"},
			{"func (l *Loader) LoadSyms(arch *sys.Arch) {\n", "func (l *Loader) LoadLibraries() {\n"},
			{"\tst := loadState{\n", "\tl.entering = &loadState{\n"},
			{all + "\t\tst.preloadSyms(r, pkgDef)\n", `	l.enter()
}

func (l *Loader) enter() {
	st := l.entering
	objects := l.objs[goObjStart+st.entered:]
	st.entered += len(objects)
	for _, r := range objects {
		st.preloadSyms(r, pkgDef)
`},
			{all + "\t\tst.preloadSyms(r, hashed64Def)\n", "\tfor _, r := range objects {\n\t\tst.preloadSyms(r, hashed64Def)\n"},
			{"\tfor _, vr := range st.linknameVarRefs {\n", `}

func (l *Loader) LoadSyms(arch *sys.Arch) {
	l.enter()
	st := l.entering
	for _, vr := range st.linknameVarRefs {
`},
		} {
			if s, err = replaced(s, r[0], r[1]); err != nil {
				return "", err
			}
		}
		return s, nil
	}},
	{"room for the program at once", "cmd/link/internal/ld/outbuf.go", func(s string) (string, error) {
		// A program is 4 to 10 MB, for which append would copy it again and again.
		const grow = "\t\tout.heap = append(out.heap, make([]byte, lenNeeded-heapLen)...)\n"
		return replaced(s, grow, "\t\tif out.heap == nil {\n\t\t\tout.heap = make([]byte, 0, 12<<20)\n\t\t}\n"+grow)
	}},
	{"fewer names and segments in the program", "cmd/link/internal/wasm/asm.go", func(s string) (string, error) {
		const code, name = "\t\t\tP := ldr.Data(fn)\n", "\t\tname := nameRegexp.ReplaceAllString(ldr.SymName(fn), \"_\")\n"
		s, err := replaced(s, code, code+"\t\t\twfn.Grow(len(P) + 5*relocs.Count())\n")
		if err != nil {
			return "", err
		}
		if s, err = replaced(s, "const segmentOverhead = 8\n", "const segmentOverhead = 512 // to start a segment takes longer than to copy zeros\n"); err != nil {
			return "", err
		}
		return replaced(s, name, "\t\tvar name string\n\t\tif !*ld.FlagS { // nobody reads them\n\t"+strings.Replace(name, ":=", "=", 1)+"\t\t}\n")
	}},
}

const (
	backEnds      = "386|amd64|arm|arm64|loong64|mips|mips64|ppc64|riscv64|s390x|x86"
	architectures = "386|amd64|arm|arm64|loong64|mips|mipsle|mips64|mips64le|ppc64|ppc64le|riscv64|s390x"
)

// without removes every match of a pattern; there must be at least one.
func without(s, pattern string) (string, error) {
	re := regexp.MustCompile(pattern)
	if !re.MatchString(s) {
		return "", fmt.Errorf("it does not look as expected: nothing matches %s", pattern)
	}
	return re.ReplaceAllString(s, ""), nil
}

// replaced replaces a text, which must occur exactly once.
func replaced(s, old, text string) (string, error) {
	if strings.Count(s, old) != 1 {
		return "", fmt.Errorf("it does not look as expected: it has %d times %q, not once", strings.Count(s, old), strings.TrimSpace(old))
	}
	return strings.Replace(s, old, text, 1), nil
}

// overlay writes the changed files into dir, and the file that tells go build -overlay about them, whose path it
// returns. untrimmed are the trims that do not fit the sources of this Go.
func overlay(goroot, dir string, edits []edit) (file string, untrimmed []string, err error) {
	changed := map[string]string{}
	for _, e := range edits {
		b, err := os.ReadFile(filepath.Join(goroot, "src", filepath.FromSlash(e.file)))
		if err == nil {
			changed[e.file], err = e.cut(string(b))
		}
		if err != nil && !slices.Contains(untrimmed, e.trim) {
			untrimmed = append(untrimmed, e.trim)
		}
	}
	replace := map[string]string{}
	for _, e := range edits {
		if slices.Contains(untrimmed, e.trim) {
			continue
		}
		to := filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
		if err := os.WriteFile(to, []byte(changed[e.file]), 0o644); err != nil {
			return "", nil, fmt.Errorf("live: %w", err)
		}
		replace[filepath.Join(goroot, "src", filepath.FromSlash(e.file))] = to
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, untrimmed, os.WriteFile(file, b, 0o644)
}
