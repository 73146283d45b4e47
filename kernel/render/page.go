package render

import (
	"cmp"
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// page is a lesson while it is built.
type page struct {
	site *site
	nb   *notebook.Notebook
	file string // of the notebook
	out  string // name of the HTML file

	number    string // "05" of 05-storage.ipynb, may be empty
	title     string // plain text
	titleHTML string
	titleID   string
	summary   string
	minutes   int     // that it takes; 0 if the notebook does not say
	needs     []*page // lessons before this one that it builds on
	part      int     // of Options.Parts, counted from 1; 0 stands for none
	toc       []entry
	body      strings.Builder // the article
	indexed   strings.Builder // the part of it that search looks through

	ids       map[string]bool // of headings
	targets   []anchor        // links to headings, checked at the end
	explorers []string        // that are in it
	links     string          // to the library's source, for the stepper
	figures   int
	strange   int    // HTML outputs of a notebook that is not trusted
	prefix    string // of all ids, if the outputs come to a page that is drawn already

	english  *notebook.Notebook  // what the notebook was translated from; nil if it is English
	foreign  map[string][]int    // where its cells are still English: see package translate
	original map[string][]string // English headings of its cells

	foreignLines []int // of the text being drawn
	heading      int   // of the cell, counted from 0

	cell       *notebook.Cell // the one being drawn
	cellNumber int
	folded     bool // it is inside <details>: its headings stay out of the contents
	after      int  // it is inside what this many questions hide
	unseen     int  // cells left out so far
	unlabeled  bool // an <svg> without a label has not shown a <title> yet
}

// entry is a line of the contents.
type entry struct {
	level          int
	id, html, text string
}

// anchor is a link to a place on a page.
type anchor struct {
	from *Problem // where it is
	page *page
	id   string
	dest string // as written
}

var leadingNumber = regexp.MustCompile(`^(\d+)[-_ ]+`)

func newPage(s *site, file string, nb *notebook.Notebook) *page {
	base := strings.TrimSuffix(filepath.Base(file), ".ipynb")
	p := &page{site: s, nb: nb, file: file, out: base + ".html", ids: map[string]bool{}}
	if m := leadingNumber.FindStringSubmatch(base); m != nil && m[1] != "0" { // what comes before the first lesson has no number
		p.number = m[1]
	}
	return p
}

// place says where in the notebook the page is being drawn.
func (p *page) place(line int) *Problem {
	q := &Problem{Notebook: p.file, Cell: p.cellNumber, Line: line}
	if p.cell != nil {
		q.ID = p.cell.ID
	}
	return q
}

// problem records a mistake of the page. In a stranger's notebook it is a warning: the one who
// renders it can't mend it.
func (p *page) problem(line int, format string, args ...any) {
	if p.site.options.Untrusted {
		p.warn(line, format, args...)
		return
	}
	q := p.place(line)
	q.Msg = fmt.Sprintf(format, args...)
	p.site.problems = append(p.site.problems, q)
}

func (p *page) warn(line int, format string, args ...any) {
	q := p.place(line)
	q.Msg = fmt.Sprintf(format, args...)
	p.site.warnings = append(p.site.warnings, q)
}

func (p *page) missingAlt(format string, args ...any) {
	if p.site.options.AllowMissingAlt {
		p.warn(0, format, args...)
	} else {
		p.problem(0, format, args...)
	}
}

// folds are the tags whose cells are folded, and the text of each fold.
var folds = []struct{ tag, class, summary string }{
	{"solution", "solution", phrase("Show a solution")},
	{"pytorch", "pytorch", phrase("The same in PyTorch")},
	{"explanation", "explanation", phrase("What you should have seen")},
	{"recorded", "recorded", phrase("On an H100")},
}

// build draws all cells. Neighboring cells with the same fold share it.
func (p *page) build() {
	open := -1
	unrun := 0
	for i, c := range p.nb.Cells {
		p.cell, p.cellNumber = c, i+1
		if c.HasTag("check-only") { // it checks the lesson's numbers, and is not for reading
			p.unseen++
			continue
		}
		fold := -1
		for k, f := range folds {
			if c.HasTag(f.tag) {
				fold = k
				break
			}
		}
		if fold != open || endsAfter(c) {
			p.closeAfter()
		}
		if fold != open {
			if open >= 0 {
				p.write("</details>\n", "")
			}
			if fold >= 0 {
				p.write(`<details class="fold `+folds[fold].class+`"><summary>`+p.site.say(folds[fold].summary)+"</summary>\n", "")
			}
			open = fold
		}
		p.folded = fold >= 0
		class := "cell"
		if c.HasTag("exercise") {
			class += " exercise"
		}
		switch c.Type {
		case "markdown":
			if strings.TrimSpace(c.Source) == "" {
				continue
			}
			p.unlabeled = false
			source := c.Source
			if p.folded {
				source = unfolded(source)
			}
			p.foreignLines, p.heading = p.foreign[c.ID], 0
			text := p.markdown(source)
			p.foreignLines = nil
			p.labeled()
			if p.summary == "" {
				p.summary = firstParagraph(text)
			}
			p.write(`<div class="`+class+` text" id="cell-`+c.ID+`">`+"\n"+p.badge(c)+text+"</div>\n", "")
		case "code":
			if strings.TrimSpace(c.Source) != "" && c.Count == 0 && len(c.Outputs) == 0 {
				unrun++
			}
			p.code(c, class)
		}
	}
	p.closeAfter()
	if open >= 0 {
		p.write("</details>\n", "")
	}
	p.cell, p.cellNumber = nil, 0
	if unrun > 0 {
		p.warn(0, "%d of its code cells never ran; execute the notebook first (go run ./kernel run)", unrun)
	}
	if p.title == "" {
		base := strings.TrimSuffix(filepath.Base(p.file), ".ipynb")
		p.title = strings.TrimSpace(strings.NewReplacer("-", " ", "_", " ").Replace(leadingNumber.ReplaceAllString(base, "")))
		if p.title == "" {
			p.title = base
		}
		p.titleHTML = html.EscapeString(p.title)
	}
	about := p.nb.About()
	p.minutes, p.summary = about.Minutes, cmp.Or(about.Summary, p.summary)
}

// findNeeds looks up the lessons that this one builds on. It knows those that come before it.
func (p *page) findNeeds(earlier []*page) {
	for _, file := range p.nb.About().Needs {
		q, name := p.site.byNotebook[file], strings.TrimSuffix(file, ".ipynb")
		switch {
		case q == nil:
			p.warn(0, "it needs the lesson %q, which is not on the site", name)
		case !slices.Contains(earlier, q):
			p.warn(0, "it needs the lesson %q, which does not come before it", name)
		case !slices.Contains(p.needs, q):
			p.needs = append(p.needs, q)
		}
	}
}

var ownFold = regexp.MustCompile(`(?is)^(\s*<details>\s*<summary>[^<]*</summary>)(.*?)(</details>\s*)$`)

// unfolded is the text of a cell without the fold that it contains for programs that don't know tags. Lines keep
// their numbers.
func unfolded(source string) string {
	m := ownFold.FindStringSubmatch(source)
	if m == nil {
		return source
	}
	return strings.Repeat("\n", strings.Count(m[1], "\n")) + m[2]
}

// write adds to the article; outputs are not searched.
func (p *page) write(searched, output string) {
	p.body.WriteString(searched)
	p.body.WriteString(output)
	p.indexed.WriteString(searched)
}

func (p *page) badge(c *notebook.Cell) string {
	if c.HasTag("exercise") {
		return `<p class="badge">` + p.site.say("Your turn") + "</p>\n"
	}
	return ""
}

// language is the language of the notebook's code.
func (p *page) language() string {
	if info, ok := p.nb.Metadata["language_info"].(map[string]any); ok {
		if name, ok := info["name"].(string); ok {
			return name
		}
	}
	return "go"
}

// code draws a code cell: its source, then what it showed.
func (p *page) code(c *notebook.Cell, class string) {
	language := p.language()
	source, _ := shownSource(c)
	asked, others := p.guesses(c.Outputs)
	outputs := ""
	for _, o := range others {
		if isStepper(o) && p.site.options.Steps[p.file][c.ID].Record != nil { // which is in the cell itself
			continue
		}
		p.unlabeled = false
		outputs += p.output(o)
		p.labeled()
	}
	if strings.TrimSpace(source) == "" && outputs == "" && asked == "" {
		return
	}
	label := p.site.say("Code")
	number := ""
	if c.Count > 0 {
		n := max(1, c.Count-p.unseen)
		label = p.site.say("Cell %d", n)
		before, _, _ := strings.Cut(label, fmt.Sprint(n)) // where there is no margin for the number alone
		number = fmt.Sprintf(`<a class="count" href="#cell-%s" aria-label="%s" data-before="%s">%d</a>`, c.ID, p.site.say("Link to cell %d", n), before, n)
	}
	p.write(`<div class="`+class+` run" id="cell-`+c.ID+`" role="group" aria-label="`+label+`">`+"\n"+p.badge(c), "")
	if strings.TrimSpace(source) != "" {
		in := `<div class="in">` + number + codeBlock(language, source) + "</div>\n"
		if c.HasTag("hide-input") {
			in = `<details class="fold code-fold"><summary>` + p.site.say("Show the code") + "</summary>" + in + "</details>\n"
		}
		p.write(in, "")
	}
	p.write("", asked)
	if outputs != "" {
		note := ""
		if c.HasTag("measured") {
			note = `<p class="note">` + p.site.say("Measured where this page was made; your numbers will differ.") + "</p>\n"
		}
		out := `<div class="out">` + "\n" + outputs + note + "</div>\n"
		if asked != "" {
			out = `<div class="after">` + out + "</div>\n"
		}
		p.write("", out)
	}
	p.write("</div>\n", "")
	if asked != "" {
		p.openAfter()
	}
}

// labeled reports an <svg> in raw HTML that nothing describes.
func (p *page) labeled() {
	if p.unlabeled {
		p.missingAlt(`an <svg> in HTML has neither aria-label nor <title> (aria-hidden="true" for decoration)`)
	}
	p.unlabeled = false
}

var (
	paragraph = regexp.MustCompile(`(?s)<p>(.*?)</p>`)
	mathAlt   = regexp.MustCompile(`(?s)<math[^>]*alttext="([^"]*)"[^>]*>.*?</math>`)
	anyTag    = regexp.MustCompile(`<[^>]*>`)
	sentence  = regexp.MustCompile(`^(.{20,220}?(?:[.!?](?:\s|$)|[。！？]))`)
)

// firstParagraph is the first sentence of a cell's first paragraph, as text.
func firstParagraph(cell string) string {
	m := paragraph.FindStringSubmatch(cell)
	if m == nil {
		return ""
	}
	text := html.UnescapeString(anyTag.ReplaceAllString(mathAlt.ReplaceAllString(m[1], "$1"), ""))
	text = strings.Join(strings.Fields(text), " ")
	if s := sentence.FindStringSubmatch(text); s != nil {
		return strings.TrimSpace(s[1])
	}
	return humanize.Shorten(text, 200)
}
