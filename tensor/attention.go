package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Scaled dot-product attention is one operation so that the scores, a number for each
// pair of a query and a key, need not be kept, or even exist all at once
// (FlashAttention, Dao et al. 2022, arXiv:2205.14135): only the logarithm of each
// row's sum is kept, and backward recomputes the scores, tile by tile.
//
//	P = softmax(Q·Kᵀ·scale)    O = P·V
//
// With G = dL/dO, and D the sums of G∘O along rows:
//
//	dL/dV = Pᵀ·G    dS = P∘(G·Vᵀ - D)·scale    dL/dQ = dS·K    dL/dK = dSᵀ·Q
var opAttention opOf[*attention]

// opAttentionGradient computes all three gradients, one after the other in one vector,
// from the inputs G, Q, K, V, O, the logarithms, and the mask if there is one.
var opAttentionGradient opOf[*attention]

// AttentionSettings say what [Attention] does besides multiplying. The zero value lets
// every query see every key.
type AttentionSettings struct {
	// Causal hides what comes later: the last query sees all keys, the one before it all
	// but the last, and so on. With as many queries as keys, each sees itself and what
	// comes before; fewer queries are taken as the end of the sequence, as in generation.
	Causal bool
	// Mask is a bool tensor that is broadcast to [... H T S]: where it is false, the query
	// does not see the key. The result of a query that sees no key is 0.
	Mask *Tensor
	// Scale multiplies the products of queries and keys; 0 means 1/√d.
	Scale float64
}

// attention holds the operation's settings and, once the first gradient has been asked
// for and all have been computed, its gradients until the last one is fetched.
type attention struct {
	causal bool
	scale  float64
	given  *Tensor
	grads  [3]*Tensor
}

func init() {
	const everything = readsLeft | readsRight | readsThird | readsOutput
	gradientOf := gradient{everything, func(c *call, g *Tensor, i int) *Tensor { return opAttention.given(c).gradient(c, g, i) }}
	define(&opAttention.op, op{
		name: "attention",
		cast: castSmall,
		forward: func(c *call) *Tensor {
			a := opAttention.given(c)
			var out, sums *Tensor
			if c.device != nil {
				out, sums = a.attendOn(c)
			} else {
				out, sums = attend(a, c.in)
			}
			if c.tracks() {
				c.save(sums, "the logarithms of its sums")
				c.saveMask()
			}
			return out
		},
		gradients: []gradient{gradientOf}, // a mask never asks for one
		variadic:  true,
		// For each pair that may see each other: its product, the scale, a softmax and its
		// term in the result.
		flops: func(c *call, out *Tensor) int {
			q := c.in[0]
			return opAttention.given(c).pairs(q, c.in[1]) * (2*q.Size(-1) + 6 + 2*out.Size(-1))
		},
		products: func(c *call, out *Tensor) int {
			return opAttention.given(c).pairs(c.in[0], c.in[1]) * 2 * (c.in[0].Size(-1) + out.Size(-1))
		},
	})
	define(&opAttentionGradient.op, op{
		name: "attention gradient",
		forward: func(c *call) *Tensor {
			a := opAttentionGradient.given(c)
			if c.device == nil {
				return attendBackward(a, c.in)
			}
			return a.attendBackwardOn(c)
		},
		// For each pair, five products, the scale twice, a difference, an exponential, and two
		// steps to dS; for each row, D.
		flops: func(c *call, _ *Tensor) int {
			q, k, out := c.in[1], c.in[2], c.in[4]
			return opAttentionGradient.given(c).pairs(q, k)*(6*q.Size(-1)+4*out.Size(-1)+6) + 2*out.Len()
		},
		products: func(c *call, _ *Tensor) int {
			return opAttentionGradient.given(c).pairs(c.in[1], c.in[2]) * (6*c.in[1].Size(-1) + 4*c.in[4].Size(-1))
		},
	})
}

// Attention returns softmax(q·kᵀ·scale)·v, for queries q [... H T d], keys k
// [... K S d] and values v [... K S e]: [... H T e]. H may be a multiple of K: then
// groups of query heads share keys and values (grouped-query attention, Ainslie et al.
// 2023, arXiv:2305.13245). Matrices [T d], [S d] and [S e] are a single head.
//
// On the processor the T·S scores are computed a tile at a time, forward and backward,
// and never exist all at once; the gradient keeps q, k, v, the result and one number
// per query. Tiles that Causal hides completely are not computed. Small floats are
// computed in float32 and rounded once. It panics if shapes or dtypes don't fit, the
// mask is not bool, or if Causal is set with more queries than keys.
func Attention(q, k, v *Tensor, settings AttentionSettings) *Tensor {
	for _, x := range []*Tensor{q, k, v} {
		x.exist("attention")
	}
	checkAttention(q, k, v, settings)
	if q.Dim() == 2 {
		return Attention(q.Unsqueeze(0), k.Unsqueeze(0), v.Unsqueeze(0), settings).Squeeze(0) // a mask [T S] serves any head
	}
	a := &attention{causal: settings.Causal, scale: settings.Scale}
	if a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(max(q.Size(-1), 1)))
	}
	if settings.Mask == nil {
		return opAttention.apply(a, q, k, v)
	}
	scores := append(slices.Clone(q.layout.Shape[:q.Dim()-1]), k.Size(-2))
	return opAttention.apply(a, q, k, v, settings.Mask.Expand(scores...))
}

func checkAttention(q, k, v *Tensor, s AttentionSettings) {
	wrong := func(kind error, reason, hint string) { fail(kind, "attention", describe(q, k, v), reason, hint) }
	rank := q.Dim()
	switch {
	case rank < 2 || k.Dim() != rank || v.Dim() != rank:
		wrong(ErrShape, fmt.Sprintf("queries, keys and values have %d, %d and %d axes", rank, k.Dim(), v.Dim()), "give [... H T d], [... K S d] and [... K S e]")
	case q.dtype != k.dtype || q.dtype != v.dtype || !q.dtype.IsFloat():
		if _, on := AutocastDtype(); !on || !q.dtype.IsFloat() || !k.dtype.IsFloat() || !v.dtype.IsFloat() {
			wrong(ErrDtype, fmt.Sprintf("queries, keys and values are %s, %s and %s", q.dtype, k.dtype, v.dtype), "convert them with To to one floating-point dtype")
		}
	}
	if q.Size(-1) != k.Size(-1) {
		wrong(ErrShape, fmt.Sprintf("queries have %s and keys %d", humanize.Count(q.Size(-1), "feature"), k.Size(-1)), "")
	}
	if k.Size(-2) != v.Size(-2) {
		wrong(ErrShape, fmt.Sprintf("there are %d keys and %d values", k.Size(-2), v.Size(-2)), "")
	}
	if rank > 2 {
		lead := rank - 3
		if !slices.Equal(k.layout.Shape[:rank-2], v.layout.Shape[:rank-2]) || !slices.Equal(q.layout.Shape[:lead], k.layout.Shape[:lead]) {
			wrong(ErrShape, "the leading axes differ", "")
		}
		if h, kv := q.Size(-3), k.Size(-3); h != kv && (kv == 0 || h%kv != 0) {
			wrong(ErrShape, fmt.Sprintf("%s can't share %s", humanize.Count(h, "query head"), humanize.Count(kv, "key/value head")), "the first must be a multiple of the second")
		}
	}
	if s.Causal && q.Size(-2) > k.Size(-2) {
		wrong(ErrShape, fmt.Sprintf("%d queries are more than the %d keys, so causal attention leaves the first query no key to see", q.Size(-2), k.Size(-2)), "")
	}
	if s.Mask == nil {
		return
	}
	scores := append(slices.Clone(q.layout.Shape[:rank-1]), k.Size(-2))
	s.Mask.exist("attention").needBools("attention", "mask", q, k, s.Mask)
	if shape, err := layout.Broadcast(s.Mask.layout.Shape, scores); err != nil || !slices.Equal(shape, scores) {
		fail(ErrShape, "attention", describe(q, k, s.Mask), fmt.Sprintf("the mask can't be broadcast to the scores, %v", scores), "")
	}
}

// maskOf returns the mask among the inputs, nil if there is none.
func maskOf(in []*Tensor) *Tensor {
	if len(in) == 4 {
		return in[3]
	}
	return nil
}

// saveMask keeps the mask, if there is one, for the gradient.
func (c *call) saveMask() {
	if mask := maskOf(c.in); mask != nil {
		c.save(mask, "its mask")
	}
}

// pairs returns how many pairs of queries and keys may see each other.
func (a *attention) pairs(q, k *Tensor) int {
	t, s := q.Size(-2), k.Size(-2)
	n := t * s
	if a.causal {
		n -= t * (t - 1) / 2
	}
	return layout.Product(q.layout.Shape[:q.Dim()-2]) * n
}

// gradient returns the gradient with respect to input i.
func (a *attention) gradient(c *call, g *Tensor, i int) *Tensor {
	q, k, v := c.in[0], c.in[1], c.in[2]
	var mask *Tensor
	if len(c.in) == 4 {
		mask = c.saved[1].tensor
	}
	if g.RequiresGrad() || q.RequiresGrad() || k.RequiresGrad() || v.RequiresGrad() {
		return a.gradientSteps(g, q, k, v, mask, i)
	}
	if a.given != g {
		in := []*Tensor{g, q, k, v, c.out, c.saved[0].tensor}
		if mask != nil {
			in = append(in, mask)
		}
		a.grads = [3]*Tensor(partsOf(opAttentionGradient.apply(a, in...), c.in[:3]))
		a.given = g
	}
	grad := a.grads[i]
	a.grads[i] = nil
	for j := i + 1; j < 3; j++ {
		if c.inputs[j] != nil {
			return grad
		}
	}
	a.given, a.grads = nil, [3]*Tensor{}
	return grad
}

// partsOf cuts a vector into its parts, one for each of some tensors, in the order of that tensor's axes in memory.
func partsOf(all *Tensor, like []*Tensor) []*Tensor {
	parts := make([]*Tensor, len(like))
	from := 0
	for i, x := range like {
		l := orderedLayout(x.layout.Shape, x.layout.Strides)
		l.Offset = from
		parts[i], from = all.alias(l), from+x.Len()
	}
	return parts
}

// orderedLayout returns a layout without gaps whose axes lie in memory in the order of
// other strides, so a gradient can go back through a projection without a copy.
func orderedLayout(shape, like []int) Layout {
	axes := memoryOrder(like)
	l := Layout{Shape: slices.Clone(shape), Strides: make([]int, len(shape))}
	stride := 1
	for _, a := range slices.Backward(axes) {
		l.Strides[a] = stride
		stride *= max(shape[a], 1)
	}
	return l
}

// MemoryOrder returns the axes in the order of their strides, the largest first.
func memoryOrder(strides []int) []int {
	axes := make([]int, len(strides))
	for i := range axes {
		axes[i] = i
	}
	slices.SortStableFunc(axes, func(a, b int) int { return strides[b] - strides[a] })
	return axes
}

// inOrderOf returns the elements of t as a vector, in the order that x has in memory.
func (t *Tensor) inOrderOf(x *Tensor) *Tensor {
	return t.Permute(memoryOrder(x.layout.Strides)...).Reshape(-1)
}

// The same in steps that have their own gradients and keep all scores.

func (a *attention) steps(q, k, v, mask *Tensor) *Tensor {
	return a.weights(q, k, mask).Matmul(v.sharedBy(q))
}

// weights returns P.
func (a *attention) weights(q, k, mask *Tensor) *Tensor {
	scores := q.Matmul(k.sharedBy(q).T()).Mul(a.scale)
	if a.causal {
		t, s := q.Size(-2), k.Size(-2)
		later := With(q.Device()).Ones(t, s).Triu(s - t + 1).Ne(0)
		scores = scores.MaskedFill(later, math.Inf(-1))
	}
	if mask == nil {
		return scores.Softmax(-1)
	}
	hidden := mask.Not()
	return scores.MaskedFill(hidden, math.Inf(-1)).Softmax(-1).MaskedFill(hidden, 0)
}

// gradientSteps returns the gradient with respect to input i.
func (a *attention) gradientSteps(g, q, k, v, mask *Tensor, i int) *Tensor {
	p := a.weights(q, k, mask)
	if i == 2 {
		return p.T().Matmul(g).sumOfGroups(v)
	}
	dp := g.Matmul(v.sharedBy(q).T())
	ds := p.Mul(dp.Sub(dp.Mul(p).Sum(-1, KeepDim))).Mul(a.scale)
	if i == 0 {
		return ds.Matmul(k.sharedBy(q))
	}
	return ds.T().Matmul(q).sumOfGroups(k)
}

// sharedBy repeats heads of keys or values for the queries that share them.
func (t *Tensor) sharedBy(q *Tensor) *Tensor {
	heads := q.Size(-3)
	if t.Size(-3) == heads {
		return t
	}
	at := t.Dim() - 2
	shape := slices.Insert(t.Shape(), at, heads/t.Size(-3))
	return t.Unsqueeze(at).Expand(shape...).Flatten(at-1, at)
}

// sumOfGroups undoes sharedBy: gradients of shared heads are added.
func (t *Tensor) sumOfGroups(x *Tensor) *Tensor {
	if t.Size(-3) == x.Size(-3) {
		return t
	}
	at := t.Dim() - 2
	shape := slices.Insert(t.Shape(), at, t.Size(-3)/x.Size(-3))
	shape[at-1] = x.Size(-3)
	return t.Reshape(shape...).Sum(at)
}

// maskArray is the mask among the inputs, without elements if there is none.
func maskArray(in []*Tensor) loops.Array {
	if mask := maskOf(in); mask != nil {
		return mask.array()
	}
	return loops.Array{}
}

// headsOf returns the sizes of an attention.
func (a *attention) headsOf(q, k, v *Tensor) loops.Attention {
	return loops.Attention{Causal: a.causal, Scale: a.scale,
		Batch: layout.Product(q.layout.Shape[:q.Dim()-3]), QueryHeads: q.Size(-3), KeyHeads: k.Size(-3),
		T: q.Size(-2), S: k.Size(-2), D: q.Size(-1), E: v.Size(-1)}
}

// attend computes the result and the logarithm of the sum of exponentials of each row.
func attend(a *attention, in []*Tensor) (out, sums *Tensor) {
	q := in[0]
	h := a.headsOf(q, in[1], in[2])
	shape := q.Shape()
	shape[len(shape)-1] = h.E
	out = newTensor(q.dtype, shape, false)
	out.layout = orderedLayout(shape, q.layout.Strides)
	sums = newTensor(wideSum(q.dtype), shape[:len(shape)-1], false)
	loops.Attend(&h, arrays(in[:3]), maskArray(in), out.array(), sums.array())
	return out, sums
}

// attendBackward returns the gradients with respect to q, k and v one after the other,
// each in the memory order of its input.
func attendBackward(a *attention, in []*Tensor) *Tensor {
	q, k, v := in[1], in[2], in[3]
	h := a.headsOf(q, k, v)
	all := newTensor(q.dtype, []int{q.Len() + k.Len() + v.Len()}, true)
	grads := partsOf(all, in[1:4])
	loops.AttendBackward(&h, arrays(in[:6]), maskArray(in[3:]), arrays(grads))
	return all
}

// attendOn is attend on a device: in one kernel where the device has one, perhaps for wider floats, else in steps
// that every device has.
func (a *attention) attendOn(c *call) (out, sums *Tensor) {
	q := c.in[0]
	compute, shape := wideSum(q.dtype), q.Shape()
	shape[len(shape)-1] = c.in[2].Size(-1)
	for in := range c.asTheyAreAndWidened() {
		out = c.unfilled(in[0].dtype, shape...)
		out.layout = orderedLayout(shape, q.layout.Strides)
		results := []*Tensor{out}
		if c.tracks() {
			sums = c.unfilled(compute, shape[:len(shape)-1]...)
			results = append(results, sums)
		}
		if c.fused(results, in, a.numbers()...) {
			return out.To(q.dtype), sums
		}
	}
	in := c.widened()
	return a.steps(in[0], in[1], in[2], maskOf(in)).To(q.dtype), c.result(compute, []int{0}, false) // steps don't read sums
}

// attendBackwardOn is attendBackward on a device.
func (a *attention) attendBackwardOn(c *call) *Tensor {
	like := c.in[1:4]
	n := like[0].Len() + like[1].Len() + like[2].Len()
	for in := range c.asTheyAreAndWidened() {
		all := c.unfilled(in[1].dtype, n)
		if c.fused(partsOf(all, like), in, a.numbers()...) {
			return all.To(like[0].dtype)
		}
	}
	in := c.widened()
	parts := make([]*Tensor, 3)
	for i := range parts {
		parts[i] = a.gradientSteps(in[0], in[1], in[2], in[3], maskOf(in[3:]), i).inOrderOf(like[i])
	}
	return Cat(0, parts...).To(like[0].dtype)
}

// numbers are what a device is given besides tensors.
func (a *attention) numbers() []float64 {
	if a.causal {
		return []float64{1, a.scale}
	}
	return []float64{0, a.scale}
}

// Each pair (a, b) of neighbors in a row is turned by its own angle:
//
//	(a·cos - b·sin, a·sin + b·cos)
//
// and the gradient is turned back.
var opRotatePairs opOf[int]

func init() {
	define(&opRotatePairs.op, op{
		name: "rotate pairs",
		forward: func(c *call) *Tensor {
			x, way := c.in[0], opRotatePairs.given(c)
			half := x.Shape()
			half[len(half)-1] /= 2
			angles := func(t *Tensor) *Tensor { return t.Detach().To(wideSum(x.dtype)).expanded(half) }
			cos, sin := angles(c.in[1]), angles(c.in[2])
			if c.device != nil {
				out := c.unfilled(x.dtype, x.layout.Shape...)
				if c.fused([]*Tensor{out}, []*Tensor{x, cos, sin}, float64(way)) {
					return out
				}
				return x.Detach().To(cos.dtype).rotateSteps(cos, sin, way).To(x.dtype) // in steps that every device has
			}
			out := newTensor(x.dtype, x.layout.Shape, false)
			if out.Len() > 0 {
				loops.RotateRows(out.array(), x.array(), cos.array(), sin.array(), way)
			}
			return out
		},
		gradients: []gradient{
			{readsRight | readsThird, func(c *call, g *Tensor, _ int) *Tensor {
				return opRotatePairs.apply(-opRotatePairs.given(c), g, c.in[1].Detach(), c.in[2].Detach())
			}},
			{}, {},
		},
		flops: perElement(3), // two products, and a sum or difference
	})
}

// RotatePairs turns each pair of neighbors (0 1), (2 3) and so on of the last axis by
// an angle whose cosine and sine are given: tensors that are broadcast to the shape of
// t with half as many features. This is how rotary position embeddings encode
// positions in queries and keys (Su et al. 2021, arXiv:2104.09864). Angles are
// constants: they take no part in gradients. Small floats are computed in float32 and
// rounded once. It panics unless all are floating point and the shapes fit.
func (t *Tensor) RotatePairs(cos, sin *Tensor) *Tensor {
	t.existBeside("rotate pairs", cos)
	t.existBeside("rotate pairs", sin)
	for _, x := range []*Tensor{t, cos, sin} {
		if !x.dtype.IsFloat() {
			fail(ErrDtype, "rotate pairs", describe(t, cos, sin), x.dtype.String()+" is not floating point", "convert with To(tensor.Float32)")
		}
	}
	if t.Dim() == 0 || t.Size(-1)%2 != 0 {
		fail(ErrShape, "rotate pairs", describe(t), "the last axis is not made of pairs", "give an even number of features")
	}
	half := t.Shape()
	half[len(half)-1] /= 2
	for _, x := range []*Tensor{cos, sin} {
		if shape, err := layout.Broadcast(x.layout.Shape, half); err != nil || !slices.Equal(shape, half) {
			fail(ErrShape, "rotate pairs", describe(t, x), fmt.Sprintf("the angles can't be broadcast to %v, one for each pair", half), "")
		}
	}
	return opRotatePairs.apply(1, t, cos, sin)
}

// rotateSteps does the same in steps that every device has; a way of -1 turns back.
func (t *Tensor) rotateSteps(cos, sin *Tensor, way int) *Tensor {
	shape := t.Shape()
	pairs := t.Reshape(append(slices.Clone(shape[:len(shape)-1]), shape[len(shape)-1]/2, 2)...)
	a, b, s := pairs.Select(-1, 0), pairs.Select(-1, 1), sin.Mul(way)
	return Stack(-1, a.Mul(cos).Sub(b.Mul(s)), a.Mul(s).Add(b.Mul(cos))).Reshape(shape...)
}
