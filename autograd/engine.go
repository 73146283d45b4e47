// Package autograd is reverse-mode automatic differentiation over any type of
// value.
//
// It knows graphs, not numbers: a [Node] is a value that takes part in a
// gradient, a [Function] is the operation that made it, and [Backward] walks
// the graph from the loss to the leaves. What a value is, and how two
// gradients are added, is the caller's business. Package tensor runs it over
// tensors; the example of this package runs it over float64 and is a complete micrograd.
//
// The chain rule, in the form used here: for y = f(x1, ..., xn) and a loss L,
//
//	dL/dxi = (dy/dxi)ᵀ · dL/dy
//
// Function.Gradient computes the right-hand side, a vector-Jacobian product; if a
// value is used more than once, its gradients are added.
package autograd

import "fmt"

// A Function is one recorded operation: enough of it to compute gradients.
type Function[T any] interface {
	// Name is the operation's name, such as "mul". It appears in errors.
	Name() string
	// Ready reports why gradients can no longer be computed: a [*FreedError]
	// after Release, or the function's own reason. It changes nothing.
	Ready() error
	// Gradient returns the gradient of the loss with respect to input i,
	// given the gradient with respect to the output. It is called only for
	// inputs that need one.
	Gradient(i int, grad T) T
	// Release drops the values that were saved for Gradient. A function that saved none
	// may stay ready.
	Release()
}

// FreedError is returned by a second Backward through values that the first
// one released.
type FreedError struct {
	Op string // the operation whose saved values are gone
}

func (e *FreedError) Error() string {
	return fmt.Sprintf("autograd: backward: the values saved by %q were released by an earlier backward; "+
		"keep them with the retain option of the first call, or compute the loss again", e.Op)
}

// A Node is a value's place in the graph: a leaf, which the user made, or the
// result of a Function. The zero Node is not useful; see [Leaf] and [Record].
type Node[T any] struct {
	fn     Function[T] // nil in a leaf
	inputs []*Node[T]  // nil entries need no gradient

	grad    T
	hasGrad bool
	retain  bool
	hooks   []func(T) T
}

// Leaf returns a node without a history. Backward leaves its gradient there.
func Leaf[T any]() *Node[T] { return &Node[T]{} }

// Record returns the node of a value computed by fn from inputs. An input that
// needs no gradient is nil.
func Record[T any](fn Function[T], inputs ...*Node[T]) *Node[T] {
	return &Node[T]{fn: fn, inputs: inputs}
}

// IsLeaf reports whether n was made by Leaf.
func (n *Node[T]) IsLeaf() bool { return n.fn == nil }

// Function returns the operation that made n, or nil for a leaf.
func (n *Node[T]) Function() Function[T] { return n.fn }

// Inputs returns the nodes that n was computed from; an entry is nil where the
// input needs no gradient. The slice is the node's own: don't change it.
func (n *Node[T]) Inputs() []*Node[T] { return n.inputs }

// Grad returns the accumulated gradient and whether there is one.
func (n *Node[T]) Grad() (grad T, ok bool) { return n.grad, n.hasGrad }

// SetGrad replaces the accumulated gradient.
func (n *Node[T]) SetGrad(grad T) { n.grad, n.hasGrad = grad, true }

// ClearGrad forgets the accumulated gradient.
func (n *Node[T]) ClearGrad() {
	var none T
	n.grad, n.hasGrad = none, false
}

// RetainGrad makes Backward keep the gradient of n even though n is not a leaf.
func (n *Node[T]) RetainGrad() { n.retain = true }

// RetainsGrad reports whether Backward leaves a gradient at n.
func (n *Node[T]) RetainsGrad() bool { return n.retain || n.fn == nil }

// OnGrad adds a hook that Backward calls with the gradient of n, once it is
// complete and before it is kept or passed on; the hook returns the gradient to
// continue with. Hooks run in the order in which they were added.
func (n *Node[T]) OnGrad(hook func(T) T) { n.hooks = append(n.hooks, hook) }

// Hooks returns what OnGrad was given, in order. The slice is the node's own: don't
// change it.
func (n *Node[T]) Hooks() []func(T) T { return n.hooks }

// Rules tells Backward what it needs to know about values.
type Rules[T any] struct {
	// Add returns the sum of two gradients. It may change neither.
	Add func(a, b T) T
	// Own, if set, is applied to a gradient before a node keeps it, so that
	// two nodes never keep the same changeable value.
	Own func(T) T
	// Hook, if set, calls a hook with a gradient and returns the one to continue with.
	Hook func(hook func(T) T, grad T) T
	// Retain keeps the saved values, so that Backward can be called again.
	Retain bool
	// Only, if set, has the nodes whose gradients are wanted: each gradient is put there, as Own returns it, and no node
	// keeps one. The entry of a node that root does not depend on stays as it is.
	Only map[*Node[T]]T
	// Reuse, if set, is told which values are no longer needed.
	Reuse Recycler[T]
}

// A Recycler makes new values out of old ones, which pays if values are large. The engine works just as well without
// it.
type Recycler[T any] interface {
	// Hold is called with each value on its way through the graph: the seed, what Gradient
	// returned and what Add made of it. Drop is called once the value has arrived. Two
	// values may be the same, so a value is no longer needed when it has been dropped as
	// often as it was held; what a node keeps was given to Own before.
	Hold(T)
	Drop(T)
	// AddTo may add a gradient to the one that a node keeps by changing the latter, and
	// then returns true.
	AddTo(kept, g T) bool
}

// nothing recycles nothing.
type nothing[T any] struct{}

func (nothing[T]) Hold(T)            {}
func (nothing[T]) Drop(T)            {}
func (nothing[T]) AddTo(_, _ T) bool { return false }

// Backward computes the gradient of root with respect to every leaf that it
// was computed from, and adds it to what the leaf already holds. seed is the
// gradient of the loss with respect to root: 1 where root is the loss.
//
// The values that functions saved are released on the way, each as soon as it is no
// longer needed, unless rules.Retain is set. An error (see Function.Ready) is found
// before anything is changed. The order in which gradients are added depends on the
// graph alone.
func Backward[T any](root *Node[T], seed T, rules Rules[T]) error {
	order := Order(root)
	for _, n := range order {
		if n.fn == nil {
			continue
		}
		if err := n.fn.Ready(); err != nil {
			return err
		}
	}
	if rules.Reuse == nil {
		rules.Reuse = nothing[T]{}
	}
	rules.Reuse.Hold(seed)
	pending := map[*Node[T]]T{root: seed}
	for _, n := range order {
		arrived, ok := pending[n]
		if !ok {
			continue
		}
		delete(pending, n)
		grad := arrived
		for _, hook := range n.hooks {
			if rules.Hook != nil {
				grad = rules.Hook(hook, grad)
			} else {
				grad = hook(grad)
			}
		}
		if _, asked := rules.Only[n]; asked {
			rules.Only[n] = own(grad, rules)
		} else if rules.Only == nil && n.RetainsGrad() {
			keep(n, grad, rules)
		}
		var added []T // of the gradients that fn returns: the rest may share their memory, and is still to come
		for i, in := range n.inputs {
			if in == nil {
				continue
			}
			g := n.fn.Gradient(i, grad)
			rules.Reuse.Hold(g)
			if have, ok := pending[in]; ok {
				sum := rules.Add(have, g)
				rules.Reuse.Hold(sum)
				rules.Reuse.Drop(have)
				added = append(added, g)
				g = sum
			}
			pending[in] = g
		}
		for _, g := range added {
			rules.Reuse.Drop(g)
		}
		rules.Reuse.Drop(arrived)
		if n.fn != nil && !rules.Retain {
			n.fn.Release()
		}
	}
	return nil
}

// keep adds grad to what the node holds.
func keep[T any](n *Node[T], grad T, rules Rules[T]) {
	if n.hasGrad {
		if rules.Reuse.AddTo(n.grad, grad) {
			return
		}
		grad = rules.Add(n.grad, grad)
	}
	n.SetGrad(own(grad, rules))
}

func own[T any](grad T, rules Rules[T]) T {
	if rules.Own != nil {
		return rules.Own(grad)
	}
	return grad
}

// Order returns the nodes that root depends on, root included, each before its
// inputs (reverse topological order). It keeps its own stack, so only memory limits
// the depth of the graph.
func Order[T any](root *Node[T]) []*Node[T] {
	type frame struct {
		node *Node[T]
		next int // the input to visit next
	}
	var order []*Node[T]
	seen := map[*Node[T]]bool{root: true}
	stack := []frame{{node: root}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.node.inputs) {
			order = append(order, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		in := top.node.inputs[top.next]
		top.next++
		if in != nil && !seen[in] {
			seen[in] = true
			stack = append(stack, frame{node: in})
		}
	}
	for i, j := 0, len(order)-1; i < j; i, j = i+1, j-1 {
		order[i], order[j] = order[j], order[i]
	}
	return order
}
