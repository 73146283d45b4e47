package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// grid is a matrix of float64, for computing cases step by step.
type grid struct {
	rows, columns int
	at            []float64
}

func gridOf(seed int, scale, shift float64, rows, columns int) grid {
	return grid{rows, columns, opsNumbers(seed, scale, shift, rows*columns).Floats()}
}

func (g grid) get(i, j int) float64 { return g.at[i*g.columns+j] }

// made is a grid of numbers that f gives.
func made(rows, columns int, f func(i, j int) float64) grid {
	g := grid{rows, columns, nil}
	for i := range rows {
		for j := range columns {
			g.at = append(g.at, f(i, j))
		}
	}
	return g
}

func (g grid) turned() grid {
	return made(g.columns, g.rows, func(i, j int) float64 { return g.get(j, i) })
}

func (g grid) times(h grid) grid {
	return made(g.rows, h.columns, func(i, j int) (sum float64) {
		for k := range g.columns {
			sum += g.get(i, k) * h.get(k, j)
		}
		return sum
	})
}

func (g grid) softmax() grid {
	out := made(g.rows, g.columns, func(i, j int) float64 { return math.Exp(g.get(i, j)) })
	return made(g.rows, g.columns, func(i, j int) float64 {
		sum := 0.
		for k := range g.columns {
			sum += out.get(i, k)
		}
		return out.get(i, j) / sum
	})
}

// naive computes a case one number at a time.
func naive(c opsCase) []float64 {
	a, b, d := c.Sizes[0], 1, 1
	if len(c.Sizes) > 1 {
		b = c.Sizes[1]
	}
	if len(c.Sizes) > 2 {
		d = c.Sizes[2]
	}
	x := gridOf(0, 1, 0, a, b)
	of := func(f func(v float64) float64) []float64 {
		return made(a, b, func(i, j int) float64 { return f(x.get(i, j)) }).at
	}
	switch c.What {
	case "matmul":
		return x.times(gridOf(1, 1, 0, b, d)).at
	case "matmul transposed":
		return x.times(gridOf(1, 1, 0, d, b).turned()).at
	case "add":
		y := gridOf(1, 1, 0, a, 1)
		return made(a, 1, func(i, _ int) float64 { return x.at[i] + y.at[i] }).at
	case "gelu":
		return of(func(v float64) float64 { return v / 2 * (1 + math.Erf(v/math.Sqrt2)) })
	case "gelu tanh":
		return of(func(v float64) float64 { return v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v))) })
	case "sum":
		sum := 0.
		for _, v := range x.at {
			sum += v + 1
		}
		return []float64{sum}
	case "softmax":
		return x.softmax().at
	case "layer norm", "rms norm":
		weight, bias := gridOf(1, 0.1, 1, 1, b), gridOf(2, 0.1, 0, 1, b)
		return made(a, b, func(i, j int) float64 {
			var sum, squares float64
			for k := range b {
				sum += x.get(i, k)
				squares += x.get(i, k) * x.get(i, k)
			}
			mean, square := sum/float64(b), squares/float64(b)
			if c.What == "rms norm" {
				return x.get(i, j) / math.Sqrt(square+1e-5) * weight.at[j]
			}
			return (x.get(i, j)-mean)/math.Sqrt(square-mean*mean+1e-5)*weight.at[j] + bias.at[j]
		}).at
	case "transpose":
		return x.turned().at
	case "embedding":
		return made(d, b, func(i, j int) float64 { return x.get(7919*i%a, j) }).at
	case "attention", "causal attention":
		var all []float64
		q, k, v := gridOf(0, 1, 0, a*b, d), gridOf(1, 1, 0, a*b, d), gridOf(2, 1, 0, a*b, d)
		for h := range a {
			part := func(g grid) grid { return grid{b, d, g.at[h*b*d : (h+1)*b*d]} }
			scores := part(q).times(part(k).turned())
			scores = made(b, b, func(i, j int) float64 {
				if j > i && c.What == "causal attention" {
					return math.Inf(-1)
				}
				return scores.get(i, j) / math.Sqrt(float64(d))
			})
			all = append(all, scores.softmax().times(part(v)).at...)
		}
		return all
	case "training step":
		return naiveSteps(c.Sizes)
	}
	return nil
}

// naiveSteps returns the losses of five steps, with gradients by the rules for this one model.
func naiveSteps(sizes []int) (losses []float64) {
	batch, inputs, hidden, classes := sizes[0], sizes[1], sizes[2], sizes[3]
	x := gridOf(0, 1, 0, batch, inputs)
	w1, w2 := gridOf(1, 1/math.Sqrt(float64(inputs)), 0, hidden, inputs), gridOf(2, 1/math.Sqrt(float64(hidden)), 0, classes, hidden)
	b1, b2 := make([]float64, hidden), make([]float64, classes)
	learn := func(w grid, b []float64, delta, in grid) {
		for i, g := range delta.turned().times(in).at {
			w.at[i] -= 0.1 * g
		}
		for i := range delta.rows {
			for j := range b {
				b[j] -= 0.1 * delta.get(i, j)
			}
		}
	}
	layer := func(x, w grid, b []float64) grid {
		y := x.times(w.turned())
		return made(y.rows, y.columns, func(i, j int) float64 { return y.get(i, j) + b[j] })
	}
	for range 5 {
		before := layer(x, w1, b1)
		h := made(batch, hidden, func(i, j int) float64 { return max(0, before.get(i, j)) })
		p := layer(h, w2, b2).softmax()
		loss := 0.
		delta := made(batch, classes, func(i, j int) float64 {
			if j == i%classes {
				loss -= math.Log(p.get(i, j)) / float64(batch)
				return (p.get(i, j) - 1) / float64(batch)
			}
			return p.get(i, j) / float64(batch)
		})
		losses = append(losses, loss)
		back := delta.times(w2)
		learn(w2, b2, delta, h)
		learn(w1, b1, made(batch, hidden, func(i, j int) float64 {
			if before.get(i, j) > 0 {
				return back.get(i, j)
			}
			return 0
		}), x)
	}
	return losses
}

// small is a case of few numbers, all sizes different.
func (c opsCase) small() opsCase {
	sizes := map[int][]int{1: {173}, 2: {7, 24}, 3: {5, 11, 16}, 4: {6, 12, 9, 4}}[len(c.Sizes)]
	return opsCase{c.What, sizes, 0.001}
}

// Our side of each case computes what the name says, by a second opinion.
func TestOpsCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range opsCases() {
		if seen[c.What] {
			continue
		}
		seen[c.What] = true
		c = c.small()
		f, err := c.call()
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		want, got := naive(c), f().Floats()
		if len(got) != len(want) || len(want) == 0 {
			t.Errorf("%v: %d numbers, want %d", c, len(got), len(want))
			continue
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
				t.Errorf("%v: number %d is %v, want %v", c, i, got[i], want[i])
				break
			}
		}
	}
	if _, err := (opsCase{What: "nothing", Sizes: []int{1}}).call(); err == nil {
		t.Error("an operation that is not there gives no error")
	}
}

func TestSameDigest(t *testing.T) {
	digest := func(scale float64) []float64 { return opsDigest(opsNumbers(0, 1, 0, 100).Mul(scale)) }
	for _, c := range []struct {
		name         string
		ours, theirs []float64
		same         bool
	}{
		{"itself", digest(1), digest(1), true},
		{"rounded otherwise", digest(1), digest(1 + 1e-6), true},
		{"another scale", digest(1), digest(1.001), false},
		{"another sign", digest(1), digest(-1), false},
		{"another size", opsDigest(opsNumbers(0, 1, 0, 100)), opsDigest(opsNumbers(0, 1, 0, 101)), false},
		{"another order", opsDigest(opsNumbers(0, 1, 0, 8, 8)), opsDigest(opsNumbers(0, 1, 0, 8, 8).T()), false},
		{"none", digest(1), nil, false},
		{"neither", nil, nil, false},
		{"no numbers", digest(1), digest(math.NaN()), false},
	} {
		if err := sameDigest(c.ours, c.theirs, opsTolerance); (err == nil) != c.same {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func init() {
	children["ops-wrong"] = func([]string) error { // computes something else, or lacks it
		return answer(func(c opsCase) (measured, error) {
			if c.What == "sum" {
				return measured{}, nil
			}
			return measured{Seconds: 1, Some: opsDigest(opsNumbers(5, 1, 0, c.Sizes...))}, nil
		})
	}
	children["telling"] = func([]string) error { // as a peer's program does
		if err := json.NewEncoder(os.Stdout).Encode("1.2.3"); err != nil {
			return err
		}
		return opsChild(nil)
	}
}

func TestOpsCompare(t *testing.T) {
	var sides []measurer
	for _, child := range []string{"ops", "ops", "ops-wrong"} {
		m, err := startOurs(t.Context(), child, child, "GOMAXPROCS=1")
		if err != nil {
			t.Fatal(err)
		}
		defer m.close()
		sides = append(sides, m)
	}
	add, sum := opsCase{"add", []int{64}, 0.001}, opsCase{"sum", []int{64}, 0.001}
	compare := func(peer measurer, cases ...opsCase) (*report, error) {
		r := &report{name: "ops", rounds: 1, only: regexp.MustCompile("")}
		return r, opsCompare(r, []measurer{sides[0], peer}, cases, 1, nil)
	}
	if r, err := compare(sides[1], add, sum); err != nil || !(r.worst > 0) || r.worstCase == "" {
		t.Errorf("beside ourselves: %v, worst ratio %v of %q", err, r.worst, r.worstCase)
	}
	if r, err := compare(sides[2], sum); err != nil || r.worstCase != "" {
		t.Errorf("beside one that lacks it: %v, worst ratio %v of %q", err, r.worst, r.worstCase)
	}
	if _, err := compare(sides[2], add); err == nil || !strings.Contains(err.Error(), "add 64: ops and ops-wrong: different results") {
		t.Errorf("beside one that computes something else: %v", err)
	}
}

// What a peer's program does not know it leaves out without a word, so its source must name each case.
func TestPeersKnowEveryCase(t *testing.T) {
	lacks := map[string]string{"ggml.py": "matmul"} // its products take the right operand transposed
	for _, source := range []string{"gomlx/main.go", "candle/src/main.rs", "ggml.py"} {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range opsCases() {
			if named := bytes.Contains(text, []byte(`"`+c.What+`"`)); named == (lacks[source] == c.What) {
				t.Errorf("%s: %q is named: %v", source, c.What, named)
			}
		}
	}
}

// A peer whose tools are absent is left out with a reason, and that is no error.
func TestAbsentPeers(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("LECTERN_PYTHON", "/no/such/python")
	for _, c := range []struct {
		peer opsPeer
		why  string
	}{{gomlx, "no go on this machine"}, {candle, "no cargo on this machine"}, {ggml, "LECTERN_PYTHON is /no/such/python"}} {
		if _, err := c.peer.start(t.Context(), 1); err == nil || !strings.HasPrefix(err.Error(), c.why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.peer.name, err)
		}
		r := &report{name: c.peer.name, rounds: 1, threads: 2}
		if err := opsGroup(t.Context(), r, c.peer); err != nil || r.missed || !strings.HasSuffix(r.summary(), "no peer is here") {
			t.Errorf("%s: %v, %s", c.peer.name, err, r.summary())
		}
	}
}

// A peer that cannot be built says what its tool said.
func TestBuildFails(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not here")
	}
	if err := build(t.Context(), nil, "go", "build", "./no/such/package"); err == nil || !strings.Contains(err.Error(), "no/such/package") {
		t.Errorf("error %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := build(ctx, nil, "go", "version"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was stopped", err)
	}
}

// A program that stands for a peer tells its version first and then answers.
func TestTelling(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m, err := startTelling(t.Context(), "library", nil, self, "-child", "telling")
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	var a measured
	if err := m.ask(opsCase{"add", []int{64}, 0.001}, &a); err != nil || m.name != "library 1.2.3" || a.Seconds == 0 {
		t.Errorf("%s: %v, %v", m.name, a, err)
	}
}
