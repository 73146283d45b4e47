//go:build linux && cgo

package gpu

import (
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// draws are the distributions that Random knows.
var draws = []operation{{"uniform", true, true}, {"normal", true, true}, {"bernoulli", true, true}, {"randint", true, true}}

// drawing is the argument of a kernel; see random.cu.
type drawing struct {
	space         space
	strides       [maxAxes]int64
	out           uint64
	stream, first uint64
	p             [2]float64
	low           int64
	span          uint64
	key           [2]uint32
	typ, kind     int32
	bits          int32
	_             int32
}

// uniformBits are the bits that a number in [1/2, 1) has, which is how many a uniform
// number gets.
var uniformBits = map[device.Type]int32{device.Float32: 24, device.Float64: 53, device.Float16: 11, device.BFloat16: 8, device.Float8E4M3: 4, device.Float8E5M2: 3}

// Random writes one number for each element in row-major order, made from a word of
// Philox 4×32-10 under key, beginning with block number first of a stream:
//
//	"uniform"    low, high    in [low, high)
//	"normal"     mean, std    two numbers from the two words of a block
//	"bernoulli"  p            1 with probability p, else 0
//	"randint"    low, high    integers in [low, high), both below 2⁵³ in magnitude
func (c *card) Random(kind string, out device.View, key [2]uint32, stream, first uint64, params ...float64) error {
	defer keep(out)
	n, err := number(draws, kind, out.Type)
	if err != nil || out.Len() == 0 {
		return err
	}
	d := drawing{out: origin(out), stream: stream, first: first, key: key, typ: int32(out.Type), kind: n, bits: uniformBits[out.Type]}
	if kind == "uniform" && d.bits == 0 {
		return unsupported(kind, out.Type)
	}
	copy(d.p[:], params)
	if kind == "randint" {
		d.low = int64(params[0])
		d.span = uint64(int64(params[1])) - uint64(d.low)
	}
	if err := d.space.set(kind, axesOf(out.Shape, out), &d.strides); err != nil {
		return err
	}
	return c.launchOver("random_numbers", (d.space.count+1)/2, unsafe.Pointer(&d), unsafe.Sizeof(d))
}
