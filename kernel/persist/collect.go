package persist

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// place is a reference's target: an address and the type seen there. An address alone is not enough, since a struct
// and its first field share it.
type place struct {
	p uintptr
	t reflect.Type
	n int
}

// A collector walks the value of one variable without writing anything. It finds the blocks and maps that the value
// leads to, and whether it can be kept at all.
type collector struct {
	user   int
	users  []int                   // user alone: what a block has until it is merged with others
	states map[place]reflect.Value // what KeepState returned; shared by all collectors and the encoders of one save
	seen   map[place]bool
	blocks []block
	maps   []uintptr
	todo   []reflect.Value // targets still to be walked
	bytes  int64
	own    map[string]bool       // the cells' own types among what it has seen
	types  map[reflect.Type]bool // types whose names are in own
	short  map[place]bool        // slices of which nothing beyond their length can be kept; shared like states
	copies map[uintptr]mapCopy   // of maps; shared like states
	ended  bool                  // see save
	locks  map[place]int         // see lockState; shared like states
	freed  bool                  // there is one that is held and comes back unlocked
}

func newCollector(user int, s *saving) *collector {
	return &collector{user: user, users: []int{user}, states: s.states, short: s.short, copies: s.maps, ended: s.ended, locks: s.locks, seen: map[place]bool{}, own: map[string]bool{}, types: map[reflect.Type]bool{}}
}

// try is walk for values that other goroutines may be changing, or whose methods may panic.
func (c *collector) try(p reflect.Value) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading it panicked: %v", r)
		}
	}()
	return c.walk(p)
}

// walk collects everything that the variable at p, of the collector's user, leads to.
func (c *collector) walk(p reflect.Value) error {
	c.add(p.Pointer(), 1, p.Type().Elem(), c.user)
	ownTypes(p.Type().Elem(), c.own, c.types)
	return c.rest(p.Elem())
}

// rest collects the values that a value leads to, and those that are still to be walked.
func (c *collector) rest(v reflect.Value) error {
	if err := c.value(v); err != nil {
		return err
	}
	for len(c.todo) > 0 {
		v := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		if err := c.value(v); err != nil {
			return err
		}
	}
	return nil
}

// add notes a block, and reports whether it is new and holds anything.
func (c *collector) add(p uintptr, n int, t reflect.Type, root int) bool {
	k := place{p, t, n}
	size := uintptr(n) * t.Size()
	if c.seen[k] || size == 0 {
		return false
	}
	c.seen[k] = true
	c.bytes += int64(size)
	b := block{lo: p, hi: p + size, elem: t, root: root, users: c.users}
	if kindOf(t) == asBytes && root < 0 {
		b.elem = nil
	}
	c.blocks = append(c.blocks, b)
	return true
}

func (c *collector) value(v reflect.Value) error {
	t := v.Type()
	switch kindOf(t) {
	case asBytes, asZero:
		return nil
	case never:
		return fmt.Errorf("%s can't be kept", article(typeText(t)))
	case asMarshals:
		return nil
	case asLock:
		k := place{v.Addr().Pointer(), t, 0}
		if _, ok := c.locks[k]; !ok {
			c.locks[k] = lockState(v)
		}
		if c.locks[k] != lockFree && !c.ended {
			c.locks[k], c.freed = lockFree, true
		}
		return nil
	case asAtomic:
		return c.value(atomicPointer(v))
	case asTime:
		return c.value(field(v, timeLoc))
	case asState:
		s, err := stateOf(c.states, v)
		if err != nil {
			return err
		}
		ownTypes(s.Type().Elem(), c.own, c.types)
		return c.value(s.Elem())
	}
	switch t.Kind() {
	case reflect.String:
		c.bytes += int64(v.Len())
	case reflect.Pointer:
		switch {
		case v.IsNil() || samePointer(v.UnsafePointer(), t.Elem()) != "" || c.library(v.Pointer(), t.Elem().Size()):
		case c.add(v.Pointer(), 1, t.Elem(), -1):
			c.todo = append(c.todo, v.Elem())
		}
	case reflect.Slice:
		return c.slice(v)
	case reflect.Array:
		for i := range v.Len() {
			if err := c.value(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !keptField(t, i) {
				continue
			}
			if err := c.value(field(v, i)); err != nil {
				return fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			}
		}
	case reflect.Map:
		return c.mapping(v)
	case reflect.Interface:
		return c.inside(v)
	case reflect.Func:
		if v.IsNil() {
			return nil
		}
		f, p, err := functionOf(v)
		if err != nil || f.captured == nil {
			return err
		}
		ownTypes(f.captured, c.own, c.types)
		ownTypes(reflect.TypeOf(f.types), c.own, c.types)
		if p = captured(p); c.add(uintptr(p), 1, f.captured, -1) {
			c.todo = append(c.todo, reflect.NewAt(f.captured, p).Elem())
		}
	case reflect.Chan:
		if !v.IsNil() {
			return fmt.Errorf("a channel can't be kept")
		}
	default:
		if !v.IsZero() {
			return fmt.Errorf("%s can't be kept", article(typeText(t)))
		}
	}
	return nil
}

// mapping walks the keys and values of a map.
func (c *collector) mapping(v reflect.Value) error {
	t := v.Type()
	k := place{v.Pointer(), t, 0}
	if v.IsNil() || c.seen[k] {
		return nil
	}
	c.seen[k] = true
	c.maps = append(c.maps, v.Pointer())
	c.bytes += int64(v.Len()) * int64(t.Key().Size()+t.Elem().Size())
	entries, ok := c.copies[v.Pointer()]
	if !ok {
		entries = copyMap(v)
		c.copies[v.Pointer()] = entries
	}
	for _, list := range []reflect.Value{entries.keys, entries.values} {
		if kindOf(list.Type().Elem()) == asBytes {
			continue
		}
		for i := range list.Len() {
			if err := c.value(list.Index(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// inside walks what an interface holds.
func (c *collector) inside(v reflect.Value) error {
	if v.IsNil() {
		return nil
	}
	e, d := boxed(v)
	if d.sameValue(e) != "" {
		return nil
	}
	if d.err != nil {
		if err, ok := v.Interface().(error); ok {
			for _, w := range wrapped(err) {
				if err := c.value(reflect.ValueOf(&w).Elem()); err != nil {
					return err
				}
			}
			return nil
		}
		return d.err
	}
	ownTypes(e.Type(), c.own, c.types)
	return c.value(e)
}

// slice walks the elements of a slice, with those between its length and its capacity: appending to another slice may
// show them.
func (c *collector) slice(v reflect.Value) error {
	p, elem := v.UnsafePointer(), v.Type().Elem()
	k := place{uintptr(p), elem, v.Cap()}
	if c.library(k.p, uintptr(k.n)*elem.Size()) {
		return nil
	}
	if !c.add(k.p, k.n, elem, -1) || kindOf(elem) == asBytes {
		return nil
	}
	at0 := len(c.blocks) - 1
	for i := range v.Cap() {
		if err := c.value(at(p, i, elem)); err != nil {
			if i < v.Len() {
				return err
			}
			c.short[k] = true
			b := &c.blocks[at0]
			c.bytes -= int64(b.size())
			b.hi = b.lo + uintptr(v.Len())*elem.Size()
			c.bytes += int64(b.size())
			return nil
		}
	}
	return nil
}

// library reports whether size bytes at p belong to a variable of a library, and collects what that holds; if this
// can't be kept, it is whatever a later process has there.
func (c *collector) library(p, size uintptr) bool {
	l := libraryAt(p)
	if l == nil || size == 0 || p+size > l.end() {
		return false
	}
	t := l.p.Type().Elem()
	k := place{l.start(), t, 1}
	if c.seen[k] {
		return true
	}
	before := *c
	c.seen, c.todo = maps.Clone(c.seen), nil
	c.seen[k] = true
	c.blocks = append(c.blocks, block{lo: l.start(), hi: l.end(), elem: t, root: -1, users: c.users, lib: l})
	l.bare = false
	if err := c.rest(l.p.Elem()); err != nil {
		n := len(before.blocks)
		*c = before
		c.blocks = append(c.blocks[:n:n], block{lo: l.start(), hi: l.end(), elem: t, root: -1, users: c.users, lib: l})
		c.seen[k] = true
		l.bare = true
	}
	c.todo = before.todo
	return true
}

// timeLoc is the number of the field of a time.Time that points to its time zone.
const timeLoc = 2

// wrapped returns the errors that an error wraps.
func wrapped(err error) []error {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if w := e.Unwrap(); w != nil {
			return []error{w}
		}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

// stateOf returns what KeepState gives for the value v, the same in both passes of one save.
func stateOf(states map[place]reflect.Value, v reflect.Value) (s reflect.Value, err error) {
	k := place{v.Addr().Pointer(), v.Type(), 0}
	if s, ok := states[k]; ok {
		return s, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("its KeepState panicked: %v", r)
		}
	}()
	if v.Type() == syncMapType {
		s = reflect.ValueOf(syncMapEntries(v))
		states[k] = s
		return s, nil
	}
	if how, ok := cellstate.StateOfType(v.Type()); ok {
		s = reflect.ValueOf(how.Keep(v.Addr().Interface()))
	} else {
		s = reflect.ValueOf(v.Addr().Interface().(Keeper).KeepState())
	}
	if s.Kind() != reflect.Pointer || s.IsNil() || s.Elem().Kind() != reflect.Struct {
		return s, fmt.Errorf("KeepState of %s returned no pointer to a struct", typeText(v.Type()))
	}
	states[k] = s
	return s, nil
}

func article(s string) string {
	if strings.HasPrefix(s, "http.") || s != "" && (s[0] == 'o' || s[0] == 'i' || s[0] == 'e' || s[0] == 'a') {
		return "an " + s
	}
	return "a " + s
}
