package show

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"reflect"

	"github.com/lectern-go/lectern/internal/inspect"
)

const (
	sumLeaves = maxStepValue + 40 // more elements than a text of maxStepValue characters shows, each of which takes one at least
	sumVisits = 5000              // of a value that takes longer to sum up than this, the text is written
)

// shownSum sums up what stepText shows of a value, so that the text of one that has not changed need not be written at
// each step: as long as the sum is the same, so is the text. Other sums may have the same text. It is not ok for
// values whose text only they know, and for very large ones.
func shownSum(r reflect.Value) (sum uint64, ok bool) {
	if r.Kind() == reflect.Map && r.Len() > 1000 && textOfType(r.Type()) == noText {
		return uint64(r.Len()), true
	}
	w := sumWalk{left: sumLeaves, visits: sumVisits}
	w.add(typeID(r.Type()))
	w.value(readable(r), 0)
	return w.sum, !w.failed
}

// readable returns v or a copy of it, whose fields can be read, exported or not.
func readable(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Struct, reflect.Array:
		if !v.CanAddr() {
			return addressable(v)
		}
	}
	return v
}

// A sumWalk goes through a value in the order in which it is written.
type sumWalk struct {
	sum    uint64
	left   int  // elements that may still be shown
	visits int  // that it may still take
	whole  bool // inside a value with a text of its own, which may show all of it
	failed bool
}

// add makes x part of the sum. For each sum, different x give different ones.
func (w *sumWalk) add(x uint64) {
	w.sum = bits.RotateLeft64((w.sum^x)*0x9e3779b97f4a7c15, 29)
	w.sum ^= w.sum >> 32
}

// value adds a value inside so many pointers, lists and maps.
func (w *sumWalk) value(v reflect.Value, depth int) {
	if w.visits--; w.visits < 0 {
		w.failed = true
	}
	if w.failed || w.left <= 0 && !w.whole {
		return
	}
	t := v.Type()
	switch textOfType(t) {
	case tensorText:
		w.left--
		if v.IsNil() {
			w.add(0)
			return
		}
		w.add(maphash.Comparable(stampSeed, inspect.Linked.Stamp(v.Interface())))
		return
	case textOfContents:
		if !w.whole {
			w.whole = true
			w.contents(v, depth)
			w.whole, w.left = false, w.left-1
			return
		}
	case textOfItsOwn:
		w.failed = true
		return
	}
	w.contents(v, depth)
}

// contents adds what a value consists of.
func (w *sumWalk) contents(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		if v.IsNil() {
			w.left--
			w.add(0)
			return
		}
		if v.Kind() != reflect.Interface {
			depth++
		}
		if depth > maxDepth { // it is not shown, but by a method that shows all of its value
			w.failed = w.failed || w.whole
			w.left--
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		w.add(1)
		w.value(v.Elem(), depth)
	case reflect.Interface:
		e := v.Elem()
		w.add(typeID(e.Type()))
		w.value(readable(e), depth)
	case reflect.Struct:
		w.left--
		for i := range v.NumField() {
			f := v.Field(i)
			w.value(reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem(), depth)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			w.left--
			w.bytes(v.Bytes())
			return
		}
		w.list(v, depth)
	case reflect.Array:
		w.list(v, depth)
	case reflect.Map:
		w.entries(v, depth)
	default:
		w.left--
		w.leaf(v)
	}
}

func (w *sumWalk) leaf(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			w.add(1)
		} else {
			w.add(2)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.add(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.add(v.Uint())
	case reflect.Float32, reflect.Float64:
		w.add(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		w.add(math.Float64bits(real(v.Complex())))
		w.add(math.Float64bits(imag(v.Complex())))
	case reflect.String:
		w.add(maphash.String(stampSeed, v.String()))
	case reflect.Chan:
		w.add(uint64(v.Len()))
		w.add(uint64(v.Cap()))
		w.nilOrNot(v)
	case reflect.Func, reflect.UnsafePointer:
		w.failed = w.failed || w.whole // what a method finds there is unknown
		w.nilOrNot(v)
	}
}

func (w *sumWalk) nilOrNot(v reflect.Value) {
	if v.IsNil() {
		w.add(0)
	} else {
		w.add(1)
	}
}

// bytes adds what [textOf] reads.
func (w *sumWalk) bytes(b []byte) {
	w.add(uint64(len(b)) + 1)
	if len(b) > longBytes {
		w.failed = w.failed || w.whole
		w.add(maphash.Bytes(stampSeed, b[:bytesEnd]))
		b = b[len(b)-bytesEnd:]
	}
	w.add(maphash.Bytes(stampSeed, b))
}

// list adds the elements that are shown of a list.
func (w *sumWalk) list(v reflect.Value, depth int) {
	n := v.Len()
	w.left--
	w.add(uint64(n) + 1)
	elem := v.Type().Elem()
	plain := !isComposite(elem.Kind()) && textOfType(elem) == noText
	for i := 0; i < n; i++ {
		if !w.whole && n > maxItems && i == headItems {
			i = n - tailItems
		}
		if plain {
			w.visits--
			w.left--
			w.leaf(v.Index(i))
			w.failed = w.failed || w.visits < 0
		} else {
			w.value(v.Index(i), depth)
		}
		if w.failed || w.left <= 0 && !w.whole {
			return
		}
	}
}

// entries adds a map. It is written in the order of its keys, so all entries count, in any order.
func (w *sumWalk) entries(v reflect.Value, depth int) {
	w.add(uint64(v.Len()) + 1)
	sum, left, total := w.sum, w.left, uint64(0)
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	for it := v.MapRange(); it.Next() && !w.failed; {
		w.sum, w.left = 0, sumLeaves
		key.SetIterKey(it)
		value.SetIterValue(it)
		w.value(key, depth)
		w.value(value, depth)
		total += w.sum
	}
	w.sum, w.left = sum, left-1
	w.add(total)
}

// typeID tells types apart.
func typeID(t reflect.Type) uint64 { return uint64(reflect.ValueOf(t).Pointer()) }

// A typeText says where the text of a type's values comes from.
type typeText int

const (
	noText         typeText = iota // they are written by us
	tensorText                     // by the library, and a stamp tells whether it has changed
	textOfContents                 // by a method of an imported package, which tells what the value holds
	textOfItsOwn                   // by a method of the cell, which may tell anything
)

// cellPackage is where the types of cells are.
var cellPackage = "main"

// typeTexts remembers them. It is used in a step's turn.
var typeTexts = map[uint64]typeText{}

func textOfType(t reflect.Type) typeText {
	id := typeID(t)
	text, known := typeTexts[id]
	if !known {
		text = findText(t)
		typeTexts[id] = text
	}
	return text
}

func findText(t reflect.Type) typeText {
	named := t
	if t.Kind() == reflect.Pointer {
		named = t.Elem()
	}
	stringer, failure := reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[error]()
	pointer := reflect.PointerTo(named)
	switch {
	case inspect.Linked != nil && t == inspect.Linked.Type:
		return tensorText
	case t.Kind() == reflect.Interface || !pointer.Implements(stringer) && !pointer.Implements(failure):
		return noText
	case named.PkgPath() == cellPackage || named.PkgPath() == "": // it has no name, and embeds something of the cell, perhaps
		return textOfItsOwn
	}
	return textOfContents
}
