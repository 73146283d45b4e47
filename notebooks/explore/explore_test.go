package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/tensor"
	"github.com/lectern-go/lectern/tokenizer"
)

var (
	control = regexp.MustCompile(` (?:name|data-set|data-over|data-drag)="([a-z]+)"`)
	tag     = regexp.MustCompile(`<[^>]*>`)
)

// says is what an explorer reads out.
func says(t *testing.T, e explorer) string {
	t.Helper()
	_, rest, ok := strings.Cut(drawn(e), `class="x-says" role="status">`)
	if !ok {
		t.Fatalf("nothing is said in\n%s", drawn(e))
	}
	text, _, _ := strings.Cut(rest, "</p>")
	return tag.ReplaceAllString(text, "")
}

// Whatever is typed, an explorer draws itself, and what was typed stays text.
func TestAnythingCanBeTyped(t *testing.T) {
	values := []string{"", "0", "1", "2", "3", "7", "-1", "99999999999999999999", "1e300", "-1e-300", "nan", "inf", "<script>", `"'&`, "a b", "1 2 3", "4 -1", "0 5", "up", "on", "transpose", "every", "inner", "select",
		"flat", "diagonal", "windows", "i j, j k -> i k", "i i -> ", "... a -> a", "x", "ab ab ab", "\xff\xfe", "日本語 🌍"}
	for name, known := range explorers {
		x := known.start()
		for round := range 3 {
			seen := map[string]bool{}
			for _, m := range control.FindAllStringSubmatch(drawn(x), -1) {
				seen[m[1]] = true
			}
			if len(seen) < 2 {
				t.Errorf("%s has the controls %v", name, seen)
			}
			for c := range seen {
				for i := range values {
					x.set(c, values[(i*(2*round+1)+round)%len(values)])
					if html := drawn(x); strings.Contains(html, "<script") || strings.Contains(html, "%!") {
						t.Fatalf("%s: after %s = %q it draws\n%s", name, c, values[i], html)
					}
				}
			}
		}
	}
}

func TestPrintFirst(t *testing.T) {
	var b bytes.Buffer
	if err := printFirst(&b); err != nil {
		t.Fatal(err)
	}
	var all map[string]first
	if err := json.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	for name := range explorers {
		if all[name].Title == "" || !strings.Contains(all[name].HTML, `class="x-says"`) {
			t.Errorf("%s looks like %+v", name, all[name])
		}
	}
}

// Every code of the small formats has the value of the library's, and its neighbors are the next ones in order.
func TestFormats(t *testing.T) {
	for _, f := range allFormats[1:] { // float32 has too many
		var values []float64
		byValue := map[float64]uint64{}
		for code := range uint64(1) << f.info.Bits {
			v := f.decode(code).Value
			if !f.fp4 && v != f.dtype.Decode(code).Value && !math.IsNaN(v) {
				t.Fatalf("%s: code %d is %v", f.name, code, v)
			}
			if v == 0 {
				v = 0 // without its sign
			}
			if _, known := byValue[v]; !known && !math.IsNaN(v) {
				byValue[v] = code
				values = append(values, v)
			}
		}
		slices.Sort(values)
		if f.fp4 && fmt.Sprint(values) != "[-6 -4 -3 -2 -1.5 -1 -0.5 0 0.5 1 1.5 2 3 4 6]" {
			t.Errorf("%s has the numbers %v", f.name, values)
		}
		for i, v := range values {
			for _, up := range []bool{false, true} {
				want, there := i-1, i > 0
				if up {
					want, there = i+1, i+1 < len(values)
				}
				code, ok := f.next(byValue[v], up)
				if ok != there || ok && f.decode(code).Value != values[want] {
					t.Fatalf("%s: beside %v (up: %t) is %v, %t", f.name, v, up, f.decode(code).Value, ok)
				}
			}
			if code, ok := f.encode(v); !ok || f.decode(code).Value != v {
				t.Errorf("%s: %v is encoded as %v", f.name, v, f.decode(code).Value)
			}
		}
		if f.fp4 { // ties go to the even mantissa
			for i := range values[1:] {
				mean := (values[i] + values[i+1]) / 2
				code, _ := f.encode(mean)
				if v := f.decode(code).Value; v != values[i] && v != values[i+1] || code&1 != 0 {
					t.Errorf("%s: %v is rounded to %v", f.name, mean, v)
				}
			}
		}
	}
	x := newFormats()
	if got, want := says(t, x), fmt.Sprintf("bfloat16 stores %v, which is 0.098 %% off.", tensor.BFloat16.Round(0.1)); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	x.set("bit", "15")
	if got := says(t, x); got != fmt.Sprintf("bfloat16 stores %v, exactly.", -tensor.BFloat16.Round(0.1)) {
		t.Errorf("with the sign flipped it says %q", got)
	}
	for _, tt := range []struct{ format, number, want string }{
		{"4", "1000", "float8_e4m3fn stores NaN, since 1000 is too large, and it has no infinity."},
		{"3", "1e6", "float8_e5m2 stores +Inf, since 1e06 is too large for it."},
		{"2", "1e-8", "float16 stores 0, since 1e-08 is too small for it."},
		{"5", "5", "fp4 (e2m1) stores 4, which is 20 % off."},
	} {
		x.set("number", "1")
		x.set("format", tt.format)
		x.set("number", tt.number)
		if got := says(t, x); got != tt.want {
			t.Errorf("%s in format %s says %q, want %q", tt.number, tt.format, got, tt.want)
		}
	}
}

// What the buttons do to a layout is what the tensor's methods do.
func TestStrides(t *testing.T) {
	base := tensor.Arange(cells).View(4, 6)
	for _, tt := range []struct {
		do   []string
		want *tensor.Tensor
	}{
		{nil, base},
		{[]string{"transpose"}, base.T()},
		{[]string{"every"}, base.Slice(0, 0, 4, 2)},
		{[]string{"inner", "transpose"}, base.Slice(0, 1, 3, 1).T()},
		{[]string{"select"}, base.Select(0, 2)},
		{[]string{"diagonal"}, base.Diagonal(0, 0, 1)},
		{[]string{"windows"}, base.Unfold(0, 3, 1)},
		{[]string{"flat", "every"}, base.View(-1).Slice(0, 0, 24, 2)},
	} {
		x := newStrides()
		x.set("undo", "")
		for _, d := range tt.do {
			x.set("do", d)
		}
		l := x.now()
		if x.err != nil || !slices.Equal(l.Shape, tt.want.Shape()) || !slices.Equal(l.Strides, tt.want.Strides()) || l.Offset != tt.want.StorageOffset() {
			t.Errorf("%v: %+v (%v), want %v %v at %d", tt.do, l, x.err, tt.want.Shape(), tt.want.Strides(), tt.want.StorageOffset())
			continue
		}
		values := tt.want.Contiguous().Floats()
		for i, index := range indices(l.Shape) {
			if at, err := l.Position(index); err != nil || float64(at) != values[i] {
				t.Errorf("%v: element %v is at %d (%v), want %v", tt.do, index, at, err, values[i])
			}
		}
	}
	x := newStrides()
	if got, want := says(t, x), "Element (1, 2) is at 14: offset + i·stride 0 + j·stride 1 = 6 + 1·6 + 2·1"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	x.set("undo", "")
	x.set("do", "transpose")
	x.set("do", "flat")
	if err := tensor.Try(func() { base.T().View(-1) }); x.err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(x.err.Error(), "layout: ")) {
		t.Errorf("it refuses by %q, the library by %q", x.err, err)
	}
	// A shape that can't be is marked where it is typed, until there is another.
	for _, tt := range []struct {
		shape string
		wrong bool
	}{{"5 5", true}, {"four", true}, {"2 12", false}, {"2 2 2 3", true}, {"4 6", false}} {
		x.set("shape", tt.shape)
		if got := strings.Contains(drawn(x), `aria-invalid="true"`); got != tt.wrong {
			t.Errorf("the shape %s is marked as wrong: %t", tt.shape, got)
		}
	}
	x.set("do", "inner")
	x.set("offset", "99")
	if l := x.now(); l.Offset != cells-reach(l) {
		t.Errorf("dragged to the end the offset is %d, and the view reaches %d places", l.Offset, reach(l))
	}
}

// The loops, run as they are written, give what the library gives.
func TestEinsumLoops(t *testing.T) {
	for _, ex := range append(slices.Clone(examples), struct{ name, pattern, shapes string }{"repeated", "b i, b j -> i j b", "1 3, 4 2"}) {
		x := &einsum{pattern: ex.pattern, shapes: ex.shapes}
		e, err := x.explain()
		if err != nil {
			t.Fatal(ex.name, err)
		}
		var operands []*tensor.Tensor
		for i, s := range e.Inputs {
			operands = append(operands, tensor.With(tensor.Float64).Arange(float64(i), float64(i+tensor.Zeros(s...).Len()), 1).View(s...))
		}
		want := einops.Einsum(ex.pattern, operands...)
		if !slices.Equal(want.Shape(), e.Shape) {
			t.Fatalf("%s: shape %v, want %v", ex.name, e.Shape, want.Shape())
		}
		kept, summed := loops(e)
		axes := slices.Concat(kept, summed)
		var sizes []int
		for _, a := range axes {
			sizes = append(sizes, sizeOf(e, a))
		}
		got := tensor.With(tensor.Float64).Zeros(e.Shape...)
		for _, turn := range indices(sizes) {
			at := func(names []string, shape []int) (index []int) {
				for i, a := range names {
					index = append(index, min(turn[slices.Index(axes, a)], shape[i]-1))
				}
				return index
			}
			product := 1.
			for i, names := range e.InputAxes {
				product *= operands[i].At(at(names, e.Inputs[i])...)
			}
			got.SetAt(got.At(at(e.Axes, e.Shape)...)+product, at(e.Axes, e.Shape)...)
		}
		if !tensor.Equal(got, want.To(tensor.Float64)) {
			t.Errorf("%s: the loops give\n%v, the library\n%v", ex.name, got, want)
		}
	}
}

func TestEinsum(t *testing.T) {
	x := newEinsum()
	if got, want := says(t, x), "The result has shape [2 3 3]. It takes 144 FLOPs: a product and a sum in each of the 72 iterations of the innermost loop."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if text := tag.ReplaceAllString(drawn(x), ""); !strings.Contains(text, "for hidden := range 4 { // summed over\n        out[batch, seq1, seq2] += x[batch, seq1, hidden] * y[batch, seq2, hidden]\n") {
		t.Errorf("the loops are not in\n%s", text)
	}
	x.set("shapes", "1000000 1000000 4, 1000000 1000000 4")
	if !strings.Contains(drawn(x), "more than 1e+15 times") {
		t.Errorf("for loops without an end it draws\n%s", drawn(x))
	}
	x.set("example", "0")
	x.set("pattern", "batch seq1 hiden, batch seq2 hidden -> batch seq1 seq")
	err := tensor.Try(func() { einops.ExplainEinsum(x.pattern, []int{2, 3, 4}, []int{2, 3, 4}) })
	var p page
	p.refused(err.Error())
	if err == nil || !strings.Contains(drawn(x), p.String()) {
		t.Errorf("the library says\n%v\nit draws\n%s", err, drawn(x))
	}
}

// After any number of merges the tokens are those of a tokenizer with so many.
func TestBPE(t *testing.T) {
	x := newBPE()
	x.set("text", "it was the best of times, it was the worst of times")
	for x.at < 12 {
		x.set("go", "on")
		b, err := tokenizer.TrainBPE(x.text, x.at)
		if err != nil {
			t.Fatal(err)
		}
		ids, _ := x.tokens()
		if want := b.Encode(x.text); !slices.Equal(ids, want) {
			t.Fatalf("after %d merges: %v, want %v", x.at, ids, want)
		}
		if want := fmt.Sprintf("%d bytes become %d tokens.", len(x.other), len(b.Encode(x.other))); !strings.Contains(drawn(x), want) {
			t.Errorf("after %d merges it does not say %q", x.at, want)
		}
	}
	// What is too long is cut between characters.
	for control, of := range map[string]*string{"text": &x.text, "other": &x.other} {
		x.set(control, strings.Repeat("x", 8)+strings.Repeat("日", 200))
		if got := *of; len(got) != 398 || !utf8.ValidString(got) {
			t.Errorf("%s is cut to %d bytes, the last of which are %q", control, len(got), got[len(got)-4:])
		}
	}
	x.set("text", strings.Join(strings.Split("the quick brown fox jumps over the lazy dog and how many toys judges quiz by vexing waltz", ""), "a")+" there are more pairs than the explorer merges, as in any text that is long enough for it")
	x.set("at", strconv.Itoa(mostMerges))
	if want := "stops after 60 merges"; !strings.Contains(drawn(x), want) {
		t.Errorf("after %d merges it doesn't say that it %s", x.at, want)
	}
	x = newBPE()
	x.set("at", "1")
	if got, want := says(t, x), "Merge 1: “t” and “h”, side by side 2 times, become token 256, “th”. 16 tokens are left: 1.12 bytes each."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func TestRoofline(t *testing.T) {
	x := newRoofline()
	h100, err := accounting.LookUp("NVIDIA H100 80GB HBM3")
	if err != nil {
		t.Fatal(err)
	}
	m, err := h100.Machine(accounting.BF16)
	if got, _ := x.machine(); err != nil || got != m {
		t.Fatalf("the machine is %v, want %v (%v)", got, m, err)
	}
	if got, want := says(t, x), "A matmul of 1024 × 1024 with 1024 × 1024 does 341.3 FLOPs per byte. Here it computes without waiting for memory: its MFU is at most 100 %, and it takes at least 2.17 µs."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	x.set("m", "0")
	o := x.operation()
	if want := fmt.Sprintf("its MFU is at most %.3g %%", 100*m.MFUBound(o.FLOPs/o.Bytes)); !strings.Contains(says(t, x), want) || m.MFUBound(o.Intensity()) > 0.01 {
		t.Errorf("for a vector it says %q, want %q", says(t, x), want)
	}
	x.set("device", fmt.Sprint(slices.IndexFunc(x.devices, func(d accounting.Device) bool { return d.Name == "T4" })))
	if _, err := x.machine(); err == nil || !strings.Contains(drawn(x), "no peak is known for bf16 on T4") {
		t.Errorf("a T4 has no bf16, and it draws\n%s", drawn(x))
	}
}

func TestNapkin(t *testing.T) {
	x := newNapkin()
	if got, want := says(t, x), "Training takes 144 days and needs 1.12 TB for parameters, gradients and the optimizer, which fits into the 81.9 TB of these devices."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	x.set("count", "8")
	if !strings.Contains(says(t, x), "which does not fit into the 640 GB") {
		t.Errorf("on 8 devices it says %q", says(t, x))
	}
	x.set("mfu", "101")
	if html := drawn(x); strings.Contains(html, "x-says") || !strings.Contains(html, "at most 100 %") {
		t.Error("an MFU of 101 % is accepted")
	}
}

// The path of SGD with momentum is that of its formula.
func TestBowl(t *testing.T) {
	x := newBowl()
	x.set("rate", "45")
	x.set("momentum", "18")
	x.set("steps", "30")
	path, loss := x.walk(x.walker)
	lr, at, b := x.lr(), [2]float64{4, 1}, [2]float64{}
	for step := range 31 {
		for i := range at {
			if math.Abs(path[step][i]-at[i]) > 1e-5 { // float32
				t.Fatalf("after %d steps it is at %v, want %v", step, path[step], at)
			}
			b[i] = 0.9*b[i] + at[i]*[]float64{1, float64(x.steep)}[i]
			if step < 30 {
				at[i] -= lr * b[i]
			}
		}
	}
	if want := at[0]*at[0]/2 + float64(x.steep)/2*at[1]*at[1]; math.Abs(loss-want) > 1e-5 {
		t.Errorf("the loss is %v, want %v", loss, want)
	}
	x = newBowl()
	x.set("rate", "90")
	if !strings.Contains(says(t, x), "It has left the valley") {
		t.Errorf("with a learning rate of 1 it says %q", says(t, x))
	}
	for walker := range walkers {
		x.set("walker", fmt.Sprint(walker))
		x.set("rate", "60")
		if path, _ := x.walk(x.walker); len(path) != x.steps+1 {
			t.Errorf("%s takes %d steps", walkers[walker].name, len(path)-1)
		}
	}
}

// Each explorer stands in a lesson, and lessons name no others.
func TestLessons(t *testing.T) {
	files, err := filepath.Glob("../*.ipynb")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	used := map[string]bool{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`<!-- explore: ([a-z]+) -->`).FindAllSubmatch(b, -1) {
			name := string(m[1])
			if used[name] = true; explorers[name].start == nil {
				t.Errorf("%s names the explorer %q, which is not there", file, name)
			}
		}
	}
	for name := range explorers {
		if !used[name] {
			t.Errorf("no lesson has the explorer %q", name)
		}
	}
}

// At its end the tape has the gradients that the library gives for the whole expression, and says how they came about.
func TestTape(t *testing.T) {
	type leaves struct{ a, b, c *tensor.Tensor }
	for text, whole := range map[string]func(leaves) *tensor.Tensor{
		"(a*b + c) * a":          func(v leaves) *tensor.Tensor { return v.a.Mul(v.b).Add(v.c).Mul(v.a) },
		"a + a + a":              func(v leaves) *tensor.Tensor { return v.a.Add(v.a).Add(v.a) },
		"square(a - 2) / b":      func(v leaves) *tensor.Tensor { return v.a.Sub(2).Square().Div(v.b) },
		"-tanh(a*0.1) * exp(-c)": func(v leaves) *tensor.Tensor { return v.a.Mul(0.1).Tanh().Neg().Mul(v.c.Neg().Exp()) },
		"relu(b) + relu(a) * c":  func(v leaves) *tensor.Tensor { return v.b.ReLU().Add(v.a.ReLU().Mul(v.c)) },
	} {
		x := newTape()
		x.set("expression", text)
		x.set("c", "0.5")
		leaf := func(v float64) *tensor.Tensor { return tensor.Of([]float64{v}).RequireGrad() }
		v := leaves{leaf(2), leaf(-3), leaf(0.5)}
		loss := whole(v)
		loss.Backward()
		x.set("step", "40") // past the end
		list, _, _, err := x.played()
		if err != nil {
			t.Fatal(err)
		}
		if got := list[len(list)-1].value; math.Abs(got-loss.Item()) > 1e-6 {
			t.Errorf("%s is %v, and the library says %v", text, got, loss.Item())
		}
		for _, r := range list {
			known := map[string]*tensor.Tensor{"a": v.a, "b": v.b, "c": v.c}[r.what]
			if known != nil && math.Abs(r.grad-known.Grad().Item()) > 1e-6 {
				t.Errorf("%s: the gradient of %s is %v, and the library says %v", text, r.what, r.grad, known.Grad().Item())
			}
		}
	}
	x := newTape()
	for step, want := range []string{
		"The tape is empty.", "Forward: t1 = a · b, which is -6.", "Forward: t2 = t1 + c, which is 4.", "Forward: t3 = t2 · a, which is 8.",
		"Backward begins at the end: the gradient of the loss t3 with respect to itself is 1.", "Backward through t3 = t2 · a: t2 gets 1 · 2 = 2, a gets 1 · 4 = 4,",
		"Backward through t2 = t1 + c: t1 gets 2 · 1 = 2, c gets 2 · 1 = 2,", "Backward through t1 = a · b: a gets 2 · -3 = -6, b gets 2 · 2 = 4, added to what is there. Now all gradients have arrived.",
	} {
		x.set("step", fmt.Sprint(step))
		if got := says(t, x); !strings.HasPrefix(got, want) {
			t.Errorf("step %d says %q, want %q", step, got, want)
		}
	}
	for _, bad := range []string{"a +", "a % b", "d", "f(a)", "a b", "exp(a, b)", "*(a, b)", `"a"`, strings.Repeat("a+", 13) + "a", strings.Repeat("(", 5000)} {
		x.set("expression", bad)
		if got := says(t, x); got != "There is no tape." {
			t.Errorf("%.20q: %s", bad, got)
		}
	}
}

// What is said of a batch follows from the bytes: those of the weights once, and each cache once.
func TestDecode(t *testing.T) {
	x := newDecode()
	m := accounting.Llama3_8B
	machine, err := x.machine()
	if err != nil {
		t.Fatal(err)
	}
	one, many := x.serve(machine, 1), x.serve(machine, 64)
	if one.weights != float64(2*m.Parameters()) || many.cache != 64*4096*float64(m.KVCacheBytesPerToken(2)) {
		t.Errorf("weights %v, cache %v", one.weights, many.cache)
	}
	if want := one.seconds * 64; many.seconds > want || many.seconds < one.seconds || many.perSecond < 10*one.perSecond {
		t.Errorf("one conversation takes %v s, 64 take %v s", one.seconds, many.seconds)
	}
	if got := says(t, x); !strings.Contains(got, "waits for memory. It fits.") {
		t.Error(got)
	}
	x.set("batch", "12")
	if got := says(t, x); !strings.Contains(got, "It does not fit") {
		t.Error(got)
	}
	shared := x.serve(machine, 8).cache
	x.set("heads", "1")
	if got := x.serve(machine, 8).cache; got != 4*shared {
		t.Errorf("with keys for each query head the cache takes %v, and %v with shared ones", got, shared)
	}
}

func TestRace(t *testing.T) {
	x := newBowl()
	x.set("walker", fmt.Sprint(len(walkers)))
	got := says(t, x)
	lowest, best := math.Inf(1), ""
	for i, w := range walkers {
		_, loss := x.walk(i)
		if !strings.Contains(got, fmt.Sprintf("%s %.3g", w.name, loss)) {
			t.Errorf("%s with %.3g is not in %q", w.name, loss, got)
		}
		if loss < lowest {
			lowest, best = loss, w.name
		}
	}
	if !strings.HasSuffix(got, best+" is lowest.") {
		t.Errorf("%s is lowest; it says %q", best, got)
	}
}
