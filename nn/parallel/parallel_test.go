package parallel_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/parallel"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

type T = *tensor.Tensor

// numbers returns what rank id gives: integers, whose sums are exact.
func numbers(id, n int) T {
	return tensor.With(tensor.Float64).Arange(0, float64(n), 1).Mul(float64(id + 1))
}

// TestCollectives compares each with what it is defined as, and its bytes with the
// formula, for numbers of elements that the ranks don't divide, too.
func TestCollectives(t *testing.T) {
	for ranks := 1; ranks <= 5; ranks++ {
		for _, n := range []int{0, 1, 3, 20, 23} {
			t.Run(fmt.Sprintf("%d ranks, %d elements", ranks, n), func(t *testing.T) {
				factor := float64(ranks*(ranks+1)) / 2
				sum := numbers(0, n).Mul(factor)
				check := func(r *parallel.Rank, what string, got, want T) {
					if !slices.Equal(got.Shape(), want.Shape()) || !tensor.AllClose(got, want, 0, 0) {
						t.Errorf("%s: rank %d has %v, want %v", what, r.ID, got, want)
					}
				}
				sent := func(f func(r *parallel.Rank)) (all int) {
					for _, a := range parallel.Run(ranks, f) {
						all += a.Sent
					}
					return all
				}
				whole := (ranks - 1) * 8 * n
				for _, c := range []struct {
					what string
					f    func(r *parallel.Rank)
					want int // bytes that all ranks send together
				}{
					{"all-reduce", func(r *parallel.Rank) {
						x := numbers(r.ID, n)
						r.AllReduce(x)
						check(r, "all-reduce", x, sum)
					}, 2 * whole},
					{"reduce-scatter", func(r *parallel.Rank) {
						x := numbers(r.ID, n)
						from, to := parallel.Piece(n, r.ID, ranks)
						check(r, "reduce-scatter", r.ReduceScatter(x), sum.Narrow(0, from, to-from))
						check(r, "what was given", x, numbers(r.ID, n))
					}, whole},
					{"all-gather", func(r *parallel.Rank) {
						from, to := parallel.Piece(n, r.ID, ranks)
						check(r, "all-gather", r.AllGather(sum.Narrow(0, from, to-from), n, 1), sum.View(n, 1))
					}, whole},
					{"broadcast", func(r *parallel.Rank) {
						x := numbers(r.ID, n)
						r.Broadcast(x, ranks-1)
						check(r, "broadcast", x, numbers(ranks-1, n))
					}, whole},
				} {
					if got := sent(c.f); got != c.want {
						t.Errorf("%s: %d bytes are sent, want %d", c.what, got, c.want)
					}
				}
			})
		}
	}
}

// TestEachSendsItsShare: where the elements divide, all ranks send and receive the same.
func TestEachSendsItsShare(t *testing.T) {
	for _, a := range parallel.Run(4, func(r *parallel.Rank) { r.AllReduce(tensor.Ones(8, 5)) }) {
		if want := 2 * 3 * 160 / 4; a.Sent != want || a.Received != want {
			t.Errorf("%d bytes sent and %d received, want %d", a.Sent, a.Received, want)
		}
	}
}

// TestSameBits: float32 sums are the same on all ranks and in all runs.
func TestSameBits(t *testing.T) {
	run := func() []T {
		out := make([]T, 4)
		parallel.Run(4, func(r *parallel.Rank) {
			x := tensor.With(tensor.NewGenerator(uint64(r.ID))).Randn(101)
			r.AllReduce(x)
			out[r.ID] = x
		})
		return out
	}
	first := run()
	for range 5 {
		for _, x := range append(run(), first...) {
			if !tensor.AllClose(x, first[0], 0, 0) {
				t.Fatal("sums differ in their bits")
			}
		}
	}
}

// layersOf returns the weights of a small network in float64, the same at each call.
func layersOf(widths ...int) []tensor.NamedTensor {
	g := tensor.NewGenerator(7)
	var all []tensor.NamedTensor
	for i := range len(widths) - 1 {
		w := tensor.With(tensor.Float64, g).Normal(0, 1/math.Sqrt(float64(widths[i])), widths[i+1], widths[i])
		all = append(all, tensor.NamedTensor{Name: fmt.Sprint("w", i), Tensor: nn.Parameter(w)})
	}
	return all
}

func batch(n, width int) (x, y T) {
	g := tensor.NewGenerator(8)
	return tensor.With(tensor.Float64, g).Randn(n, width), tensor.With(tensor.Float64, g).Randn(n, width)
}

func adam(p []tensor.NamedTensor) *optim.Optimizer {
	return optim.NewAdamW(p, 0.01, optim.WeightDecay(0.1))
}

// alone trains the network on one rank and returns its weights.
func alone(steps int, widths ...int) []tensor.NamedTensor {
	params := layersOf(widths...)
	opt := adam(params)
	x, y := batch(8, widths[0])
	for range steps {
		h := x
		for _, p := range params {
			h = h.MatmulT(p.Tensor).Tanh()
		}
		nn.MSE(h, y).Backward()
		opt.Step()
		opt.ZeroGrad(true)
	}
	return params
}

func sameWeights(t *testing.T, what string, got []T, want []tensor.NamedTensor) {
	t.Helper()
	for i, w := range want {
		if !tensor.AllClose(got[i], w.Tensor, 1e-12, 1e-12) {
			t.Errorf("%s: weight %d differs from that of one rank", what, i)
		}
	}
}

// TestDataParallel: ranks that share a batch train what one rank does with all of it, at
// each stage of ZeRO, and hold and send what the paper says.
func TestDataParallel(t *testing.T) {
	widths := []int{12, 20, 16, 12}
	want := alone(5, widths...)
	numbers := 0
	for _, w := range want {
		numbers += w.Tensor.Len()
	}
	const ranks, steps = 4, 5
	for stage := range 4 {
		what := fmt.Sprint("stage ", stage)
		trained := make([][]T, ranks)
		sent := make([]int, ranks) // in training
		parallel.Run(ranks, func(r *parallel.Rank) {
			z := parallel.NewZeRO(r, stage, layersOf(widths...), adam)
			x, y := batch(8, widths[0])
			from, to := parallel.Piece(8, r.ID, ranks)
			x, y = x.Narrow(0, from, to-from), y.Narrow(0, from, to-from)
			for step := range steps {
				h := x
				for i := range want {
					h = z.With(i, h, func(w, x T) T { return x.MatmulT(w).Tanh() })
				}
				nn.MSE(h, y).Backward()
				if step > 0 {
					shared := func(from int) int { // bytes, divided from a stage on
						if stage >= from {
							return 8 * numbers / ranks
						}
						return 8 * numbers
					}
					parameters, gradients, state := z.Held()
					if parameters != shared(3) || gradients != shared(2) || state != 2*shared(1) {
						t.Errorf("%s: rank %d holds %d bytes of parameters, %d of gradients, %d of state", what, r.ID, parameters, gradients, state)
					}
				}
				z.Step()
			}
			sent[r.ID] = r.Account().Sent
			trained[r.ID] = z.Weights()
		})
		rounds := 2
		if stage == 3 { // parameters are gathered twice
			rounds = 3
		}
		for id := range ranks {
			sameWeights(t, fmt.Sprintf("%s, rank %d", what, id), trained[id], want)
			if want := steps * rounds * 8 * numbers * (ranks - 1) / ranks; sent[id] != want {
				t.Errorf("%s: rank %d sent %d bytes, want %d", what, id, sent[id], want)
			}
		}
	}
}

// TestAverage: the plain form of data parallelism.
func TestAverage(t *testing.T) {
	want := alone(3, 6, 6)
	parallel.Run(2, func(r *parallel.Rank) {
		params := layersOf(6, 6)
		opt := adam(params)
		x, y := batch(8, 6)
		for range 3 {
			nn.MSE(x.Narrow(0, 4*r.ID, 4).MatmulT(params[0].Tensor).Tanh(), y.Narrow(0, 4*r.ID, 4)).Backward()
			r.Average(params)
			opt.Step()
			opt.ZeroGrad(true)
		}
		sameWeights(t, "average", []T{params[0].Tensor}, want)
	})
}

// TestTensorParallel: two layers of which each rank has some columns and rows give the
// same results and gradients.
func TestTensorParallel(t *testing.T) {
	params := layersOf(6, 12, 6)
	up, down := params[0].Tensor, params[1].Tensor
	x, _ := batch(5, 6)
	x.RequireGrad()
	y := x.MatmulT(up).Tanh().MatmulT(down)
	y.Square().Sum().Backward()
	accounts := parallel.Run(3, func(r *parallel.Rank) {
		up1 := up.Detach().Narrow(0, 4*r.ID, 4).Clone().RequireGrad()
		down1 := down.Detach().Narrow(1, 4*r.ID, 4).Clone().RequireGrad()
		x1 := x.Detach().Clone().RequireGrad()
		y1 := r.Leave(r.Enter(x1).MatmulT(up1).Tanh().MatmulT(down1))
		y1.Square().Sum().Backward()
		for what, pair := range map[string][2]T{
			"result": {y1, y}, "input's gradient": {x1.Grad(), x.Grad()},
			"gradient of its columns": {up1.Grad(), up.Grad().Narrow(0, 4*r.ID, 4)}, "gradient of its rows": {down1.Grad(), down.Grad().Narrow(1, 4*r.ID, 4)},
		} {
			if !tensor.AllClose(pair[0], pair[1], 1e-12, 1e-12) {
				t.Errorf("rank %d: the %s differs", r.ID, what)
			}
		}
	})
	for _, a := range accounts { // one all-reduce forward, one backward
		if want := 2 * 2 * 2 * 8 * 5 * 6 / 3; a.Sent != want {
			t.Errorf("%d bytes sent, want %d", a.Sent, want)
		}
	}
}

// TestPipeline: stages that work on micro-batches wait as long as the formula says, and
// compute what one rank does.
func TestPipeline(t *testing.T) {
	const stages, micro = 4, 6
	params := layersOf(6, 6, 6, 6, 6)
	x, _ := batch(micro, 6)
	want := x
	for _, p := range params {
		want = want.MatmulT(p.Tensor).Tanh()
	}
	accounts := parallel.Run(stages, func(r *parallel.Rank) {
		for m := range micro {
			h := x.Narrow(0, m, 1)
			if r.ID > 0 {
				h = r.Receive(r.ID - 1)
			}
			h = h.MatmulT(params[r.ID].Tensor.Detach()).Tanh()
			r.Work(fmt.Sprint(m), 1)
			if r.ID < stages-1 {
				r.Send(r.ID+1, h)
			} else if !tensor.AllClose(h, want.Narrow(0, m, 1), 1e-12, 1e-12) {
				t.Errorf("micro-batch %d differs from that of one rank", m)
			}
		}
	})
	for id, a := range accounts {
		if a.Busy != micro || a.Clock != float64(micro+id) || len(a.Tasks) != micro {
			t.Errorf("stage %d was busy for %g, was done at %g, in %d tasks", id, a.Busy, a.Clock, len(a.Tasks))
		}
		if a.Tasks[0] != (parallel.Task{Name: "0", From: float64(id), To: float64(id + 1)}) {
			t.Errorf("stage %d began with %v", id, a.Tasks[0])
		}
	}
}

// TestSendToARankThatIsDone is never a matter of luck.
func TestSendToARankThatIsDone(t *testing.T) {
	for range 20 {
		err := tensor.Try(func() {
			parallel.Run(2, func(r *parallel.Rank) {
				if r.ID == 0 {
					tensor.Try(func() { r.Receive(1) }) // which fails when the other is done
					r.Send(1, tensor.Ones(1))
				}
			})
		})
		if !errors.Is(err, parallel.ErrOrder) {
			t.Fatalf("%v, want %v", err, parallel.ErrOrder)
		}
	}
}

// TestMistakes are refused in a sentence, whichever rank makes them, and nobody waits for
// ever.
func TestMistakes(t *testing.T) {
	first := func(f, other func(r *parallel.Rank)) func(r *parallel.Rank) {
		return func(r *parallel.Rank) {
			if r.ID == 0 {
				f(r)
			} else {
				other(r)
			}
		}
	}
	reduce := func(x T) func(r *parallel.Rank) { return func(r *parallel.Rank) { r.AllReduce(x.Clone()) } }
	nothing := func(*parallel.Rank) {}
	for what, c := range map[string]struct {
		ranks int
		f     func(r *parallel.Rank)
		kind  error
	}{
		"no ranks":            {0, nothing, tensor.ErrValue},
		"too many ranks":      {1 << 40, nothing, tensor.ErrValue},
		"another collective":  {3, first(reduce(tensor.Ones(3)), func(r *parallel.Rank) { r.Broadcast(tensor.Ones(3), 1) }), parallel.ErrOrder},
		"a rank that is done": {2, first(reduce(tensor.Ones(3)), nothing), parallel.ErrOrder},
		"two for one": {2, first(func(r *parallel.Rank) {
			r.Send(1, tensor.Ones(1))
			r.Send(1, tensor.Ones(1))
			r.Send(1, tensor.Ones(1))
		}, func(r *parallel.Rank) { r.Receive(0) }), parallel.ErrOrder},
		"other shapes":              {2, first(reduce(tensor.Ones(4)), reduce(tensor.Ones(6))), tensor.ErrShape},
		"other dtypes":              {2, first(reduce(tensor.Ones(4)), reduce(tensor.Ones(4).To(tensor.Float64))), tensor.ErrShape},
		"transposed":                {2, func(r *parallel.Rank) { r.AllReduce(tensor.Ones(2, 3).T()) }, tensor.ErrView},
		"a piece of another size":   {2, func(r *parallel.Rank) { r.AllGather(tensor.Ones(2), 3) }, tensor.ErrShape},
		"itself":                    {2, func(r *parallel.Rank) { r.Send(r.ID, tensor.Ones(1)) }, tensor.ErrValue},
		"a rank that there is not":  {2, func(r *parallel.Rank) { r.Receive(2) }, tensor.ErrValue},
		"a root that there is not":  {2, func(r *parallel.Rank) { r.Broadcast(tensor.Ones(1), 2) }, tensor.ErrValue},
		"a stage that there is not": {1, func(r *parallel.Rank) { parallel.NewZeRO(r, 4, layersOf(2, 2), adam) }, tensor.ErrValue},
		"no gradient":               {1, func(r *parallel.Rank) { r.Average(layersOf(2, 2)) }, tensor.ErrGrad},
	} {
		if err := tensor.Try(func() { parallel.Run(c.ranks, c.f) }); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", what, err, c.kind)
		}
	}
	defer func() {
		if v := recover(); v != "mine" {
			t.Errorf("Run panics with %v, want what the rank did", v)
		}
	}()
	parallel.Run(3, func(r *parallel.Rank) {
		if r.ID == 1 {
			panic("mine")
		}
		r.AllReduce(tensor.Ones(3))
	})
}
