//go:build linux && cgo

package gpu

import "time"

// Why returns nil if there is a CUDA device, otherwise an error that says in one
// sentence why there is none.
func Why() error { return cuda.start() }

// DeviceCount returns how many CUDA devices there are, 0 if there is no driver.
func DeviceCount() int {
	if cuda.start() != nil {
		return 0
	}
	return cuda.devices
}

// Properties returns what the driver says about a device.
func Properties(index int) (DeviceProperties, error) {
	c, err := open(index)
	if err != nil {
		return DeviceProperties{}, err
	}
	return c.properties, nil
}

// Synchronize waits until a device has done all its work, and returns what went wrong.
// Work goes on after calls have returned, so whoever measures time must wait.
func Synchronize(index int) error {
	c, err := open(index)
	if err != nil {
		return err
	}
	return c.Synchronize()
}

// opened returns a device that is in use, or nil.
func opened(index int) *card {
	cuda.Lock()
	defer cuda.Unlock()
	if index < 0 || index >= len(cuda.cards) {
		return nil
	}
	return cuda.cards[index]
}

// MemoryAllocated returns the bytes that tensors of this program hold on a
// device, each rounded up to 512; 0 if the device was not used.
func MemoryAllocated(index int) int {
	if c := opened(index); c != nil {
		return c.Allocated()
	}
	return 0
}

// MaxMemoryAllocated returns the highest MemoryAllocated since
// ResetMaxMemoryAllocated.
func MaxMemoryAllocated(index int) int {
	if c := opened(index); c != nil {
		return int(c.heap.peak.Load())
	}
	return 0
}

// ResetMaxMemoryAllocated restarts MaxMemoryAllocated from what is held now.
func ResetMaxMemoryAllocated(index int) {
	if c := opened(index); c != nil {
		c.heap.peak.Store(c.heap.allocated.Load())
	}
}

// MemoryReserved returns the bytes that this program has taken from the driver:
// those of tensors, and those that are kept for reuse.
func MemoryReserved(index int) int {
	if c := opened(index); c != nil {
		return c.reserved()
	}
	return 0
}

// MemoryInfo returns how many bytes of a device no program uses, and how many it
// has.
func MemoryInfo(index int) (free, total int, err error) {
	c, err := open(index)
	if err != nil {
		return 0, 0, err
	}
	if err := c.alive("ask for free memory"); err != nil {
		return 0, 0, err
	}
	free, total = c.memory()
	return free, total, nil
}

// EmptyCache returns memory that is kept for reuse to the driver, for other programs.
func EmptyCache(index int) error {
	c, err := open(index)
	if err != nil {
		return err
	}
	if err := c.alive("give back memory"); err != nil {
		return err
	}
	return c.trim()
}

// Event is a mark in the work of a device.
type Event struct{ event *event }

// NewEvent returns an event that is not recorded yet.
func NewEvent(index int) (*Event, error) {
	c, err := open(index)
	if err != nil {
		return nil, err
	}
	e, err := c.newEvent(true)
	if err != nil {
		return nil, err
	}
	return &Event{e}, nil
}

// Record puts the mark after all work so far.
func (e *Event) Record() error { return e.event.record() }

// Wait returns when the work before the mark is done.
func (e *Event) Wait() error { return e.event.wait() }

// Done reports whether the work before the mark is done.
func (e *Event) Done() (bool, error) { return e.event.done() }

// Since waits for the mark and returns how long the device took from an earlier one,
// by its own clock, which counts half microseconds.
func (e *Event) Since(earlier *Event) (time.Duration, error) { return e.event.since(earlier.event) }
