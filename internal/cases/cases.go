// Package cases holds the cases of graded exercises as JSON: the arguments of a student's function and the expected
// results. The student's process reads the arguments and writes the results; the grader, another process, compares.
// Neither needs the other's types.
//
// A value is written as in JSON, with three additions. A floating-point number always has a point or an exponent, so
// that the grader can tell it from an integer, which must match exactly. NaN and the infinities, which JSON lacks, are
// the texts NaN, Inf and -Inf. A nil slice is an empty list.
package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/approx"
	"github.com/lectern-go/lectern/internal/humanize"
)

// A Case is one call to a function.
type Case struct {
	Category  string            `json:"category"`
	Points    int               `json:"points,omitempty"`    // 0 is one point
	Tolerance float64           `json:"tolerance,omitempty"` // relative; 0 is [Tolerance]
	In        []json.RawMessage `json:"in"`
	Want      []json.RawMessage `json:"want"`
}

// Tolerance is the relative error that a floating-point number may have.
const Tolerance = 1e-6

// Least is the size from which the tolerance is relative: numbers closer to 0 may be off by as much as this one.
const Least = 1e-3

// Worth returns the points that the case is worth.
func (c *Case) Worth() int { return max(c.Points, 1) }

// Parse reads cases, one JSON object after another.
func Parse(text string) ([]Case, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	var list []Case
	for {
		var c Case
		err := d.Decode(&c)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		n := len(list) + 1
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("case %d ends too early: is a bracket missing?", n)
		case err != nil:
			return nil, fmt.Errorf("case %d: %w", n, err)
		case c.Category == "":
			return nil, fmt.Errorf("case %d has no category", n)
		case c.Points < 0:
			return nil, fmt.Errorf("case %d is worth %d points", n, c.Points)
		case c.Tolerance < 0:
			return nil, fmt.Errorf("case %d has the tolerance %g, with which nothing is right", n, c.Tolerance)
		case len(c.Want) == 0:
			return nil, fmt.Errorf("case %d wants nothing", n)
		}
		list = append(list, c)
	}
}

// Encode writes values as JSON.
func Encode(values ...reflect.Value) ([]json.RawMessage, error) {
	list := make([]json.RawMessage, len(values))
	for i, v := range values {
		var b bytes.Buffer
		if err := encode(&b, v); err != nil {
			return nil, err
		}
		list[i] = b.Bytes()
	}
	return list, nil
}

func encode(b *bytes.Buffer, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		b.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		encodeFloat(b, v.Float())
	case reflect.String:
		text, err := json.Marshal(v.String())
		b.Write(text)
		return err
	case reflect.Slice, reflect.Array:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := encode(b, v.Index(i)); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case reflect.Struct:
		b.WriteByte('{')
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() {
				return fmt.Errorf("a %s has fields that can't be read", v.Type())
			}
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, "%q:", field.Name)
			if err := encode(b, v.Field(i)); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	default:
		return fmt.Errorf("a %s can't be graded: numbers, texts, truth values, and slices and structs of them can", v.Type())
	}
	return nil
}

func encodeFloat(b *bytes.Buffer, f float64) {
	switch {
	case math.IsNaN(f):
		b.WriteString(`"NaN"`)
	case math.IsInf(f, 1):
		b.WriteString(`"Inf"`)
	case math.IsInf(f, -1):
		b.WriteString(`"-Inf"`)
	default:
		text := strconv.FormatFloat(f, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		b.WriteString(text)
	}
}

// Decode reads values of the given types.
func Decode(raw []json.RawMessage, types []reflect.Type) ([]reflect.Value, error) {
	if len(raw) != len(types) {
		return nil, fmt.Errorf("%s for a function with %d", humanize.Count(len(raw), "value"), len(types))
	}
	list := make([]reflect.Value, len(raw))
	for i, r := range raw {
		x, err := tree(r)
		if err != nil {
			return nil, err
		}
		list[i] = reflect.New(types[i]).Elem()
		if err := fill(list[i], x); err != nil {
			return nil, fmt.Errorf("value %d: %w", i+1, err)
		}
	}
	return list, nil
}

// tree reads JSON and keeps all digits of its numbers.
func tree(raw json.RawMessage) (x any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&x)
	return x, err
}

func fill(v reflect.Value, x any) error {
	bad := func() error { return fmt.Errorf("%s is not a %s", brief(x), v.Type()) }
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		f, ok := number(x)
		if !ok {
			return bad()
		}
		v.SetFloat(f)
	case reflect.Slice:
		list, ok := x.([]any)
		if !ok {
			return bad()
		}
		v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
		return fillAll(v, list)
	case reflect.Array:
		list, ok := x.([]any)
		if !ok || len(list) != v.Len() {
			return bad()
		}
		return fillAll(v, list)
	case reflect.Struct:
		fields, ok := x.(map[string]any)
		if !ok {
			return bad()
		}
		for name, x := range fields {
			field := v.FieldByName(name)
			if !field.CanSet() {
				return fmt.Errorf("a %s has no field %s", v.Type(), name)
			}
			if err := fill(field, x); err != nil {
				return err
			}
		}
	default:
		text, err := json.Marshal(x)
		if err != nil || json.Unmarshal(text, v.Addr().Interface()) != nil {
			return bad()
		}
	}
	return nil
}

func fillAll(v reflect.Value, list []any) error {
	for i, x := range list {
		if err := fill(v.Index(i), x); err != nil {
			return err
		}
	}
	return nil
}

// number reads a floating-point number, which may be one that JSON lacks.
func number(x any) (float64, bool) {
	switch x := x.(type) {
	case json.Number:
		f, err := x.Float64()
		return f, err == nil
	case string:
		switch x {
		case "NaN", "Inf", "-Inf":
			f, err := strconv.ParseFloat(x, 64)
			return f, err == nil
		}
	}
	return 0, false
}

// Differs says where results differ from the expected ones, or returns "": floating-point numbers may differ by a
// fraction of the expected number, anything else not at all.
func Differs(got, want []json.RawMessage, tolerance float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d results instead of %d", len(got), len(want))
	}
	if tolerance == 0 {
		tolerance = Tolerance
	}
	for i := range want {
		g, err := tree(got[i])
		if err != nil {
			return "the result can't be read"
		}
		w, err := tree(want[i])
		if err != nil {
			return "the expected result can't be read"
		}
		if diff := differs("", g, w, tolerance); diff != "" {
			return diff
		}
	}
	return ""
}

func differs(at string, got, want any, tolerance float64) string {
	name := "the result"
	if at != "" {
		name = "element " + at
	}
	diff := fmt.Sprintf("%s is %s; it should be %s", name, brief(got), brief(want))
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		if !ok {
			return diff
		}
		if len(g) != len(w) {
			return fmt.Sprintf("%s has length %d; it should be %d", name, len(g), len(w))
		}
		for i := range w {
			if diff := differs(fmt.Sprintf("%s[%d]", at, i), g[i], w[i], tolerance); diff != "" {
				return diff
			}
		}
		return ""
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return diff
		}
		for key := range w {
			if diff := differs(at+"."+key, g[key], w[key], tolerance); diff != "" {
				return diff
			}
		}
		return ""
	}
	g, isNumber := number(got)
	w, wantsNumber := number(want)
	text, _ := got.(json.Number)
	if isNumber && wantsNumber && (text == "" || strings.ContainsAny(text.String(), ".eE")) {
		if approx.Equal(g, w, tolerance, tolerance*Least) {
			return ""
		}
		return diff
	}
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return diff
}

// Text writes values for people, all on one line.
func Text(raw []json.RawMessage) string {
	parts := make([]string, len(raw))
	for i, r := range raw {
		x, err := tree(r)
		if err != nil {
			return string(r)
		}
		parts[i] = brief(x)
	}
	return strings.Join(parts, ", ")
}

// brief writes a value for people.
func brief(x any) string {
	switch x := x.(type) {
	case json.Number:
		if f, err := x.Float64(); err == nil && strings.ContainsAny(x.String(), ".eE") {
			return fmt.Sprintf("%.6g", f)
		}
		return x.String()
	case string:
		if _, ok := number(x); ok {
			return x
		}
		return strconv.Quote(x)
	case []any:
		parts := make([]string, len(x))
		for i, e := range x {
			parts[i] = brief(e)
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	text, err := json.Marshal(x)
	if err != nil {
		return fmt.Sprint(x)
	}
	return string(text)
}
