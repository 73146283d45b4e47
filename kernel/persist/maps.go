package persist

import (
	"cmp"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"sync"
)

// A mapCopy holds the entries of a map, which have no address in the map itself. It is made once for all passes of a
// save: what KeepState returns for an entry is found again by its address.
type mapCopy struct{ keys, values reflect.Value } // slices

func copyMap(v reflect.Value) mapCopy {
	t, n := v.Type(), v.Len()
	c := mapCopy{reflect.MakeSlice(reflect.SliceOf(t.Key()), n, n), reflect.MakeSlice(reflect.SliceOf(t.Elem()), n, n)}
	i := 0
	for it := v.MapRange(); i < n && it.Next(); i++ { // not by key: NaN finds nothing
		c.keys.Index(i).SetIterKey(it)
		c.values.Index(i).SetIterValue(it)
	}
	return c
}

// order returns the indexes of the entries in an order that depends on the keys alone, as far as that can be: an
// unchanged map gives unchanged bytes.
func (c mapCopy) order() []int {
	type sortKey struct {
		n uint64
		s string
		i int
	}
	keys := make([]sortKey, c.keys.Len())
	var b []byte
	for i := range keys {
		k := c.keys.Index(i)
		keys[i].i = i
		switch {
		case k.Kind() == reflect.String:
			keys[i].s = k.String()
		case k.CanInt():
			keys[i].n = uint64(k.Int()) ^ 1<<63
		default:
			b = appendKey(b[:0], k)
			keys[i].s = string(b)
		}
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		if a.n != b.n {
			return cmp.Compare(a.n, b.n)
		}
		return cmp.Compare(a.s, b.s)
	})
	order := make([]int, len(keys))
	for i, k := range keys {
		order[i] = k.i
	}
	return order
}

// appendKey appends bytes that tell keys apart, except for those that only their addresses tell apart.
func appendKey(b []byte, k reflect.Value) []byte {
	switch {
	case k.Kind() == reflect.Bool && k.Bool():
		return append(b, 1)
	case k.CanInt():
		return binary.BigEndian.AppendUint64(b, uint64(k.Int()))
	case k.CanUint():
		return binary.BigEndian.AppendUint64(b, k.Uint())
	case k.CanFloat():
		return binary.BigEndian.AppendUint64(b, math.Float64bits(k.Float()))
	case k.CanComplex():
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(real(k.Complex())))
		return binary.BigEndian.AppendUint64(b, math.Float64bits(imag(k.Complex())))
	}
	switch k.Kind() {
	case reflect.String:
		b = binary.AppendUvarint(b, uint64(k.Len()))
		return append(b, k.String()...)
	case reflect.Interface:
		if !k.IsNil() {
			b = append(b, typeName(k.Elem().Type())...)
			return appendKey(b, k.Elem())
		}
	case reflect.Array:
		for i := range k.Len() {
			b = appendKey(b, k.Index(i))
		}
	case reflect.Struct:
		for i := range k.NumField() {
			b = appendKey(b, k.Field(i))
		}
	}
	return append(b, 0)
}

// syncMapState is the kept state of a sync.Map.
type syncMapState struct{ KeysAndValues []any }

func syncMapEntries(v reflect.Value) *syncMapState {
	s := &syncMapState{}
	v.Addr().Interface().(*sync.Map).Range(func(k, x any) bool {
		s.KeysAndValues = append(s.KeysAndValues, k, x)
		return true
	})
	return s
}

func (s *syncMapState) restore(v reflect.Value) {
	m := v.Addr().Interface().(*sync.Map)
	for i := 0; i+1 < len(s.KeysAndValues); i += 2 {
		m.Store(s.KeysAndValues[i], s.KeysAndValues[i+1])
	}
}
