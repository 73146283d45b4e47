package tensor

// Clone returns a contiguous copy with storage of its own. Gradients pass
// through it: d(clone(x))/dx = 1.
func (t *Tensor) Clone() *Tensor { return apply(&opClone, nil, t) }

var opClone op

func init() {
	define(&opClone, op{
		name: "clone",
		forward: func(c *call) *Tensor {
			return c.input().converted(c.input().dtype)
		},
		gradients: []gradient{{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
	})
}

// To returns t in another dtype, as a copy; t itself if it already has it.
// Floating-point values are rounded to nearest, ties to even; whole numbers lose
// their fraction. Gradients pass through it, converted back.
func (t *Tensor) To(dtype Dtype) *Tensor {
	if dtype == t.dtype {
		return t
	}
	return apply(&opTo, dtype, t)
}

var opTo op

func init() {
	define(&opTo, op{
		name:      "to",
		forward:   func(c *call) *Tensor { return c.input().converted(c.attr.(Dtype)) },
		gradients: []gradient{{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
	})
}

// ToSaturating is To for the 8-bit floats, except that numbers outside the
// range, infinities included, become the largest and smallest that there are,
// as training recipes want it. NaN stays NaN. Gradients pass through it. It
// panics unless dtype is floating point.
func (t *Tensor) ToSaturating(dtype Dtype) *Tensor {
	if !dtype.IsFloat() {
		fail(ErrDtype, "to saturating", dtype.String(), "only floating-point formats saturate", "use To")
	}
	return apply(&opToSaturating, dtype, t)
}

var opToSaturating op

func init() {
	define(&opToSaturating, op{
		name: "to saturating",
		forward: func(c *call) *Tensor {
			dtype, x := c.attr.(Dtype), c.input()
			largest := formats[dtype].max
			if x.dtype == Float64 || dtype == Float64 {
				x = x.converted(Float64)
				saturate(plain[float64](x), largest)
			} else {
				x = x.converted(Float32)
				saturate(plain[float32](x), float32(largest))
			}
			return x.converted(dtype)
		},
		gradients: []gradient{{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
	})
}

func saturate[T float32 | float64](values []T, largest T) {
	for i, x := range values {
		if x > largest {
			values[i] = largest
		} else if x < -largest {
			values[i] = -largest
		}
	}
}

// converted returns a contiguous copy in a dtype.
func (t *Tensor) converted(dtype Dtype) *Tensor {
	out := newTensor(dtype, t.layout.shape, false)
	out.assign(t)
	return out
}

// assign writes x, which has the same shape, into t and converts it. The two
// must not overlap.
func (t *Tensor) assign(x *Tensor) {
	switch formats[x.dtype].arithmetic {
	case inFloat32:
		mapBlocks(t, x, identity[float32])
	case inFloat64:
		mapBlocks(t, x, identity[float64])
	default:
		mapBlocks(t, x, identity[int64])
	}
}

func identity[T number](dst, x []T) { copy(dst, x) }

// fill writes one value to every element, converted to the dtype.
func (t *Tensor) fill(value float64) {
	t.assign(scalar(value, Float64).expanded(t.layout.shape))
	t.storage.version.Add(1)
}
