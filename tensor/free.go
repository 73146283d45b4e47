package tensor

import (
	"sync"
	"sync/atomic"
)

// Memory of the processor is Go's and needs no care. Of a device's memory the
// collector sees nothing but small objects, so that a loop can fill a device before
// the collector runs; package gpu then starts it, which takes time. Free and
// FreeAfter give memory back at once.

// Free gives the memory of t back to its device, for t and all its views; any
// further use of them panics. For the processor it does nothing.
func (t *Tensor) Free() { t.storage.free() }

func (s *storage) free() {
	if s.memory != nil {
		s.memory.Free()
		s.memory, s.freed = nil, true
	}
}

// FreeAfter runs f, and then gives back the device memory of all tensors that were
// made in it, on its goroutine, except for parameters, gradients and the state of
// optimizers, which outlive a step, and of what f passes to keep, which returns
// its argument. Gradients are given back by the call in which ZeroGrad removes
// them:
//
//	for step := range steps {
//		tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) {
//			optimizer.ZeroGrad(true)
//			loss := model.Forward(x)
//			loss.Backward()
//			optimizer.Step()
//			last = keep(loss.Detach())
//		})
//	}
//
// It does so too if f panics. Calls may be nested. Tensors of the processor are
// left to the collector.
func FreeAfter(f func(keep func(*Tensor) *Tensor)) {
	id := goroutineID()
	outer, _ := frees.of.Load(id)
	s := &made{kept: map[*storage]bool{}}
	frees.of.Store(id, s)
	frees.count.Add(1)
	defer func() {
		frees.count.Add(-1)
		if outer == nil {
			frees.of.Delete(id)
		} else {
			frees.of.Store(id, outer)
		}
		for _, m := range s.dropped {
			if !s.kept[m] {
				m.free()
			}
		}
		for _, m := range s.all {
			if role := Role(m.role.Load()); s.kept[m] || role != NoRole && role != Input {
				if o, ok := outer.(*made); ok {
					o.all = append(o.all, m)
				}
				continue
			}
			m.free()
		}
	}()
	f(func(t *Tensor) *Tensor {
		s.kept[t.storage] = true
		return t
	})
}

// made is what was made on one goroutine.
type made struct {
	all     []*storage
	dropped []*storage // gradients that are none any more
	kept    map[*storage]bool
}

// frees holds the innermost FreeAfter of each goroutine that is inside one.
var frees struct {
	count atomic.Int64
	of    sync.Map
}

// noteMade notes that device memory was taken.
func (s *storage) noteMade() {
	if m := inFreeAfter(); m != nil {
		m.all = append(m.all, s)
	}
}

// noteDropped notes that what s holds is nobody's gradient any more.
func (s *storage) noteDropped() {
	if s.device == nil {
		return
	}
	if m := inFreeAfter(); m != nil {
		m.dropped = append(m.dropped, s)
	}
}

// inFreeAfter returns what the innermost FreeAfter of this goroutine has noted, nil
// outside of one.
func inFreeAfter() *made {
	if frees.count.Load() == 0 {
		return nil
	}
	m, _ := frees.of.Load(goroutineID())
	inner, _ := m.(*made)
	return inner
}
