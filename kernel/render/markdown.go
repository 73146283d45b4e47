package render

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/lectern-go/lectern/kernel/render/mathml"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown returns Markdown as HTML that stays within the element that it is put
// into. Headings enter the page's contents unless the cell is folded.
func (p *page) markdown(source string) string {
	options := []goldmark.Option{
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify, extension.TaskList,
			extension.NewFootnote(extension.WithFootnoteIDPrefix("cell-"+p.cell.ID+"-"))),
		goldmark.WithParserOptions(formulas()...),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(transformer{p}, 1000))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{p}, 10))),
	}
	if p.site.language != nil { // a line that ends within Chinese leaves no space
		options = append(options, goldmark.WithExtensions(extension.NewCJK(extension.WithEastAsianLineBreaks())))
	}
	md := goldmark.New(options...)
	var b bytes.Buffer
	src := []byte(lineEnds(source))
	if err := md.Convert(src, &b); err != nil {
		p.problem(0, "Markdown: %v", err)
	}
	return balance(b.String())
}

func lineEnds(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
}

// reserved are ids that the page itself uses.
var reserved = regexp.MustCompile(`^(main|lessons|contents|search|results|said|lectern-.*|cell-.*|output-.*|figure-\d+)$`)

// headingID gives a heading an id that is unique on the page.
func (p *page) headingID(text string) string {
	id := slug(text)
	if id == "" {
		id = "section"
	}
	if reserved.MatchString(id) {
		id = "section-" + id
	}
	for n, base := 1, id; p.ids[id]; n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	p.ids[id] = true
	return id
}

// slug is the readable id of a heading: its letters and digits in lower case,
// joined by dashes. Links written for JupyterLab (#My-Heading) lead there too.
func slug(s string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(s) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		case r == '\'' || r == '’' || r == '`' || r == '*' || r == '$':
		default:
			dash = true
		}
	}
	return b.String()
}

// wrapper puts an element around a block, for example to let a table scroll.
type wrapper struct {
	ast.BaseBlock
	open, close string
}

var kindWrapper = ast.NewNodeKind("Wrapper")

func (n *wrapper) Kind() ast.NodeKind            { return kindWrapper }
func (n *wrapper) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// transformer checks links and wraps tables, once a cell is parsed.
type transformer struct{ p *page }

func (tr transformer) Transform(doc *ast.Document, reader text.Reader, pc parser.Context) {
	source := reader.Source()
	tr.p.markForeign(doc, source)
	var tables, dead []ast.Node
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			dest, ok := tr.p.link(string(n.Destination))
			if !ok {
				dead = append(dead, n)
			}
			n.Destination = []byte(dest)
		case *ast.AutoLink:
			n.SetAttributeString("class", []byte("url")) // its text is its address: paper need not repeat it
			if n.AutoLinkType == ast.AutoLinkEmail {
				break
			}
			if _, ok := tr.p.link(string(n.URL(source))); !ok {
				dead = append(dead, n)
			}
		case *extast.Table:
			tables = append(tables, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range tables {
		w := &wrapper{open: `<div class="scroll">`, close: "</div>\n"}
		parent := n.Parent()
		parent.InsertBefore(parent, n, w)
		w.AppendChild(w, n)
	}
	for _, n := range dead { // its text stays
		parent := n.Parent()
		if a, ok := n.(*ast.AutoLink); ok {
			parent.InsertBefore(parent, n, ast.NewString(a.Label(source)))
		}
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			parent.InsertBefore(parent, n, c)
		}
		parent.RemoveChild(parent, n)
	}
}

// link returns where a link of a lesson leads on the site; ok is false if it
// must not be a link at all.
func (p *page) link(dest string) (string, bool) {
	if dangerous(dest) {
		p.warn(0, "the link %q runs a script and was left out", dest)
		return "", false
	}
	u, err := url.Parse(dest)
	if err != nil {
		p.warn(0, "the link %q is not a URL and was left out", dest)
		return "", false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "mailto":
		return dest, true
	case "":
	default:
		p.warn(0, "the link %q has a scheme that pages do not follow and was left out", dest)
		return "", false
	}
	if u.Host != "" {
		return "https:" + dest, true
	}
	target := p
	if u.Path != "" {
		base := path.Base(u.Path)
		target = p.site.byNotebook[base]
		if target == nil || path.Dir(path.Clean(u.Path)) != "." {
			p.warn(0, "the link %q leads to a file that is not on the site and was left out", dest)
			return "", false
		}
	}
	out := ""
	if target != p {
		out = url.PathEscape(target.out)
	}
	if u.Fragment != "" {
		frag := u.Fragment
		if !strings.HasPrefix(frag, "cell-") {
			frag = slug(frag)
		}
		p.targets = append(p.targets, anchor{p.place(0), target, frag, dest})
		out += "#" + url.PathEscape(frag)
	}
	if out == "" {
		out = "#main"
	}
	return out, true
}

// resource maps what raw HTML in Markdown loads or links to.
func (p *page) resource(tag, attr, dest string) string {
	if attr == "href" || attr == "xlink:href" {
		if tag != "a" { // within an SVG, where it is no link
			if strings.HasPrefix(dest, "#") {
				return dest
			}
			p.warn(0, "<%s> refers to %q, which a page does not load; it was left out", tag, shorten(dest))
			return ""
		}
		out, _ := p.link(dest)
		return out
	}
	return p.image(dest)
}

// nodes renders what this package adds to Markdown or draws in its own way.
type nodes struct{ p *page }

func (r nodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindFormula, r.formula)
	reg.Register(kindFormulaBlock, r.formulaBlock)
	reg.Register(kindWrapper, r.wrapper)
	reg.Register(ast.KindHeading, r.heading)
	reg.Register(ast.KindFencedCodeBlock, r.fenced)
	reg.Register(ast.KindCodeBlock, r.indented)
	reg.Register(ast.KindImage, r.image)
	reg.Register(extast.KindTaskCheckBox, r.task)
	reg.Register(ast.KindHTMLBlock, r.htmlBlock)
	reg.Register(ast.KindRawHTML, r.rawHTML)
}

func (r nodes) wrapper(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(n.(*wrapper).open)
	} else {
		w.WriteString(n.(*wrapper).close)
	}
	return ast.WalkContinue, nil
}

func (r nodes) formula(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if f := n.(*formula); entering {
		ml := r.p.formula(f.latex, f.display, source, f.offset)
		if f.display {
			ml = `<span class="display">` + ml + `</span>`
		}
		w.WriteString(ml)
	}
	return ast.WalkSkipChildren, nil
}

func (r nodes) formulaBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if f := n.(*formulaBlock); entering {
		switch {
		case !f.done:
			r.p.problem(lineOf(source, f.offset), "this $$ is never closed")
		case f.after != "":
			r.p.problem(lineOf(source, f.offset), "%q follows the closing $$; put it on a line of its own", f.after)
		}
		w.WriteString(`<div class="display">` + r.p.formula(f.latex.String(), true, source, f.offset) + "</div>\n")
	}
	return ast.WalkSkipChildren, nil
}

func lineOf(source []byte, offset int) int {
	return 1 + bytes.Count(source[:min(max(offset, 0), len(source))], []byte("\n"))
}

// formula converts LaTeX, or records why it cannot.
func (p *page) formula(latex string, display bool, source []byte, offset int) string {
	ml, err := mathml.Convert(latex, display)
	if err != nil {
		line := 0
		if source != nil {
			line = lineOf(source, offset)
			var e *mathml.Error
			if errors.As(err, &e) {
				l, _ := e.Position()
				line += l - 1
			}
		}
		p.problem(line, "formula: %v", err)
		return "<code>" + html.EscapeString(latex) + "</code>"
	}
	return ml
}

// heading draws a heading with a link to itself. A page has one first-level
// heading, the lesson's title; later ones become second-level.
func (r nodes) heading(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Heading)
	p := r.p
	if !entering {
		id, _ := n.AttributeString("id")
		fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-hidden="true" tabindex="-1">#</a></h%d>`+"\n", id, n.Level)
		return ast.WalkContinue, nil
	}
	inline := p.inline(n, source)
	place, ok := p.englishHeading(p.heading)
	if !ok {
		place = plainText(n, source)
	}
	p.heading++
	id := p.headingID(place)
	n.SetAttributeString("id", id)
	if n.Level == 1 && p.title == "" && !p.folded {
		p.title, p.titleHTML = plainText(n, source), inline
		p.titleID = id
	} else {
		n.Level = max(2, n.Level)
		if !p.folded {
			p.toc = append(p.toc, entry{level: n.Level, id: id, html: inline, text: plainText(n, source)})
		}
	}
	foreign := ""
	if lang, ok := n.AttributeString("lang"); ok {
		foreign = fmt.Sprintf(` lang="%s" class="english"`, lang)
	}
	fmt.Fprintf(w, `<h%d id="%s"%s>`, n.Level, html.EscapeString(id), foreign)
	return ast.WalkContinue, nil
}

// inline is a heading's content for the contents: code and formulas, no links.
func (p *page) inline(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(html.EscapeString(string(util.UnescapePunctuations(c.Segment.Value(source)))))
			if c.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.WriteString(html.EscapeString(string(c.Value)))
		case *ast.CodeSpan:
			b.WriteString("<code>" + html.EscapeString(plainText(c, source)) + "</code>")
		case *formula:
			if ml, err := mathml.Convert(c.latex, false); err == nil {
				b.WriteString(ml)
			}
		case *ast.RawHTML, *ast.Image:
		default:
			b.WriteString(p.inline(c, source))
		}
	}
	return b.String()
}

// plainText is the text of a node without any markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			v := c.Segment.Value(source)
			if n.Kind() != ast.KindCodeSpan {
				v = util.UnescapePunctuations(v)
			}
			b.Write(v)
			if c.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *formula:
			b.WriteString(c.latex)
		case *ast.RawHTML, *ast.Image:
		default:
			b.WriteString(plainText(c, source))
		}
	}
	return b.String()
}

func (r nodes) fenced(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(codeBlock(string(n.(*ast.FencedCodeBlock).Language(source)), linesOf(n, source)) + "\n")
	}
	return ast.WalkSkipChildren, nil
}

func (r nodes) indented(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(codeBlock("", linesOf(n, source)) + "\n")
	}
	return ast.WalkSkipChildren, nil
}

func linesOf(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		b.Write(s.Value(source))
	}
	return b.String()
}

// task draws the box of a task list, with a name for those who hear the page.
func (r nodes) task(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		if n.(*extast.TaskCheckBox).IsChecked {
			w.WriteString(`<input type="checkbox" aria-label="` + r.p.site.say("done") + `" checked disabled> `)
		} else {
			w.WriteString(`<input type="checkbox" aria-label="` + r.p.site.say("to do") + `" disabled> `)
		}
	}
	return ast.WalkContinue, nil
}

func (r nodes) htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.HTMLBlock)
	if entering {
		src := linesOf(n, source)
		if n.HasClosure() {
			src += string(n.ClosureLine.Value(source))
		}
		if m := exploreMark.FindStringSubmatch(src); m != nil {
			w.WriteString(r.p.explorer(m[1]))
			return ast.WalkSkipChildren, nil
		}
		w.WriteString(r.p.markdownHTML(src))
	}
	return ast.WalkSkipChildren, nil
}

func (r nodes) rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		n := node.(*ast.RawHTML)
		var b strings.Builder
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			b.Write(s.Value(source))
		}
		w.WriteString(r.p.markdownHTML(b.String()))
	}
	return ast.WalkSkipChildren, nil
}

func (p *page) markdownHTML(src string) string {
	f := filter{markdown: true, strict: p.site.options.Untrusted, ids: "cell-" + p.cell.ID + "-own-", resolve: p.resource, check: p.checkAlt}
	return f.run(src)
}
