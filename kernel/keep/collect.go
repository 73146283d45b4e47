package keep

import (
	"fmt"
	"reflect"
)

// place is a reference's target: an address and the type seen there. An address alone is not enough, since a struct and its first field share it.
type place struct {
	p uintptr
	t reflect.Type
	n int
}

// A collector walks the value of one variable without writing anything. It finds the blocks and maps that it leads to, and whether it
// can be kept at all.
type collector struct {
	user   int
	states map[place]reflect.Value // what KeepState returned; shared by all collectors and the encoders of one save
	seen   map[place]bool
	blocks []block
	maps   []uintptr
	todo   []reflect.Value // targets still to be walked
	bytes  int64
}

// walk collects everything that the variable at p, of the collector's user, leads to.
func (c *collector) walk(p reflect.Value) error {
	c.add(p.Pointer(), 1, p.Type().Elem(), c.user)
	if err := c.value(p.Elem()); err != nil {
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
	b := block{lo: p, hi: p + size, elem: t, root: root, users: []int{c.user}}
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
	case asState:
		s, err := stateOf(c.states, v)
		if err != nil {
			return err
		}
		return c.value(s.Elem())
	}
	switch t.Kind() {
	case reflect.String:
		c.bytes += int64(v.Len())
	case reflect.Pointer:
		if !v.IsNil() && c.add(v.Pointer(), 1, t.Elem(), -1) {
			c.todo = append(c.todo, v.Elem())
		}
	case reflect.Slice:
		if v.Len() == 0 || !c.add(v.Pointer(), v.Len(), t.Elem(), -1) || kindOf(t.Elem()) == asBytes {
			return nil
		}
		for i := range v.Len() {
			if err := c.value(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			if err := c.value(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := c.value(field(v, i)); err != nil {
				return fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			}
		}
	case reflect.Map:
		k := place{v.Pointer(), t, 0}
		if v.IsNil() || c.seen[k] {
			return nil
		}
		c.seen[k] = true
		c.maps = append(c.maps, v.Pointer())
		c.bytes += int64(v.Len()) * int64(t.Key().Size()+t.Elem().Size())
		for it := v.MapRange(); it.Next(); {
			if err := c.value(addressable(it.Key())); err != nil {
				return err
			}
			if err := c.value(addressable(it.Value())); err != nil {
				return err
			}
		}
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		e := v.Elem()
		if source(e.Type()) == "" {
			if e.Type().Implements(errorType) {
				return nil
			}
			return fmt.Errorf("it holds %s, a type without a name outside its package", article(typeText(e.Type())))
		}
		return c.value(addressable(e))
	case reflect.Func:
		if !v.IsNil() {
			return fmt.Errorf("a function value can't be kept")
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
	s = reflect.ValueOf(v.Addr().Interface().(Keeper).KeepState())
	if s.Kind() != reflect.Pointer || s.IsNil() || s.Elem().Kind() != reflect.Struct {
		return s, fmt.Errorf("KeepState of %s returned no pointer to a struct", typeText(v.Type()))
	}
	states[k] = s
	return s, nil
}

func article(s string) string {
	if s != "" && (s[0] == 'o' || s[0] == 'i' || s[0] == 'e' || s[0] == 'a') {
		return "an " + s
	}
	return "a " + s
}
