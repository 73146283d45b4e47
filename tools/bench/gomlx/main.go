// Command gomlx measures GoMLX on its backend that is written in Go, for the group gomlx of the benchmarks, which
// builds it. It is a module of its own, so that GoMLX is no dependency of anything else.
//
// It prints the version of GoMLX, and then, for each case that it reads as a line of JSON, the seconds of a call and a
// digest of the result, as ../ops.go does for our side, which says what the cases are.
package main

import (
	"encoding/json"
	"io"
	"log"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"github.com/gomlx/gomlx/pkg/ml/layers/activations"
	"github.com/gomlx/gomlx/pkg/ml/train/losses"
)

type (
	node = graph.Node
	made = tensors.Tensor
)

type opsCase struct {
	What   string  `json:"what"`
	Sizes  []int   `json:"sizes"`
	Budget float64 `json:"budget"`
}

type measured struct {
	Seconds float64   `json:"seconds"`
	Some    []float64 `json:"some,omitempty"`
}

func main() {
	log.SetFlags(0)
	questions, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // the backend tells there how many threads it takes
	backend, err := simplego.New("parallelism=" + strconv.Itoa(runtime.GOMAXPROCS(0)))
	if err != nil {
		log.Fatal(err)
	}
	if err := answers.Encode(version()); err != nil {
		log.Fatal(err)
	}
	for {
		var c opsCase
		if err := questions.Decode(&c); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if err := answers.Encode(c.measure(backend)); err != nil {
			log.Fatal(err)
		}
	}
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == "github.com/gomlx/gomlx" {
			return m.Version
		}
	}
	return "of an unknown version"
}

func (c opsCase) measure(b backends.Backend) measured {
	call := c.call(b)
	if call == nil {
		return measured{}
	}
	first := call()
	some := digest(first)
	first.MustFinalizeAll()
	runtime.GC() // what the case before has left is not this one's to clear away
	return measured{typical(func() { call().MustFinalizeAll() }, time.Duration(c.Budget*1e9)), some}
}

// call prepares the operands of a case; nil if GoMLX lacks it.
func (c opsCase) call(b backends.Backend) func() *made {
	sizes := slices.Concat(c.Sizes, []int{1, 1, 1}) // those that a case lacks
	m, n, p := sizes[0], sizes[1], sizes[2]
	of := func(f func(x *node) *node, x *made) func() *made {
		e := graph.MustNewExec(b, f)
		return func() *made { return e.MustExec1(x) }
	}
	ofTwo := func(f func(x, y *node) *node, x, y *made) func() *made {
		e := graph.MustNewExec(b, f)
		return func() *made { return e.MustExec1(x, y) }
	}
	ofThree := func(f func(x, y, z *node) *node, x, y, z *made) func() *made {
		e := graph.MustNewExec(b, f)
		return func() *made { return e.MustExec1(x, y, z) }
	}
	switch c.What {
	case "matmul":
		return ofTwo(graph.Dot, numbers(0, 1, 0, m, n), numbers(1, 1, 0, n, p))
	case "matmul transposed":
		return ofTwo(func(x, y *node) *node { return graph.DotGeneral(x, []int{1}, nil, y, []int{1}, nil) }, numbers(0, 1, 0, m, n), numbers(1, 1, 0, p, n))
	case "add":
		return ofTwo(graph.Add, numbers(0, 1, 0, m), numbers(1, 1, 0, m))
	case "gelu":
		return of(activations.Gelu, numbers(0, 1, 0, m))
	case "gelu tanh":
		return of(activations.GeluApproximate, numbers(0, 1, 0, m))
	case "sum":
		return of(graph.ReduceAllSum, numbers(0, 1, 1, m))
	case "softmax":
		return of(func(x *node) *node { return graph.Softmax(x, -1) }, numbers(0, 1, 0, m, n))
	case "layer norm": // the steps of layers.LayerNormalization, whose weights are variables of a context
		return ofThree(func(x, weight, bias *node) *node {
			x = graph.Sub(x, graph.ReduceAndKeep(x, graph.ReduceMean, -1))
			x = graph.Div(x, graph.Sqrt(graph.AddScalar(graph.ReduceAndKeep(graph.Square(x), graph.ReduceMean, -1), 1e-5)))
			return graph.Add(graph.Mul(x, weight), bias)
		}, numbers(0, 1, 0, m, n), numbers(1, 0.1, 1, 1, n), numbers(2, 0.1, 0, 1, n))
	case "rms norm": // the steps of layers.RMSNorm
		return ofTwo(func(x, weight *node) *node {
			x = graph.Div(x, graph.Sqrt(graph.AddScalar(graph.ReduceAndKeep(graph.Square(x), graph.ReduceMean, -1), 1e-5)))
			return graph.Mul(x, weight)
		}, numbers(0, 1, 0, m, n), numbers(1, 0.1, 1, 1, n))
	case "transpose":
		return of(func(x *node) *node { return graph.Transpose(x, 0, 1) }, numbers(0, 1, 0, m, n))
	case "embedding":
		ids := make([]int32, p)
		for i := range ids {
			ids[i] = int32(7919 * i % m)
		}
		return ofTwo(func(table, ids *node) *node { return graph.Gather(table, ids) }, numbers(0, 1, 0, m, n), tensors.FromFlatDataAndDimensions(ids, p, 1))
	case "attention", "causal attention":
		return ofThree(func(q, k, v *node) *node {
			scores := graph.MulScalar(graph.Einsum("htd,hsd->hts", q, k), 1/math.Sqrt(float64(p)))
			if c.What == "attention" {
				return graph.Einsum("hts,hsd->htd", graph.Softmax(scores, -1), v)
			}
			visible := graph.BroadcastToShape(graph.InsertAxes(graph.LowerTriangular(q.Graph(), n), 0), scores.Shape())
			return graph.Einsum("hts,hsd->htd", graph.MaskedSoftmax(scores, visible, -1), v)
		}, numbers(0, 1, 0, m, n, p), numbers(1, 1, 0, m, n, p), numbers(2, 1, 0, m, n, p))
	case "training step":
		return c.steps(b)
	}
	return nil
}

// steps returns what trains a model: for five steps at the first call, whose losses it returns, and for one more at
// each call after that. New weights take the memory of the old ones.
func (c opsCase) steps(b backends.Backend) func() *made {
	batch, inputs, hidden, classes := c.Sizes[0], c.Sizes[1], c.Sizes[2], c.Sizes[3]
	weights := []*made{
		numbers(1, 1/math.Sqrt(float64(inputs)), 0, hidden, inputs), numbers(0, 0, 0, hidden),
		numbers(2, 1/math.Sqrt(float64(hidden)), 0, classes, hidden), numbers(0, 0, 0, classes),
	}
	y := make([]int32, batch)
	for i := range y {
		y[i] = int32(i % classes)
	}
	x, labels := numbers(0, 1, 0, batch, inputs), tensors.FromFlatDataAndDimensions(y, batch, 1)
	e := graph.MustNewExec(b, func(args []*node) []*node {
		weights, x, labels := args[:4], args[4], args[5]
		layer := func(x, weight, bias *node) *node {
			return graph.Add(graph.DotGeneral(x, []int{1}, nil, weight, []int{1}, nil), graph.InsertAxes(bias, 0))
		}
		logits := layer(activations.Relu(layer(x, weights[0], weights[1])), weights[2], weights[3])
		loss := losses.SparseCategoricalCrossEntropyLogits([]*node{labels}, []*node{logits})
		out := []*node{loss}
		for i, g := range graph.Gradient(loss, weights...) {
			out = append(out, graph.Sub(weights[i], graph.MulScalar(g, 0.1)))
		}
		return out
	})
	step := func() *made {
		args := make([]any, 0, 6)
		for _, w := range weights {
			donated, err := graph.DonateTensorBuffer(w, b, 0)
			if err != nil {
				log.Fatal(err)
			}
			args = append(args, donated)
		}
		out := e.MustExec(append(args, x, labels)...)
		weights = out[1:]
		return out[0]
	}
	begun := false
	return func() *made {
		if begun {
			return step()
		}
		begun = true
		var five []float32
		for range 5 {
			five = append(five, tensors.MustCopyFlatData[float32](step())...)
		}
		return tensors.FromFlatDataAndDimensions(five, 5)
	}
}

func numbers(seed int, scale, shift float64, shape ...int) *made {
	n := 1
	for _, size := range shape {
		n *= size
	}
	values := make([]float32, n)
	for i := range values {
		j := i + 7919*seed
		values[i] = float32(float64((31*j*j+17*j)%1009-504)*(scale/291) + shift)
	}
	return tensors.FromFlatDataAndDimensions(values, shape...)
}

func digest(t *made) []float64 {
	const samples = 61
	all := tensors.MustCopyFlatData[float32](t)
	var sum, squares float64
	for _, v := range all {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(len(all))
	digest := []float64{n, sum / n, math.Sqrt(squares / n)}
	for i := range samples {
		digest = append(digest, float64(all[i*(len(all)-1)/(samples-1)]))
	}
	return digest
}

// typical returns the seconds of a call: the median of series of 2 ms, within a budget.
func typical(call func(), budget time.Duration) float64 {
	const series, warm = 2 * time.Millisecond, 12 * time.Millisecond
	reps, start := 0, time.Now()
	for time.Since(start) < warm {
		call()
		reps++
	}
	reps = max(1, int(float64(reps)*float64(series)/float64(time.Since(start))))
	var times []float64
	for end := time.Now().Add(budget); time.Now().Before(end) || len(times) < 3; {
		start := time.Now()
		for range reps {
			call()
		}
		times = append(times, time.Since(start).Seconds()/float64(reps))
	}
	slices.Sort(times)
	return times[len(times)/2]
}
