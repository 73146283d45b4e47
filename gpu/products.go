//go:build linux && cgo

package gpu

/*
#include <stdlib.h>
#include "products.h"
*/
import "C"

import (
	"fmt"
	"math/bits"
	"os"
	"sync"
	"time"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
)

// products is what a card needs to multiply matrices with cuBLASLt.
type products struct {
	sync.Mutex // also held while a product is launched, since plans may be dropped
	asked      bool
	err        error
	handle     unsafe.Pointer
	workspace  C.CUdeviceptr
	size       C.size_t // of the workspace
	autotune   bool
	plans      map[C.gpu_product]*C.gpu_plan // nil: cuBLASLt has no way to compute it
}

// maxPlans bounds the memory of plans for programs whose shapes change all the time;
// beyond it, all are dropped and made anew.
const maxPlans = 4096

// openLt opens cuBLASLt for this card, once, and returns why that is not
// possible.
func (c *card) openLt() error {
	p := &c.products
	p.Lock()
	defer p.Unlock()
	if p.asked {
		return p.err
	}
	p.asked = true
	p.plans = map[C.gpu_product]*C.gpu_plan{}
	p.autotune = os.Getenv("LECTERN_AUTOTUNE") == "1"
	create := func() error { return c.checkLt("open cuBLASLt", C.gpu_lt_create(c.c, &p.handle)) }
	if p.err = cuda.openLt(create); p.err != nil {
		return p.err
	}
	if p.handle == nil { // the library was opened for another card
		if p.err = create(); p.err != nil {
			return p.err
		}
	}
	p.size = 4 << 20
	if c.properties.Major >= 9 {
		p.size = 32 << 20
	}
	if C.gpu_allocate(c.c, &p.workspace, p.size, 0) != 0 {
		p.workspace, p.size = 0, 0 // works without, more slowly
	}
	return nil
}

// openLt opens cuBLASLt once. A library that is too new for the driver opens but fails
// to start; then the next one is tried.
func (s *system) openLt(create func() error) error {
	s.Lock()
	defer s.Unlock()
	l := &s.lt
	if !l.asked {
		l.asked = true
		files := libraryFiles("LECTERN_CUBLASLT_LIB", "libcublasLt", s.version, []string{"13", "12", "11"}, "cublas")
		l.path, l.err = openLibrary(files, "cublasLtCreate", func(h unsafe.Pointer) *C.char { return C.gpu_bind_lt(h) }, create)
		if l.err != nil {
			l.err = fmt.Errorf("gpu: cuBLASLt was not found (%w); install the CUDA libraries, such as pip install nvidia-cublas-cu12, "+
				"or name the library with LECTERN_CUBLASLT_LIB", l.err)
		}
	}
	return l.err
}

// checkLt turns a status of cuBLASLt into an error. A failure to run may come from an
// earlier kernel; then the driver says so.
func (c *card) checkLt(op string, status C.int) error {
	if status == 0 {
		return nil
	}
	if status == C.LT_EXECUTION_FAILED || status == C.LT_INTERNAL_ERROR {
		if err := c.check(op, C.gpu_synchronize(c.c)); err != nil {
			return err
		}
	}
	return &Error{Device: c.name, Op: op, Library: "cuBLASLt", Code: int(status), Name: C.GoString(C.gpu_lt_error(status))}
}

// ltTypes are the numbers of element types in cuBLASLt.
var ltTypes = map[device.Type]C.int{
	device.Float32: C.LT_FLOAT32, device.Float64: C.LT_FLOAT64, device.Float16: C.LT_FLOAT16, device.BFloat16: C.LT_BFLOAT16,
	device.Float8E4M3: C.LT_FLOAT8_E4M3, device.Float8E5M2: C.LT_FLOAT8_E5M2,
}

// run multiplies matrices that can be read in place. done is false if cuBLASLt has no
// way to do it; then nothing was written.
func (c *card) run(out, a, b device.View) (done bool, err error) {
	j := newJob(out, a, b)
	if transposed, _, ok := j.c.reading(); !ok {
		return false, nil
	} else if transposed {
		j, a, b = j.turned(), b, a
	}
	j = j.fold()
	inner, outer := j.split()
	p := j.product(inner, out.Type, a.Type, b.Type, c.TF32())
	atA, atB, atC := firstElement(a), firstElement(b), firstElement(out)
	done = true
	places(outer, func(oc, oa, ob int) bool {
		watched("product", "")
		done, err = c.product(p, atB+uint64(ob*sizes[b.Type]), atA+uint64(oa*sizes[a.Type]), atC+uint64(oc*sizes[out.Type]))
		return done && err == nil
	})
	return done, err
}

// product describes a product to cuBLASLt, which expects matrices in column-major order
// and so reads each of ours as its transpose. We ask it for Cᵀ = Bᵀ·Aᵀ: our second operand
// becomes its first.
func (j job) product(inner batchAxis, out, a, b device.Type, tf32 bool) C.gpu_product {
	p := C.gpu_product{
		type_a: ltTypes[b], type_b: ltTypes[a], type_d: ltTypes[out], compute: C.LT_COMPUTE_FLOAT32, scale: C.LT_FLOAT32,
		m: C.uint64_t(j.c.columns), n: C.uint64_t(j.c.rows), k: C.uint64_t(j.a.columns),
		batch: C.int(inner.size), stride_a: C.int64_t(inner.b), stride_b: C.int64_t(inner.a), stride_d: C.int64_t(inner.c),
	}
	switch {
	case a == device.Float64:
		p.compute, p.scale = C.LT_COMPUTE_FLOAT64, C.LT_FLOAT64
	case a == device.Float32 && tf32:
		p.compute = C.LT_COMPUTE_TF32
	case isFloat8(a) && fastFloat8.Load():
		p.fast = 1
	}
	p.transpose_a, p.lead_a = ltReading(j.b)
	p.transpose_b, p.lead_b = ltReading(j.a)
	p.lead_d = C.int64_t(j.c.lead())
	return p
}

func ltReading(m matrix) (transpose C.int, lead C.int64_t) {
	transposed, n, _ := m.reading()
	return cBool(transposed), C.int64_t(n)
}

// firstElement returns the address of the first element.
func firstElement(v device.View) uint64 {
	return v.Memory.(*block).address() + uint64(v.Offset*sizes[v.Type])
}

// matmulKernel stands for the kernels of cuBLASLt.
var matmulKernel = &kernel{name: "matmul"}

// product launches one batch of products.
func (c *card) product(p C.gpu_product, a, b, d uint64) (done bool, err error) {
	p.align_a = alignment(a, p.batch, p.stride_a, p.type_a)
	p.align_b = alignment(b, p.batch, p.stride_b, p.type_b)
	p.align_d = alignment(d, p.batch, p.stride_d, p.type_d)
	ps := &c.products
	ps.Lock()
	defer ps.Unlock()
	plan, known := ps.plans[p]
	if !known {
		if plan, err = c.prepare(p, a, b); err != nil {
			return false, err
		}
		if len(ps.plans) >= maxPlans {
			for _, old := range ps.plans {
				dropPlan(old)
			}
			clear(ps.plans)
		}
		ps.plans[p] = plan
	}
	if plan == nil {
		return false, nil
	}
	c.lastKernel.Store(matmulKernel)
	if err := c.checkLt("matmul", C.gpu_lt_multiply(c.c, ps.handle, plan, C.uint64_t(a), C.uint64_t(b), C.uint64_t(d), C.uint64_t(ps.workspace))); err != nil {
		return true, err
	}
	return true, c.settle("matmul", 0)
}

// alignment returns the largest power of two, up to 256, that divides all addresses of
// a batch.
func alignment(at uint64, batch C.int, stride C.int64_t, kind C.int) C.uint32_t {
	at |= 256
	if batch > 1 {
		at |= uint64(stride) * uint64(ltSizes[kind])
	}
	return 1 << bits.TrailingZeros64(at)
}

var ltSizes = func() map[C.int]int {
	found := map[C.int]int{}
	for t, number := range ltTypes {
		found[number] = sizes[t]
	}
	return found
}()

func dropPlan(plan *C.gpu_plan) {
	if plan != nil {
		C.gpu_lt_drop(plan)
		C.free(unsafe.Pointer(plan))
	}
}

// understood returns what cuBLASLt says about the description of a product, which
// needs no device. It is here for tests, whose files can't call C.
func understood(p C.gpu_product) int {
	plan := (*C.gpu_plan)(C.calloc(1, C.sizeof_gpu_plan))
	defer dropPlan(plan)
	var choice C.lt_choice
	var got C.int
	p.align_a, p.align_b, p.align_d = 256, 256, 256
	status := C.gpu_lt_describe(&p, plan)
	if status == 0 {
		status = C.gpu_lt_choose(nil, nil, &p, 1<<20, plan, &choice, 1, &got)
	}
	return int(status)
}

// prepare chooses how to compute a product: cuBLASLt's own first choice or, when
// autotuning, the fastest of many. It returns nil if there is no way.
func (c *card) prepare(p C.gpu_product, a, b uint64) (*C.gpu_plan, error) {
	ps := &c.products
	want := 1
	if ps.autotune {
		want = 32
	}
	choices := make([]C.lt_choice, want)
	plan := (*C.gpu_plan)(C.calloc(1, C.sizeof_gpu_plan))
	var got C.int
	status := C.gpu_lt_describe(&p, plan)
	if status == 0 {
		status = C.gpu_lt_choose(c.c, ps.handle, &p, ps.size, plan, &choices[0], C.int(want), &got)
	}
	var usable []C.lt_choice
	for _, choice := range choices[:got] {
		if choice.state == 0 && choice.workspace <= ps.size {
			usable = append(usable, choice)
		}
	}
	if status != 0 || len(usable) == 0 {
		dropPlan(plan)
		switch status {
		case 0, C.LT_NOT_SUPPORTED, C.LT_INVALID_VALUE, C.LT_ARCH_MISMATCH:
			return nil, nil
		}
		return nil, c.checkLt("prepare matmul", status)
	}
	best := usable[0]
	if len(usable) > 1 {
		best = c.fastest(p, plan, usable, a, b)
	}
	plan.algorithm, plan.workspace = best.algorithm, best.workspace
	return plan, nil
}

// fastest measures ways to compute a product and returns the best one. Results go to
// separate memory, and the device's cache is flushed before each run, so that operands
// come from memory as they will later. If there is no room for that, the first choice
// stays.
func (c *card) fastest(p C.gpu_product, plan *C.gpu_plan, choices []C.lt_choice, a, b uint64) C.lt_choice {
	elements := int(p.lead_d)*int(p.n) + int(p.stride_d)*int(p.batch-1)
	out, err := c.allocate(elements*ltSizes[p.type_d], false)
	if err != nil {
		return choices[0]
	}
	defer out.Free()
	flush, err := c.allocate(max(2*c.properties.L2Cache, 1), false)
	if err != nil {
		return choices[0]
	}
	defer flush.Free()
	from, err := c.newEvent(true)
	if err != nil {
		return choices[0]
	}
	to, err := c.newEvent(true)
	if err != nil {
		return choices[0]
	}
	once := func(choice C.lt_choice) (took time.Duration, ok bool) {
		plan.algorithm, plan.workspace = choice.algorithm, choice.workspace
		if C.gpu_clear(c.c, flush.at, C.size_t(flush.size)) != 0 || from.record() != nil ||
			C.gpu_lt_multiply(c.c, c.products.handle, plan, C.uint64_t(a), C.uint64_t(b), C.uint64_t(out.at), C.uint64_t(c.products.workspace)) != 0 ||
			to.record() != nil {
			return 0, false
		}
		took, err := to.since(from)
		return took, err == nil
	}
	best, bestTime := choices[0], time.Duration(-1)
	for _, choice := range choices {
		if _, ok := once(choice); !ok { // warm up
			continue
		}
		for range 5 {
			if took, ok := once(choice); ok && (bestTime < 0 || took < bestTime) {
				best, bestTime = choice, took
			}
		}
	}
	return best
}
