package persist

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// The file of a group: the number of blocks; for each its kind and what the kind needs; the variables; the types that
// interfaces hold and the functions, by name and signature; the bytes of small arrays after their number; the
// contents. Contents refer to blocks by number and offset, so a reader can take any variable and leave the rest.
const (
	blockTyped  = iota // count of elements, offset of the contents, number of the type + 1 or 0
	blockBytes         // size, offset among the bytes
	blockMapped        // size, name of the file
	blockMap           // offset of the contents
	blockLib           // as blockTyped; the name of a variable of a library and the signature of its type
)

// refs to blocks: 0 is nil, 1 points to something without size, 2 to what a variable of a library points to, n+3 to
// block n.
const (
	refNil = iota
	refEmpty
	refSame
	refFirst
)

// What interfaces hold: nothing, what a variable of a library holds, the text of an error that can't be kept and what
// it wraps, a value of type n-3.
const (
	dynamicNil = iota
	dynamicSame
	dynamicText
	dynamicFirst
)

// inline is the size from which an array gets a file of its own.
const inline = 4096

// An encoder writes one group.
type encoder struct {
	blocks []block
	states map[place]reflect.Value
	short  map[place]bool
	maps   map[uintptr]mapCopy
	locks  map[place]int
	array  func(b *block) (name string, lo uintptr, size int, err error) // gives an array its file

	body   writer
	raw    []byte
	table  []entry
	byLo   map[uintptr]int // number of a block by its start
	byMap  map[uintptr]int
	todo   []func() error
	arrays map[string]bool
	regs   map[string]bool
	links  map[string]bool
	shared map[string]bool
	funcs  map[*function]int
	names  [][2]string // of types, with their signatures
	ids    [][2]string // of functions, with the signatures of what they capture
	roots  []int       // the blocks of the variables
}

type entry struct {
	kind, n, offset int
	name, sig       string
	typ             int     // of a typed block: the number of its type + 1, if it takes part in the table of types
	lo, hi          uintptr // of a mapped block: its memory
}

// bareOffset is the offset of the contents of a block that has none.
const bareOffset = -1

// typed reports whether the block's contents are values one after another.
func (t *entry) typed() bool { return t.kind == blockTyped || t.kind == blockLib }

// group returns the file of the variables at ps, and what a cell needs to restore them.
func (e *encoder) group(names []string, ps []reflect.Value) ([]byte, error) {
	e.byLo, e.byMap = map[uintptr]int{}, map[uintptr]int{}
	e.arrays, e.regs, e.links, e.shared = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	e.funcs = map[*function]int{}
	for _, p := range ps {
		if p.Type().Elem().Size() == 0 {
			e.roots = append(e.roots, -1)
			continue
		}
		id, _, err := e.block(p.Pointer())
		if err != nil {
			return nil, err
		}
		e.roots = append(e.roots, id)
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
		case blockTyped:
			w.int(t.n)
			w.int(t.offset)
			w.int(t.typ)
		case blockLib:
			w.int(t.n)
			w.int(t.offset)
			w.int(t.typ)
			w.string(t.name)
			w.string(t.sig)
		case blockBytes:
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
		w.int(e.roots[i])
	}
	for _, list := range [][][2]string{e.names, e.ids} {
		w.int(len(list))
		for _, x := range list {
			w.string(x[0])
			w.string(x[1])
		}
	}
	w.string(string(e.raw))
	w.b = append(w.b, e.body.b...)
	return w.b, nil
}

// block returns the number of the block that holds p, and p's offset in it. The contents of a new block are written
// later.
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
			t = entry{kind: blockMapped, n: size, name: name, offset: int(start), lo: b.lo, hi: b.hi}
			// The table's offset is not written for this kind; it serves the lookups above.
			e.table = append(e.table, t)
			return id, int(p - lo), nil
		}
		t.offset = len(e.raw)
		e.raw = append(e.raw, memory(b.lo, int(b.size()))...)
		e.table = append(e.table, t)
	default:
		n := int(b.size() / b.elem.Size())
		t := entry{kind: blockTyped, n: n}
		if b.lib != nil {
			t.kind, t.name, t.sig = blockLib, b.lib.name, signature(b.elem)
			e.shared[t.name] = true
			if b.lib.bare {
				t.offset = bareOffset
			}
		}
		e.table = append(e.table, t)
		if t.offset == bareOffset {
			break
		}
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

// at is the i-th of the values of type t that are stored one after another from p on.
func at(p unsafe.Pointer, i int, t reflect.Type) reflect.Value {
	return reflect.NewAt(t, unsafe.Add(p, i*int(t.Size()))).Elem()
}

// memory is the n bytes at p.
func memory(p uintptr, n int) []byte { return unsafe.Slice((*byte)(pointer(p)), n) }

// pointer turns an address back into a pointer. The collector's values keep what it points to alive.
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
	if e.table[id].typed() {
		b := &e.blocks[find(e.blocks, p)]
		exact := 0
		if b.elem == t && offset%int(t.Size()) == 0 {
			exact = 1 // a reader that comes here first knows the block's type
		} else if d := dynamicOf(b.elem); e.table[id].typ == 0 && d.err == nil {
			e.table[id].typ = e.typeNumber(b.elem, d) + 1 // the variable that the block belongs to may be forgotten
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
	case asLock:
		w.int(e.locks[place{v.Addr().Pointer(), t, 0}])
		return nil
	case asAtomic:
		return e.value(atomicPointer(v))
	case asTime:
		u := addressable(reflect.ValueOf(v.Interface().(time.Time).Round(0))) // without the process's own clock
		w.b = append(w.b, unsafe.Slice((*byte)(u.Addr().UnsafePointer()), 16)...)
		return e.value(field(v, timeLoc))
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
		if name := samePointer(v.UnsafePointer(), t.Elem()); name != "" {
			w.int(refSame)
			e.same(name)
			return nil
		}
		return e.ref(v.Pointer(), 1, t.Elem())
	case reflect.Slice:
		if v.IsNil() {
			w.int(-1)
			return nil
		}
		n := v.Cap()
		if len(e.short) > 0 && e.short[place{v.Pointer(), t.Elem(), n}] {
			n = v.Len()
		}
		w.int(v.Len())
		w.int(n)
		if n == 0 {
			return nil
		}
		return e.ref(v.Pointer(), n, t.Elem())
	case reflect.Array:
		for i := range v.Len() {
			if err := e.value(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !keptField(t, i) {
				continue
			}
			if err := e.value(field(v, i)); err != nil {
				return fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			}
		}
	case reflect.Map:
		return e.mapRef(v)
	case reflect.Interface:
		return e.dynamic(v)
	case reflect.Func:
		return e.function(v)
	default:
		if !v.IsZero() {
			return fmt.Errorf("%s can't be kept", article(typeText(t)))
		}
	}
	return nil
}

// mapRef writes a reference to a map. Its entries are written in the order of their keys where these can be ordered,
// so that an unchanged map gives unchanged bytes.
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
			c := e.maps[v.Pointer()]
			e.body.int(c.keys.Len())
			for _, i := range c.order() {
				if err := e.value(c.keys.Index(i)); err != nil {
					return err
				}
				if err := e.value(c.values.Index(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	e.body.int(id + refFirst)
	return nil
}

// same writes the name of a variable of a library.
func (e *encoder) same(name string) {
	e.body.string(name)
	if !inherent[name] {
		e.shared[name] = true
	}
}

// dynamic writes what an interface holds.
func (e *encoder) dynamic(v reflect.Value) error {
	w := &e.body
	if v.IsNil() {
		w.int(dynamicNil)
		return nil
	}
	c, d := boxed(v)
	if name := d.sameValue(c); name != "" {
		w.int(dynamicSame)
		e.same(name)
		return nil
	}
	if d.err != nil {
		err, ok := v.Interface().(error)
		if !ok {
			return d.err
		}
		inner := wrapped(err)
		w.int(dynamicText)
		w.string(err.Error())
		w.int(len(inner))
		for _, x := range inner {
			if err := e.dynamic(reflect.ValueOf(&x).Elem()); err != nil {
				return err
			}
		}
		return nil
	}
	w.int(e.typeNumber(c.Type(), d) + dynamicFirst)
	return e.value(c)
}

// typeNumber is the number of a type in the file's table of types.
func (e *encoder) typeNumber(t reflect.Type, d *dynamic) int {
	if d.encoder != e {
		d.encoder, d.number = e, len(e.names)
		e.names = append(e.names, [2]string{d.name, signature(t)})
		if d.reg != "" {
			e.regs[d.reg] = true
		}
		if d.link != "" {
			e.links[d.link] = true
		}
	}
	return d.number
}

// function writes a function value: 0 for nil, else the number of the function and what it captures.
func (e *encoder) function(v reflect.Value) error {
	if v.IsNil() {
		e.body.int(0)
		return nil
	}
	f, p, err := functionOf(v)
	if err != nil {
		return err
	}
	i, ok := e.funcs[f]
	if !ok {
		i = len(e.ids)
		e.funcs[f] = i
		e.ids = append(e.ids, [2]string{f.id, f.signature()})
	}
	e.body.int(i + 1)
	if f.captured == nil {
		return nil
	}
	return e.ref(uintptr(captured(p)), 1, f.captured)
}

// functionIDs are those of the functions that a cell must make known.
func (e *encoder) functionIDs() (ids []string) {
	for _, x := range e.ids {
		if pkg, name, ok := cutName(x[0]); functions[x[0]] != nil || ok && !strings.Contains(pkg, "(") && isExported(name) && !internal(pkg) {
			ids = append(ids, x[0])
		}
	}
	slices.Sort(ids)
	return ids
}
