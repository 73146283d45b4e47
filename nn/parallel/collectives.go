package parallel

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Piece returns where the piece of a rank begins and ends if n elements are divided
// among ranks as evenly as possible.
func Piece(n, rank, ranks int) (from, to int) { return n * rank / ranks, n * (rank + 1) / ranks }

// AllReduce replaces x by the sum of the x of all ranks: a reduce-scatter, then an
// all-gather. Each of p ranks sends 2·(p-1)/p of the bytes of x. It panics if x is not
// contiguous, or if the ranks' x differ in shape or dtype.
func (r *Rank) AllReduce(x *tensor.Tensor) {
	const op = "all-reduce"
	pieces := r.pieces(op, x)
	r.reduce(op, pieces)
	r.gather(op, pieces)
}

// ReduceScatter returns this rank's [Piece] of the sum of the x of all ranks, as a vector.
// Each rank sends (p-1)/p of the bytes of x, which is not changed. It panics like
// [Rank.AllReduce].
func (r *Rank) ReduceScatter(x *tensor.Tensor) *tensor.Tensor {
	const op = "reduce-scatter"
	pieces := r.pieces(op, x.Detach().Clone())
	r.reduce(op, pieces)
	return pieces[r.ID].Clone()
}

// AllGather returns a tensor of the given shape, whose pieces come from the ranks: each
// gives its [Piece]. Each rank sends the bytes of all pieces but one. It panics if the
// pieces don't fit the shape.
func (r *Rank) AllGather(piece *tensor.Tensor, shape ...int) *tensor.Tensor {
	const op = "all-gather"
	whole := tensor.With(piece.Dtype()).Empty(shape...)
	pieces := r.pieces(op, whole)
	if got, want := piece.Len(), pieces[r.ID].Len(); got != want {
		fail(tensor.ErrShape, op, fmt.Sprintf("rank %d gives %s, its piece of %v has %d", r.ID, humanize.Count(got, "element"), shape, want), "Piece tells where each begins")
	}
	tensor.NoGrad(func() { pieces[r.ID].CopyFrom(piece.Detach().Reshape(-1)) })
	r.gather(op, pieces)
	return whole
}

// Broadcast replaces x by the x of one rank, which each rank passes to the next: all
// but the last send the bytes of x. It panics like [Rank.AllReduce].
func (r *Rank) Broadcast(x *tensor.Tensor, root int) {
	const op = "broadcast"
	if root < 0 || root >= r.Size {
		fail(tensor.ErrValue, op, fmt.Sprintf("there is no rank %d among %d", root, r.Size), "")
	}
	if r.ID != root {
		r.take(op, x, false)
	}
	if next := (r.ID + 1) % r.Size; next != root {
		r.send(op, next, x)
	}
}

// pieces returns views of the pieces of x, one for each rank.
func (r *Rank) pieces(op string, x *tensor.Tensor) []*tensor.Tensor {
	if !x.IsContiguous() {
		fail(tensor.ErrView, op, fmt.Sprintf("strides %v are not contiguous", x.Strides()), "call Contiguous before")
	}
	flat := x.Detach().View(-1)
	pieces := make([]*tensor.Tensor, r.Size)
	for i := range pieces {
		from, to := Piece(flat.Len(), i, r.Size)
		pieces[i] = flat.Narrow(0, from, to-from)
	}
	return pieces
}

// reduce adds up the pieces of all ranks: afterwards the piece of this rank is the sum.
// In each step a rank passes on one piece, with everything added to it so far, and the
// last one to get a piece is its owner.
func (r *Rank) reduce(op string, pieces []*tensor.Tensor) {
	for step := range r.Size - 1 {
		r.send(op, r.away(1), pieces[r.away(-1-step)])
		r.take(op, pieces[r.away(-2-step)], true)
	}
}

// gather hands each rank's piece around the ring.
func (r *Rank) gather(op string, pieces []*tensor.Tensor) {
	for step := range r.Size - 1 {
		r.send(op, r.away(1), pieces[r.away(-step)])
		r.take(op, pieces[r.away(-1-step)], false)
	}
}

// away returns the rank that is n places further along the ring.
func (r *Rank) away(n int) int { return ((r.ID+n)%r.Size + r.Size) % r.Size }

// take receives from the rank before this one, and adds that to x or writes it there.
func (r *Rank) take(op string, x *tensor.Tensor, add bool) {
	from := r.away(-1)
	got := r.receive(op, from)
	if !slices.Equal(got.Shape(), x.Shape()) || got.Dtype() != x.Dtype() {
		fail(tensor.ErrShape, op, fmt.Sprintf("rank %d has %s %v where rank %d has %s %v", from, got.Dtype(), got.Shape(), r.ID, x.Dtype(), x.Shape()), "all ranks must give tensors of the same shape and dtype")
	}
	tensor.NoGrad(func() {
		if add {
			x.AddInPlace(got)
		} else {
			x.CopyFrom(got)
		}
	})
}
