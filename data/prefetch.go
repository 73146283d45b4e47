package data

import (
	"fmt"
	"slices"
	"sync"

	"github.com/lectern-go/lectern/tensor"
)

// A Prefetcher takes batches from a [Loader] ahead of time, on its own goroutine:
// while the model works on one, the next is read from disk and copied to the model's
// device.
type Prefetcher struct {
	loader *Loader
	place  func(*tensor.Tensor) *tensor.Tensor
	ahead  int

	mu    sync.Mutex
	at    Position // of the next batch that Next returns
	queue chan fetched
	stop  chan struct{}
	done  chan struct{}
}

type fetched struct {
	batch  Batch
	err    error
	broken any // what place panicked with
}

// ToDevice returns a function for [Prefetch] that copies batches to a device through
// page-locked memory, so that the device goes on computing while it reads them.
func ToDevice(d tensor.Device) func(*tensor.Tensor) *tensor.Tensor {
	if d.IsCPU() {
		return nil
	}
	type staged struct {
		memory *tensor.Tensor
		wait   func() error
	}
	// X and Y of a batch, and those of the batch before, which the device may still be reading.
	var ring [4]staged
	next := 0
	return func(t *tensor.Tensor) *tensor.Tensor {
		s := &ring[next%len(ring)]
		next++
		if s.wait != nil {
			if err := s.wait(); err != nil {
				panic(fmt.Errorf("data: copying a batch to %s: %w", d, err))
			}
		}
		if s.memory != nil && s.memory.Dtype() == t.Dtype() && slices.Equal(s.memory.Shape(), t.Shape()) {
			s.memory.CopyFrom(t)
		} else {
			s.memory = t.PinMemory(d)
		}
		var copied *tensor.Tensor
		copied, s.wait = s.memory.Prefetch(d)
		return copied
	}
}

// Prefetch returns a Prefetcher that keeps up to ahead batches ready, from 1 to 1024. place, if
// not nil, is applied to both tensors of a batch on the goroutine that fetches;
// [ToDevice] makes one that copies to a device. The loader must not be used directly meanwhile.
// Close ends the goroutine.
func Prefetch(loader *Loader, ahead int, place func(*tensor.Tensor) *tensor.Tensor) *Prefetcher {
	p := &Prefetcher{loader: loader, place: place, ahead: min(max(1, ahead), 1024)}
	p.start()
	return p
}

func (p *Prefetcher) start() {
	p.at = p.loader.Position()
	queue, stop, done := make(chan fetched, p.ahead-1), make(chan struct{}), make(chan struct{})
	p.queue, p.stop, p.done = queue, stop, done
	go func() {
		defer close(done)
		for {
			f := p.fetch()
			select {
			case queue <- f:
			case <-stop:
				return
			}
		}
	}()
}

func (p *Prefetcher) fetch() (f fetched) {
	defer func() { f.broken = recover() }()
	if f.batch, f.err = p.loader.Next(); f.err == nil && p.place != nil {
		f.batch.X, f.batch.Y = p.place(f.batch.X), p.place(f.batch.Y)
	}
	return f
}

// halt ends the goroutine and sets the loader to the end of the batches that were
// handed out.
func (p *Prefetcher) halt() {
	if p.stop == nil {
		return
	}
	close(p.stop)
	<-p.done
	p.stop = nil
	p.loader.Seek(p.at)
}

// Next returns the next batch, and waits for it if it is not there yet. It panics
// with what place panicked with, and after Close.
func (p *Prefetcher) Next() (Batch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop == nil {
		(&tensor.Error{Package: "data", Kind: tensor.ErrValue, Op: "next", Reason: "the Prefetcher was closed", Hint: "make another one with Prefetch"}).Panic()
	}
	f := <-p.queue
	if f.broken != nil {
		panic(f.broken)
	}
	if f.err == nil {
		p.at = Position{f.batch.At.Epoch, f.batch.At.Batch + 1}
	}
	return f.batch, f.err
}

// Close ends the goroutine and gives back the loader, which then continues after the
// last batch that Next returned. A second Close does nothing.
func (p *Prefetcher) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halt()
}

// SaveState makes the position of the next batch that Next returns part of a
// checkpoint; batches that were fetched ahead don't count.
func (p *Prefetcher) SaveState() (map[string]*tensor.Tensor, any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return nil, p.loader.state(p.at)
}

// LoadState drops what was fetched ahead and continues at a saved position; see
// [Loader.LoadState].
func (p *Prefetcher) LoadState(tensors map[string]*tensor.Tensor, values []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halt()
	defer p.start()
	return p.loader.LoadState(tensors, values)
}
