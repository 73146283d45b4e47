package lesson

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/lectern-go/lectern/kernel/show"
)

// Use puts our solutions to exercises into package mine, in case you skipped them. In working copies, later lessons
// import that package, and [Grade] adds each function that gets all its points. What is there already, yours or ours,
// stays. Run it in a separate cell:
//
//	lesson.Use("17.4")
func Use(keys ...string) {
	for _, key := range keys {
		switch t, ok := taskOf(key); {
		case !ok:
			panic(fmt.Errorf("lesson: there is no exercise %q that Grade knows", key))
		case t.repair:
			panic(fmt.Errorf("lesson: exercise %s repairs a program that package mine doesn't keep, so there is nothing to use", key))
		}
	}
	for _, key := range keys {
		show.Mine("ours", key)
	}
}

// A Kept is a function that package mine keeps.
type Kept struct {
	Key  string // of its exercise
	Func string // its name in the lesson's cells
	Name string // its name in package mine
}

// KeptFunctions lists the functions that package mine can hold, in the order of tasks. Programs that students only
// repair are not among them.
func KeptFunctions() []Kept {
	var list []Kept
	for _, t := range tasks {
		if t.repair {
			continue
		}
		list = append(list, Kept{t.key, t.name, cmp.Or(t.mine, string(unicode.ToUpper(rune(t.name[0])))+t.name[1:])})
	}
	return list
}

// Lesson is the part of the key that names the lesson.
func (k Kept) Lesson() string {
	number, _, _ := strings.Cut(k.Key, ".")
	return number
}

// Test writes a file of package mine that tests the function on the exercise's cases. The file is not formatted: cells
// import this package, and go/format would add half a megabyte to what a page loads.
func (k Kept) Test() []byte {
	t, _ := taskOf(k.Key)
	typ := reflect.TypeOf(t.prototype)
	results := [][]string{nil, {"got"}, {"first", "second"}, {"first", "second", "third"}}[typ.NumOut()]
	var b strings.Builder
	fmt.Fprintf(&b, "package mine\n\nimport (\n\"math\"\n\"testing\"\n\n%q\n)\n\nfunc Test%s(t *testing.T) {\n", reflect.TypeFor[Kept]().PkgPath(), k.Name)
	for _, c := range t.cases {
		fmt.Fprintf(&b, "t.Run(%q, func(t *testing.T) {\n", c.category)
		in := make([]string, len(c.in))
		for i, x := range c.in {
			in[i] = literal(reflect.ValueOf(x), typ.In(i), true)
		}
		b.WriteString(filled(strings.Join(results, ", ") + " := " + k.Name + "(" + strings.Join(in, ","+mayBreak) + ")"))
		for i, want := range c.want {
			same := "lesson.Same(t, " + results[i] + "," + mayBreak + literal(reflect.ValueOf(want), typ.Out(i), true)
			if tolerance := cmp.Or(c.tolerance, t.tolerance); tolerance != 0 {
				same += "," + mayBreak + fmt.Sprint(tolerance)
			}
			b.WriteString(filled(same + ")"))
		}
		b.WriteString("})\n")
	}
	b.WriteString("}\n")
	text := b.String()
	if !strings.Contains(text, "math.") {
		text = strings.Replace(text, "\"math\"\n", "", 1)
	}
	return []byte(text)
}

// Same is for tests of functions in package mine: it fails the test if a result differs from the wanted one by more
// than [Grade] accepts. For floating-point numbers, that is one part in a million, or the given share.
func Same[T any](t interface {
	Helper()
	Errorf(format string, args ...any)
}, got, want T, tolerance ...float64) {
	t.Helper()
	share := 0.0
	if len(tolerance) > 0 {
		share = tolerance[0]
	}
	if diff := unequal("", reflect.ValueOf(&got).Elem(), reflect.ValueOf(&want).Elem(), share); diff != "" {
		t.Errorf("got %s, want %s: %s", value(reflect.ValueOf(got)), value(reflect.ValueOf(want)), diff)
	}
}

// mayBreak stands where a line of the test may end.
const mayBreak = "\x00"

// filled breaks a statement into lines of some hundred characters.
func filled(statement string) string {
	var b strings.Builder
	width := 0
	for i, part := range strings.Split(statement, mayBreak) {
		switch {
		case i == 0:
		case width+1+len(part) > 96:
			b.WriteString("\n")
			width = 0
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(part)
		width += len(part)
	}
	return b.String() + "\n"
}

// literal writes a value as a Go literal. The elements of a list need no type.
func literal(v reflect.Value, typ reflect.Type, typed bool) string {
	if !v.IsValid() || v.Kind() == reflect.Slice && v.IsNil() {
		return "nil"
	}
	var parts []string
	between := "," + mayBreak
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		return float(v.Float(), v.Type().Bits())
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Struct:
		between = ", "
		for i := range v.NumField() {
			parts = append(parts, v.Type().Field(i).Name+": "+literal(v.Field(i), v.Field(i).Type(), true))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			parts = append(parts, literal(v.Index(i), typ.Elem(), false))
		}
	default:
		return fmt.Sprint(v.Interface())
	}
	text := "{" + strings.Join(parts, between) + "}"
	if typed {
		text = v.Type().String() + text
	}
	return text
}

func float(x float64, bits int) string {
	var text string
	switch {
	case math.IsNaN(x):
		text = "math.NaN()"
	case math.IsInf(x, 0):
		text = fmt.Sprintf("math.Inf(%d)", int(math.Copysign(1, x)))
	case x == 0 && math.Signbit(x):
		text = "math.Copysign(0, -1)"
	default:
		return strconv.FormatFloat(x, 'g', -1, bits)
	}
	if bits == 32 {
		text = "float32(" + text + ")"
	}
	return text
}
