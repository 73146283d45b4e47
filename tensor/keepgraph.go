package tensor

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/tensor/internal/memory"
	"github.com/lectern-go/lectern/tensor/internal/packed"
	"github.com/lectern-go/lectern/tensor/internal/random"
)

// A graph is kept from one notebook cell to the next, so that the loss can be computed
// in one cell and Backward called in another. That is possible because an operation is
// a record known by its name, and everything else that a call holds is data.
//
// Not all graphs are kept. A graph that Backward can't go through any more, because an
// earlier Backward released its saved values, ends with its cell: its values are of no
// use. So does one that needs a function that package kernel/persist can't keep; then
// the cell says so. An endedGraph takes its place, and knows the reason.

// keptNode is a place in the graph as package kernel/persist sees it.
type keptNode autograd.Node[*Tensor]

// keptNodeState is the kept state of a place in the graph, with the operation that
// made the value. All plain data is in one string: that takes less time than fields,
// which matters because each cell that uses the graph writes it again, and the string
// shares no memory with tensors outside the graph.
type keptNodeState struct {
	Call    string            // see packCall; "" in a leaf
	Ended   *endedGraph       // or else
	Attr    *keptAttr         // nil if there is none
	Values  []*memory.Storage // of the values of the call, nil where they were not saved
	Inputs  []*keptNode
	Grad    *Tensor
	Retains bool
	Hooks   []func(*Tensor) *Tensor

	// For operations that run functions.
	Function Differentiable
	Again    func(in ...*Tensor) *Tensor
	Module   Forwarder
	Once     []keptOnce
}

// keptOnce is a value that Once returned.
type keptOnce struct {
	Draw  *random.Draw
	Other any
}

// KeepState returns the kept state of n; see keep.go.
func (n *keptNode) KeepState() any {
	node := (*autograd.Node[*Tensor])(n)
	s := &keptNodeState{Retains: node.RetainsGrad()}
	if g, ok := node.Grad(); ok {
		g.storage.Lend()
		s.Grad = g
	}
	if whyNotHooks(node) == "" {
		s.Hooks = node.Hooks()
	}
	switch f := node.Function().(type) {
	case nil:
		if why := whyNotHooks(node); why != "" {
			cellstate.Note(why + ": it ends with this cell, and so do graphs through it")
		}
	case *endedGraph:
		s.Ended = f
	case *call:
		if s.Ended = ends.of(node); s.Ended != nil {
			break
		}
		if cellstate.OverLimit() {
			s.Ended = &endedGraph{Op: f.op.name, Cell: cellstate.Cell(), Why: noRoom}
			cellstate.Note("gradient graphs end with this cell, since " + noRoom + ": call Backward in this cell")
			break
		}
		s.keep(f)
	}
	return s
}

const noRoom = "with what they saved the kept values would pass the limit that the environment variable LECTERN_KEEP_LIMIT sets"

// keep writes down a call.
func (s *keptNodeState) keep(c *call) {
	cast := Float32
	switch a := c.attr.(type) {
	case nil:
	case *custom:
		s.Function = a.of
	case *segment:
		s.Again, s.Module, s.Once, cast = a.f, a.module, a.kept, a.cast
		for _, v := range a.values {
			if d, ok := v.(random.Draw); ok {
				s.Once = append(s.Once, keptOnce{Draw: &d})
			} else {
				s.Once = append(s.Once, keptOnce{Other: v})
			}
		}
	default:
		s.Attr = keepAttr(a)
	}
	s.Call, s.Values = packCall(c, cast)
	s.Inputs = make([]*keptNode, len(c.inputs))
	for i, in := range c.inputs {
		s.Inputs[i] = (*keptNode)(in)
	}
}

// RestoreState restores n from what KeepState returned. What n points to may be
// restored later: only pointers are copied.
func (n *keptNode) RestoreState(state any) {
	s := state.(*keptNodeState)
	node := (*autograd.Node[*Tensor])(n)
	switch {
	case s.Call == "" && s.Ended == nil:
		*node = *autograd.Leaf[*Tensor]()
	case s.Ended != nil:
		*node = *autograd.Record(autograd.Function[*Tensor](s.Ended))
	default:
		c := s.call()
		c.node = node
		*node = *autograd.Record(c, c.inputs...)
	}
	if s.Retains {
		node.RetainGrad()
	}
	if s.Grad != nil {
		node.SetGrad(s.Grad)
	}
	for _, hook := range s.Hooks {
		node.OnGrad(hook)
	}
}

// call returns the kept call. It is older than any that this cell records, as its
// number 0 says.
func (s *keptNodeState) call() *call {
	c, cast := unpackCall(s.Call, s.Values)
	switch {
	case s.Function != nil:
		c.attr = &custom{Function: s.Function.Function(), of: s.Function}
	case s.Again != nil, s.Module != nil:
		c.attr = &segment{f: s.Again, module: s.Module, cast: cast, kept: s.Once}
	case s.Attr != nil:
		c.attr = s.Attr.value()
	}
	c.inputs = make([]*autograd.Node[*Tensor], len(s.Inputs))
	for i, in := range s.Inputs {
		c.inputs[i] = (*autograd.Node[*Tensor])(in)
	}
	return c
}

// How a call is written for a later notebook cell: its attribute by its type,
// everything else in one string.

// packCall writes the plain data of a call: the operation; the values, which are its
// operands, its result, and anything else it saved; and which of them it saved.
func packCall(c *call, cast Dtype) (text string, storages []*memory.Storage) {
	p := make(packed.Data, 0, 256)
	p.PutText(c.op.name)
	p.PutText(c.scope)
	p.PutFlag(c.released)
	p.PutInt(int(cast))
	values := append(slices.Clone(c.in), c.out)
	for _, v := range c.saved {
		if !slices.Contains(values, v.tensor) {
			values = append(values, v.tensor)
		}
	}
	p.PutInt(len(c.in))
	p.PutInt(len(values))
	storages = make([]*memory.Storage, len(values))
	for i, x := range values {
		storages[i] = x.storage
		device := ""
		if x.storage != nil && x.storage.Device != nil && x.storage.Size == 0 { // see elsewhere
			storages[i], device = nil, x.storage.Device.Name()
		}
		p.PutLayout(x.layout)
		p.PutInt(int(x.dtype))
		p.PutFlag(x.number)
		p.PutText(device)
	}
	p.PutInt(len(c.saved))
	for _, v := range c.saved {
		p.PutInt(slices.Index(values, v.tensor))
		p.PutInt(int(v.version))
		p.PutText(v.what)
	}
	return string(p), storages
}

func unpackCall(text string, storages []*memory.Storage) (c *call, cast Dtype) {
	p := packed.Data(text)
	c = &call{op: opNamed(p.Text()), scope: p.Text(), released: p.Flag()}
	cast = Dtype(p.Int())
	in := p.Int()
	values := make([]*Tensor, p.Int())
	for i := range values {
		values[i] = &Tensor{storage: storages[i], layout: p.Layout(), dtype: Dtype(p.Int()), number: p.Flag()}
		if name := p.Text(); name != "" {
			if d, err := FindDevice(name); err == nil {
				values[i].storage = &memory.Storage{Device: d.backend}
			}
		}
	}
	c.in, c.out = values[:in:in], values[in]
	c.saved = make([]savedValue, p.Int())
	for i := range c.saved {
		c.saved[i] = savedValue{values[p.Int()], uint64(p.Int()), p.Text()}
	}
	return c, cast
}

// opNamed returns an operation by its name.
func opNamed(name string) *op { return opNames()[name] }

var opNames = sync.OnceValue(func() map[string]*op {
	named := make(map[string]*op, len(ops))
	for _, o := range ops {
		named[o.name] = o
	}
	return named
})

// keptAttr is an attribute of a call: the field of its type points to it. An
// attribute of another type can't be kept, until it gets a field here.
type keptAttr struct {
	Int       *int
	Float     *float64
	Dtype     *Dtype
	Place     *keptPlacement
	View      **relayout
	Spread    *spread
	Window    *window
	Reduced   *reduced
	Variance  *variance
	Bounds    *bounds
	Instead   *substitutes
	Norm      *rowNorm
	Selection *selection
	Gathering *gathering
	Folding   *folding
	Classes   *classes
	Value     **Tensor
	Rows      *rowMajorOrder
	Attention **attention
}

// keptPlacement is a placement, whose device has to be found again.
type keptPlacement struct {
	Dtype  Dtype
	Device string
}

// attrFields maps the types of attributes to the fields of keptAttr that point to them.
var attrFields = sync.OnceValue(func() map[reflect.Type]int {
	fields := map[reflect.Type]int{}
	for i, t := 0, reflect.TypeFor[keptAttr](); i < t.NumField(); i++ {
		fields[t.Field(i).Type.Elem()] = i
	}
	return fields
})

func keepAttr(attr any) *keptAttr {
	if p, ok := attr.(placement); ok {
		attr = keptPlacement{p.dtype, p.device.String()}
	}
	v := reflect.ValueOf(attr)
	i, ok := attrFields()[v.Type()]
	if !ok {
		panic(fmt.Sprintf("tensor: there is no field for a %T in keptAttr", attr))
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	k := new(keptAttr)
	reflect.ValueOf(k).Elem().Field(i).Set(p)
	return k
}

func (k *keptAttr) value() any {
	if k.Place != nil {
		device, _ := FindDevice(k.Place.Device) // a program without that device goes on with the processor
		return placement{k.Place.Dtype, device}
	}
	v := reflect.ValueOf(k).Elem()
	for i := range v.NumField() {
		if p := v.Field(i); !p.IsNil() {
			return p.Elem().Interface()
		}
	}
	return nil
}

// Which graphs end with their notebook cell, and what remains of them.

// endedGraph stands for a graph that ended with the cell that made it.
type endedGraph struct {
	Op       string // the operation that made the value
	Released string // the operation whose saved values Backward released, or else

	Why  string // the reason why it was not kept
	Cell int    // the last cell that had it, or else

	Freed                  bool // what Ready said, with ErrFreed or ErrGrad
	Operands, Reason, Hint string
}

// Name returns the name of the operation.
func (e *endedGraph) Name() string { return e.Op }

// Ready says why there is no gradient any more.
func (e *endedGraph) Ready() error {
	switch {
	case e.Released != "":
		return &autograd.FreedError{Op: e.Released}
	case e.Why != "":
		return &Error{Kind: ErrGrad, Op: "backward", Reason: fmt.Sprintf("the graph behind a result of %q ended with cell %d, since %s", e.Op, e.Cell, e.Why),
			Hint: "compute the loss and call Backward in the same cell"}
	case e.Freed:
		return &Error{Kind: ErrFreed, Op: "backward", Operands: e.Operands, Reason: e.Reason, Hint: e.Hint}
	}
	return &Error{Kind: ErrGrad, Op: "backward", Operands: e.Operands, Reason: e.Reason, Hint: e.Hint}
}

func (e *endedGraph) Gradient(int, *Tensor) *Tensor { return nil }
func (e *endedGraph) Release()                      {}

// endings finds out whether graphs can be kept: once for each node, each time a cell
// is saved.
type endings struct {
	sync.Mutex
	known map[*autograd.Node[*Tensor]]*endedGraph // nil if the graph can be kept
}

var ends = endings{known: map[*autograd.Node[*Tensor]]*endedGraph{}}

func init() {
	cellstate.Register("tensor/graphs", func() []byte { // called when everything is saved
		ends.Lock()
		defer ends.Unlock()
		clear(ends.known)
		return nil
	}, func([]byte) error { return nil })
}

// of returns what remains of the graph of a node, or nil if the whole graph can be kept.
func (e *endings) of(root *autograd.Node[*Tensor]) *endedGraph {
	e.Lock()
	defer e.Unlock()
	path := []*autograd.Node[*Tensor]{root} // a stack of its own, as graphs may be deep
	for len(path) > 0 {
		n := path[len(path)-1]
		if _, done := e.known[n]; done {
			path = path[:len(path)-1]
			continue
		}
		var end *endedGraph
		open := len(path)
		for _, in := range n.Inputs() {
			if in == nil {
				continue
			}
			found, done := e.known[in]
			if !done {
				path = append(path, in)
			} else if found != nil {
				end = found // the last one: Backward meets it first
			}
		}
		if len(path) > open {
			continue
		}
		path = path[:open-1]
		if own := ownEnd(n); own != nil {
			end = own
		}
		if end != nil && n.Function() != nil && end.Op != n.Function().Name() {
			named := *end
			named.Op = n.Function().Name()
			end = &named
		}
		e.known[n] = end
	}
	return e.known[root]
}

// ownEnd returns why Backward can't go through n itself, in this cell or in a later
// one; nil if it can.
func ownEnd(n *autograd.Node[*Tensor]) *endedGraph {
	if f, ok := n.Function().(*endedGraph); ok {
		return f
	}
	c, _ := n.Function().(*call)
	if c != nil {
		switch err := c.Ready().(type) {
		case *autograd.FreedError:
			return &endedGraph{Op: c.op.name, Released: err.Op}
		case *Error:
			return &endedGraph{Op: c.op.name, Freed: err.Kind == ErrFreed, Operands: err.Operands, Reason: err.Reason, Hint: err.Hint}
		}
	}
	why := whyNotHooks(n)
	hint := "call Backward in this cell"
	if c != nil {
		switch a := c.attr.(type) {
		case *custom:
			if !cellstate.Keeps(a.of) {
				why = fmt.Sprintf("the derivative of %q is a function that can't be kept", a.Name)
				hint += ", or pass tensor.Apply a value of a type with a method Function"
			}
		case *segment:
			if !a.keeps() {
				why = "the function that Recompute would run again can't be kept"
				hint += ", or use tensor.RecomputeModule"
			}
		}
	}
	if why == "" {
		return nil
	}
	if c == nil {
		return &endedGraph{Cell: cellstate.Cell(), Why: why}
	}
	cellstate.Note("the gradient graph ends with this cell, since " + why + ": " + hint)
	return &endedGraph{Op: c.op.name, Cell: cellstate.Cell(), Why: why}
}

// whyNotHooks says why the hooks of a node can't be kept, "" if they can.
func whyNotHooks(n *autograd.Node[*Tensor]) string {
	for _, hook := range n.Hooks() {
		if !cellstate.Keeps(hook) {
			return "a hook that OnGrad was given is a function that can't be kept"
		}
	}
	return ""
}

// keeps reports whether a segment can be run again in a later cell.
func (s *segment) keeps() bool {
	for _, v := range s.values {
		if _, ok := v.(random.Draw); !ok && !cellstate.Keeps(v) {
			return false
		}
	}
	return cellstate.Keeps(s.f) && cellstate.Keeps(s.module)
}
