package tensor

import (
	"hash/maphash"
	"math"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/goroutine"
	"github.com/lectern-go/lectern/internal/inspect"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/memory"
	"github.com/lectern-go/lectern/tensor/internal/printed"
)

// Kind says what an [Event] tells.
type Kind uint8

const (
	// Ran: an operation was run.
	Ran Kind = iota
	// Allocated: memory for elements was taken.
	Allocated
	// Saved: an operation saved a value for its derivative.
	Saved
	// Released: a saved value was dropped.
	Released
	// RoleSet: memory was given a role; see Tensor.SetRole.
	RoleSet
)

// Event describes one thing that happened; see [Trace]. Fields that don't belong
// to its kind are zero.
type Event struct {
	Kind Kind

	// Of an operation that ran, or that saved or released a value.
	Op       string // its name, such as "matmul"
	Backward bool   // it was run by Backward
	Of       string // in Backward: the operation whose gradient is computed, "" where gradients are added
	Input    int    // in Backward: the input of that operation with respect to which it is computed
	Scope    string // the names given to Scope, outermost first, joined by "/"; in Backward those of Of

	// Of an operation that ran.
	Inputs  [][]int       // the shapes of its inputs
	Output  []int         // the shape of its result
	FLOPs   int           // floating-point operations, counted from the shapes
	Matmul  int           // the part of FLOPs that matrix products take: all of a matmul's, most of an attention's
	Bytes   int           // read and written: the distinct elements of inputs and result that are touched; 0 for a view, and for Go numbers
	Elapsed time.Duration // how long it took

	// Of an operation's result, or of the memory.
	Dtype   Dtype
	What    string // which value was saved, such as "its left operand"
	Shape   []int  // of the saved value
	Size    int    // bytes that were allocated, or those of the saved value
	Storage Memory // the memory that was allocated, saved or released

	parts []inspect.Part // what Bytes consists of: the inputs in order, and then the result
}

// Memory identifies the memory of a tensor and of all its views without keeping it
// alive. Two are == if they are the same memory. The zero Memory stands for none.
type Memory struct{ p weak.Pointer[memory.Storage] }

// MemoryOf returns the memory that holds the elements of t.
func MemoryOf(t *Tensor) Memory { return Memory{weak.Make(t.storage)} }

// Live reports whether the memory has been neither freed nor collected yet.
func (m Memory) Live() bool {
	s := m.p.Value()
	return s != nil && !s.Freed()
}

// Size returns the bytes of the memory; 0 once it has been collected.
func (m Memory) Size() int {
	if s := m.p.Value(); s != nil {
		return s.Size
	}
	return 0
}

// Device returns the name of the device whose memory it is, "cpu" once it has been
// collected.
func (m Memory) Device() string {
	if s := m.p.Value(); s != nil {
		return Device{s.Device}.String()
	}
	return CPU.String()
}

// Role returns what the memory is for.
func (m Memory) Role() Role {
	if s := m.p.Value(); s != nil {
		return Role(s.Role.Load())
	}
	return NoRole
}

// Role says what a tensor is for, so that memory can be accounted for.
type Role uint8

const (
	NoRole         Role = memory.NoRole         // values computed on the way
	Parameter      Role = memory.Parameter      // trained: set by RequireGrad unless another was set before
	Gradient       Role = memory.Gradient       // kept by a node: set by Backward and SetGrad
	OptimizerState Role = memory.OptimizerState // moments and the like
	Input          Role = memory.Input          // data: inputs and targets
)

// String returns the role's name.
func (r Role) String() string {
	return [...]string{"none", "parameter", "gradient", "optimizer state", "input"}[r]
}

// SetRole says what the memory of t, and of all its views, is for, and returns
// t. It changes nothing that is computed.
func (t *Tensor) SetRole(r Role) *Tensor {
	t.exist("set role")
	t.storage.Role.Store(uint32(r))
	if observed() {
		announceStorage(RoleSet, t)
	}
	return t
}

// An observer is told of events of some kinds.
type observer struct {
	kinds uint8 // a bit for each Kind
	tell  func(Event)
}

const everything = 1<<Ran | 1<<Allocated | 1<<Saved | 1<<Released | 1<<RoleSet

// observers are all that listen; the pointer is nil while there are none.
var (
	observers      atomic.Pointer[[]*observer]
	observersMutex sync.Mutex // held by those who change the list
)

// observed reports whether operations are traced. While they are not, this load is all
// that tracing costs.
func observed() bool { return observers.Load() != nil }

// wanted reports whether anybody listens to events of a kind.
func wanted(k Kind) bool {
	if p := observers.Load(); p != nil {
		for _, o := range *p {
			if o.kinds>>k&1 != 0 {
				return true
			}
		}
	}
	return false
}

// Trace calls f for every event from now on, on the goroutine where it happens,
// until stop is called. Several may listen. f must be safe for concurrent use if
// tensors are used by several goroutines, and must not itself compute.
//
// The steps by which an operation computes its result are not reported as operations
// of their own. Gradients and accumulations of Backward are.
func Trace(f func(Event)) (stop func()) { return trace(&observer{everything, f}) }

func trace(o *observer) (stop func()) {
	change := func(to func([]*observer) []*observer) {
		observersMutex.Lock()
		defer observersMutex.Unlock()
		var now []*observer
		if p := observers.Load(); p != nil {
			now = slices.Clone(*p)
		}
		if now = to(now); len(now) == 0 {
			observers.Store(nil)
			return
		}
		observers.Store(&now)
	}
	change(func(all []*observer) []*observer { return append(all, o) })
	return func() {
		change(func(all []*observer) []*observer {
			return slices.DeleteFunc(all, func(other *observer) bool { return other == o })
		})
	}
}

func announce(e Event) {
	if p := observers.Load(); p != nil {
		for _, o := range *p {
			if o.kinds>>e.Kind&1 != 0 {
				o.tell(e)
			}
		}
	}
}

// activity is what a goroutine is doing, followed while operations are traced.
type activity struct {
	depth    int // operations that are running, one inside the other
	backward bool
	of       string
	input    int
	scope    string
}

var activities goroutine.Local[activity]

// Scope runs f; events of the operations that it runs, and of their gradients,
// carry the name. Scopes nest. It costs nothing unless operations are traced.
func Scope(name string, f func()) {
	if !observed() {
		f()
		return
	}
	a, _ := activities.Get()
	if a.scope != "" {
		name = a.scope + "/" + name
	}
	a.scope = name
	activities.With(a, f)
}

// runWatched is run when operations are traced. Like other functions of that kind, it
// is not inlined, so that its caller's code stays small.
//
//go:noinline
func (c *call) runWatched() *Tensor { return c.watched(c.run) }

// watched runs an operation, by calling run, and reports it, unless it is part of
// another one.
func (c *call) watched(run func() *Tensor) *Tensor {
	a, _ := activities.Get()
	c.scope = a.scope
	if c.op.composite {
		return run()
	}
	a.depth++
	defer activities.Set(a)()
	e := Event{Kind: Ran, Op: c.op.name, Backward: a.backward, Of: a.of, Input: a.input, Scope: a.scope}
	for _, x := range c.in {
		e.Inputs = append(e.Inputs, x.Shape())
		e.moves(x.reading())
	}
	var first *Tensor // as it is before it is kept
	if len(c.in) > 0 {
		first = c.in[0]
	}
	start := time.Now()
	out := run()
	e.Elapsed = time.Since(start)
	if a.depth > 1 {
		return out
	}
	e.Output, e.Dtype = out.Shape(), out.dtype
	e.moves(inspect.Part{Kind: inspect.Write, Dtype: out.dtype.String(), Bytes: out.distinctBytes()})
	if first != nil && out.storage == first.storage {
		switch {
		case c.op == &opPut.op:
			e.Bytes -= e.parts[0].Bytes
			e.parts[0] = inspect.Part{Kind: inspect.Over, Dtype: first.dtype.String()}
		case out != first && len(c.in) == 1:
			e.Bytes, e.parts = 0, nil // a view moves nothing
		}
	}
	if c.op.bytes != nil {
		e.Bytes = c.op.bytes(c, out)
		write := inspect.Part{Kind: inspect.Write, Dtype: out.dtype.String(), Bytes: out.distinctBytes()}
		e.parts = []inspect.Part{{Kind: inspect.Some, Bytes: e.Bytes - write.Bytes}, write}
	}
	if c.op.flops != nil {
		e.FLOPs = c.op.flops(c, out)
	}
	if c.op.products != nil {
		e.Matmul = c.op.products(c, out)
	}
	announce(e)
	return out
}

// moves adds a part of what the operation reads and writes.
func (e *Event) moves(p inspect.Part) {
	e.Bytes += p.Bytes
	e.parts = append(e.parts, p)
}

// reading is the memory that reading t as an operand touches. A Go number is part of the code, and touches no memory.
func (t *Tensor) reading() inspect.Part {
	if t.number {
		return inspect.Part{Kind: inspect.Number, Dtype: t.dtype.String()}
	}
	return inspect.Part{Kind: inspect.Read, Dtype: t.dtype.String(), Bytes: t.distinctBytes()}
}

// distinctBytes is the memory that a pass over all elements touches: repeated
// ones count once.
func (t *Tensor) distinctBytes() int {
	l := t.layout.WithoutRepeats()
	n := l.Len()
	if l.MayOverlap() { // windows that share elements
		places := func(yield func(int64) bool) {
			loops.Walk(&l, 0, n, func(_, first, run, stride int) {
				for i := range run {
					yield(int64(first + i*stride))
				}
			})
		}
		n = loops.Distinct(places)
	}
	return n * t.dtype.Size()
}

// enterBackward says that this goroutine is in Backward until leave is called.
func enterBackward() (leave func()) {
	a, _ := activities.Get()
	return activities.Set(activity{depth: a.depth, backward: true})
}

// enterGradient says that this goroutine computes the gradient of c with
// respect to input i until leave is called.
func (c *call) enterGradient(i int) (leave func()) {
	a, _ := activities.Get()
	a.of, a.input, a.scope = c.op.name, i, c.scope
	return activities.Set(a)
}

//go:noinline
func (c *call) announceSaved() { c.announceEach(Saved) }

//go:noinline
func (c *call) announceReleased() { c.announceEach(Released) }

// announceEach reports each tensor that c saved; Go numbers don't count.
func (c *call) announceEach(kind Kind) {
	if !wanted(kind) {
		return
	}
	for _, s := range c.saved {
		if !s.tensor.number {
			announce(Event{Kind: kind, Op: c.op.name, Scope: c.scope, Dtype: s.tensor.dtype, What: s.what,
				Shape: s.tensor.Shape(), Size: s.tensor.distinctBytes(), Storage: MemoryOf(s.tensor)})
		}
	}
}

//go:noinline
func announceAllocated(s *memory.Storage) {
	if !wanted(Allocated) { // a weak pointer costs more than many operations
		return
	}
	announce(Event{Kind: Allocated, Size: s.Size, Storage: Memory{weak.Make(s)}})
}

//go:noinline
func announceStorage(kind Kind, t *Tensor) {
	if !wanted(kind) {
		return
	}
	announce(Event{Kind: kind, Dtype: t.dtype, Shape: t.Shape(), Size: t.storage.Size, Storage: MemoryOf(t)})
}

// What the stepper of notebooks is told about tensors.

// stripLimit is how many elements of a memory the stepper of notebooks draws.
const stripLimit = 48

func init() {
	inspect.Linked = &inspect.Library{
		Type:     reflect.TypeFor[*Tensor](),
		Describe: func(v any, limit int) (inspect.Tensor, bool) { return factsOf(v.(*Tensor), limit) },
		Stamp:    func(v any) any { return stampOf(v.(*Tensor)) },
		Reach:    func(v any, visit func(any, int, string)) { reach(v.(*Tensor), visit) },
		Trace:    traceOps,
	}
}

func factsOf(t *Tensor, limit int) (f inspect.Tensor, ok bool) {
	if t == nil || t.storage == nil || t.storage.Freed() {
		return f, false
	}
	f = inspect.Tensor{Text: t.printable().Line(limit), Memory: MemoryOf(t), Size: t.storage.Size, Dtype: t.dtype.String(), Shape: t.Shape(), Strides: t.Strides(),
		Offset: t.layout.Offset, Tracked: t.RequiresGrad()}
	if g := t.borrowGrad(); g != nil {
		f.Grad = g
	}
	if n := t.storage.Size / t.dtype.Size(); n > 0 && n <= stripLimit && n*t.dtype.Size() == t.storage.Size && t.backend() == nil {
		whole := t.alias(Layout{Shape: []int{n}, Strides: []int{1}})
		f.Strip = whole.printable().Elements()
	}
	return f, true
}

// A stamp tells states of a tensor apart.
type stamp struct {
	memory, grad           Memory
	version, gradVersion   uint64
	freed, tracked, isLeaf bool
	layout                 uint64
	sum                    uint64 // of elements that may be written behind the library's back: versions don't count that
}

func stampOf(t *Tensor) (s stamp) {
	if t == nil || t.storage == nil {
		return s
	}
	s.memory, s.version, s.freed = MemoryOf(t), t.storage.Version.Load(), t.storage.Freed()
	if s.freed {
		return s
	}
	s.tracked, s.isLeaf, s.layout = t.RequiresGrad(), t.IsLeaf(), t.sumLayout()
	if t.storage.Lent() {
		s.sum = t.sumShown()
	}
	if g := t.borrowGrad(); g != nil && g.storage != nil {
		s.grad, s.gradVersion = MemoryOf(g), g.storage.Version.Load()
	}
	return s
}

var stampSeed = maphash.MakeSeed()

// sumLayout tells views of the same memory apart.
func (t *Tensor) sumLayout() uint64 {
	sum := uint64(t.layout.Offset)
	for i, n := range t.layout.Shape {
		sum = (sum*31+uint64(n))*31 + uint64(t.layout.Strides[i])
	}
	return sum
}

// sumShown tells states of the printed elements apart.
func (t *Tensor) sumShown() uint64 {
	if t.backend() == nil && t.IsContiguous() && t.Len() <= printed.Threshold {
		size := t.dtype.Size()
		return maphash.Bytes(stampSeed, bytesOf(t.storage)[t.layout.Offset*size:][:t.Len()*size])
	}
	var h maphash.Hash
	h.SetSeed(stampSeed)
	a := t.printable()
	a.Shown(func(index []int) {
		if a.Float {
			maphash.WriteComparable(&h, math.Float64bits(a.At(index...)))
		} else {
			maphash.WriteComparable(&h, a.Whole(index...))
		}
	})
	return h.Sum64()
}

// reach visits what t keeps alive: its elements, its gradient and those of its graph, and what the graph has
// saved. Go numbers don't count.
func reach(t *Tensor, visit func(memory any, size int, why string)) {
	one := func(t *Tensor, why string) {
		if t != nil && t.storage != nil && t.storage.Device == nil && t.storage.Data != nil && !t.number {
			visit(MemoryOf(t), t.storage.Size, why)
		}
	}
	if one(t, ""); t == nil || t.storage == nil || t.storage.Freed() || !t.RequiresGrad() {
		return
	}
	root := t.graph()
	if root == nil {
		return
	}
	seen := map[*autograd.Node[*Tensor]]bool{root: true}
	for todo := []*autograd.Node[*Tensor]{root}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if g, ok := n.Grad(); ok {
			one(g, "gradient")
		}
		if c, ok := n.Function().(*call); ok {
			for _, s := range c.saved {
				one(s.tensor, "saved by "+c.op.name+": "+s.what)
			}
		}
		for _, in := range n.Inputs() {
			if in != nil && !seen[in] {
				seen[in] = true
				todo = append(todo, in)
			}
		}
	}
}

func traceOps(f func(inspect.Op)) (stop func()) {
	return trace(&observer{1 << Ran, func(e Event) {
		f(inspect.Op{Name: e.Op, Backward: e.Backward, Of: e.Of, Input: e.Input, Inputs: e.Inputs, Output: e.Output, Scope: e.Scope,
			FLOPs: e.FLOPs, Matmul: e.Matmul, Bytes: e.Bytes, Parts: e.parts, Elapsed: e.Elapsed})
	}})
}
