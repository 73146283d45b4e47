package measure

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"slices"
	"strings"
)

// A stack is a list of functions, the outermost first, and the time that was spent in the last of them.
type stack struct {
	functions []string
	ns        int64
}

var errProfile = errors.New("the profile can't be read")

// message calls f for each field of a message in Google's protocol buffers: with a number, or with bytes.
func message(b []byte, f func(field int, n uint64, bytes []byte) error) error {
	for len(b) > 0 {
		key, k := varint(b)
		if k == 0 {
			return errProfile
		}
		b = b[k:]
		switch key & 7 {
		case 0:
			n, k := varint(b)
			if k == 0 {
				return errProfile
			}
			b = b[k:]
			if err := f(int(key>>3), n, nil); err != nil {
				return err
			}
		case 2:
			n, k := varint(b)
			if k == 0 || n > uint64(len(b)-k) {
				return errProfile
			}
			if err := f(int(key>>3), 0, b[k:k+int(n)]); err != nil {
				return err
			}
			b = b[k+int(n):]
		default: // none in profiles
			return errProfile
		}
	}
	return nil
}

// varint reads a number and returns how many bytes it has, 0 if it is cut off.
func varint(b []byte) (n uint64, size int) {
	for i, x := range b {
		if i == 10 {
			break
		}
		n |= uint64(x&0x7f) << (7 * i)
		if x < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

// numbers reads a repeated number, packed or alone.
func numbers(list []uint64, n uint64, packed []byte) []uint64 {
	if packed == nil {
		return append(list, n)
	}
	for len(packed) > 0 {
		n, k := varint(packed)
		if k == 0 {
			break
		}
		list, packed = append(list, n), packed[k:]
	}
	return list
}

// readProfile reads a CPU profile as package runtime/pprof writes it.
func readProfile(zipped []byte) ([]stack, error) {
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, errProfile
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil, errProfile
	}
	type sample struct{ locations, values []uint64 }
	var samples []sample
	lines := map[uint64][]uint64{} // the functions of a location, the innermost first
	names := map[uint64]uint64{}
	var text []string
	err = message(b, func(field int, n uint64, m []byte) error {
		switch field {
		case 2:
			var s sample
			err := message(m, func(field int, n uint64, m []byte) error {
				switch field {
				case 1:
					s.locations = numbers(s.locations, n, m)
				case 2:
					s.values = numbers(s.values, n, m)
				}
				return nil
			})
			samples = append(samples, s)
			return err
		case 4:
			var id uint64
			var functions []uint64
			err := message(m, func(field int, n uint64, m []byte) error {
				switch field {
				case 1:
					id = n
				case 4:
					return message(m, func(field int, n uint64, _ []byte) error {
						if field == 1 {
							functions = append(functions, n)
						}
						return nil
					})
				}
				return nil
			})
			lines[id] = functions
			return err
		case 5:
			var id uint64
			return message(m, func(field int, n uint64, _ []byte) error {
				switch field {
				case 1:
					id = n
				case 2:
					names[id] = n
				}
				return nil
			})
		case 6:
			text = append(text, string(m))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var stacks []stack
	for _, s := range samples {
		var st stack
		for _, l := range s.locations {
			for _, f := range lines[l] {
				if n := names[f]; n < uint64(len(text)) {
					st.functions = append(st.functions, text[n])
				}
			}
		}
		slices.Reverse(st.functions)
		if len(s.values) > 0 && len(st.functions) > 0 {
			st.ns = int64(s.values[len(s.values)-1])
			st.functions = tidy(st.functions)
			stacks = append(stacks, st)
		}
	}
	return stacks, nil
}

// tidy leaves out what surrounds every cell.
func tidy(functions []string) []string {
	for i, f := range functions {
		if strings.HasSuffix(f, "show/measure.Profile") || strings.HasSuffix(f, "show/measure.Profile.func1") {
			if i+1 < len(functions) && strings.HasPrefix(functions[i+1], "main.main.") {
				functions = append([]string{"the cell"}, functions[i+2:]...)
				return functions
			}
		}
	}
	return functions
}

// A frame is a function in the flame graph, below the one that called it.
type frame struct {
	name  string
	ns    int64
	calls map[string]*frame
}

const (
	width     = 720
	rowHeight = 18
	maxDepth  = 60
)

// flame draws stacks: each function as wide as the time that was spent in it and in what it called, which is drawn
// above it. Names that have no room are in the tooltips.
func flame(stacks []stack) string {
	root := &frame{name: "all", calls: map[string]*frame{}}
	depth := 0
	for _, s := range stacks {
		root.ns += s.ns
		at := root
		for i, name := range s.functions[:min(len(s.functions), maxDepth)] {
			next := at.calls[name]
			if next == nil {
				next = &frame{name: name, calls: map[string]*frame{}}
				at.calls[name] = next
			}
			next.ns += s.ns
			at = next
			depth = max(depth, i+1)
		}
	}
	height := (depth + 1) * rowHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" font-family="sans-serif" font-size="11">`, width, height)
	fmt.Fprintf(&b, "<title>Flame graph of %s of processor time: %s</title>\n", duration(float64(root.ns)), html.EscapeString(most(root)))
	var draw func(f *frame, x float64, level int)
	draw = func(f *frame, x float64, level int) {
		w := float64(f.ns) / float64(root.ns) * width
		if w < 0.5 {
			return
		}
		y := height - (level+1)*rowHeight
		label := fmt.Sprintf("%s: %s, %.1f %%", f.name, duration(float64(f.ns)), 100*float64(f.ns)/float64(root.ns))
		fmt.Fprintf(&b, `<g><title>%s</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" stroke="#fff" stroke-width="0.5"/>`,
			html.EscapeString(label), x, y, w, rowHeight-1, color(f.name))
		if room := int((w - 6) / 6.2); room >= 4 {
			name := []rune(short(f.name))
			if len(name) > room {
				name = append(name[:room-1], '…')
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="#111">%s</text>`, x+3, y+rowHeight-6, html.EscapeString(string(name)))
		}
		b.WriteString("</g>\n")
		var calls []*frame
		for _, c := range f.calls {
			calls = append(calls, c)
		}
		slices.SortFunc(calls, func(a, b *frame) int { return cmp.Or(cmp.Compare(b.ns, a.ns), strings.Compare(a.name, b.name)) })
		for _, c := range calls {
			draw(c, x, level+1)
			x += float64(c.ns) / float64(root.ns) * width
		}
	}
	draw(root, 0, 0)
	b.WriteString("</svg>")
	return b.String()
}

// short is a function without the path of its package.
func short(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// most names the functions in which the most time was spent, for readers who can't see the graph.
func most(root *frame) string {
	self := map[string]int64{}
	var visit func(f *frame)
	visit = func(f *frame) {
		rest := f.ns
		for _, c := range f.calls {
			rest -= c.ns
			visit(c)
		}
		self[f.name] += rest
	}
	visit(root)
	var names []string
	for n, ns := range self {
		if ns > 0 {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(self[b], self[a]), strings.Compare(a, b)) })
	for i, n := range names[:min(3, len(names))] {
		names[i] = fmt.Sprintf("%.0f %% in %s", 100*float64(self[n])/float64(root.ns), short(n))
	}
	return strings.Join(names[:min(3, len(names))], ", ")
}

// color is a warm color, always the same for the same package.
func color(name string) string {
	h := fnv.New32a()
	h.Write([]byte(name[:max(0, strings.LastIndexByte(name, '.'))]))
	return fmt.Sprintf("hsl(%d, 75%%, %d%%)", 15+h.Sum32()%45, 68+h.Sum32()/64%12)
}
