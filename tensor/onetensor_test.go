package tensor

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/internal/race"
)

// TestOneTensorForSeveralInputs gives one tensor to several inputs of every operation: its gradient is that of as many
// copies of it, however Backward is called, and wherever else the tensor is used. Gradients of one call may share
// memory, and what one input is done with is then another's.
func TestOneTensorForSeveralInputs(t *testing.T) {
	dtypes, tried := []Dtype{Float64, Float32, BFloat16}, map[*op]bool{}
	if race.Enabled {
		dtypes = dtypes[:1]
	}
	for _, c := range opTable() {
		if len(c.shapes) < 2 {
			continue
		}
		for _, shapes := range c.alikeShapes() {
			for _, dtype := range dtypes {
				for _, same := range sharings(shapes) {
					c.shapes = shapes
					name := fmt.Sprintf("%s of %v in %s, inputs %v", c.name, shapes, dtype, same)
					if c.tryOneTensor(t, name, dtype, same) {
						for _, o := range c.ops {
							tried[o] = true
						}
					}
				}
			}
		}
	}
	for _, c := range opTable() {
		if len(c.shapes) < 2 || len(c.ops) == 0 || tried[c.ops[0]] || len(c.ops[0].gradients) == 0 {
			continue
		}
		t.Errorf("%q was never given one tensor twice", c.ops[0].name)
	}
}

// alikeShapes returns the shapes of a row, and those of one size that it takes for all of its inputs.
func (c opCase) alikeShapes() [][][]int {
	all := [][][]int{c.shapes}
	for _, shape := range slices.Concat(c.shapes, [][]int{{4}, {4, 4}, {2, 4, 4}}) {
		alike := c
		alike.shapes = slices.Repeat([][]int{shape}, len(c.shapes))
		if _, err := try(func() *Tensor { return alike.run(alike.inputs(Float64, 1)) }); err == nil {
			all = append(all, alike.shapes)
		}
	}
	return all
}

// sharings returns the ways to give one tensor to two inputs or more: each input has the number of the first that is
// the same tensor.
func sharings(shapes [][]int) (all [][]int) {
	var choose func(same []int)
	choose = func(same []int) {
		i := len(same)
		if i == len(shapes) {
			if distinct := slices.Compact(slices.Sorted(slices.Values(same))); len(distinct) < i {
				all = append(all, slices.Clone(same))
			}
			return
		}
		choose(append(same, i))
		for j, first := range same {
			if first == j && slices.Equal(shapes[i], shapes[j]) {
				choose(append(same, j))
			}
		}
	}
	choose(nil)
	return all
}

// tryOneTensor compares gradients with those of copies, and reports whether there are any.
func (c opCase) tryOneTensor(t *testing.T, name string, dtype Dtype, same []int) bool {
	var weights *Tensor
	// gradients of the given inputs, and of the gradients if twice is set.
	gradients := func(copies, before, after, twice bool, backward func(loss *Tensor)) []*Tensor {
		leaves := c.inputs(dtype, 5)
		in := slices.Clone(leaves)
		for i, first := range same {
			if first != i {
				leaves[i], in[i] = nil, in[first]
				continue
			}
			in[i] = leaves[i].RequireGrad().Mul(2) // a result, whose gradient nothing keeps
		}
		given := slices.Clone(in)
		if copies {
			for i := range given {
				given[i] = in[i].Clone()
			}
		}
		out := c.run(given)
		if !out.RequiresGrad() {
			return nil
		}
		if weights == nil {
			weights = With(Float64, NewGenerator(9)).Uniform(-1, 1, out.Shape()...).To(out.dtype)
		}
		loss := out.Mul(weights).Sum()
		for i, first := range same {
			if other := in[i].Square().Sum().To(loss.dtype); first == i && before {
				loss = other.Add(loss)
			} else if first == i && after {
				loss = loss.Add(other)
			}
		}
		backward(loss)
		leaves = slices.DeleteFunc(leaves, func(x *Tensor) bool { return x == nil })
		if twice {
			sum := Scalar(0.).To(dtype)
			for _, x := range leaves {
				g := x.Grad()
				x.SetGrad(nil)
				sum = sum.Add(g.Square().Sum())
			}
			sum.Backward()
		}
		var all []*Tensor
		for _, x := range leaves {
			all = append(all, x.Grad().Detach())
		}
		return all
	}
	plain := func(loss *Tensor) { loss.Backward() }
	ways := map[string]func(before, after bool) []*Tensor{
		"plainly": func(before, after bool) []*Tensor { return gradients(false, before, after, false, plain) },
		"with CreateGraph": func(before, after bool) []*Tensor {
			return gradients(false, before, after, false, func(loss *Tensor) { loss.Backward(CreateGraph()) })
		},
		"inside FreeAfter": func(before, after bool) (got []*Tensor) {
			FreeAfter(func(keep func(*Tensor) *Tensor) {
				for _, g := range gradients(false, before, after, false, plain) {
					got = append(got, keep(g))
				}
			})
			return got
		},
		"twice, with Retain": func(before, after bool) []*Tensor {
			got := gradients(false, before, after, false, func(loss *Tensor) {
				loss.Backward(Retain())
				loss.Backward()
			})
			for i, g := range got {
				got[i] = g.Div(2)
			}
			return got
		},
	}
	var there bool
	compare := func(way string, got, want []*Tensor) {
		tolerance := map[Dtype]float64{Float64: 1e-10, Float32: 1e-4, BFloat16: 0.1}[dtype]
		for i, w := range want {
			there = true
			if scale := 1 + w.To(Float64).Abs().Max().Item(); !AllClose(got[i], w, 0, tolerance*scale) {
				t.Errorf("%s, %s: gradient\n%v, of copies\n%v", name, way, got[i], w)
			}
		}
	}
	for _, used := range [][2]bool{{}, {true, false}, {false, true}} {
		stop := Trace(func(Event) {}) // with an observer all memory is shown as it is
		want := gradients(true, used[0], used[1], false, plain)
		stop()
		for way, f := range ways {
			var got []*Tensor
			if err := Try(func() { got = f(used[0], used[1]) }); err != nil {
				if c.ops != nil && c.ops[0] == &opCustom.op && way == "with CreateGraph" {
					continue // has no derivative itself
				}
				t.Errorf("%s, %s: %v", name, way, err)
				continue
			}
			compare(way, got, want)
		}
	}
	if c.second && dtype == Float64 {
		create := func(loss *Tensor) { loss.Backward(CreateGraph()) }
		compare("second derivative", gradients(false, true, false, true, create), gradients(true, true, false, true, create))
	}
	return there
}
