package oracle

import (
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"

	"github.com/lectern-go/lectern/internal/approx"
	"github.com/lectern-go/lectern/internal/humanize"
)

// Tensor is an answer with dtype and shape. Data is flat in row-major order; a bool is 0 or 1.
type Tensor struct {
	Dtype string
	Shape []int
	Data  []float64
}

// Diff compares an answer with what a case expects and says in one line where they first differ, or returns
// "" if they agree. The rules:
//
//   - numbers of any Go type agree within tol; nan agrees with nan, an infinity only with the same infinity, the
//     sign of zero is not compared. The strings "nan", "inf" and "-inf" are such numbers when the answer is one;
//   - a Tensor agrees with an object by dtype, shape and data, whatever else the object holds;
//   - slices and arrays must have the same length and agree item by item;
//   - a map must hold every key of the object, each agreeing; other keys of the map are not looked at;
//   - where an object says dtype float32, its data is rounded to float32 first, as its decimals are the shortest
//     that round to the value meant;
//   - bools also agree with 0 and 1, and nil only with null.
func Diff(got, want any, tol Tolerance) string {
	return diff("", got, want, tol, "")
}

// diff compares at one place in the tree, path; dtype is what the enclosing object says about its data.
func diff(path string, got, want any, tol Tolerance, dtype string) string {
	fail := func(format string, args ...any) string {
		if path == "" {
			return fmt.Sprintf(format, args...)
		}
		return path + ": " + fmt.Sprintf(format, args...)
	}
	switch g := got.(type) {
	case Tensor:
		return diff(path, &g, want, tol, dtype)
	case *Tensor:
		if g == nil {
			got = nil
			break
		}
		if object, ok := want.(map[string]any); ok {
			for _, key := range []string{"dtype", "shape", "data"} {
				if _, ok := object[key]; !ok {
					return fail("got a tensor, want an object without %q: %s", key, show(want))
				}
			}
		}
		got = map[string]any{"dtype": g.Dtype, "shape": g.Shape, "data": g.Data}
		if object, ok := want.(map[string]any); ok {
			want = map[string]any{"dtype": object["dtype"], "shape": object["shape"], "data": object["data"]}
		}
	}

	v := reflect.ValueOf(got)
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem() // a nil pointer becomes an invalid value, like nil
	}
	if want == nil || !v.IsValid() {
		if want == nil && (!v.IsValid() || v.Kind() == reflect.Slice && v.IsNil()) {
			return ""
		}
		return fail("got %s, want %s", show(got), show(want))
	}

	if x, ok := number(v); ok {
		e, ok := wantNumber(want, dtype)
		if !ok {
			return fail("got %s, want %s", show(got), show(want))
		}
		if !tol.near(x, e) {
			return fail("got %s, want %s (rtol %g, atol %g)", show(got), show(want), tol.Rtol, tol.Atol)
		}
		return ""
	}

	switch w := want.(type) {
	case string:
		if v.Kind() != reflect.String || v.String() != w {
			return fail("got %s, want %s", show(got), show(want))
		}
	case []any:
		if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
			return fail("got %s, want a list of %d: %s", show(got), len(w), show(want))
		}
		if v.Len() != len(w) {
			return fail("got %d items, want %d: got %s, want %s", v.Len(), len(w), show(got), show(want))
		}
		for i := range w {
			if d := diff(fmt.Sprintf("%s[%d]", path, i), v.Index(i).Interface(), w[i], tol, dtype); d != "" {
				return d
			}
		}
	case map[string]any:
		if v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String {
			return fail("got %s, want an object: %s", show(got), show(want))
		}
		inner, _ := w["dtype"].(string)
		keys := make([]string, 0, len(w))
		for key := range w {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			item := v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key()))
			if !item.IsValid() {
				return fail("the answer has no %q, want %s", key, show(w[key]))
			}
			at := key
			if path != "" {
				at = path + "." + key
			}
			if d := diff(at, item.Interface(), w[key], tol, inner); d != "" {
				return d
			}
		}
	default: // a number or a bool was expected, and the answer is neither
		return fail("got %s, want %s", show(got), show(want))
	}
	return ""
}

// near reports whether x is within tolerance of e.
func (tol Tolerance) near(x, e float64) bool {
	return approx.Equal(x, e, 0, tol.Atol+tol.Rtol*math.Abs(e))
}

// number returns the value of anything numeric, bools included.
func number(v reflect.Value) (float64, bool) {
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// wantNumber reads a number as the files write it.
func wantNumber(want any, dtype string) (float64, bool) {
	switch w := want.(type) {
	case float64:
		if dtype == "float32" {
			return float64(float32(w)), true
		}
		return w, true
	case bool:
		if w {
			return 1, true
		}
		return 0, true
	case string:
		switch w {
		case "nan", "inf", "-inf":
			x, err := strconv.ParseFloat(w, 64)
			return x, err == nil
		}
	}
	return 0, false
}

// numbers reads the flat data of a tensor.
func numbers(dtype string, data []any) ([]float64, error) {
	out := make([]float64, len(data))
	for i, v := range data {
		x, ok := wantNumber(v, dtype)
		if !ok {
			return nil, fmt.Errorf("item %d is %s, not a number", i, show(v))
		}
		out[i] = x
	}
	return out, nil
}

// show prints a value for a message, cut to a readable length.
func show(v any) string {
	switch w := v.(type) {
	case nil:
		return "null"
	case string:
		return clip(strconv.Quote(w))
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && !r.IsNil() {
		return show(r.Elem().Interface())
	}
	return clip(fmt.Sprint(v))
}

// clip cuts a value for the message of a case.
func clip(s string) string { return humanize.Shorten(s, 200) }
