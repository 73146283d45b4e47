package report

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recorded are the steps of ten lessons, by lesson and cell, as
// go run ./kernel render -steps-to kernel/internal/report/testdata/steps.zip has written them.
func recorded(t *testing.T) map[string]map[string]*Record {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join("testdata", "steps.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	lessons := map[string]map[string]*Record{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var cells map[string]struct{ Record *Record }
		if err := json.NewDecoder(r).Decode(&cells); err != nil {
			t.Fatal(err)
		}
		r.Close()
		lesson := map[string]*Record{}
		for id, c := range cells {
			if c.Record != nil {
				lesson[id] = c.Record
			}
		}
		lessons[f.Name] = lesson
	}
	return lessons
}

// A usedOp is an operation of a record: what it says of itself.
type usedOp struct {
	name         string
	in           [][]int
	out          []int
	flops, bytes int
	parts        []usedPart
}

type usedPart struct {
	kind, dtype string
	bytes       int
}

var shapeText = regexp.MustCompile(`\[([0-9 ]*)\]`)

func shapes(t *testing.T, text string) (list [][]int) {
	t.Helper()
	for _, m := range shapeText.FindAllStringSubmatch(text, -1) {
		shape := []int{}
		for _, n := range strings.Fields(m[1]) {
			shape = append(shape, atoi(t, n))
		}
		list = append(list, shape)
	}
	return list
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// parsedOp reads the text of an operation; false if it only says that there are more.
func parsedOp(t *testing.T, text string) (o usedOp, ok bool) {
	t.Helper()
	f := strings.Split(text, "\t")
	if len(f) == 1 {
		return o, false
	}
	if len(f) != 7 {
		t.Fatalf("an operation has %d fields: %q", len(f), text)
	}
	name, _, _ := strings.Cut(f[0], " · ")
	o = usedOp{name: name, in: shapes(t, f[1]), out: shapes(t, f[2])[0], flops: atoi(t, f[3]), bytes: atoi(t, f[4])}
	for _, p := range strings.Split(f[5], ";") {
		if w := strings.Fields(p); len(w) > 1 {
			o.parts = append(o.parts, usedPart{kind: w[0], bytes: atoi(t, w[1]), dtype: strings.Join(w[2:], " ")})
		}
	}
	return o, true
}

func elements(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

var elementSize = map[string]int{"float64": 8, "int64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8_e4m3": 1, "float8_e5m2": 1, "bool": 1, "uint8": 1}

// A reckoning computes by hand the FLOPs of an operation from its shapes.
type reckoning func(o usedOp) int

func perResult(k int) reckoning { return func(o usedOp) int { return k * elements(o.out) } }
func perInput(k int) reckoning  { return func(o usedOp) int { return k * elements(o.in[0]) } }

var none = perResult(0)

// byHand is a table of what lessons say that operations cost.
var byHand = map[string]reckoning{
	"add": perResult(1), "sub": perResult(1), "mul": perResult(1), "div": perResult(1), "pow": perResult(1), "neg": perResult(1), "abs": perResult(1),
	"square": perResult(1), "sqrt": perResult(1), "exp": perResult(1), "log": perResult(1), "tanh": perResult(1), "relu": perResult(1), "maximum": perResult(1),
	"rsqrt":   perResult(2), // a root and a quotient
	"softmax": perResult(5), // the largest element, a difference, an exponential, a sum and a quotient

	"sum": perInput(1), "prod": perInput(1), "max": perInput(1), "min": perInput(1), "argmax": perInput(1), "cumsum": perInput(1),
	"mean":   func(o usedOp) int { return elements(o.in[0]) + elements(o.out) },     // a sum, and a quotient
	"norm":   func(o usedOp) int { return 2*elements(o.in[0]) + elements(o.out) },   // a square and a sum, and a root
	"std":    func(o usedOp) int { return 4*elements(o.in[0]) + 3*elements(o.out) }, // the mean; a difference, a square and a sum; two quotients and a root
	"matmul": func(o usedOp) int { return 2 * elements(o.out) * o.in[0][len(o.in[0])-1] },

	// Of each parameter p with gradient g, as the course writes the formulas.
	"sgd update": func(o usedOp) int { // d = ±g + decay·p and p -= lr·d; with momentum, b = μb + rest·d
		return (5 + 3*(len(o.in)-2)) * elements(o.out)
	},
	"rmsprop update":         perResult(12), // d; s = αs + rest·d·d; d /= √s + eps; p -= lr·d
	"adagrad update":         perResult(10), // d; s += d·d; p -= lr·d/(√s + eps)
	"lecture_adagrad update": perResult(8),  // s += g·g; p -= lr·d/√(s + eps)
	"adam update":            perResult(16), // d; m = b₁m + r₁d; v = b₂v + r₂(d·d); p = keep·p - m/((√v + floor)·times)
	"adamw update":           perResult(16),

	"view": none, "view backward": none, "expand": none, "transpose": none, "permute": none, "slice": none, "select": none, "squeeze": none, "unsqueeze": none,
	"put": none, "to": none, "clone": none, "all": none, "eq": none, "lt": none, "gt": none, "le": none, "ge": none, "ne": none, "diagonal": none, "masked fill": none, "triu": none, "tril": none,
}

// The ledger of ten lessons is what one gets by hand from names, shapes and types alone. Where it differs, the parts of
// the operation say why: elements that repeat others, inputs that are written over or of which some are picked, and
// numbers in the code.
func TestLedgerByHand(t *testing.T) {
	lessons := recorded(t)
	if len(lessons) < 10 {
		t.Errorf("there are records of %d lessons", len(lessons))
	}
	ops, named := 0, map[string]int{}
	unknown := map[string]string{}
	for lesson, cells := range lessons {
		for id, r := range cells {
			if err := r.Check(); err != nil {
				t.Errorf("%s, cell %s: %v", lesson, id, err)
			}
			for i, s := range r.Steps {
				where := fmt.Sprintf("%s, cell %s, step %d", lesson, id, i+1)
				flops, bytes, all := 0, 0, true
				for _, text := range s.Ops {
					o, ok := parsedOp(t, text)
					if !ok {
						all = false
						continue
					}
					ops++
					flops, bytes = flops+o.flops, bytes+o.bytes
					reckon, ok := byHand[o.name]
					if !ok {
						unknown[o.name] = fmt.Sprintf("%v -> %v: %d FLOPs", o.in, o.out, o.flops)
						continue
					}
					if want := reckon(o); o.flops != want {
						t.Errorf("%s: %s of %v to %v takes %d FLOPs, by hand %d", where, o.name, o.in, o.out, o.flops, want)
					}
					for what, n := range o.check(t, where) {
						named[what] += n
					}
				}
				if all && (flops != s.Costs[0] || bytes != s.Costs[1]) {
					t.Errorf("%s: its operations take %d FLOPs and %d bytes, and it says %v", where, flops, bytes, s.Costs)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		t.Errorf("%q has no cost by hand; here %s", name, unknown[name])
	}
	t.Logf("%d operations; those that differ from their shapes: %v", ops, named)
}

// check compares the bytes of an operation with those of its shapes, and counts by their reasons what differs.
func (o usedOp) check(t *testing.T, where string) (named map[string]int) {
	t.Helper()
	named = map[string]int{}
	sum := 0
	for i, p := range o.parts {
		sum += p.bytes
		whole := 0
		switch size, known := elementSize[p.dtype]; {
		case p.kind == "some":
			named["picked"]++
			if p.bytes < 0 {
				t.Errorf("%s: %s reads %d bytes", where, o.name, p.bytes)
			}
			continue
		case !known:
			t.Errorf("%s: %s: elements of %q", where, o.name, p.dtype)
			continue
		case p.kind == "write":
			whole = size * elements(o.out)
		case p.kind == "read":
			whole = size * elements(o.in[i])
			if p.bytes < whole && p.bytes%size == 0 {
				named["repeated"]++
				whole = p.bytes
			}
		case p.kind == "number", p.kind == "over":
			named[p.kind]++
			if p.kind == "number" && elements(o.in[i]) != 1 {
				t.Errorf("%s: %s has a number of shape %v", where, o.name, o.in[i])
			}
		default:
			t.Errorf("%s: %s: a part of kind %q", where, o.name, p.kind)
		}
		if p.bytes != whole {
			t.Errorf("%s: %s: %s of %d bytes, by hand %d", where, o.name, p.kind, p.bytes, whole)
		}
	}
	if sum != o.bytes {
		t.Errorf("%s: %s moves %d bytes, its parts %d", where, o.name, o.bytes, sum)
	}
	return named
}

// What variables are said to hold is the sum of its parts, and a tensor's own part is what the tensor says of
// itself.
func TestHeldByHand(t *testing.T) {
	compared := 0
	for lesson, cells := range recorded(t) {
		for id, r := range cells {
			sizes := map[string]map[string]bool{} // bytes that variables of a name have had
			var held []string
			for i, s := range r.Steps {
				if s.Kind == "leave" {
					continue
				}
				for _, v := range s.Vars {
					if f := strings.Split(v.Facts, ";"); len(f) == 7 {
						if sizes[v.Name] == nil {
							sizes[v.Name] = map[string]bool{}
						}
						sizes[v.Name][f[5]] = true
					}
				}
				if s.Held != nil {
					held = s.Held
				}
				if s.Kind == "backward" || s.Kind == "panic" {
					continue
				}
				sum := 0
				for _, text := range held {
					f := strings.Split(text, "\t")
					sum += atoi(t, f[0])
					if f[2] == "" && f[3] == "1" && sizes[f[1]] != nil {
						compared++
						if !sizes[f[1]][f[0]] {
							t.Errorf("%s, cell %s, step %d: %s holds %s bytes of its own, and was of %v", lesson, id, i+1, f[1], f[0], slices.Collect(maps.Keys(sizes[f[1]])))
						}
					}
				}
				if s.Costs[2] != 0 && sum != s.Costs[2] {
					t.Errorf("%s, cell %s, step %d: variables hold %d bytes, and their parts %d: %q", lesson, id, i+1, s.Costs[2], sum, held)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d sizes were compared", compared)
	}
}
