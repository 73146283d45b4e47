package nn

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/lectern-go/lectern/tensor"
)

// A Module is a layer or model with one input and one output. Models with other inputs
// have their own methods; the functions of this package don't require this interface.
type Module interface {
	Forward(x *tensor.Tensor) *tensor.Tensor
}

// A ModuleList is a list of modules. A plain slice works just as well: it is looked
// through, too.
type ModuleList []Module

// Mode says whether a model is being trained. A layer that behaves differently in
// training embeds it; the zero Mode is training. See [Train] and [Eval].
type Mode struct{ Evaluating bool }

// Parameters returns the tensors of a model that are trained, each once, in the order
// of its fields. It panics with a [*tensor.Error] if part of the model is out of
// reach; so do other functions that take a model.
func Parameters(model any) State {
	var all State
	seen := map[*tensor.Tensor]bool{}
	walk("parameters", model, visitor{tensor: func(name string, t *tensor.Tensor, buffer bool) {
		if !buffer && !seen[t] {
			seen[t] = true
			all = append(all, tensor.Named(name, t))
		}
	}})
	return all
}

// Trainable returns the parameters of a model that require a gradient: all but
// those that were frozen with StopGrad.
func Trainable(model any) State {
	return slices.DeleteFunc(Parameters(model), func(p tensor.NamedTensor) bool { return !p.Tensor.RequiresGrad() })
}

// NumParameters returns the number of elements of all parameters.
func NumParameters(model any) int {
	n := 0
	for _, p := range Parameters(model) {
		n += p.Tensor.Len()
	}
	return n
}

// Parameter makes t a parameter: a leaf that requires a gradient. It returns t.
func Parameter(t *tensor.Tensor) *tensor.Tensor { return t.RequireGrad() }

// ZeroGrad removes the gradients of all parameters.
func ZeroGrad(model any) {
	for _, p := range Parameters(model) {
		p.Tensor.ZeroGrad()
	}
}

// To copies the tensors of a model to a device, and converts the floating-point ones
// to a dtype, in place: optimizers and other code that holds them see the change.
// Gradients are dropped, so move a model before its optimizer makes a step. It returns
// the model.
//
//	model := nn.To(nn.NewCruncher(dim, layers), device)
func To[M any](model M, targets ...tensor.Target) M {
	for _, target := range targets {
		if dtype, ok := target.(tensor.Dtype); ok && !dtype.IsFloat() {
			fail(tensor.ErrDtype, "to", fmt.Sprintf("a model can't be %s", dtype), "give a floating-point dtype")
		}
	}
	walk("to", model, visitor{tensor: func(_ string, t *tensor.Tensor, _ bool) {
		wanted := targets
		if !t.Dtype().IsFloat() {
			wanted = append(slices.Clip(targets), t.Dtype())
		}
		if moved := t.Detach().To(wanted...); !tensor.SameStorage(moved, t) {
			t.SetData(moved)
		}
	}})
	return model
}

// Train makes all layers of a model behave as in training, which is how they start.
func Train(model any) { setMode("train", model, false) }

// Eval makes all layers of a model behave as in use: Dropout changes nothing.
func Eval(model any) { setMode("eval", model, true) }

func setMode(op string, model any, evaluating bool) {
	walk(op, model, visitor{mode: func(name string, m reflect.Value) {
		if !m.CanSet() {
			fail(ErrModel, op, fmt.Sprintf("%s is a struct in a map or interface, which can't be changed", name), "hold a pointer to it")
		}
		m.Field(0).SetBool(evaluating)
	}})
}

var (
	tensorType    = reflect.TypeFor[tensor.Tensor]()
	modeType      = reflect.TypeFor[Mode]()
	generatorType = reflect.TypeFor[*tensor.Generator]()
)

// visitor has the functions that walk calls for what it finds, with its name; nil
// functions are not called.
type visitor struct {
	tensor    func(name string, t *tensor.Tensor, buffer bool)
	mode      func(name string, mode reflect.Value)
	generator func(name string, g *tensor.Generator)
}

// walk looks through a model.
func walk(op string, model any, found visitor) {
	w := &walker{op: op, found: found, inside: map[place]string{}, names: map[string]bool{}}
	v := reflect.ValueOf(model)
	switch {
	case !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.IsNil():
		fail(ErrModel, op, "the model is nil", "")
	case v.Kind() == reflect.Struct:
		fail(ErrModel, op, fmt.Sprintf("the model, of type %s, was passed by value", v.Type()), "pass a pointer to it")
	case !mayHold(v.Type()):
		return
	}
	w.value(v, "", false)
}

// place identifies what a pointer points to: a struct and its first field have the
// same address.
type place struct {
	address uintptr
	typ     reflect.Type
}

type walker struct {
	op     string
	found  visitor
	inside map[place]string // the structs that are being looked through
	names  map[string]bool
}

func (w *walker) value(v reflect.Value, name string, buffer bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Type().Elem() == tensorType {
			w.tensor(v.Interface().(*tensor.Tensor), name, buffer)
			return
		}
		if v.Type() == generatorType {
			if w.found.generator != nil {
				w.found.generator(name, v.Interface().(*tensor.Generator))
			}
			return
		}
		at := place{v.Pointer(), v.Type()}
		if outer, ok := w.inside[at]; ok {
			fail(ErrModel, w.op, fmt.Sprintf("%s leads back to %s, which contains it", quoted(name), quoted(outer)),
				"leave out a field that points upwards with the tag nn:\"-\"")
		}
		w.inside[at] = name
		w.value(v.Elem(), name, buffer)
		delete(w.inside, at)
	case reflect.Interface:
		if !v.IsNil() {
			w.value(v.Elem(), name, buffer)
		}
	case reflect.Struct:
		switch v.Type() {
		case tensorType:
			fail(ErrModel, w.op, fmt.Sprintf("%s is a tensor.Tensor by value", quoted(name)), "hold a *tensor.Tensor")
		case modeType:
			if w.found.mode != nil {
				w.found.mode(name, v)
			}
		default:
			w.fields(v, name, buffer)
		}
	case reflect.Slice, reflect.Array:
		if mayHold(v.Type().Elem()) {
			for i := range v.Len() {
				w.value(v.Index(i), join(name, strconv.Itoa(i)), buffer)
			}
		}
	case reflect.Map:
		w.entries(v, name, buffer)
	}
}

func (w *walker) tensor(t *tensor.Tensor, name string, buffer bool) {
	if w.names[name] {
		fail(ErrModel, w.op, fmt.Sprintf("two tensors have the name %s", quoted(name)), "give one of the fields another name with a tag, nn:\"name\"")
	}
	w.names[name] = true
	if w.found.tensor != nil {
		w.found.tensor(name, t, buffer || !t.Dtype().IsFloat())
	}
}

func (w *walker) fields(v reflect.Value, name string, buffer bool) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag, tagged := field.Tag.Lookup("nn")
		if tag == "-" || !mayHold(field.Type) {
			continue
		}
		embedded := field.Anonymous && (field.Type.Kind() == reflect.Struct || field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct)
		if !field.IsExported() && !embedded {
			if inside := (&finder{seen: map[place]bool{}}).find(v.Field(i), field.Name); inside != "" {
				fail(ErrModel, w.op, fmt.Sprintf("field %s of %s holds %s but is not exported, so it would be missed", field.Name, v.Type(), inside),
					"write the field's name with a capital letter, or leave it out with the tag nn:\"-\"")
			}
			continue
		}
		own, option, _ := strings.Cut(tag, ",")
		if tagged && option != "" && option != "buffer" {
			fail(ErrModel, w.op, fmt.Sprintf("the tag of field %s of %s has the option %q", field.Name, v.Type(), option), "the only option is buffer")
		}
		path := name
		if own == "" && !field.Anonymous {
			own = snake(field.Name)
		}
		if own != "" {
			path = join(name, own)
		}
		w.value(v.Field(i), path, buffer || option == "buffer")
	}
}

// entries looks through a map in the order of its keys: numbers by size.
func (w *walker) entries(v reflect.Value, name string, buffer bool) {
	if !mayHold(v.Type().Elem()) || v.Len() == 0 {
		return
	}
	keys := v.MapKeys()
	kind := v.Type().Key().Kind()
	switch {
	case kind == reflect.String:
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	case keys[0].CanInt():
		slices.SortFunc(keys, func(a, b reflect.Value) int { return int(a.Int()) - int(b.Int()) })
	default:
		fail(ErrModel, w.op, fmt.Sprintf("%s is a map with keys of type %s, which give no names", quoted(name), v.Type().Key()), "use strings or integers as keys")
	}
	for _, key := range keys {
		text := fmt.Sprint(key)
		if text == "" || strings.Contains(text, ".") {
			fail(ErrModel, w.op, fmt.Sprintf("%s has the key %q, which can't be part of a dotted name", quoted(name), text), "use a key without dots")
		}
		w.value(v.MapIndex(key), join(name, text), buffer)
	}
}

// finder looks for tensors in values that can be read but not handed out.
type finder struct{ seen map[place]bool }

// find returns what it found and where, or "".
func (f *finder) find(v reflect.Value, name string) string {
	if !mayHold(v.Type()) {
		return ""
	}
	switch v.Kind() {
	case reflect.Pointer:
		at := place{v.Pointer(), v.Type()}
		if v.IsNil() || f.seen[at] {
			return ""
		}
		f.seen[at] = true
		return f.find(v.Elem(), name)
	case reflect.Interface:
		if !v.IsNil() {
			return f.find(v.Elem(), name)
		}
	case reflect.Struct:
		switch v.Type() {
		case tensorType:
			return "a tensor (" + name + ")"
		case modeType:
			return "a layer that can be switched to Eval (" + name + ")"
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("nn") == "-" {
				continue
			}
			if found := f.find(v.Field(i), name+"."+v.Type().Field(i).Name); found != "" {
				return found
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if found := f.find(v.Index(i), fmt.Sprintf("%s[%d]", name, i)); found != "" {
				return found
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if found := f.find(v.MapIndex(key), fmt.Sprintf("%s[%v]", name, key)); found != "" {
				return found
			}
		}
	}
	return ""
}

var holding sync.Map // reflect.Type to bool

// mayHold reports whether values of a type can contain tensors, Modes or generators.
// Any interface can.
func mayHold(t reflect.Type) bool {
	if known, ok := holding.Load(t); ok {
		return known.(bool)
	}
	result := typeHolds(t, map[reflect.Type]bool{})
	holding.Store(t, result)
	return result
}

func typeHolds(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == generatorType {
		return true
	}
	if seen[t] {
		return false // the type that is being asked about decides
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return typeHolds(t.Elem(), seen)
	case reflect.Struct:
		if t == tensorType || t == modeType {
			return true
		}
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("nn") != "-" && typeHolds(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

func join(name, part string) string {
	if name == "" {
		return part
	}
	return name + "." + part
}

func quoted(name string) string {
	if name == "" {
		return "the model itself"
	}
	return strconv.Quote(name)
}

// snake writes a field's name in PyTorch's style: QProj is q_proj, W1 is w1 and
// MLPNorm is mlp_norm.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) && runes[i-1] != '_' {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
