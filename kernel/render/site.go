package render

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/translate"
)

// Options say what to render and where to.
type Options struct {
	Notebooks []string // files, in the order of the course
	Out       string   // folder for the pages; created if need be
	Title     string   // of the course; "Lectern" if empty
	Intro     []string // Markdown above the list on the index, in pieces that are translated each by itself; may be empty
	After     string   // Markdown below the list: where to go after the last lesson; may be empty
	Footer    string   // Markdown at the foot of every page; may be empty

	// Parts divide the list on the index; without them it is one list.
	Parts []Part

	// Description of the course in a sentence, for search engines and previews of links; may be empty.
	Description string

	// URL is where the pages will be published, such as https://example.org/course/. With it there is a site map, and
	// pages name their addresses.
	URL string

	// Picture is a PNG that previews of links show, 1200 x 630 pixels by custom, and PictureAlt says what it shows. It
	// becomes a file of the site if URL is known, since a preview asks for it by its full address.
	Picture    []byte
	PictureAlt string

	// AllowMissingAlt makes a figure without alternative text a warning.
	AllowMissingAlt bool

	// Untrusted is for strangers' notebooks. Of their outputs, too, only harmless elements are kept; nothing in them
	// runs, loads anything or covers the page; files beside the notebooks are left out; and what is wrong in them is a
	// warning.
	Untrusted bool

	// Steps are what was recorded of the cells of notebooks, by file, for readers to step through.
	Steps map[string]Steps

	// Source is the folder of the library's packages; empty if pages should not link to their source.
	Source string

	// Languages are those that the pages are written in, besides English: each in a folder named by its code.
	Languages []*translate.Language

	// Live lets the cells of lessons run in the browser; nil leaves them as they were recorded.
	Live *Live

	// Explore is what explorers need; nil leaves them out.
	Explore *Explore
}

// A Part of the course is some lessons with a title.
type Part struct {
	Title string
	First string // the beginning of its first lesson's name, such as "05"; the part ends before the next one
}

// Result says what was written.
type Result struct {
	Index    string     // path of the index
	Pages    []Page     // in the order of the course
	Warnings []*Problem // what a teacher should look at; the pages were written nevertheless
}

// Page is a lesson that was written.
type Page struct {
	Notebook string // the file it came from
	File     string // path of the page
	Title    string
	Bytes    int
	Changed  bool // whether the file differs from what stood there before
}

// PageLimit is the size beyond which a page gets a warning: students open pages
// on phones.
const PageLimit = 1_500_000

// site is a course while it is built.
type site struct {
	options    Options
	language   *translate.Language // nil is English
	pages      []*page
	byNotebook map[string]*page // by base name of the notebook
	picture    image.Config     // of Options.Picture
	sources    []*sourcePackage
	linked     map[*sourcePackage]bool // those that a page links to
	problems   Problems
	warnings   []*Problem
}

// marker is the file that says that a folder is ours. It lists what render wrote.
const marker = ".lectern-site"

// pictureFile is what Options.Picture becomes.
const pictureFile = "preview.png"

// languageFolder is the folder of the pages in another language than English.
var languageFolder = regexp.MustCompile(`^[a-z]{2,3}(?:-[A-Za-z0-9]+)*/$`)

const markerHead = "Pages made by lectern render. It replaces and removes the files named here, and no others."

// Site renders the notebooks into Options.Out.
//
// All pages are built before the first is written: if a notebook has problems
// (then the error is of type Problems) or cannot be read, nothing changes. Each
// file is replaced as a whole. Files of an earlier call that no longer belong to
// the site are removed; a folder with other files in it that render did not
// make is refused.
func Site(o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &site{options: o, byNotebook: map[string]*page{}, linked: map[*sourcePackage]bool{}}
	if err := s.readSources(); err != nil {
		return nil, err
	}
	if o.Picture != nil {
		var err error
		if s.picture, err = png.DecodeConfig(bytes.NewReader(o.Picture)); err != nil {
			return nil, fmt.Errorf("render: the picture for previews of links isn't a PNG: %w", err)
		}
	}
	outs := map[string]string{"index.html": "the index", "404.html": "the page for what is missing"}
	for _, file := range o.Notebooks {
		nb, err := notebook.Read(file)
		if err != nil {
			return nil, fmt.Errorf("render: %w", err)
		}
		p := newPage(s, file, nb)
		key := strings.ToLower(p.out)
		if other, dup := outs[key]; dup {
			return nil, fmt.Errorf("render: %s and %s would both become %s; rename one", other, file, p.out)
		}
		outs[key] = file
		s.pages = append(s.pages, p)
		s.byNotebook[filepath.Base(file)] = p
	}
	files := s.build()
	for _, l := range o.Languages {
		t := s.in(l)
		for name, content := range t.build() {
			files[t.folder()+name] = content
		}
		s.problems = append(s.problems, t.problems...)
	}
	if len(s.problems) > 0 {
		return nil, s.problems
	}
	changed, err := updateFiles(o.Out, files)
	if err != nil {
		return nil, err
	}
	r := &Result{Index: filepath.Join(o.Out, "index.html"), Warnings: s.warnings}
	for _, p := range s.pages {
		r.Pages = append(r.Pages, Page{p.file, filepath.Join(o.Out, p.out), p.title, len(files[p.out]), changed[p.out]})
	}
	return r, nil
}

// check completes the options, or reports a mistake in them.
func (o *Options) check() error {
	if o.Title == "" {
		o.Title = "Lectern"
	}
	if o.Out == "" {
		return errors.New("render: no output folder given")
	}
	if len(o.Steps) > 0 && o.Untrusted {
		return errors.New("render: steps of a notebook that is not trusted are not recorded: choose one of -steps and -untrusted")
	}
	if o.Live != nil && o.Untrusted {
		return errors.New("render: cells of a notebook that is not trusted are not run: choose one of -live and -untrusted")
	}
	if o.Explore != nil && o.Untrusted {
		return errors.New("render: pages of a notebook that is not trusted load nothing, and have no explorers")
	}
	if len(o.Notebooks) == 0 {
		return errors.New("render: no notebooks given")
	}
	if o.URL != "" {
		u, err := url.Parse(o.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
			return fmt.Errorf("render: %q is not the address of a site; write it as https://example.org/course/", o.URL)
		}
		if !strings.HasSuffix(o.URL, "/") {
			o.URL += "/"
		}
	}
	return nil
}

// updateFiles replaces the files of a site and removes those that no longer belong to it. It returns which have
// changed.
func updateFiles(out string, files map[string][]byte) (changed map[string]bool, err error) {
	old, err := claim(out, files)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	// While pages are replaced, both the old and the new ones are ours.
	union := append(slices.Clone(names), old...)
	slices.Sort(union)
	if _, err := replace(out, marker, manifest(slices.Compact(union))); err != nil {
		return nil, err
	}
	changed = map[string]bool{}
	for _, n := range names {
		if n != path.Base(n) {
			if err := os.MkdirAll(filepath.Join(out, filepath.FromSlash(path.Dir(n))), 0o777); err != nil {
				return nil, fmt.Errorf("render: %w", err)
			}
		}
		if changed[n], err = replace(out, n, files[n]); err != nil {
			return nil, err
		}
	}
	gone := slices.DeleteFunc(slices.Clone(old), func(n string) bool { _, kept := files[n]; return kept })
	for _, n := range gone {
		if err := os.Remove(filepath.Join(out, filepath.FromSlash(n))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("render: remove the page of a lesson that is gone: %w", err)
		}
	}
	removeFolders(out, gone)
	if _, err := replace(out, marker, manifest(names)); err != nil {
		return nil, err
	}
	return changed, nil
}

// in is the site in another language. Warnings are those of the English one.
func (s *site) in(l *translate.Language) *site {
	t := &site{options: s.options, language: l, byNotebook: map[string]*page{}, picture: s.picture, sources: s.sources, linked: map[*sourcePackage]bool{}}
	for _, p := range s.pages {
		translated := l.Notebook(p.nb)
		q := newPage(t, p.file, translated.Notebook)
		q.english, q.foreign, q.original = p.nb, translated.Foreign, map[string][]string{}
		t.pages = append(t.pages, q)
		t.byNotebook[filepath.Base(p.file)] = q
	}
	return t
}

// markdown draws a text that is in no notebook.
func (s *site) markdown(what string, texts ...string) string {
	p := newPage(s, what, &notebook.Notebook{})
	p.cell = &notebook.Cell{ID: "text"}
	p.title = s.options.Title // its headings rank below the page's own
	if s.language == nil {
		return p.markdown(strings.Join(texts, "\n"))
	}
	all := ""
	for _, text := range texts {
		if all != "" {
			all += "\n"
		}
		now, foreign := s.language.Markdown(text)
		for _, line := range foreign {
			p.foreignLines = append(p.foreignLines, line+strings.Count(all, "\n"))
		}
		all += now
	}
	return p.markdown(all)
}

// build draws every page and returns the files of the site.
func (s *site) build() map[string][]byte {
	part := 0
	for i, p := range s.pages {
		p.findNeeds(s.pages[:i])
		for j, q := range s.options.Parts {
			if strings.HasPrefix(p.out, q.First+"-") {
				part = j + 1
			}
		}
		p.part = part
		p.build()
	}
	for _, p := range s.pages {
		p.checkTargets()
	}
	index := searchIndex(s.pages)
	files := map[string][]byte{"index.html": []byte(s.index(index)), "404.html": []byte(s.missing())}
	if s.options.URL != "" && s.language == nil {
		files["sitemap.xml"] = []byte(s.sitemap())
		if s.options.Picture != nil {
			files[pictureFile] = s.options.Picture
		}
	}
	if s.language == nil {
		s.addLive(files)
	}
	for i, p := range s.pages {
		if steps := s.options.Steps[p.file]; len(steps) > 0 || s.options.Live != nil {
			p.links = s.sourceLinks(p.nb, steps)
		}
		b := []byte(s.lesson(i, index, ""))
		if steps := s.steps(i, PageLimit-len(b)-stepperSize-len(p.links)); steps != "" {
			b = []byte(s.lesson(i, index, steps))
		}
		files[p.out] = b
		if len(b) > PageLimit {
			p.warn(0, "the page has %.1f MB, more than %.1f; the largest part is %s", float64(len(b))/1e6, PageLimit/1e6, p.largest())
		}
	}
	if s.language == nil { // all languages read the same source
		for k := range s.linked {
			files[k.page()] = []byte(s.sourcePage(k))
		}
	}
	return files
}

// checkTargets looks for links to headings and cells that do not exist.
func (p *page) checkTargets() {
	for _, a := range p.targets {
		if id, ok := strings.CutPrefix(a.id, "cell-"); ok && slices.ContainsFunc(a.page.nb.Cells, func(c *notebook.Cell) bool { return c.ID == id }) {
			continue
		}
		if !a.page.ids[a.id] {
			q := *a.from
			q.Msg = fmt.Sprintf("the link %q leads to a heading that %s does not have", a.dest, filepath.Base(a.page.file))
			p.site.warnings = append(p.site.warnings, &q)
		}
	}
}

// largest names the cell with the most output.
func (p *page) largest() string {
	most, at := 0, 0
	for i, c := range p.nb.Cells {
		n := len(c.Source)
		for _, o := range c.Outputs {
			n += len(o.Text)
			for _, v := range o.Data {
				if s, ok := v.(string); ok {
					n += len(s)
				}
			}
		}
		if n > most {
			most, at = n, i
		}
	}
	return fmt.Sprintf("cell %d (id %s) with %.1f MB", at+1, p.nb.Cells[at].ID, float64(most)/1e6)
}

// claim makes sure that the folder may be written to and returns the files that
// an earlier call left there.
func claim(dir string, files map[string][]byte) ([]string, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, fmt.Errorf("render: %w", err)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("render: %w", err)
	case len(entries) == 0:
		return nil, nil
	}
	b, err := os.ReadFile(filepath.Join(dir, marker))
	if err != nil {
		return nil, fmt.Errorf("render: %s has files that render did not make, for example %s; choose an empty folder or a new one", dir, entries[0].Name())
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if lines[0] != markerHead {
		return nil, fmt.Errorf("render: %s was not written by this version of render; remove the folder or choose another", filepath.Join(dir, marker))
	}
	old := lines[1:]
	for _, n := range old {
		if folder, page := path.Split(n); languageFolder.MatchString(folder) && strings.HasSuffix(page, ".html") {
			continue
		}
		if !liveFile(n) && (n != filepath.Base(n) || !strings.HasSuffix(n, ".html") && n != "sitemap.xml" && n != pictureFile) {
			return nil, fmt.Errorf("render: %s names %q, which render never writes; remove the folder or choose another", filepath.Join(dir, marker), n)
		}
	}
	return old, claimPlaces(dir, files, old)
}

// claimPlaces makes sure that no file or folder of somebody else is in the place of one of ours.
func claimPlaces(dir string, files map[string][]byte, old []string) error {
	seen := map[string]bool{}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(files)), old) {
		for _, folder := range folders(name) {
			if seen[folder] {
				continue
			}
			seen[folder] = true
			// A link could lead to files of others.
			if info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(folder))); err == nil && !info.IsDir() {
				return inTheWay(dir, folder)
			} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("render: %w", err)
			}
		}
	}
	for name := range files {
		if slices.Contains(old, name) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			return inTheWay(dir, name)
		}
	}
	return nil
}

func inTheWay(dir, name string) error {
	return fmt.Errorf("render: %s is in the way and render did not make it; move it away", filepath.Join(dir, filepath.FromSlash(name)))
}

func manifest(names []string) []byte {
	return []byte(markerHead + "\n" + strings.Join(names, "\n") + "\n")
}

// replace writes a file as a whole or not at all, and leaves a file alone whose content is right already. It reports
// whether it wrote.
func replace(dir, name string, data []byte) (bool, error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return false, nil
	}
	if err := atomicfile.Replace(path, data, 0o644); err != nil {
		return false, fmt.Errorf("render: %w", err)
	}
	return true, nil
}
