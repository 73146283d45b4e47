package rewrite

import (
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/vet"
)

// TestRemarks looks at the remarks on cells that compile and are likely to mean something else.
func TestRemarks(t *testing.T) {
	const setup = beforeMistakes + "\nb := tensor.Of(1, 2, 3)\nimport \"math/big\"\nn := 7\ng(n)"
	nb := newNotebook(t)
	nb.s = nb.s.Vetted(vet.Check)
	if r := nb.run(setup); len(r.Errors)+len(r.Notes) > 0 {
		t.Fatal(r.Errors, r.Notes)
	}
	for _, c := range []struct{ cell, want string }{
		{"y := 7 // 2", "line 1: // begins a comment"},
		{"x = 3\ny := g(7) // (2)\n", "line 2: // begins a comment"},
		{"y := 7 // two", ""},
		{"// 2", ""},
		{"y := 7\n// 2", ""},
		{"y := \"7 // 2\"", ""},
		{"if x > 0 { // 2\n}", ""},

		{"a == b", "line 1: a == b asks whether both are the same tensor in memory: tensor.Equal(a, b) compares all elements at once, a.Eq(b) for each"},
		{"x = 3\nif a != b {\n}", "line 2: a != b asks whether both are the same tensor in memory: !tensor.Equal(a, b) compares all elements at once, a.Ne(b) for each"},
		{"func same(x, y *tensor.Tensor) bool { return x == y }", "line 1: x == y asks"},
		{"big.NewInt(1) == big.NewInt(2)", "big.NewInt(1) == big.NewInt(2) asks whether both are the same int in memory: big.NewInt(1).Cmp(big.NewInt(2)) == 0 compares the values"},
		{"a == nil", ""},
		{"p == p", ""},
		{"there := a.To(tensor.CPU)\nthere == a", ""},
		{"h := a\nfor range 3 {\n\tbefore := h\n\tif before != a {\n\t\tbefore.Free()\n\t}\n\th = before.ReLU()\n}", ""},
		{"type layer struct{ Weight *tensor.Tensor }\nl := layer{a}\nl.Weight == b", ""},

		{"2 ^ 3", "line 1: ^ is exclusive or, bit by bit. A power is written 1<<3, or math.Pow(2, 3)"},
		{"10 ^ n", "A power is written math.Pow(10, float64(n))"},
		{"x ^ 2", "A power is written x*x, or math.Pow(float64(x), 2)"},
		{"(x + 1) ^ 2", "A power is written (x + 1)*(x + 1), or math.Pow(float64((x + 1)), 2)"},
		{"x ^ n", ""},
		{"x ^ 1", ""},
		{"0x0f ^ 0x03", ""},
		{"x ^ 2 | 1", ""},
		{"y := ^x\ny ^ 2", ""},
		{"uint8(x) ^ 2", ""},

		{"1 / 2", "line 1: 1 / 2 divides integers, which drops the remainder: it is 0; write 1.0 / 2"},
		{"7 / 2", "it is 3; write 7.0 / 2"},
		{"var y float64 = 7 / 2", "it is 3; write 7.0 / 2"},
		{"f * (1 / 3)", "1 / 3 divides integers"},
		{"math.Pow(2, 1/2)", "write 1.0 / 2"},
		{"fmt.Println(7 / 2)", "write 7.0 / 2"},
		{"f == 7/2", "write 7.0 / 2"},
		{"7/2 == 3.5", "write 7.0 / 2"},
		{"a.Mul(1 / 2)", "write 1.0 / 2"},
		{"const layers = 12\nf = layers / 5", "layers / 5 divides integers, which drops the remainder: it is 2; write float64(layers) / 5"},
		{"y := 1 / n\ny", "1 / n divides integers, which drops the remainder: it is 0 as soon as n is more than 1; write 1 / float64(n)"},
		{"6 / 2", ""},
		{"y := 7 / 2", ""},
		{"xs[3/2]", ""},
		{"n / 2", ""},
		{"1e3 / 7", ""},
		{"time.Second / 3", ""},
		{"fmt.Println(n / 2)", ""},

		{"a.Shape", "line 1: a.Shape is the method itself: a.Shape() calls it"},
		{"a.T", "a.T is the method itself: a.T() calls it"},
		{"a.Sum", "a.Sum is the method itself: a.Sum() calls it"},
		{"a.Add", "a.Add is the method itself: a.Add(…) calls it"},
		{"time.Now", "time.Now is the function itself: time.Now() calls it"},
		{"g", ""},
		{"(*tensor.Tensor).Shape", ""},
		{"y := a.Shape", ""},
		{"p.Size", ""},

		{"a.Add(1)\na", "line 1: a.Add returns a new tensor and leaves a as it is: assign the result, or write a.AddInPlace(…) to change a"},
		{"a.Reshape(3, 1);", "a.Reshape returns a new tensor and leaves a as it is: assign the result"},
		{"strings.ToUpper(s)\ns", "line 1: what strings.ToUpper returns is lost: assign it, as in x := strings.ToUpper(s)"},
		{"fmt.Sprint(x)\nx", "what fmt.Sprint returns is lost"},
		{"func h() { math.Sqrt(2) }", "what math.Sqrt returns is lost"},
		{"a.AddInPlace(1)\na.RequireGrad()\na.Zero()\na.Fill(1)\na.SetIndex(1, 0)\nx", ""},
		{"a.Add(1)", ""},
		{"err := tensor.Try(func() { a.Add(1) })\nerr", ""},
		{"a.Matmul(a)\nstart := time.Now()\nb := a.Matmul(a)\nfmt.Println(b, time.Since(start))", ""},
		{"slices.Sort(xs)\nxs", ""},

		{"x =+ 1", "line 1: x =+ assigns a number with a sign; write x += to change x"},
		{"x = +1", ""},
		{"print(x)", "line 1: print is meant for debugging Go itself, and writes to standard error in its own format: use fmt.Println(…)"},

		{"for i := range 0 {\n\tfmt.Println(i)\n}", "line 1: this loop never runs"},
		{"for i := 0; i > n; i++ {\n}", "it counts with i++, and goes on as long as i > n; write i < n"},
		{"for i := n; i < 0; i-- {\n}", "it counts with i--, and goes on as long as i < 0; write i > 0"},
		{"for i := 10; i < 5; i++ {\n}", "this loop never runs: i begins at 10, and i < 5 is false"},
		{"for false {\n}", "this loop never runs: false is false"},
		{"const debug = 0\nfor i := range debug {\n\tfmt.Println(i)\n}", ""},
		{"for i := 0; i < n; i++ {\n}\nfor i := n; i > 0; i-- {\n}\nfor i := n; i >= 0; i-- {\n}\nfor i := 1; i <= 3; i++ {\n}", ""},

		{`fmt.Printf("%d\n", s)`, `line 1: fmt.Printf format %d has arg s of wrong type string`},
		{`fmt.Println("x is %d", x)`, `fmt.Println call has possible Printf formatting directive %d`},
		{"fmt.Println(a.Shape)", "fmt.Println arg a.Shape is a func value, not called"},
		{`fmt.Printf("%s %s\n", s)`, "fmt.Printf format %s reads arg #2, but call has 1 arg"},
		{`fmt.Printf("%v\n", T{})`, ""},
		{"y := string(x)", "conversion from int to string yields a string of one rune"},
		{"x = x", "self-assignment of x"},
		{"if x == 1 || x == 1 {\n}", "redundant or: x == 1 || x == 1"},
		{"var mu sync.Mutex\nother := mu\nfmt.Println(&other)", "assignment copies lock value to other: sync.Mutex"},
		{"func h() int {\n\treturn 1\n\tfmt.Println(2)\n\treturn 2\n}", "line 3: unreachable code"},
		{"func h() {\n\tctx, cancel := context.WithCancel(context.Background())\n\tif x > 0 {\n\t\tcancel()\n\t}\n\t_ = ctx\n}", "the cancel function is not used on all paths"},
		{"func h() {\n\tctx, cancel := context.WithCancel(context.Background())\n\tif x > 0 {\n\t\tlog.Fatal(1)\n\t}\n\tdefer cancel()\n\t_ = ctx\n}", ""},
		{"ctx, cancel := context.WithCancel(context.Background())\nctx.Err()", ""},
		{"func warn(format string, args ...any) { fmt.Printf(format, args...) }\nwarn(\"%d\", s)", "warn format %d has arg s of wrong type string"},
		{"type P struct{ sync.Mutex; n int }\nq := &P{}\nq.Lock()\nq.n++\nf2 := func() { q.Lock() }\nf2", ""},
	} {
		r := nb.s.Rewrite(2, c.cell)
		if got := strings.Join(r.Notes, "\n"); len(r.Errors) > 0 || !strings.Contains(got, c.want) || c.want == "" && got != "" || strings.Contains(got, "\n") || strings.Contains(got, "lectern") {
			t.Errorf("%q: errors %v, said is\n%s\nwant\n%s", c.cell, r.Errors, got, c.want)
		}
		if again := r.Next.Rewrite(2, c.cell); c.want != "" && len(again.Notes) > 0 && len(again.Errors) == 0 {
			t.Errorf("%q: said again: %q", c.cell, again.Notes)
		}
	}
}
