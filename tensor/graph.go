package tensor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/autograd"
)

// Graph is the computation behind a result, as data: for pictures, tables and
// text. Nodes come in the order of the computation, each after its inputs.
type Graph struct {
	Nodes []GraphNode
	Edges []GraphEdge
}

// GraphNode is one value of a graph and the operation that made it.
type GraphNode struct {
	Name     string // given by Named; else "" for results and constants
	Op       string // the operation that made the value; "" if none did: a leaf or a constant
	Scope    string // see Scope; recorded only while operations are traced
	Shape    []int
	Dtype    Dtype
	Leaf     bool    // a value whose gradient Backward leaves
	Constant bool    // a value that needs no gradient
	Retains  bool    // Backward keeps the gradient, as for leaves
	Grad     *Tensor // the gradient that it has, or nil

	FLOPs    int          // of the operation, forward
	Saved    []SavedInput // the tensors that the operation saved for its gradient
	Released bool         // Backward has dropped what was saved
}

// SavedInput is a value that an operation keeps for its gradient.
type SavedInput struct {
	What    string // which one, such as "its left operand"
	Shape   []int
	Dtype   Dtype
	Bytes   int
	Storage Memory // the zero Memory after the value was released
}

// SavedBytes returns the bytes that the operation saved; a value that several
// operations saved counts for each of them.
func (n *GraphNode) SavedBytes() int {
	total := 0
	for _, s := range n.Saved {
		total += s.Bytes
	}
	return total
}

// GraphEdge says that node From is input number Input of node To. Both are
// positions in Graph.Nodes.
type GraphEdge struct{ From, To, Input int }

// Named gives a tensor a name in [GraphOf].
func Named(name string, t *Tensor) NamedTensor { return NamedTensor{name, t} }

// NamedTensor is a tensor with the name that a graph shows for it.
type NamedTensor struct {
	Name   string
	Tensor *Tensor
}

// GraphOf returns the graph that t was computed by, with names for the given values:
//
//	g := tensor.GraphOf(loss, tensor.Named("w", w), tensor.Named("loss", loss))
//
// It panics if t takes no part in a gradient: no graph was recorded then.
func GraphOf(t *Tensor, names ...NamedTensor) *Graph {
	root := t.graph()
	if root == nil {
		fail(ErrGrad, "graph", describe(t), "the tensor takes no part in a gradient, so its computation was not recorded", "call RequireGrad on an input before computing")
	}
	order := autograd.Order(root)
	slices.Reverse(order)
	g := &Graph{}
	position := map[*autograd.Node[*Tensor]]int{}
	for _, n := range order {
		info := GraphNode{Leaf: n.IsLeaf(), Retains: !n.IsLeaf() && n.RetainsGrad()}
		info.Grad, _ = n.Grad()
		c, isCall := n.Function().(*call)
		if isCall {
			info.describe(c)
		} else if !n.IsLeaf() {
			info.Op, info.Released = n.Function().Name(), true
		}
		if n == root && !isCall {
			info.Shape, info.Dtype = t.Shape(), t.dtype
		}
		for _, named := range names {
			if named.Tensor.graph() == n {
				info.Name = named.Name
			}
		}
		var edges []GraphEdge
		if isCall {
			edges = g.inputsOf(c, position, names)
		}
		at := len(g.Nodes)
		for _, e := range edges {
			e.To = at
			g.Edges = append(g.Edges, e)
		}
		position[n] = at
		g.Nodes = append(g.Nodes, info)
	}
	return g
}

// describe fills in the properties of an operation.
func (n *GraphNode) describe(c *call) {
	n.Op, n.Scope, n.Released = c.op.name, c.scope, c.released && len(c.saved) > 0
	n.Shape, n.Dtype = c.out.Shape(), c.out.dtype
	if c.op.flops != nil {
		n.FLOPs = c.op.flops(c, c.out)
	}
	for _, s := range c.saved {
		if s.tensor.number {
			continue
		}
		saved := SavedInput{What: s.what, Shape: s.tensor.Shape(), Dtype: s.tensor.dtype, Bytes: s.tensor.distinctBytes()}
		if s.tensor.storage != nil {
			saved.Storage = MemoryOf(s.tensor)
		}
		n.Saved = append(n.Saved, saved)
	}
}

// inputsOf returns the edges to a call, and adds a node for each input that
// needs no gradient. A leaf does not know its shape; the operation that uses it does.
func (g *Graph) inputsOf(c *call, position map[*autograd.Node[*Tensor]]int, names []NamedTensor) (edges []GraphEdge) {
	for i, x := range c.in {
		from, known := position[c.inputs[i]]
		if c.inputs[i] == nil || !known {
			from = len(g.Nodes)
			constant := GraphNode{Constant: true, Shape: x.Shape(), Dtype: x.dtype}
			for _, named := range names {
				if x.storage != nil && SameStorage(named.Tensor, x) {
					constant.Name = named.Name
				}
			}
			if x.number && x.storage != nil {
				constant.Name = fmt.Sprint(x.Item())
			}
			g.Nodes = append(g.Nodes, constant)
		}
		if g.Nodes[from].Leaf {
			g.Nodes[from].Shape, g.Nodes[from].Dtype = x.Shape(), x.dtype
		}
		edges = append(edges, GraphEdge{From: from, Input: i})
	}
	return edges
}

// FLOPs returns the floating-point operations of the whole graph, forward.
func (g *Graph) FLOPs() int {
	total := 0
	for i := range g.Nodes {
		total += g.Nodes[i].FLOPs
	}
	return total
}

// SavedBytes returns the bytes that the graph keeps for Backward: values that are
// saved several times count once, and released ones don't count.
func (g *Graph) SavedBytes() int {
	total := 0
	seen := map[Memory]bool{}
	for i := range g.Nodes {
		for _, s := range g.Nodes[i].Saved {
			if s.Storage != (Memory{}) && !seen[s.Storage] {
				seen[s.Storage] = true
				total += s.Bytes
			}
		}
	}
	return total
}

// Label returns the text for the box of node i in a picture: its name or its
// operation, with its shape.
func (g *Graph) Label(i int) string {
	n := &g.Nodes[i]
	text := n.Name
	switch {
	case text != "" && n.Op != "":
		text += " = " + n.Op
	case text == "" && n.Op != "":
		text = n.Op
	case text == "" && n.Leaf:
		text = "leaf"
	case text == "":
		text = "constant"
	}
	return fmt.Sprintf("%s %v", text, n.Shape)
}

// String lists the nodes in the order of computation, one per line, with the numbers
// of their inputs, FLOPs and saved bytes.
func (g *Graph) String() string {
	var b strings.Builder
	for i := range g.Nodes {
		n := &g.Nodes[i]
		inputs := make([]string, 0, 2)
		for _, e := range g.Edges {
			if e.To == i {
				inputs = append(inputs, fmt.Sprintf("#%d", e.From))
			}
		}
		fmt.Fprintf(&b, "#%d %s", i, g.Label(i))
		if len(inputs) > 0 {
			fmt.Fprintf(&b, " of %s", strings.Join(inputs, ", "))
		}
		fmt.Fprintf(&b, ": %s", n.Dtype)
		if n.Leaf {
			b.WriteString(", requires grad")
		}
		if n.Retains {
			b.WriteString(", retains grad")
		}
		if n.FLOPs > 0 {
			fmt.Fprintf(&b, ", %d FLOPs", n.FLOPs)
		}
		switch bytes := n.SavedBytes(); {
		case n.Released:
			fmt.Fprintf(&b, ", saved values released")
		case bytes > 0:
			what := make([]string, len(n.Saved))
			for i, s := range n.Saved {
				what[i] = s.What
			}
			fmt.Fprintf(&b, ", saves %d bytes (%s)", bytes, strings.Join(what, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// OpNames returns the names of all operations, in the order of their definition.
func OpNames() []string {
	names := make([]string, len(ops))
	for i, o := range ops {
		names[i] = o.name
	}
	return names
}
