package accounting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/inspect"
	"github.com/lectern-go/lectern/internal/tabular"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Report is what [Count] found.
type Report struct {
	Forward  Phase // operations outside Backward
	Backward Phase // operations that Backward ran, accumulation of gradients included
}

// Phase is the cost of the operations of one direction.
type Phase struct {
	Tally
	Ops  []OpTally // by operation, the most FLOPs first
	Tree *Branch   // by scope, then by operation
}

// Tally adds up calls of operations.
type Tally struct {
	Calls  int
	FLOPs  int           // counted from the shapes
	Matmul int           // the part of FLOPs that matrix products take
	Bytes  int           // read and written, judging by the shapes: caches may save some; a Go number is in no memory
	Time   time.Duration // how long the operations took
}

func (t *Tally) add(e *inspect.Op) {
	t.Calls++
	t.FLOPs += e.FLOPs
	t.Matmul += e.Matmul
	t.Bytes += e.Bytes
	t.Time += e.Elapsed
}

// Intensity returns FLOPs per byte.
func (t Tally) Intensity() float64 { return Intensity(float64(t.FLOPs), float64(t.Bytes)) }

// OpTally is the tally of one operation.
type OpTally struct {
	Op string
	Tally
	runs []run
}

// Branch is a node of the tree of costs. Its tally includes its children.
type Branch struct {
	Name string
	Tally
	Children []*Branch // in order of first appearance
	runs     []run     // where there are no children
}

// A run is the cost of all calls of an operation with the same shapes and types. The numbers of a tally consist of
// runs.
type run struct {
	inspect.Op     // one of them
	times      int // that it was called
}

// added notes another call.
func added(runs []run, op *inspect.Op) []run {
	i := slices.IndexFunc(runs, func(r run) bool {
		return r.FLOPs == op.FLOPs && r.Bytes == op.Bytes && slices.Equal(r.Parts, op.Parts) && slices.EqualFunc(r.Inputs, op.Inputs, slices.Equal[[]int]) && slices.Equal(r.Output, op.Output)
	})
	if i < 0 {
		return append(runs, run{*op, 1})
	}
	runs[i].times++
	return runs
}

// flops says how the FLOPs of the calls come about.
func (r run) flops() string {
	formula := ""
	if r.times > 1 {
		formula = many(r.times, "call") + " · "
	}
	n, first := layout.Product(r.Output), 0
	if len(r.Inputs) > 0 {
		first = layout.Product(r.Inputs[0])
	}
	switch total := humanize.Thousands(r.FLOPs); {
	case r.Matmul == r.FLOPs && n > 0 && r.FLOPs%(2*n) == 0:
		formula += fmt.Sprintf("2 · %s · %s = ", many(n, "element"), many(r.FLOPs/(2*n), "pair"))
	case n > 1 && r.FLOPs%n == 0:
		formula += fmt.Sprintf("%s · %s = ", humanize.Thousands(r.FLOPs/n), many(n, "element"))
	case first > 1 && r.FLOPs >= first && r.FLOPs%first == 0:
		formula += fmt.Sprintf("%s · %s = ", humanize.Thousands(r.FLOPs/first), many(first, "element"))
	case first > 1 && r.FLOPs > first && n == 1:
		formula += fmt.Sprintf("%s · %s + %s = ", humanize.Thousands(r.FLOPs/first), many(first, "element"), humanize.Thousands(r.FLOPs%first))
	case r.times > 1:
		formula += total + " = "
	}
	return operands(r.Inputs) + ": " + formula + humanize.Thousands(r.times*r.FLOPs)
}

// many is a number of things, however large.
func many(n int, noun string) string {
	return humanize.Thousands(n) + strings.TrimLeft(humanize.Count(n, noun), "0123456789")
}

// bytes says what the calls have read and written.
func (r run) bytes() (lines []string) {
	for i, p := range r.Parts {
		if p.Bytes == 0 { // a number in the code, or what is written over
			continue
		}
		what := "reads what is picked, and where that is"
		switch {
		case p.Kind == inspect.Write:
			what = fmt.Sprintf("writes %v of %s", r.Output, p.Dtype)
		case p.Kind == inspect.Read && i < len(r.Inputs):
			what = fmt.Sprintf("reads %v of %s", r.Inputs[i], p.Dtype)
		}
		if r.times > 1 {
			what += fmt.Sprintf(", %d times", r.times)
		}
		lines = append(lines, what+": "+humanize.Thousands(r.times*p.Bytes))
	}
	return lines
}

// unfold makes the FLOPs and bytes of the last row, which begin at a column, unfold into their parts.
func unfold(t *tabular.Table, column int, runs []run) {
	var flops, bytes []string
	for _, r := range runs {
		if r.FLOPs > 0 {
			flops = append(flops, r.flops())
		}
		bytes = append(bytes, r.bytes()...)
	}
	t.Unfold(column, flops...)
	t.Unfold(column+1, bytes...)
}

func (b *Branch) child(name string) *Branch {
	for _, c := range b.Children {
		if c.Name == name {
			return c
		}
	}
	c := &Branch{Name: name}
	b.Children = append(b.Children, c)
	return c
}

// Count runs f and reports the cost of every operation of package tensor that was run
// meanwhile, including those of other goroutines. Structure the report with
// [tensor.Scope].
//
// A panic of f passes through.
func Count(f func()) Report {
	var mu sync.Mutex
	var ops []inspect.Op
	stop := inspect.Linked.Trace(func(op inspect.Op) {
		mu.Lock()
		ops = append(ops, op)
		mu.Unlock()
	})
	defer stop()
	f()
	stop()
	mu.Lock()
	defer mu.Unlock()
	r := Report{Forward: Phase{Tree: &Branch{Name: "forward"}}, Backward: Phase{Tree: &Branch{Name: "backward"}}}
	for i := range ops {
		if e := &ops[i]; e.Backward {
			r.Backward.add(e)
		} else {
			r.Forward.add(e)
		}
	}
	r.Forward.sort()
	r.Backward.sort()
	return r
}

func (p *Phase) add(e *inspect.Op) {
	p.Tally.add(e)
	i := slices.IndexFunc(p.Ops, func(o OpTally) bool { return o.Op == e.Name })
	if i < 0 {
		i = len(p.Ops)
		p.Ops = append(p.Ops, OpTally{Op: e.Name})
	}
	p.Ops[i].add(e)
	p.Ops[i].runs = added(p.Ops[i].runs, e)

	at := p.Tree
	at.add(e)
	for _, name := range pathOf(e) {
		at = at.child(name)
		at.add(e)
	}
	at.runs = added(at.runs, e)
}

// pathOf returns where in the tree an operation belongs: its scopes, in Backward the
// gradient that it is part of, and the operation itself with its shapes.
func pathOf(e *inspect.Op) []string {
	var path []string
	if e.Scope != "" {
		path = strings.Split(e.Scope, "/")
	}
	switch {
	case e.Backward && e.Of != "":
		path = append(path, fmt.Sprintf("gradient of %s, input %d", e.Of, e.Input))
	case e.Backward:
		path = append(path, "adding gradients")
	}
	return append(path, e.Name+" "+operands(e.Inputs))
}

// operands are the shapes that go into an operation.
func operands(inputs [][]int) string {
	shapes := make([]string, len(inputs))
	for i, s := range inputs {
		shapes[i] = fmt.Sprint(s)
	}
	return strings.Join(shapes, " x ")
}

func (p *Phase) sort() {
	slices.SortStableFunc(p.Ops, func(a, b OpTally) int {
		return cmp.Or(cmp.Compare(b.FLOPs, a.FLOPs), cmp.Compare(b.Bytes, a.Bytes))
	})
}

// Op returns the tally of one operation, by its name; zero if it did not run.
func (p *Phase) Op(name string) Tally {
	for _, o := range p.Ops {
		if o.Op == name {
			return o.Tally
		}
	}
	return Tally{}
}

// MatmulFLOPs returns the FLOPs of matrix products, the part that formulas such as
// 2BDK count. It includes the products inside an attention, which is one operation:
// queries with keys, and weights with values, without the softmax between them.
func (p *Phase) MatmulFLOPs() int { return p.Matmul }

// FLOPs returns all FLOPs, forward and backward.
func (r Report) FLOPs() int { return r.Forward.FLOPs + r.Backward.FLOPs }

// MatmulFLOPs returns the FLOPs of matrix products, forward and backward.
func (r Report) MatmulFLOPs() int { return r.Forward.MatmulFLOPs() + r.Backward.MatmulFLOPs() }

// Table returns the costs by operation as text.
func (r Report) Table() string { return r.table().String() }

func (r Report) table() *tabular.Table {
	t := &tabular.Table{Header: []string{"operation", "calls", "FLOPs", "bytes", "FLOP/byte"}}
	total := Tally{}
	for _, part := range []struct {
		name string
		*Phase
	}{{"forward", &r.Forward}, {"backward", &r.Backward}} {
		if part.Calls == 0 {
			continue
		}
		t.Add(part.name, humanize.Thousands(part.Calls), humanize.Thousands(part.FLOPs), humanize.Thousands(part.Bytes), trim(part.Intensity(), 3))
		for _, o := range part.Ops {
			if o.FLOPs == 0 && o.Bytes == 0 {
				continue // views
			}
			t.Add("  "+o.Op, humanize.Thousands(o.Calls), humanize.Thousands(o.FLOPs), humanize.Thousands(o.Bytes), trim(o.Intensity(), 3))
			unfold(t, 2, o.runs)
		}
		total.Calls += part.Calls
		total.FLOPs += part.FLOPs
		total.Bytes += part.Bytes
	}
	t.Add("total", humanize.Thousands(total.Calls), humanize.Thousands(total.FLOPs), humanize.Thousands(total.Bytes), trim(total.Intensity(), 3))
	return t
}

// Tree returns the costs by scope and operation as text. Branches without FLOPs
// or bytes are left out.
func (r Report) Tree() string { return r.tree().String() }

func (r Report) tree() *tabular.Table {
	t := &tabular.Table{Header: []string{"", "FLOPs", "bytes"}}
	var walk func(b *Branch, indent string)
	walk = func(b *Branch, indent string) {
		if b.FLOPs == 0 && b.Bytes == 0 {
			return
		}
		name := b.Name
		if b.Calls > 1 && len(b.Children) == 0 {
			name += fmt.Sprintf(" (%d times)", b.Calls)
		}
		t.Add(indent+name, humanize.Thousands(b.FLOPs), humanize.Thousands(b.Bytes))
		unfold(t, 1, b.runs)
		for _, c := range b.Children {
			walk(c, indent+"  ")
		}
	}
	walk(r.Forward.Tree, "")
	walk(r.Backward.Tree, "")
	return t
}

// String returns the table by operation.
func (r Report) String() string { return r.Table() }

// HTML returns the table by operation, with the tree folded below it. The numbers of an operation unfold into their
// parts.
func (r Report) HTML() string {
	return r.table().HTML() + "<details><summary>by scope</summary>\n" + r.tree().HTML() + "</details>\n"
}

// Rule compares what was counted with the rule of thumb that training takes 6
// FLOPs for each parameter and token: 2 forward, 4 backward.
type Rule struct {
	Parameters, Tokens          int
	PredictedForward, Forward   int // FLOPs; counted ones are those of matrix products
	PredictedBackward, Backward int
	OtherFLOPs                  int // counted, outside matrix products
}

// Rule compares the report with 6·parameters·tokens.
func (r Report) Rule(parameters, tokens int) Rule {
	return Rule{
		Parameters: parameters, Tokens: tokens,
		PredictedForward: 2 * parameters * tokens, Forward: r.Forward.MatmulFLOPs(),
		PredictedBackward: 4 * parameters * tokens, Backward: r.Backward.MatmulFLOPs(),
		OtherFLOPs: r.FLOPs() - r.MatmulFLOPs(),
	}
}

// Ratio returns counted FLOPs of matrix products over predicted ones; see
// [Phase.MatmulFLOPs].
func (r Rule) Ratio() float64 {
	return float64(r.Forward+r.Backward) / float64(r.PredictedForward+r.PredictedBackward)
}

// String prints the rule beside the count.
func (r Rule) String() string {
	t := &tabular.Table{Header: []string{"FLOPs", "rule", "counted in matmul", "ratio"}}
	line := func(name string, rule, counted int) {
		t.Add(name, humanize.Thousands(rule), humanize.Thousands(counted), trim(float64(counted)/float64(rule), 4))
	}
	line(fmt.Sprintf("forward 2·%s·%s", humanize.Thousands(r.Parameters), humanize.Thousands(r.Tokens)), r.PredictedForward, r.Forward)
	line(fmt.Sprintf("backward 4·%s·%s", humanize.Thousands(r.Parameters), humanize.Thousands(r.Tokens)), r.PredictedBackward, r.Backward)
	line("both 6·parameters·tokens", r.PredictedForward+r.PredictedBackward, r.Forward+r.Backward)
	text := t.String()
	// The rule assumes that each parameter is a factor once for each token, and that
	// backward takes twice as many FLOPs as forward; each of the two can be off for its
	// own reasons.
	switch below := r.PredictedForward - r.Forward; {
	case r.Forward == 0:
	case below > 0:
		text += fmt.Sprintf("forward is %s below the rule: parameters that are looked up or added, such as embedding tables and biases, are not factors of a product\n", humanize.Thousands(below))
	case below < 0:
		text += fmt.Sprintf("forward is %s above the rule: values are multiplied by each other, as in attention, or parameters are used more than once\n", humanize.Thousands(-below))
	}
	than := "the rule"
	if r.PredictedForward != r.Forward {
		than = "twice forward"
	}
	switch below := 2*r.Forward - r.Backward; {
	case r.Backward == 0:
	case below > 0:
		text += fmt.Sprintf("backward is %s below %s: inputs that need no gradient, such as the data, save a product each\n", humanize.Thousands(below), than)
	case below < 0:
		text += fmt.Sprintf("backward is %s above %s: it computes products again, or gradients of gradients\n", humanize.Thousands(-below), than)
	}
	if r.OtherFLOPs > 0 {
		text += fmt.Sprintf("besides, %s FLOPs in operations that the rule leaves out (%s of the rule's)\n", humanize.Thousands(r.OtherFLOPs),
			percent(float64(r.OtherFLOPs)/float64(r.PredictedForward+r.PredictedBackward)))
	}
	return text
}

// HTML shows the same text.
func (r Rule) HTML() string { return preformatted(r.String()) }

func percent(x float64) string { return trim(100*x, 3) + " %" }
