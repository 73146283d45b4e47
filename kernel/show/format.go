package show

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/humanize"
)

const (
	lineWidth = 96  // longer composite values are broken into lines
	maxItems  = 100 // longer slices and maps are cut in the middle
	headItems = 20
	tailItems = 5
	maxDepth  = 8
	maxString = 4000
)

// Format returns v in readable Go form: what a programmer would write, with its own String or Error method where it
// has one. Types of the notebook are named without "main."; long slices and strings are cut in the middle; a value
// that contains itself ends in an ellipsis.
func Format(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return quote(v)
	}
	return (&printer{}).value(addressable(reflect.ValueOf(v)), 0, true)
}

// formatHead is Format, of which only as many characters as given, not counting space, have to be right; the rest may
// be missing.
func formatHead(v any, characters int) string {
	if v == nil {
		return "nil"
	} else if s, ok := v.(string); ok {
		return quote(s)
	}
	return (&printer{head: max(characters, lineWidth)}).value(addressable(reflect.ValueOf(v)), 0, true)
}

// addressable returns a copy of v whose fields can be read by methods, exported or not.
func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

type printer struct {
	open []reflect.Value // pointers, slices and maps that are being printed
	flat bool            // no line breaks: we are measuring or inside a line
	head int             // how many characters of the text are wanted, 0 for all
}

// value prints v, indented by depth tabs where it needs several lines; typed puts the type before a composite value.
func (p *printer) value(v reflect.Value, depth int, typed bool) string {
	if s, ok := own(v); ok {
		return s
	}
	t := v.Type()
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		s := fmt.Sprint(plain(v))
		if typed && t.PkgPath() != "" {
			return typeName(t) + "(" + s + ")"
		}
		return s
	case reflect.String:
		if typed && t.PkgPath() != "" {
			return typeName(t) + "(" + quote(v.String()) + ")"
		}
		return quote(v.String())
	case reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return p.value(addressable(v.Elem()), depth, true)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if v.IsNil() {
			return "nil"
		}
		if v.Kind() == reflect.Chan && v.Cap() > 0 {
			return fmt.Sprintf("%s // holds %d of %d", typeName(t), v.Len(), v.Cap())
		}
		return typeName(t)
	}
	if isNilable(v) && v.IsNil() {
		if v.Kind() == reflect.Pointer || !typed {
			return "nil"
		}
		return typeName(t) + "(nil)"
	}
	if len(p.open) >= maxDepth || p.contains(v) {
		if v.Kind() == reflect.Pointer {
			return "&" + typeName(t.Elem()) + "{…}"
		}
		return typeName(t) + "{…}"
	}
	if isNilable(v) {
		p.open = append(p.open, v)
		defer func() { p.open = p.open[:len(p.open)-1] }()
	}
	switch v.Kind() {
	case reflect.Pointer:
		e := v.Elem()
		if s, ok := own(e); ok {
			return s
		}
		return "&" + p.value(e, depth, typed)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice && v.Len() > 0 && t.Elem().PkgPath() == "" {
			if s, ok := textOf(v.Bytes()); ok {
				return typeName(t) + "(" + quoted(s, v.Len()) + ")"
			}
		}
		return p.list(v, depth, typed, v.Len(), func(i int) (string, reflect.Value) { return "", v.Index(i) })
	case reflect.Map:
		type entry struct{ key, value reflect.Value }
		var entries []entry
		for it := v.MapRange(); it.Next(); { // not by key: NaN finds nothing
			entries = append(entries, entry{it.Key(), it.Value()})
		}
		slices.SortStableFunc(entries, func(a, b entry) int { return compareKeys(a.key, b.key) })
		return p.list(v, depth, typed, len(entries), func(i int) (string, reflect.Value) {
			return p.inline(addressable(entries[i].key)) + ": ", addressable(entries[i].value)
		})
	case reflect.Struct:
		return p.list(v, depth, typed, v.NumField(), func(i int) (string, reflect.Value) {
			f := v.Field(i)
			return t.Field(i).Name + ": ", reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
		})
	}
	return fmt.Sprint(plain(v))
}

// list prints the n elements of a composite value, on one line if they fit.
func (p *printer) list(v reflect.Value, depth int, typed bool, n int, at func(int) (label string, value reflect.Value)) string {
	t := v.Type()
	name, note := "", ""
	if typed {
		name = typeName(t)
	}
	cut := n > maxItems && v.Kind() != reflect.Struct
	if cut {
		note = fmt.Sprintf(" // %s", humanize.Count(n, "element"))
	}
	elementTyped := v.Kind() == reflect.Struct || t.Elem().Kind() == reflect.Interface
	var items []string
	scalars, written := true, 0
	for i := 0; i < n && (p.head == 0 || written <= p.head); i++ {
		if cut && i == headItems {
			items = append(items, "…")
			i = n - tailItems
		}
		label, e := at(i)
		item := label + p.value(e, depth+1, elementTyped)
		items = append(items, item)
		if p.head > 0 {
			written += ink(item)
		}
		scalars = scalars && label == "" && !isComposite(e.Kind())
	}
	one := name + "{" + strings.Join(items, ", ") + "}" + note
	if p.flat || len(one)+4*depth <= lineWidth && !strings.Contains(one, "\n") {
		return one
	}
	pad := strings.Repeat("    ", depth+1)
	var b strings.Builder
	b.WriteString(name + "{" + note + "\n")
	width := 0
	for i, s := range items {
		switch {
		case width == 0 || !scalars || width+len(s) > lineWidth:
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(pad)
			width = len(pad)
		default:
			b.WriteByte(' ')
		}
		b.WriteString(s + ",")
		width += len(s) + 2
	}
	b.WriteString("\n" + strings.Repeat("    ", depth) + "}")
	return b.String()
}

// ink counts the characters of a text that aren't space.
func ink(s string) (n int) {
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// inline prints v on one line.
func (p *printer) inline(v reflect.Value) string {
	was := p.flat
	p.flat = true
	defer func() { p.flat = was }()
	return p.value(v, 0, false)
}

func (p *printer) contains(v reflect.Value) bool {
	for _, o := range p.open {
		if o.Kind() == v.Kind() && o.Type() == v.Type() && o.UnsafePointer() == v.UnsafePointer() && (v.Kind() != reflect.Slice || o.Len() == v.Len() && v.Len() > 0) {
			return true
		}
	}
	return false
}

// own returns the text that the value's type gives it. A panic inside it leaves the value to us.
func own(v reflect.Value) (s string, ok bool) {
	if isNilable(v) && v.IsNil() || !v.CanInterface() {
		return "", false
	}
	defer func() {
		if recover() != nil {
			s, ok = "", false
		}
	}()
	switch x := v.Interface().(type) {
	case error:
		return x.Error(), true
	case fmt.Stringer:
		return x.String(), true
	}
	if v.CanAddr() && v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
		switch x := v.Addr().Interface().(type) { // a method on the pointer, called on a copy
		case error:
			return x.Error(), true
		case fmt.Stringer:
			return x.String(), true
		}
	}
	return "", false
}

// plain strips a named basic type of its methods.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return v.Uint()
	case reflect.Float32:
		return float32(v.Float())
	case reflect.Float64:
		return v.Float()
	case reflect.Complex64:
		return complex64(v.Complex())
	case reflect.Complex128:
		return v.Complex()
	}
	return v.Type().String()
}

func isNilable(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		return true
	}
	return false
}

func isComposite(k reflect.Kind) bool {
	switch k {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer, reflect.Interface:
		return true
	}
	return false
}

func compareKeys(a, b reflect.Value) int {
	if a.Kind() == b.Kind() {
		switch {
		case a.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		case a.CanUint():
			return cmp.Compare(a.Uint(), b.Uint())
		case a.CanFloat():
			return cmp.Compare(a.Float(), b.Float())
		case a.Kind() == reflect.String:
			return strings.Compare(a.String(), b.String())
		}
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// Of more bytes than longBytes, which may lie in a file that is mapped, only the first and the last bytesEnd are read.
const (
	bytesEnd  = 1 << 16
	longBytes = 16 * bytesEnd
)

// textOf returns bytes as a string if they are text; of very many, their ends.
func textOf(b []byte) (s string, ok bool) {
	if len(b) > longBytes {
		head, tail := b[:bytesEnd], b[len(b)-bytesEnd:]
		for i := 0; i < utf8.UTFMax && !utf8.Valid(head); i++ { // it may end within a character
			head = head[:len(head)-1]
		}
		for i := 0; i < utf8.UTFMax && !utf8.RuneStart(tail[0]); i++ {
			tail = tail[1:]
		}
		b = slices.Concat(head, tail)
	}
	if !utf8.Valid(b) {
		return "", false
	}
	s = string(b)
	return s, !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' })
}

// quote writes a string as Go does, in back quotes if that saves escapes over several lines.
func quote(s string) string { return quoted(s, len(s)) }

// quoted is quote for a text of n bytes, of which s may lack some in the middle.
func quoted(s string, n int) string {
	note := ""
	if len(s) > maxString {
		i, j := maxString/2, len(s)-maxString/8
		for !utf8.RuneStart(s[i]) {
			i--
		}
		for !utf8.RuneStart(s[j]) {
			j--
		}
		note = fmt.Sprintf(" // %d bytes", n)
		s = s[:i] + "…" + s[j:]
	}
	if strings.Count(s, "\n") > 1 && strconv.CanBackquote(strings.ReplaceAll(s, "\n", "")) {
		return "`" + s + "`" + note
	}
	return strconv.Quote(s) + note
}

// typeName is the type as the notebook's author writes it.
func typeName(t reflect.Type) string {
	s := strings.ReplaceAll(stripMain(t.String()), "interface {}", "any")
	if rest, ok := strings.CutPrefix(s, "[]uint8"); ok {
		s = "[]byte" + rest
	}
	return s
}

// stripMain removes the package name main, and only that: not the end of "domain.Name".
func stripMain(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "main.")
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		if i > 0 && (isLetter(s[i-1]) || s[i-1] == '/') {
			b.WriteString("main.")
		}
		s = s[i+len("main."):]
	}
}

func isLetter(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
