package render

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// Live is what lets cells run in the browser. Package live makes it.
type Live struct {
	Script string            // that runs on the page of a lesson
	Style  string            // for what it adds to the page
	Files  map[string][]byte // what it loads, by name; they come into the folder live beside the pages

	// Lesson is what the script has to know of the i-th notebook, besides its cells.
	Lesson func(i int) map[string]any
}

// Explore is what explorers need: programs that readers play with, whether cells run or not. Where a line of Markdown
// says <!-- explore: name -->, the page has an element of class explore for its script to draw into. Package live makes
// it.
type Explore struct {
	Script string            // that runs on a page with explorers, after that of Live
	Style  string            // of explorers
	Files  map[string][]byte // what it loads, as in Live

	Told  map[string]any             // what the script has to know of what it loads
	Looks map[string]json.RawMessage // and of each explorer, by name
}

const (
	liveFolder = "live"

	// explorePolicy is what pages with explorers may do besides the rest: run the scripts beside them, and compile
	// WebAssembly in workers. The workers' scripts are made by the page, so that they are under the page's own policy.
	// Pages with cells that run may fetch the files beside them, too.
	explorePolicy = " 'self' 'wasm-unsafe-eval'; worker-src blob:"
	livePolicy    = explorePolicy + "; connect-src 'self'"
)

var liveName = regexp.MustCompile(`^` + liveFolder + `/(?:[a-z]+-[0-9a-f]{16}\.(?:gz|lzma)(?:\.js)?|LICENSE-[A-Za-z]+\.txt)$`)

// liveFile reports whether a file of that name is one for cells that run: nothing else below the pages' folder is ever
// replaced or removed.
func liveFile(name string) bool {
	return liveName.MatchString(name)
}

// folders are those on the path to a file, the outermost first.
func folders(name string) (list []string) {
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		list = append(list, d)
	}
	slices.Reverse(list)
	return list
}

// removeFolders removes the folders of files that are gone, unless other files are in them.
func removeFolders(dir string, gone []string) {
	seen := map[string]bool{}
	for _, name := range gone {
		for _, folder := range folders(name) {
			seen[folder] = true
		}
	}
	deepest := slices.Sorted(maps.Keys(seen))
	slices.Reverse(deepest) // a folder sorts before its files
	for _, folder := range deepest {
		os.Remove(filepath.Join(dir, filepath.FromSlash(folder)))
	}
}

// addLive adds what cells that run and explorers load.
func (s *site) addLive(files map[string][]byte) {
	if s.options.Live != nil {
		for name, content := range s.options.Live.Files {
			files[liveFolder+"/"+name] = content
		}
	}
	if s.options.Explore != nil {
		for name, content := range s.options.Explore.Files {
			files[liveFolder+"/"+name] = content
		}
	}
}

// style is the style sheet of a page.
func (s *site) style(p sheet) string {
	style := styleSheet
	if p.steps != "" || p.live != "" {
		style += report.StepperStyle()
	}
	if p.live != "" {
		style += s.options.Live.Style
	}
	if p.explore != "" {
		style += s.options.Explore.Style
	}
	return style
}

var exploreMark = regexp.MustCompile(`^\s*<!--\s*explore:\s*([a-z]*)\s*-->\s*$`)

// explorer is the place of an explorer, which the script shows.
func (p *page) explorer(name string) string {
	if p.site.options.Explore == nil {
		return ""
	}
	if looks := p.site.options.Explore.Looks; looks[name] == nil {
		p.problem(0, "there is no explorer %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(looks)), ", "))
		return ""
	}
	p.explorers = append(p.explorers, name)
	return `<div class="explore" data-explore="` + name + `" hidden></div>` + "\n"
}

// explore is what a page tells the explorers' script, as JSON that may be put into a page; "" if the page has none.
func (s *site) explore(p *page) string {
	if len(p.explorers) == 0 {
		return ""
	}
	looks := map[string]json.RawMessage{}
	for _, name := range p.explorers {
		looks[name] = s.options.Explore.Looks[name]
	}
	told := map[string]any{"explorers": looks, "folder": s.up() + liveFolder + "/"}
	if s.language != nil {
		told["words"] = s.language.Explorers()
	}
	maps.Copy(told, s.options.Explore.Told)
	b, err := json.Marshal(told)
	if err != nil {
		p.problem(0, "what its explorers need can't be written down: %v", err)
	}
	return string(b)
}

// A liveCell is what the script knows about a cell.
type liveCell struct {
	ID       string `json:"id"`
	Source   string `json:"source"`
	Measured bool   `json:"measured,omitempty"` // its numbers are those of the machine
	Solution bool   `json:"solution,omitempty"` // it is folded away
	Fails    bool   `json:"fails,omitempty"`    // as recorded
	Why      string `json:"why,omitempty"`      // it can't run in a page
}

// live is what the page of the i-th notebook tells the script, as JSON that may be put into a page.
func (s *site) live(i int) string {
	if s.options.Live == nil {
		return ""
	}
	p := s.pages[i]
	cells := []liveCell{}
	for _, c := range p.nb.Cells {
		if c.Type != "code" || strings.TrimSpace(c.Source) == "" || p.language() != "go" || c.HasTag("check-only") {
			continue
		}
		l := liveCell{ID: c.ID, Source: strings.Trim(lineEnds(c.Source), "\n"), Measured: c.HasTag("measured"), Solution: c.HasTag("solution"), Why: s.say(beyondPage(c))}
		l.Fails = slices.ContainsFunc(c.Outputs, func(o *notebook.Output) bool { return o.Type == "error" })
		cells = append(cells, l)
	}
	told := s.options.Live.Lesson(i)
	told["cells"], told["name"], told["folder"] = cells, strings.TrimSuffix(p.out, ".html"), s.up()+liveFolder+"/"
	if s.language != nil {
		answers, err := s.language.Answers(strings.TrimSuffix(p.out, ".html"))
		if err != nil {
			p.problem(0, "what its exercises say: %v", err)
		}
		errors, err := s.language.Errors()
		if err != nil {
			p.problem(0, "what errors mean: %v", err)
		}
		told["answers"] = map[string]string{"lang": s.language.Code, "text": string(answers), "errors": string(errors)}
	}
	b, err := json.Marshal(told)
	if err != nil {
		p.problem(0, "what its cells need to run can't be written down: %v", err)
		return ""
	}
	return string(b)
}

var (
	shellLine = regexp.MustCompile(`(?m)^(?://gonb:)?(?:!|%%?[a-z])`)
	// A path alone on its line, or after import, is no other text that reads like it.
	foreign = regexp.MustCompile(`(?m)^\s*(?:import\s+)?(?:[\w.]+\s+)?"(C|os/exec|os/user|os/signal|net|net/[a-z/]+|plugin|syscall|golang\.org/x/sys/[a-z]+)"\s*$|\bexec\.Command\b|\bhttp\.(?:Get|Post|ListenAndServe)\b`)
)

// beyondPage says why a cell can't run in a page; "" if it can.
func beyondPage(c *notebook.Cell) string {
	source := c.Source
	switch {
	case c.HasTag("needs-memory"):
		return phrase("This cell needs more memory than a page has: it is shown as recorded.")
	case shellLine.MatchString(source):
		return phrase("This cell uses commands of the notebook, which a page doesn't have: it is shown as recorded.")
	case foreign.MatchString(source):
		return phrase("This cell needs programs, a network or a C compiler, which a page doesn't have: it is shown as recorded.")
	}
	return ""
}
