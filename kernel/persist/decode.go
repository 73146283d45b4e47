package persist

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// A decoder restores variables of one group.
type decoder struct {
	table []entry
	raw   []byte
	body  []byte
	mem   []unsafe.Pointer // start of each block, once it is known
	maps  []reflect.Value
	elems []reflect.Type // of typed blocks, once known
	types []typeRef
	funcs [][2]string // ids and signatures
	open  func(name string, size int) (unsafe.Pointer, error)

	r      reader
	todo   []func() error
	fixes  []fix          // pointers into blocks that were not known yet
	finish []func() error // what must wait until all memory is filled; innermost first
}

// restore reads the group file b into the variables of want. Variables of the group that are not wanted are left alone.
func (d *decoder) restore(b []byte, want map[string]reflect.Value) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged: %v", r)
		}
	}()
	r := reader{b: b}
	n := r.int()
	if n < 0 || n > len(b) {
		return errShort
	}
	d.table = make([]entry, n)
	for i := range d.table {
		t := &d.table[i]
		t.kind = r.int()
		switch t.kind {
		case blockTyped:
			t.n, t.offset, t.typ = r.int(), r.int(), r.int()
		case blockLib:
			t.n, t.offset, t.typ, t.name, t.sig = r.int(), r.int(), r.int(), r.string(), r.string()
		case blockBytes:
			t.n, t.offset = r.int(), r.int()
		case blockMapped:
			t.n, t.name = r.int(), r.string()
		case blockMap:
			t.offset = r.int()
		default:
			return fmt.Errorf("unknown kind %d of block", t.kind)
		}
	}
	type root struct {
		p  reflect.Value
		id int
	}
	var roots []root
	for k := r.int(); k > 0 && r.err == nil; k-- {
		name, id := r.string(), r.int()
		if p, ok := want[name]; ok && id >= 0 {
			roots = append(roots, root{p, id})
		}
	}
	for k := r.int(); k > 0 && r.err == nil; k-- {
		d.types = append(d.types, typeRef{name: r.string(), sig: r.string()})
	}
	for k := r.int(); k > 0 && r.err == nil; k-- {
		d.funcs = append(d.funcs, [2]string{r.string(), r.string()})
	}
	d.raw = r.bytes(r.int())
	if r.err != nil {
		return r.err
	}
	d.body = r.b
	d.mem = make([]unsafe.Pointer, n)
	d.maps = make([]reflect.Value, n)
	d.elems = make([]reflect.Type, n)
	for _, x := range roots {
		d.define(x.id, x.p.UnsafePointer(), x.p.Type().Elem())
	}
	if err := d.fill(); err != nil {
		return err
	}
	for i := 0; i < len(d.finish); i++ {
		if err := d.finish[i](); err != nil {
			return err
		}
	}
	return nil
}

// fill reads everything that the variables lead to.
func (d *decoder) fill() error {
	for {
		for len(d.todo) > 0 {
			f := d.todo[0]
			d.todo = d.todo[1:]
			if err := f(); err != nil {
				return err
			}
		}
		if len(d.fixes) == 0 {
			return nil
		}
		var open []fix
		for _, f := range d.fixes {
			if d.mem[f.id] == nil {
				open = append(open, f)
			} else if err := f.point(); err != nil {
				return err
			}
		}
		d.fixes = open
		if len(open) > 0 { // into the memory of a variable that is gone
			if err := d.replace(open[0].id, open[0].t); err != nil {
				return err
			}
		}
	}
}

// replace makes memory for a block that belonged to a variable that is not wanted. t is seen somewhere in it.
func (d *decoder) replace(id int, t reflect.Type) error {
	e := d.table[id]
	if e.typ < 1 || e.typ > len(d.types) {
		return fmt.Errorf("it points into %s that belonged to a variable which is gone", article(typeText(t)))
	}
	typ := &d.types[e.typ-1]
	if err := typ.find(); err != nil {
		return err
	}
	return d.allocate(id, typ.t)
}

// allocate makes memory for a typed block, and plans to fill it.
func (d *decoder) allocate(id int, t reflect.Type) error {
	n := d.table[id].n
	if n < 0 || n > len(d.body) && kindOf(t) != asZero {
		return errShort
	}
	d.define(id, reflect.MakeSlice(reflect.SliceOf(t), n, n).UnsafePointer(), t)
	return nil
}

// library finds the variable of a library that a block is, and plans to fill it.
func (d *decoder) library(id int) error {
	e := d.table[id]
	l := libraryNamed(e.name)
	switch {
	case l == nil && e.offset == bareOffset:
		return fmt.Errorf("%s is not part of this cell's program", e.name[1:])
	case l == nil: // its package has lost it: a copy remains
		return nil
	}
	t := l.p.Type().Elem()
	switch {
	case signature(t) != e.sig:
		return &changedError{t: t}
	case e.offset == bareOffset:
		d.mem[id], d.elems[id] = l.p.UnsafePointer(), t
	default:
		d.define(id, l.p.UnsafePointer(), t)
	}
	return nil
}

// A typeRef is a type that an interface holds.
type typeRef struct {
	name, sig string
	t         reflect.Type // once it is known
}

// changedError says that the type of a variable, or of an interface's value in it, has changed.
type changedError struct {
	t      reflect.Type
	static bool
}

func (e *changedError) Error() string {
	name := strings.TrimLeft(typeText(e.t), "*")
	if e.static {
		return fmt.Sprintf("its type %s was different", name)
	}
	return fmt.Sprintf("the type %s that it holds was different", name)
}

func (t *typeRef) find() error {
	if t.t != nil {
		return nil
	}
	f, ok := registered(t.name)
	if !ok {
		return fmt.Errorf("the type %s that it holds is not part of this cell's program", strings.ReplaceAll(t.name, "main.", ""))
	}
	if signature(f) != t.sig {
		return &changedError{t: f}
	}
	t.t = f
	return nil
}

// define says where a typed block lies and plans to fill it.
func (d *decoder) define(id int, p unsafe.Pointer, elem reflect.Type) {
	d.mem[id], d.elems[id] = p, elem
	t := d.table[id]
	d.todo = append(d.todo, func() error {
		if t.offset > len(d.body) {
			return errShort
		}
		d.r = reader{b: d.body[t.offset:]}
		for i := range t.n {
			if err := d.value(at(p, i, elem)); err != nil {
				return err
			}
		}
		return d.r.err
	})
}

// aligned is how the memory of a block without pointers is aligned: for every type, and for a library that works on it
// with the widest registers and would have to copy memory that begins elsewhere.
const aligned = 64

// bytes returns the memory of a block without pointers.
func (d *decoder) bytes(id int) (unsafe.Pointer, error) {
	if d.mem[id] != nil {
		return d.mem[id], nil
	}
	t := d.table[id]
	var p unsafe.Pointer
	if t.kind == blockMapped {
		var err error
		if p, err = d.open(t.name, t.n); err != nil {
			return nil, err
		}
	} else {
		if t.offset+t.n > len(d.raw) {
			return nil, errShort
		}
		words := make([]uint64, (t.n+aligned)/8)
		p = unsafe.Pointer(unsafe.SliceData(words))
		p = unsafe.Add(p, -uintptr(p)&(aligned-1))
		copy(unsafe.Slice((*byte)(p), t.n), d.raw[t.offset:t.offset+t.n])
	}
	d.mem[id] = p
	return p, nil
}

// ref reads a reference to memory of type t, and calls set with its address, now or when it is known; room is how many
// bytes of the block follow the address. Nil calls nothing.
func (d *decoder) ref(t reflect.Type, set func(p unsafe.Pointer, room int)) error {
	id := d.r.int()
	switch {
	case d.r.err != nil:
		return d.r.err
	case id == refNil:
		return nil
	case id == refEmpty:
		set(reflect.New(t).UnsafePointer(), 0)
		return nil
	case id == refSame:
		v, err := findSame(d.r.string())
		if err != nil {
			return err
		}
		if v.Kind() != reflect.Pointer || v.Type().Elem() != t {
			return errShort
		}
		set(v.UnsafePointer(), 0)
		return nil
	}
	id -= refFirst
	offset := d.r.int()
	if d.r.err != nil || id < 0 || id >= len(d.table) || offset < 0 {
		return errShort
	}
	e := d.table[id]
	if !e.typed() {
		if offset > e.n {
			return errShort
		}
		p, err := d.bytes(id)
		if err == nil {
			set(unsafe.Add(p, offset), e.n-offset)
		}
		return err
	}
	exact := d.r.int()
	if e.kind == blockLib && d.mem[id] == nil {
		if err := d.library(id); err != nil {
			return err
		}
	}
	if d.mem[id] == nil && exact == 1 {
		if err := d.allocate(id, t); err != nil {
			return err
		}
	}
	point := func() error {
		size := e.n * int(d.elems[id].Size())
		if offset+int(t.Size()) > size {
			return errShort
		}
		set(unsafe.Add(d.mem[id], offset), size-offset)
		return nil
	}
	if d.mem[id] != nil {
		return point()
	}
	d.fixes = append(d.fixes, fix{id, t, point})
	return nil
}

// A fix sets a pointer to a t that lies in block id, once the block has memory.
type fix struct {
	id    int
	t     reflect.Type
	point func() error
}

// sliceHeader is how a slice lies in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func (d *decoder) value(v reflect.Value) error {
	t := v.Type()
	switch kindOf(t) {
	case asBytes:
		copy(unsafe.Slice((*byte)(v.Addr().UnsafePointer()), int(t.Size())), d.r.bytes(int(t.Size())))
		return d.r.err
	case asZero, never:
		return nil
	case asLock:
		setLock(v, d.r.int())
		return d.r.err
	case asAtomic:
		return d.value(atomicPointer(v))
	case asTime:
		copy(unsafe.Slice((*byte)(v.Addr().UnsafePointer()), 16), d.r.bytes(16))
		return d.value(field(v, timeLoc))
	case asMarshals:
		return v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary([]byte(d.r.string()))
	case asState:
		return d.state(v)
	}
	switch t.Kind() {
	case reflect.String:
		v.SetString(d.r.string())
	case reflect.Pointer:
		return d.ref(t.Elem(), func(p unsafe.Pointer, _ int) { *(*unsafe.Pointer)(v.Addr().UnsafePointer()) = p })
	case reflect.Slice:
		n := d.r.int()
		if n < 0 {
			return d.r.err
		}
		c := d.r.int()
		if c <= 0 {
			v.Set(reflect.MakeSlice(t, 0, 0))
			return d.r.err
		}
		return d.ref(t.Elem(), func(p unsafe.Pointer, room int) {
			full := c
			if s := int(t.Elem().Size()); s > 0 {
				full = min(c, room/s)
			}
			*(*sliceHeader)(v.Addr().UnsafePointer()) = sliceHeader{p, min(n, full), full}
		})
	case reflect.Array:
		for i := range v.Len() {
			if err := d.value(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !keptField(t, i) {
				continue
			}
			if err := d.value(field(v, i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		return d.mapRef(v)
	case reflect.Interface:
		return d.dynamic(v)
	case reflect.Func:
		return d.function(v)
	}
	return d.r.err
}

func (d *decoder) function(v reflect.Value) error {
	i := d.r.int()
	if d.r.err != nil || i == 0 {
		return d.r.err
	}
	if i < 0 || i > len(d.funcs) {
		return errShort
	}
	f, word, err := restored(d.funcs[i-1][0], d.funcs[i-1][1], v.Type())
	if err != nil {
		return err
	}
	set := func(p unsafe.Pointer) { *(*unsafe.Pointer)(v.Addr().UnsafePointer()) = p }
	if f.captured == nil {
		set(word)
		return nil
	}
	return d.ref(f.captured, func(p unsafe.Pointer, _ int) { set(f.make(p)) })
}

// settle runs f now, or after everything else if something that was read since the marks is still open.
func (d *decoder) settle(fixes, finish int, f func() error) error {
	if len(d.fixes) == fixes && len(d.finish) == finish {
		return f()
	}
	d.finish = append(d.finish, f)
	return nil
}

// stateTypes are the structs that KeepState returns, by the type that it belongs to. The package's lock guards it.
var stateTypes = map[reflect.Type]reflect.Type{}

// state restores a value through its own method. The method sees finished values, so it waits for the end.
func (d *decoder) state(v reflect.Value) error {
	t, ok := stateTypes[v.Type()]
	if !ok {
		s, err := stateOf(map[place]reflect.Value{}, reflect.New(v.Type()).Elem())
		if err != nil {
			return err
		}
		t = s.Type().Elem()
		stateTypes[v.Type()] = t
	}
	st := reflect.New(t)
	if err := d.value(st.Elem()); err != nil {
		return err
	}
	d.finish = append(d.finish, func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("RestoreState of %s panicked: %v", typeText(v.Type()), r)
			}
		}()
		if v.Type() == syncMapType {
			st.Interface().(*syncMapState).restore(v)
			return nil
		}
		if how, ok := cellstate.StateOfType(v.Type()); ok {
			how.Restore(v.Addr().Interface(), st.Interface())
		} else {
			v.Addr().Interface().(Keeper).RestoreState(st.Interface())
		}
		return nil
	})
	return nil
}

func (d *decoder) mapRef(v reflect.Value) error {
	id := d.r.int()
	if d.r.err != nil || id == refNil {
		return d.r.err
	}
	id -= refFirst
	if id < 0 || id >= len(d.table) {
		return errShort
	}
	if !d.maps[id].IsValid() {
		m := reflect.MakeMap(v.Type())
		d.maps[id] = m
		d.todo = append(d.todo, func() error { return d.entries(m, d.table[id].offset) })
	}
	v.Set(d.maps[id].Convert(v.Type()))
	return nil
}

func (d *decoder) entries(m reflect.Value, offset int) error {
	if offset > len(d.body) {
		return errShort
	}
	d.r = reader{b: d.body[offset:]}
	for n := d.r.int(); n > 0 && d.r.err == nil; n-- {
		fixes, finish := len(d.fixes), len(d.finish)
		k, x := reflect.New(m.Type().Key()).Elem(), reflect.New(m.Type().Elem()).Elem()
		if err := errors.Join(d.value(k), d.value(x)); err != nil {
			return err
		}
		if err := d.settle(fixes, finish, func() error { m.SetMapIndex(k, x); return nil }); err != nil {
			return err
		}
	}
	return d.r.err
}

func (d *decoder) dynamic(v reflect.Value) error {
	i := d.r.int()
	switch {
	case i == dynamicNil || d.r.err != nil:
		return d.r.err
	case i == dynamicSame:
		x, err := findSame(d.r.string())
		if err != nil {
			return err
		}
		v.Set(x)
		return nil
	case i == dynamicText:
		e := &textError{text: d.r.string()}
		n := d.r.int()
		if n < 0 || n > len(d.r.b) {
			return errShort
		}
		e.wraps = make([]error, n)
		for i := range e.wraps {
			if err := d.dynamic(reflect.ValueOf(&e.wraps[i]).Elem()); err != nil {
				return err
			}
		}
		v.Set(reflect.ValueOf(e))
		return nil
	}
	if i -= dynamicFirst; i < 0 || i >= len(d.types) {
		return errShort
	}
	t := &d.types[i]
	if err := t.find(); err != nil {
		return err
	}
	fixes, finish := len(d.fixes), len(d.finish)
	c := reflect.New(t.t).Elem()
	if err := d.value(c); err != nil {
		return err
	}
	return d.settle(fixes, finish, func() error { v.Set(c); return nil })
}

// findSame returns what a variable of a library holds.
func findSame(name string) (reflect.Value, error) {
	v, ok := same[name]
	if !ok {
		return v, fmt.Errorf("%s is not part of this cell's program", name)
	}
	return v, nil
}

// A textError stands for an error whose type a later process can't have. It has the same text and wraps the same
// errors.
type textError struct {
	text  string
	wraps []error
}

func (e *textError) Error() string   { return e.text }
func (e *textError) Unwrap() []error { return e.wraps }
