package keep

import (
	"encoding"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"unsafe"
)

// The file of a group: the number of blocks; for each its kind and what the kind needs; the variables; the bytes of small arrays after
// their number; the contents. Contents refer to blocks by number and offset, so a reader can take any variable and leave the rest.
const (
	blockTyped  = iota // count of elements, offset of the contents
	blockBytes         // size, offset among the bytes
	blockMapped        // size, name of the file
	blockMap           // offset of the contents
)

// refs to blocks: 0 is nil, 1 points to something without size, n+2 to block n.
const (
	refNil = iota
	refEmpty
	refFirst
)

// inline is the size from which an array gets a file of its own.
const inline = 4096

// An encoder writes one group.
type encoder struct {
	blocks []block
	states map[place]reflect.Value
	array  func(b *block) (name string, lo uintptr, size int, err error) // gives an array its file

	body   writer
	raw    []byte
	table  []entry
	byLo   map[uintptr]int // number of a block by its start
	byMap  map[uintptr]int
	todo   []func() error
	arrays map[string]bool
	regs   map[string]bool
}

type entry struct {
	kind, n, offset int
	name            string
}

// group returns the file of the variables at ps, and what a cell needs to restore them.
func (e *encoder) group(names []string, ps []reflect.Value) ([]byte, error) {
	e.byLo, e.byMap = map[uintptr]int{}, map[uintptr]int{}
	e.arrays, e.regs = map[string]bool{}, map[string]bool{}
	var roots []int
	for _, p := range ps {
		if p.Type().Elem().Size() == 0 {
			roots = append(roots, -1)
			continue
		}
		id, _, err := e.block(p.Pointer())
		if err != nil {
			return nil, err
		}
		roots = append(roots, id)
	}
	for len(e.todo) > 0 {
		f := e.todo[0]
		e.todo = e.todo[1:]
		if err := f(); err != nil {
			return nil, err
		}
	}
	var w writer
	w.int(len(e.table))
	for _, t := range e.table {
		w.int(t.kind)
		switch t.kind {
		case blockTyped, blockBytes:
			w.int(t.n)
			w.int(t.offset)
		case blockMapped:
			w.int(t.n)
			w.string(t.name)
		case blockMap:
			w.int(t.offset)
		}
	}
	w.int(len(names))
	for i, n := range names {
		w.string(n)
		w.int(roots[i])
	}
	w.string(string(e.raw))
	w.b = append(w.b, e.body.b...)
	return w.b, nil
}

// block returns the number of the block that holds p, and p's offset in it. The contents of a new block are written later.
func (e *encoder) block(p uintptr) (id, offset int, err error) {
	i := find(e.blocks, p)
	if i < 0 {
		return 0, 0, fmt.Errorf("it changed while it was being saved")
	}
	b := &e.blocks[i]
	if id, ok := e.byLo[b.lo]; ok {
		lo := b.lo
		if e.table[id].kind == blockMapped {
			lo = uintptr(e.table[id].offset) // of the whole file's memory, which may begin before the block
		}
		return id, int(p - lo), nil
	}
	id = len(e.table)
	e.byLo[b.lo] = id
	lo := b.lo
	switch {
	case b.elem == nil:
		t := entry{kind: blockBytes, n: int(b.size())}
		if int(b.size()) >= inline || mappedAt(b) != nil {
			name, start, size, err := e.array(b)
			if err != nil {
				return 0, 0, err
			}
			e.arrays[name] = true
			lo = start
			t = entry{kind: blockMapped, n: size, name: name, offset: int(start)}
			// The table's offset is not written for this kind; it serves the lookups above.
			e.table = append(e.table, t)
			return id, int(p - lo), nil
		}
		t.offset = len(e.raw)
		e.raw = append(e.raw, memory(b.lo, int(b.size()))...)
		e.table = append(e.table, t)
	default:
		n := int(b.size() / b.elem.Size())
		e.table = append(e.table, entry{kind: blockTyped, n: n})
		start, elem := pointer(b.lo), b.elem
		e.todo = append(e.todo, func() error {
			e.table[id].offset = len(e.body.b)
			for i := range n {
				if err := e.value(at(start, i, elem)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return id, int(p - lo), nil
}

// at is the i-th of the values of type t that lie one after the other from p on.
func at(p unsafe.Pointer, i int, t reflect.Type) reflect.Value {
	return reflect.NewAt(t, unsafe.Add(p, i*int(t.Size()))).Elem()
}

// memory is the n bytes at p.
func memory(p uintptr, n int) []byte { return unsafe.Slice((*byte)(pointer(p)), n) }

// pointer turns an address back into a pointer. The collector's values keep what it points at alive.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// ref writes a reference to the memory at p that is seen as n elements of type t.
func (e *encoder) ref(p uintptr, n int, t reflect.Type) error {
	if uintptr(n)*t.Size() == 0 {
		e.body.int(refEmpty)
		return nil
	}
	id, offset, err := e.block(p)
	if err != nil {
		return err
	}
	e.body.int(id + refFirst)
	e.body.int(offset)
	if e.table[id].kind == blockTyped {
		b := &e.blocks[find(e.blocks, p)]
		exact := 0
		if b.elem == t && offset%int(t.Size()) == 0 {
			exact = 1 // a reader that comes here first knows the block's type
		}
		e.body.int(exact)
	}
	return nil
}

func (e *encoder) value(v reflect.Value) error {
	t := v.Type()
	w := &e.body
	switch kindOf(t) {
	case asBytes:
		w.b = append(w.b, unsafe.Slice((*byte)(v.Addr().UnsafePointer()), int(t.Size()))...)
		return nil
	case asZero:
		return nil
	case never:
		return fmt.Errorf("%s can't be kept", article(typeText(t)))
	case asMarshals:
		b, err := v.Addr().Interface().(encoding.BinaryMarshaler).MarshalBinary()
		w.string(string(b))
		return err
	case asState:
		s, err := stateOf(e.states, v)
		if err != nil {
			return err
		}
		return e.value(s.Elem())
	}
	switch t.Kind() {
	case reflect.String:
		w.string(v.String())
	case reflect.Pointer:
		if v.IsNil() {
			w.int(refNil)
			return nil
		}
		return e.ref(v.Pointer(), 1, t.Elem())
	case reflect.Slice:
		if v.IsNil() {
			w.int(-1)
			return nil
		}
		w.int(v.Len())
		if v.Len() == 0 {
			return nil
		}
		w.int(v.Cap())
		return e.ref(v.Pointer(), v.Len(), t.Elem())
	case reflect.Array:
		for i := range v.Len() {
			if err := e.value(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := e.value(field(v, i)); err != nil {
				return fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			}
		}
	case reflect.Map:
		return e.mapRef(v)
	case reflect.Interface:
		return e.dynamic(v)
	default:
		if !v.IsZero() {
			return fmt.Errorf("%s can't be kept", article(typeText(t)))
		}
	}
	return nil
}

// mapRef writes a reference to a map. Its entries are written in the order of their keys where these can be ordered, so that an unchanged
// map gives unchanged bytes.
func (e *encoder) mapRef(v reflect.Value) error {
	if v.IsNil() {
		e.body.int(refNil)
		return nil
	}
	id, ok := e.byMap[v.Pointer()]
	if !ok {
		id = len(e.table)
		e.byMap[v.Pointer()] = id
		e.table = append(e.table, entry{kind: blockMap})
		e.todo = append(e.todo, func() error {
			e.table[id].offset = len(e.body.b)
			keys := v.MapKeys()
			sortKeys(keys)
			e.body.int(len(keys))
			for _, k := range keys {
				if err := e.value(addressable(k)); err != nil {
					return err
				}
				if err := e.value(addressable(v.MapIndex(k))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	e.body.int(id + refFirst)
	return nil
}

// dynamic writes what an interface holds.
func (e *encoder) dynamic(v reflect.Value) error {
	if v.IsNil() {
		e.body.string("")
		return nil
	}
	c := v.Elem()
	if name := sentinelName(c); name != "" {
		e.body.string("=" + name)
		return nil
	}
	name := source(c.Type())
	if name == "" {
		err, ok := v.Interface().(error)
		if !ok {
			return fmt.Errorf("it holds %s, a type without a name outside its package", article(typeText(c.Type())))
		}
		e.body.string("!")
		e.body.string(err.Error())
		return nil
	}
	if !basic(c.Type()) {
		e.regs[name] = true
	}
	e.body.string(name)
	return e.value(addressable(c))
}

func sortKeys(keys []reflect.Value) {
	sort.SliceStable(keys, func(i, j int) bool {
		a, b := keys[i], keys[j]
		if a.Kind() != b.Kind() {
			return a.Kind() < b.Kind()
		}
		switch {
		case a.CanInt():
			return a.Int() < b.Int()
		case a.CanUint():
			return a.Uint() < b.Uint()
		case a.CanFloat():
			return a.Float() < b.Float()
		case a.Kind() == reflect.String:
			return strings.Compare(a.String(), b.String()) < 0
		}
		return false
	})
}
