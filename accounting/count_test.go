package accounting_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/tensor"
)

// twoLayers is the lecture's example: x --w1--> h1 --w2--> h2 -> loss.
func twoLayers(b, d, k int, wantXGrad bool) accounting.Report {
	x, w1, w2 := tensor.Ones(b, d), tensor.Ones(d, d).RequireGrad(), tensor.Ones(d, k).RequireGrad()
	if wantXGrad {
		x.RequireGrad()
	}
	return accounting.Count(func() {
		var h1, h2 *tensor.Tensor
		tensor.Scope("layer 1", func() { h1 = x.Matmul(w1) })
		tensor.Scope("layer 2", func() { h2 = h1.Matmul(w2) })
		h2.Pow(2).Mean().Backward()
	})
}

// Forward takes 2BDD + 2BDK FLOPs; backward 2BDK for w2, 2BDK for h1 and 2BDD
// for w1. x needs no gradient, and none is computed.
func ExampleCount() {
	const B, D, K = 1024, 256, 64
	x, w1, w2 := tensor.Ones(B, D), tensor.Ones(D, D).RequireGrad(), tensor.Ones(D, K).RequireGrad()
	r := accounting.Count(func() {
		h1 := x.Matmul(w1)
		h2 := h1.Matmul(w2)
		h2.Backward(tensor.WithGrad(tensor.Ones(B, K)))
	})
	fmt.Println(r.Forward.FLOPs == 2*B*D*D+2*B*D*K)
	fmt.Println(r.Backward.FLOPs == 4*B*D*K+2*B*D*D)
	fmt.Print(r.Rule(D*D+D*K, B))
	// Output:
	// true
	// true
	// FLOPs                            rule  counted in matmul   ratio
	// forward 2·81,920·1,024    167,772,160        167,772,160       1
	// backward 4·81,920·1,024   335,544,320        201,326,592     0.6
	// both 6·parameters·tokens  503,316,480        369,098,752  0.7333
	// backward is 134,217,728 below the rule: inputs that need no gradient, such as the data, save a product each
}

func TestTwoLayerFLOPsAreExact(t *testing.T) {
	for _, s := range []struct{ b, d, k int }{{1024, 256, 64}, {3, 5, 7}, {1, 1, 1}} {
		BDD, BDK := s.b*s.d*s.d, s.b*s.d*s.k
		r := twoLayers(s.b, s.d, s.k, false)
		if got, want := r.Forward.MatmulFLOPs(), 2*BDD+2*BDK; got != want {
			t.Errorf("%v: forward %d FLOPs, want %d", s, got, want)
		}
		if got, want := r.Backward.MatmulFLOPs(), 4*BDK+2*BDD; got != want {
			t.Errorf("%v: backward %d FLOPs, want %d", s, got, want)
		}
		asked := twoLayers(s.b, s.d, s.k, true)
		if got, want := asked.Backward.MatmulFLOPs(), 4*BDK+4*BDD; got != want {
			t.Errorf("%v: backward with the gradient of x %d FLOPs, want %d", s, got, want)
		}
		if ratio := asked.Rule(s.d*s.d+s.d*s.k, s.b).Ratio(); ratio != 1 {
			t.Errorf("%v: 6·parameters·tokens is off by a factor of %v where every input has a gradient", s, ratio)
		}
	}
}

func TestReportTreeFollowsScopes(t *testing.T) {
	tree := twoLayers(16, 8, 4, false).Tree()
	for _, want := range []string{"\n  layer 1 ", "\n    matmul [16 8] x [8 8] ", "\n    gradient of matmul, input 0 ", "backward"} {
		if !strings.Contains(tree, want) {
			t.Errorf("no %q in\n%s", want, tree)
		}
	}
	if html := twoLayers(16, 8, 4, false).HTML(); !strings.Contains(html, `<table class="lectern-table">`) || strings.Count(html, "<td") < 20 {
		t.Errorf("HTML without a table:\n%s", html)
	}
}

func TestCountOfAPanickingFunctionStopsListening(t *testing.T) {
	if err := tensor.Try(func() { accounting.Count(func() { tensor.Ones(2).View(3) }) }); err == nil {
		t.Fatal("no panic")
	}
	r := accounting.Count(func() { tensor.Ones(8).Add(1) })
	if r.Forward.Calls != 1 || r.Forward.FLOPs != 8 || r.Forward.Bytes != 4*8+4*8 { // the 1 stands in the code
		t.Errorf("adding 1 to 8 numbers: %+v", r.Forward.Tally)
	}
}

// The linear model of the lecture: 2·B·D·K, two for each token and parameter.
func ExampleCount_linear() {
	x, w := tensor.Ones(1024, 256), tensor.Ones(256, 64)
	r := accounting.Count(func() { x.Matmul(w) })
	fmt.Println(r.FLOPs(), 2*1024*256*64)
	elementwise := accounting.Count(func() { x.Add(x) })
	fmt.Println(elementwise.FLOPs(), 1024*256)
	// Output:
	// 33554432 33554432
	// 262144 262144
}

// TestProductsOfAllForms: a weight that lies as PyTorch's do is counted, too.
func TestProductsOfAllForms(t *testing.T) {
	x, w := tensor.Ones(5, 7), tensor.Ones(3, 7).RequireGrad()
	r := accounting.Count(func() { x.MatmulT(w).Sum().Backward() })
	if got, want := r.MatmulFLOPs(), 2*2*5*7*3; got != want {
		t.Errorf("%d FLOPs, want %d", got, want)
	}
}

// TestRuleSentencesAreTrue: what the rule says about the difference is the reason
// for it.
func TestRuleSentencesAreTrue(t *testing.T) {
	const B, D, V = 8, 4, 50
	table, w := tensor.Ones(V, D).RequireGrad(), tensor.Ones(D, D).RequireGrad()
	ids, data := tensor.With(tensor.Int64).Zeros(B), tensor.Ones(B, D)
	looked, added := "parameters that are looked up or added", "values are multiplied by each other"
	spared, again := "inputs that need no gradient", "computes products again"
	for _, c := range []struct {
		name       string
		f          func()
		parameters int
		says       []string
		not        []string
	}{
		{"a layer, asked for the data's gradient", func() { tensor.Ones(B, D).RequireGrad().Matmul(w).Sum().Backward() }, D * D, nil, []string{looked, added, spared, again}},
		{"a layer", func() { data.Matmul(w).Sum().Backward() }, D * D, []string{"backward is 256 below the rule: " + spared}, []string{looked, added, again}},
		{"an embedding table and a layer", func() { table.Embedding(ids).Matmul(w).Sum().Backward() }, V*D + D*D,
			[]string{"forward is 3,200 below the rule: " + looked}, []string{spared, added, again}},
		{"an embedding table alone", func() { table.Embedding(ids).Sum().Backward() }, V * D, nil, []string{spared, added, again}},
		{"with a bias", func() { data.Matmul(w).Add(tensor.Ones(D).RequireGrad()).Sum().Backward() }, D*D + D,
			[]string{"forward is 64 below the rule: " + looked, "backward is 256 below twice forward: " + spared}, []string{added, again}},
		{"a weight used twice", func() { data.Matmul(w).Matmul(w).Sum().Backward() }, D * D,
			[]string{"forward is 256 above the rule: ", "backward is 256 below twice forward: " + spared}, []string{looked, again}},
		{"recomputed", func() {
			tensor.Recompute(func(in ...*tensor.Tensor) *tensor.Tensor { return in[0].Matmul(in[1]) }, tensor.Ones(B, D).RequireGrad(), w).Sum().Backward()
		}, D * D, []string{"backward is 256 above the rule: it " + again}, []string{looked, added, spared}},
		{"forward only", func() { data.Matmul(w) }, D * D, nil, []string{looked, added, spared, again}},
	} {
		text := accounting.Count(c.f).Rule(c.parameters, B).String()
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the rule does not say %q:\n%s", c.name, want, text)
			}
		}
		for _, wrong := range c.not {
			if strings.Contains(text, wrong) {
				t.Errorf("%s: the rule says %q:\n%s", c.name, wrong, text)
			}
		}
	}
}

var unfolds = regexp.MustCompile(`<details><summary>([0-9,]+)</summary>((?:<div>[^<]*</div>)+)</details>`)

// Each number that unfolds is the sum of the lines that it unfolds into, and each number of an operation does.
func TestNumbersUnfold(t *testing.T) {
	table, rows, target := tensor.Ones(10, 4).RequireGrad(), tensor.Of(1, 1, 7), tensor.Zeros(3, 4)
	step := func() {
		for range 3 {
			loss := table.Embedding(rows).Sub(target).Mul(0.5).Softmax(1).Add(1).Sum()
			loss.Backward()
		}
	}
	for name, report := range map[string]interface{ HTML() string }{
		"count": accounting.Count(step), "layers": twoLayers(16, 8, 4, true), "memory": accounting.Memory(step, table, rows, target),
	} {
		html := report.HTML()
		found := unfolds.FindAllStringSubmatch(html, -1)
		if len(found) < 8 {
			t.Errorf("%s: %d numbers unfold:\n%s", name, len(found), html)
		}
		for _, m := range found {
			sum := 0
			for _, part := range regexp.MustCompile(`([0-9,]+)</div>`).FindAllStringSubmatch(m[2], -1) {
				sum += number(t, part[1])
			}
			if want := number(t, m[1]); sum != want {
				t.Errorf("%s: %s unfolds into %d: %s", name, m[1], sum, m[2])
			}
		}
		// An operation stands below a heading, which moves it to the right.
		for _, m := range regexp.MustCompile(`padding-left[^>]*>((?:matmul|sub|softmax|embedding)[^<]*)</td>.*`).FindAllStringSubmatch(html, -1) {
			if costs := regexp.MustCompile(`<td style="text-align:right">[1-9][0-9,]{2,}</td>`).FindString(m[0]); costs != "" {
				t.Errorf("%s: of %s this does not unfold: %s", name, m[1], costs)
			}
		}
	}
	html := accounting.Count(step).HTML()
	for _, want := range []string{
		"<div>[3 4] x []: 3 calls · 1 · 12 elements = 36</div>", // the constant is read from nowhere
		"<div>reads [3 4] of float32, 3 times: 144</div><div>writes [3 4] of float32, 3 times: 144</div>",
		"<div>reads what is picked, and where that is, 3 times: ",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in\n%s", want, html)
		}
	}
	if want := "<div>[16 8] x [8 8]: 2 · 128 elements · 8 pairs = 2,048</div>"; !strings.Contains(twoLayers(16, 8, 4, true).HTML(), want) {
		t.Errorf("%q is not in\n%s", want, twoLayers(16, 8, 4, true).HTML())
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
