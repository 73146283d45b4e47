//go:build linux && cgo

package gpu

/*
#include "shim.h"
*/
import "C"

import (
	"runtime"
	"sync"
	"time"
)

// event is a mark in the work of a card. Events are reused when nobody holds them:
// recording one again does not disturb whoever waits for the old mark.
type event struct {
	card   *card
	handle C.CUevent
}

// eventList keeps events for later.
type eventList struct {
	sync.Mutex
	spare [2][]C.CUevent // those without a time and those with one
}

func (c *card) newEvent(timed bool) (*event, error) {
	kind := 0
	if timed {
		kind = 1
	}
	e := &event{card: c}
	l := &c.events
	l.Lock()
	if n := len(l.spare[kind]); n > 0 {
		e.handle, l.spare[kind] = l.spare[kind][n-1], l.spare[kind][:n-1]
	}
	l.Unlock()
	if e.handle == nil {
		if err := c.check("make an event", C.gpu_event(c.c, &e.handle, cBool(timed))); err != nil {
			return nil, err
		}
	}
	runtime.AddCleanup(e, func(handle C.CUevent) {
		l.Lock()
		l.spare[kind] = append(l.spare[kind], handle)
		l.Unlock()
	}, e.handle)
	return e, nil
}

// record puts the mark after all work so far.
func (e *event) record() error {
	if err := e.card.alive("record an event"); err != nil {
		return err
	}
	defer runtime.KeepAlive(e)
	return e.card.check("record an event", C.gpu_event_record(e.card.c, e.handle, 0))
}

// wait returns when the work before the mark is done.
func (e *event) wait() error {
	if err := e.card.alive("wait for an event"); err != nil {
		return err
	}
	defer runtime.KeepAlive(e)
	return e.card.check("wait for an event", C.gpu_event_wait(e.card.c, e.handle))
}

// done reports whether the work before the mark is done.
func (e *event) done() (bool, error) {
	if err := e.card.alive("ask for an event"); err != nil {
		return false, err
	}
	defer runtime.KeepAlive(e)
	r := C.gpu_event_done(e.card.c, e.handle)
	if r == C.CUDA_NOT_READY {
		return false, nil
	}
	return r == 0, e.card.check("ask for an event", r)
}

// since returns the time from an earlier mark to this one, by the device's clock,
// after waiting for this one.
func (e *event) since(from *event) (time.Duration, error) {
	if err := e.card.alive("read the time of an event"); err != nil {
		return 0, err
	}
	defer runtime.KeepAlive(e)
	defer runtime.KeepAlive(from)
	var milliseconds C.float
	err := e.card.check("read the time of an event", C.gpu_event_elapsed(e.card.c, &milliseconds, from.handle, e.handle))
	return time.Duration(float64(milliseconds) * float64(time.Millisecond)), err
}
