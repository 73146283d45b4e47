package show

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
)

// What follows shows values whose types have no word in it. Types of other packages are known by their methods and
// names: a cell must not link a package just because its values could be shown.

const (
	maxRows   = 1000 // of a table
	maxCell   = 60   // characters of a value in a table
	treeLines = 10   // a struct or map with fewer lines of text is shown as that
	corner    = 10   // rows and columns that are shown of each side of a large matrix
)

// bundleOf returns the pairs of MIME type and data, which Jupyter calls a bundle, for a value that is shown
// in a usual way, or nil for all others.
func bundleOf(v any) []string {
	if isNil(v) {
		return nil
	}
	switch x := v.(type) {
	case []byte:
		return picture(x)
	case interface{ HTML() string }, interface{ SVG() string }, interface{ Markdown() string }:
		return nil
	case error:
		return chain(x)
	case interface {
		Dims() (r, c int)
		At(i, j int) float64
	}:
		if hasText(v) {
			return nil
		}
		return matrix(x)
	}
	if hasText(v) {
		return nil
	}
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.String && t.PkgPath() == "html/template" && t.Name() == "HTML" {
		s := reflect.ValueOf(v).String()
		return []string{"text/html", s, "text/plain", htmlText(s)}
	}
	if pairs := plotted(v); pairs != nil {
		return pairs
	}
	if rows := reflect.ValueOf(v); (rows.Kind() == reflect.Slice || rows.Kind() == reflect.Array) && rows.Len() > 1 {
		return structTable(addressable(rows))
	}
	return tree(v)
}

// picture shows the bytes of an image file.
func picture(b []byte) []string {
	kind, mime, w, h := "", "", 0, 0
	s := string(b[:min(len(b), 1024)])
	switch {
	case strings.HasPrefix(s, "\x89PNG\r\n\x1a\n") && len(b) > 24:
		kind, mime = "PNG", "image/png"
		w, h = int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
	case strings.HasPrefix(s, "\xff\xd8\xff"):
		kind, mime = "JPEG", "image/jpeg"
		w, h = jpegSize(b)
	case (strings.HasPrefix(s, "GIF87a") || strings.HasPrefix(s, "GIF89a")) && len(b) > 10:
		kind, mime = "GIF", "image/gif"
		w, h = int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:]))
	default:
		text := strings.TrimSpace(s)
		if strings.HasPrefix(text, "<svg") || strings.HasPrefix(text, "<?xml") && strings.Contains(s, "<svg") {
			return []string{"image/svg+xml", string(b), "text/plain", svgText(string(b))}
		}
		return nil
	}
	about := kind + " image"
	if w > 0 && h > 0 {
		about += fmt.Sprintf(", %d × %d pixels", w, h)
	}
	return []string{"text/html", `<img src="data:` + mime + `;base64,` + base64.StdEncoding.EncodeToString(b) + `" alt="` + about + `" style="max-width:100%">`, "text/plain", about}
}

// jpegSize reads the size from the header of a frame.
func jpegSize(b []byte) (w, h int) {
	for i := 2; i+9 < len(b) && b[i] == 0xff; {
		marker, n := b[i+1], int(binary.BigEndian.Uint16(b[i+2:]))
		if marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc {
			return int(binary.BigEndian.Uint16(b[i+7:])), int(binary.BigEndian.Uint16(b[i+5:]))
		}
		i += 2 + n
	}
	return 0, 0
}

// plotted draws gonum's *plot.Plot, or what draws itself like one.
func plotted(v any) (pairs []string) {
	method := reflect.ValueOf(v).MethodByName("WriterTo")
	if !method.IsValid() {
		return nil
	}
	t := method.Type()
	if t.NumIn() != 3 || t.NumOut() != 2 || t.In(0).Kind() != reflect.Float64 || t.In(1).Kind() != reflect.Float64 || t.In(2).Kind() != reflect.String ||
		!t.Out(0).Implements(reflect.TypeFor[io.WriterTo]()) {
		return nil
	}
	defer func() {
		if r := recover(); r != nil { // it can't be drawn yet
			pairs = nil
		}
	}()
	const inch = 72 // points
	out := method.Call([]reflect.Value{reflect.ValueOf(5.5 * inch).Convert(t.In(0)), reflect.ValueOf(3.5 * inch).Convert(t.In(1)), reflect.ValueOf("svg").Convert(t.In(2))})
	w, ok := out[0].Interface().(io.WriterTo)
	var b strings.Builder
	if !out[1].IsNil() || !ok {
		return nil
	}
	if _, err := w.WriteTo(&b); err != nil {
		return nil
	}
	title := "a plot"
	if f := reflect.Indirect(reflect.ValueOf(v)); f.Kind() == reflect.Struct {
		if f = f.FieldByName("Title"); f.IsValid() && f.Kind() == reflect.Struct {
			if f = f.FieldByName("Text"); f.IsValid() && f.Kind() == reflect.String && f.String() != "" {
				title = f.String()
			}
		}
	}
	return []string{"image/svg+xml", b.String(), "text/plain", "figure: " + title}
}

// matrix shows numbers in rows and columns, only the corners if there are many.
func matrix(m interface {
	Dims() (r, c int)
	At(i, j int) float64
}) []string {
	r, c := m.Dims()
	pick := func(n int) (list []int) {
		for i := range n {
			if n <= 2*corner || i < corner || i >= n-corner {
				list = append(list, i)
			} else if i == corner {
				list = append(list, -1)
			}
		}
		return list
	}
	t := table{}
	t.header = append(t.header, fmt.Sprintf("%d × %d", r, c))
	for _, j := range pick(c) {
		if j < 0 {
			t.header = append(t.header, "…")
		} else {
			t.header = append(t.header, strconv.Itoa(j))
		}
	}
	for _, i := range pick(r) {
		var row []any
		if i < 0 {
			row = append(row, "…")
		} else {
			row = append(row, i)
		}
		for _, j := range pick(c) {
			switch {
			case i < 0 || j < 0:
				row = append(row, "…")
			default:
				row = append(row, numeral4(m.At(i, j)))
			}
		}
		t.rows = append(t.rows, row)
	}
	return []string{"text/html", t.HTML(), "text/plain", t.String()}
}

// numeral4 is a number with at most five digits, as text that is aligned right.
type numeral4 float64

func (n numeral4) String() string { return strconv.FormatFloat(float64(n), 'g', 5, 64) }

// structTable shows a slice of structs, or of pointers to them; nil for all others.
func structTable(rows reflect.Value) []string {
	e := rows.Type().Elem()
	pointer := e.Kind() == reflect.Pointer
	if pointer {
		e = e.Elem()
	}
	if e.Kind() != reflect.Struct || e.NumField() == 0 {
		return nil
	}
	for _, t := range []reflect.Type{e, reflect.PointerTo(e)} { // they say how they look
		for _, look := range []reflect.Type{reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[error](), reflect.TypeFor[interface{ HTML() string }](),
			reflect.TypeFor[interface{ SVG() string }](), reflect.TypeFor[interface{ Markdown() string }]()} {
			if t.Implements(look) {
				return nil
			}
		}
	}
	var b strings.Builder
	b.WriteString(`<table class="lectern-table"><thead><tr><th scope="col"></th>`)
	for i := range e.NumField() {
		b.WriteString(`<th scope="col" tabindex="0" aria-sort="none" style="cursor:pointer">` + escape(e.Field(i).Name) + `</th>`)
	}
	b.WriteString("</tr></thead><tbody>\n")
	p := printer{}
	for i := range min(rows.Len(), maxRows) {
		row := rows.Index(i)
		if pointer {
			if row.IsNil() {
				fmt.Fprintf(&b, "<tr><th scope=\"row\">%d</th><td colspan=\"%d\">nil</td></tr>\n", i, e.NumField())
				continue
			}
			row = row.Elem()
		}
		fmt.Fprintf(&b, `<tr><th scope="row">%d</th>`, i)
		for f := range e.NumField() {
			field := row.Field(f)
			field = reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem()
			text := p.inline(field)
			if field.Kind() == reflect.String {
				if _, has := own(field); !has {
					text = field.String()
				}
			}
			if r := []rune(text); len(r) > maxCell {
				text = string(r[:maxCell-1]) + "…"
			}
			b.WriteString(`<td style="text-align:` + side(field.CanInt() || field.CanUint() || field.CanFloat()) + `">` + escape(text) + "</td>")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>")
	if n := rows.Len(); n > maxRows {
		fmt.Fprintf(&b, "<p>the first %d of %s</p>", maxRows, humanize.Count(n, "row"))
	}
	b.WriteString(sorting)
	return []string{"text/html", b.String(), "text/plain", p.value(rows, 0, true)}
}

// sorting lets a reader sort the table before it, by a click on a column's name or with the keyboard.
// Without scripts the table is as it was.
const sorting = `<script>(() => {
const table = document.currentScript && document.currentScript.parentElement.querySelector("table.lectern-table");
if (!table) return;
const heads = [...table.tHead.rows[0].cells].slice(1);
heads.forEach((head, i) => {
  const sort = () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(h => h.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => row.cells[i + 1] ? row.cells[i + 1].textContent : "";
    const rows = [...table.tBodies[0].rows].sort((a, b) => key(a).localeCompare(key(b), undefined, {numeric: true}));
    const number = row => Number(key(row).trim().replace("Inf", "Infinity") || "none");
    if (rows.every(r => key(r) === "NaN" || !isNaN(number(r))))
      rows.sort((a, b) => isNaN(number(a)) - isNaN(number(b)) || (number(a) < number(b) ? -1 : number(a) > number(b)));
    if (!up) rows.reverse();
    table.tBodies[0].append(...rows);
  };
  head.onclick = sort;
  head.onkeydown = e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); sort(); } };
});
})()</script>`

// chain shows an error and what it wraps; nil if that is one error or none, which its text says well enough.
func chain(err error) []string {
	var b strings.Builder
	n := 0
	var list func(err error, depth int)
	list = func(err error, depth int) {
		if err == nil || depth > 50 {
			return
		}
		n++
		b.WriteString("<li><code>" + escape(typeName(reflect.TypeOf(err))) + "</code> " + escape(err.Error()))
		var inner []error
		if u := errors.Unwrap(err); u != nil {
			inner = []error{u}
		} else if u, ok := err.(interface{ Unwrap() []error }); ok {
			inner = u.Unwrap()
		}
		if len(inner) > 0 {
			b.WriteString("<ul>")
			for _, e := range inner {
				list(e, depth+1)
			}
			b.WriteString("</ul>")
		}
		b.WriteString("</li>")
	}
	if list(err, 0); n < 3 {
		return nil
	}
	return []string{"text/html", "<pre>" + escape(err.Error()) + "</pre>\n<details><summary>" + fmt.Sprint(n) + " errors, one inside another</summary><ul>" + b.String() + "</ul></details>",
		"text/plain", err.Error()}
}

// tree shows a struct or map that takes many lines as a tree that opens and closes; nil for all others.
func tree(v any) []string {
	rv := addressable(reflect.ValueOf(v))
	for rv.Kind() == reflect.Pointer {
		rv = rv.Elem()
	}
	if rv.Kind() != reflect.Struct && rv.Kind() != reflect.Map {
		return nil
	}
	p := printer{}
	text := p.value(addressable(reflect.ValueOf(v)), 0, true)
	if strings.Count(text, "\n") < treeLines {
		return nil
	}
	return []string{"text/html", `<div class="lectern-tree" style="font-family:monospace;white-space:pre-wrap">` + fold(text) + `</div>`, "text/plain", text}
}

// fold makes a tree of a value's text: what is between a line that ends with an opening bracket and the one that
// closes it is folded, except the outermost.
func fold(text string) string {
	var b strings.Builder
	depth := 0
	lines := strings.Split(text, "\n")
	quoted := false // inside a string of several lines
	for i, l := range lines {
		trimmed := strings.TrimSpace(l)
		head, _, _ := strings.Cut(trimmed, " // ")
		switch {
		case !quoted && strings.HasSuffix(head, "{") && i+1 < len(lines):
			open := ""
			if depth == 0 {
				open = " open"
			}
			b.WriteString(`<details` + open + ` style="margin-left:` + fmt.Sprint(min(depth, 1)*2) + `ch"><summary>` + escape(trimmed) + "</summary>")
			depth++
		case !quoted && depth > 0 && (trimmed == "}" || trimmed == "},"):
			depth--
			b.WriteString(escape(trimmed) + "</details>")
		default:
			if quoted {
				trimmed = l
			}
			b.WriteString(`<div style="margin-left:` + fmt.Sprint(min(depth, 1)*2) + `ch">` + escape(trimmed) + "</div>")
		}
		if strings.Count(l, "`")%2 == 1 {
			quoted = !quoted
		}
	}
	b.WriteString(strings.Repeat("</details>", depth))
	return b.String()
}
