//go:build linux && cgo

package gpu

/*
#include "shim.h"
*/
import "C"

import (
	"strconv"
	"sync"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

func init() {
	fusions["attention"] = (*card).attention
	fusions["attention gradient"] = (*card).attentionGradient
}

// attending, attendingAny and decoding are arguments of kernels; see attention.cu, attention_any.cu and decode.cu.
type attending struct {
	q, k, v, out, sums                          uint64
	g, rowDots, dq, dk, dv                      uint64
	qAt, kAt, vAt, outAt, gAt, dqAt, dkAt, dvAt [3]int64
	batches, heads, keyHeads, queries, keys     int32
	features, values, causal                    int32
	scale                                       float32
	_                                           int32
}

type attendingAny struct {
	q, k, v, out, sums, mask                            uint64
	g, rowDots, dq, dk, dv                              uint64
	qAt, kAt, vAt, outAt, gAt, dqAt, dkAt, dvAt, maskAt [4]int64
	batches, heads, keyHeads, queries, keys             int32
	features, values, causal                            int32
	scale                                               float32
	_                                                   int32
}

type decoding struct {
	q, k, v, out, partial, finished             uint64
	qAt                                         [2]int64
	kAt, vAt                                    [3]int64
	outAt                                       [2]int64
	batches, heads, keyHeads, keys, part, parts int32
	scale                                       float32
	_                                           int32
}

// mostFeatures is how many features of a head the kernels take.
const mostFeatures = 128

// attentionSizes are the sizes of an attention, and its other arguments.
type attentionSizes struct {
	batches, heads, keyHeads, queries, keys, features, values int
	causal                                                    int32
	scale                                                     float32
}

// attentionOf finds the sizes, with matrices in the last two axes, the heads before them and batches before those.
// ok is false if no kernel takes them.
func attentionOf(q, k, v device.View, numbers []float64) (s attentionSizes, ok bool) {
	rank := len(q.Shape)
	if rank < 3 || q.Memory == nil || k.Memory == nil || v.Memory == nil || q.Type != k.Type || q.Type != v.Type {
		return s, false
	}
	s = attentionSizes{batches: 1, heads: q.Shape[rank-3], keyHeads: k.Shape[rank-3], queries: q.Shape[rank-2], keys: k.Shape[rank-2],
		features: q.Shape[rank-1], values: v.Shape[rank-1], causal: int32(numbers[0]), scale: float32(numbers[1])}
	for _, n := range q.Shape[:rank-3] {
		s.batches *= n
	}
	const most = 1 << 30 // so that numbers of rows fit into 31 bits
	return s, s.keys > 0 && s.features > 0 && s.features <= mostFeatures && s.values <= mostFeatures && s.keys < most && s.queries < most && s.batches*s.heads < most
}

// stridesOf returns the strides of batches, heads, rows and along rows; ok is false if batches are more than one
// axis.
func stridesOf(v device.View) (at [4]int64, ok bool) {
	lead := len(v.Shape) - 3
	axes := axesOf(v.Shape[:lead], device.View{Memory: v.Memory, Strides: v.Strides[:lead]})
	if len(axes) > 1 {
		return at, false
	}
	if len(axes) == 1 {
		at[0] = axes[0].strides[0]
	}
	for i, stride := range v.Strides[lead:] {
		at[i+1] = int64(stride)
	}
	return at, true
}

// located fills in addresses and strides of views. ok is false if one has strides that kernels don't know.
func located(views []device.View, addresses []*uint64, strides []*[4]int64) (ok bool) {
	for i, v := range views {
		if *strides[i], ok = stridesOf(v); !ok {
			return false
		}
		*addresses[i] = origin(v)
	}
	return true
}

// attention computes out = softmax(q·kᵀ·scale)·v from in, which holds q, k, v and perhaps a mask, and the
// logarithms of the sums in softmax, if they are wanted. The numbers say whether it is causal, and the scale.
func (c *card) attention(out, in []device.View, numbers []float64) error {
	s, ok := attentionOf(in[0], in[1], in[2], numbers)
	if !ok {
		return device.ErrUnsupported
	}
	if done, err := c.decode(s, out, in); done {
		return err
	}
	if c.hasTensorCores(s, in[0].Type, in[3:], out[:1]) {
		return c.attendOnTensorCores(s, out, in)
	}
	a, ok := s.any(in[0].Type)
	mask := device.View{}
	if len(in) > 3 {
		if mask = in[3]; mask.Memory == nil {
			return device.ErrUnsupported
		}
	}
	if !ok || !located([]device.View{in[0], in[1], in[2], out[0]}, []*uint64{&a.q, &a.k, &a.v, &a.out}, []*[4]int64{&a.qAt, &a.kAt, &a.vAt, &a.outAt}) || !a.setMask(mask) {
		return device.ErrUnsupported
	}
	if len(out) > 1 {
		a.sums = origin(out[1])
	}
	return c.launchAny(s, "attend_any_", 2, s.queries, s.heads, &a)
}

// attentionGradient computes the gradients dq, dk and dv, which are out, from in: dL/dout, q, k, v, out,
// the logarithms of sums, and perhaps a mask.
func (c *card) attentionGradient(out, in []device.View, numbers []float64) error {
	g, q, k, v, result, sums := in[0], in[1], in[2], in[3], in[4], in[5]
	s, ok := attentionOf(q, k, v, numbers)
	if !ok || g.Memory == nil || g.Type != q.Type || result.Type != q.Type || sums.Type != device.Float32 || !sums.IsContiguous() || sums.Len() != s.batches*s.heads*s.queries {
		return device.ErrUnsupported // without the sums: forward was computed in steps
	}
	onTensorCores := c.hasTensorCores(s, q.Type, in[6:], out)
	a, ok := s.any(q.Type)
	if !onTensorCores && (!ok || c.sharedMemory < sharedOfAny(s, 4)) {
		return device.ErrUnsupported
	}
	var mask device.View
	if len(in) > 6 {
		if mask = in[6]; mask.Memory == nil {
			return device.ErrUnsupported
		}
	}
	if !onTensorCores {
		views := []device.View{g, q, k, v, result, out[0], out[1], out[2]}
		if !located(views, []*uint64{&a.g, &a.q, &a.k, &a.v, &a.out, &a.dq, &a.dk, &a.dv}, []*[4]int64{&a.gAt, &a.qAt, &a.kAt, &a.vAt, &a.outAt, &a.dqAt, &a.dkAt, &a.dvAt}) ||
			!a.setMask(mask) {
			return device.ErrUnsupported
		}
	}
	dots, err := c.Allocate(4*sums.Len(), false)
	if err != nil {
		return err
	}
	defer dots.Free()
	if onTensorCores {
		return c.gradientOnTensorCores(s, out, in, dots.(*block).address())
	}
	a.sums, a.rowDots = origin(sums), dots.(*block).address()
	if err := c.launchOver("attend_any_dots", 32*int64(sums.Len()), unsafe.Pointer(&a), unsafe.Sizeof(a)); err != nil {
		return err
	}
	if err := c.launchAny(s, "attend_any_queries_", 4, s.queries, s.heads, &a); err != nil {
		return err
	}
	return c.launchAny(s, "attend_any_keys_", 4, s.keys, s.keyHeads, &a)
}

// width is the number of features for which a kernel is made.
func (s attentionSizes) width() int {
	if max(s.features, s.values) <= 64 {
		return 64
	}
	return 128
}

func (s attentionSizes) any(t device.Type) (attendingAny, bool) {
	return attendingAny{batches: int32(s.batches), heads: int32(s.heads), keyHeads: int32(s.keyHeads), queries: int32(s.queries), keys: int32(s.keys),
		features: int32(s.features), values: int32(s.values), causal: s.causal, scale: s.scale}, t == device.Float32
}

// setMask passes a mask, if there is one.
func (a *attendingAny) setMask(mask device.View) (ok bool) {
	if mask.Shape == nil {
		return true
	}
	a.mask = origin(mask)
	a.maskAt, ok = stridesOf(mask)
	return ok
}

// sharedOfAny is the shared memory for a number of tiles of rows, and one of scores, of 64 rows each.
func sharedOfAny(s attentionSizes, tiles int) int { return 64 * 4 * (tiles*(s.width()+4) + 64 + 4) }

// launchAny launches a kernel with a block for every 64 rows of each head.
func (c *card) launchAny(s attentionSizes, kernel string, tiles, rows, heads int, a *attendingAny) error {
	shared := sharedOfAny(s, tiles)
	if c.sharedMemory < shared {
		return device.ErrUnsupported
	}
	return c.launchHeads(kernel+strconv.Itoa(s.width()), (rows+63)/64*s.batches*heads, 256, shared, unsafe.Pointer(a), unsafe.Sizeof(*a))
}

func (c *card) launchHeads(kernel string, blocks, threads, shared int, args unsafe.Pointer, size uintptr) error {
	if blocks > 1<<31-1 {
		return device.ErrUnsupported
	}
	return c.launch(kernel, uint32(blocks), uint32(threads), uint32(shared), args, size)
}

// A coresKernel is how a kernel of attention.cu is launched: the rows of a block, and its shared memory.
type coresKernel struct{ rows, shared int }

// coresKernels are those for up to 64 and up to 128 features.
var coresKernels = map[string][2]coresKernel{
	"attend_":         {{128, 49152}, {128, 65536}},
	"attend_queries_": {{64, 49408}, {64, 98560}},
	"attend_keys_":    {{128, 66560}, {64, 99328}},
}

// hasTensorCores reports whether the kernels for tensor cores take an attention. Inputs that don't lie in
// memory as they must are copied; outputs must lie so.
func (c *card) hasTensorCores(s attentionSizes, t device.Type, mask, results []device.View) bool {
	if c.properties.Major < 8 || t != device.BFloat16 && t != device.Float16 || len(mask) > 0 || s.features%8 != 0 || s.values%8 != 0 || s.values == 0 || !(s.scale > 0) {
		return false
	}
	for _, v := range results {
		if _, ok := stridesOf(v); !ok || !inPacks(v) {
			return false
		}
	}
	for _, k := range coresKernels {
		if k[s.width()/64-1].shared > c.sharedMemory {
			return false
		}
	}
	return true
}

func (s attentionSizes) cores() attending {
	return attending{batches: int32(s.batches), heads: int32(s.heads), keyHeads: int32(s.keyHeads), queries: int32(s.queries), keys: int32(s.keys),
		features: int32(s.features), values: int32(s.values), causal: s.causal, scale: s.scale}
}

// packed calls use with views that can be read 16 bytes at a time, along axes that kernels know: the given ones,
// or copies.
func (c *card) packed(views []device.View, use func(views []device.View) error) error {
	ready := make([]device.View, len(views))
	for i, v := range views {
		ready[i] = v
		if _, ok := stridesOf(v); ok && inPacks(v) {
			continue
		}
		memory, err := c.Allocate(v.Len()*sizes[v.Type], false)
		if err != nil {
			return err
		}
		defer memory.Free()
		copied := device.View{Memory: memory, Type: v.Type, Shape: v.Shape, Strides: make([]int, len(v.Shape))}
		stride := 1
		for axis := len(v.Shape) - 1; axis >= 0; axis-- {
			copied.Strides[axis] = stride
			stride *= v.Shape[axis]
		}
		if err := c.move(copied, v); err != nil {
			return err
		}
		ready[i] = copied
	}
	return use(ready)
}

// locatedCores is located for the kernels of attention.cu, whose rows have no gaps.
func locatedCores(views []device.View, addresses []*uint64, strides []*[3]int64) {
	for i, v := range views {
		at, _ := stridesOf(v)
		*addresses[i], *strides[i] = origin(v), [3]int64(at[:3])
	}
}

func (c *card) attendOnTensorCores(s attentionSizes, out, in []device.View) error {
	return c.packed(in[:3], func(in []device.View) error {
		a := s.cores()
		locatedCores([]device.View{in[0], in[1], in[2], out[0]}, []*uint64{&a.q, &a.k, &a.v, &a.out}, []*[3]int64{&a.qAt, &a.kAt, &a.vAt, &a.outAt})
		if len(out) > 1 {
			a.sums = origin(out[1])
		}
		return c.launchCores(s, "attend_", in[0].Type, s.queries, s.heads, &a)
	})
}

func (c *card) gradientOnTensorCores(s attentionSizes, out, in []device.View, dots uint64) error {
	return c.packed(in[:5], func(packed []device.View) error {
		a := s.cores()
		a.sums, a.rowDots = origin(in[5]), dots
		locatedCores(append(packed, out...), []*uint64{&a.g, &a.q, &a.k, &a.v, &a.out, &a.dq, &a.dk, &a.dv},
			[]*[3]int64{&a.gAt, &a.qAt, &a.kAt, &a.vAt, &a.outAt, &a.dqAt, &a.dkAt, &a.dvAt})
		if err := c.launchCores(s, "attend_queries_", in[1].Type, s.queries, s.heads, &a); err != nil { // leaves D for the next
			return err
		}
		return c.launchCores(s, "attend_keys_", in[1].Type, s.keys, s.keyHeads, &a)
	})
}

// launchCores launches a kernel with a block for every few rows of each head.
func (c *card) launchCores(s attentionSizes, kernel string, t device.Type, rows, heads int, a *attending) error {
	k := coresKernels[kernel][s.width()/64-1]
	return c.launchHeads(kernel+smallName(t)+"_"+strconv.Itoa(s.width()), (rows+k.rows-1)/k.rows*s.batches*heads, 128, k.shared, unsafe.Pointer(a), unsafe.Sizeof(*a))
}

// counters are numbers with which the blocks of a kernel count each other, 0 before and after each launch.
type counters struct {
	sync.Mutex
	at C.CUdeviceptr
}

const mostCounters = 1 << 14

// zeros returns the address of the counters.
func (c *card) zeros() (uint64, error) {
	c.counters.Lock()
	defer c.counters.Unlock()
	if c.counters.at == 0 {
		var at C.CUdeviceptr
		if err := c.check("allocate", C.gpu_allocate(c.c, &at, 4*mostCounters, 0)); err != nil {
			return 0, err
		}
		if err := c.check("fill with zeros", C.gpu_clear(c.c, at, 4*mostCounters)); err != nil {
			return 0, err
		}
		c.counters.at = at
	}
	return uint64(c.counters.at), nil
}

// decode computes attention for one query per head, whose keys are cut into parts.
func (c *card) decode(s attentionSizes, out, in []device.View) (done bool, err error) {
	name := smallName(in[0].Type)
	if name == "" || s.queries != 1 || len(in) > 3 || len(out) > 1 || s.features != s.width() || s.values != s.width() {
		return false, nil
	}
	for _, v := range []device.View{in[0], in[1], in[2], out[0]} {
		if _, ok := stridesOf(v); !ok || !inPacks(v) {
			return false, nil
		}
	}
	a := decoding{batches: int32(s.batches), heads: int32(s.heads), keyHeads: int32(s.keyHeads), keys: int32(s.keys), part: 128, scale: s.scale}
	heads := s.batches * s.heads
	if heads > mostCounters {
		return false, nil
	}
	parts := func() int { return (s.keys + int(a.part) - 1) / int(a.part) }
	for heads*parts() > 16*c.properties.Multiprocessors && parts() > 1 {
		a.part *= 2
	}
	a.parts = int32(parts())
	q, _ := stridesOf(in[0])
	k, _ := stridesOf(in[1])
	v, _ := stridesOf(in[2])
	o, _ := stridesOf(out[0])
	a.q, a.k, a.v, a.out = origin(in[0]), origin(in[1]), origin(in[2]), origin(out[0])
	a.qAt, a.kAt, a.vAt, a.outAt = [2]int64(q[:2]), [3]int64(k[:3]), [3]int64(v[:3]), [2]int64(o[:2])
	if a.parts > 1 {
		partial, err := c.Allocate(4*heads*int(a.parts)*(s.values+2), false)
		if err != nil {
			return true, err
		}
		defer partial.Free()
		a.partial = partial.(*block).address()
		if a.finished, err = c.zeros(); err != nil {
			return true, err
		}
	}
	return true, c.launchHeads("decode_"+name+"_"+strconv.Itoa(s.width()), heads*int(a.parts), 128, 0, unsafe.Pointer(&a), unsafe.Sizeof(a))
}
