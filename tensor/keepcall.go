package tensor

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/lectern-go/lectern/tensor/internal/packed"
)

// How a call is written down for a later notebook cell: its attribute by its type, all
// else in one string.

// packCall writes down what of a call is plain data: the operation; the values, which
// are its operands, its result, and what else it saved; and which of them it saved.
func packCall(c *call, cast Dtype) (text string, storages []*storage) {
	p := make(packed.Data, 0, 256)
	p.PutText(c.op.name)
	p.PutText(c.scope)
	p.PutFlag(c.released)
	p.PutInt(int(cast))
	values := append(slices.Clone(c.in), c.out)
	for _, v := range c.saved {
		if !slices.Contains(values, v.tensor) {
			values = append(values, v.tensor)
		}
	}
	p.PutInt(len(c.in))
	p.PutInt(len(values))
	storages = make([]*storage, len(values))
	for i, x := range values {
		storages[i] = x.storage
		device := ""
		if x.storage != nil && x.storage.device != nil && x.storage.size == 0 { // see elsewhere
			storages[i], device = nil, x.storage.device.Name()
		}
		p.PutLayout(x.layout)
		p.PutInt(int(x.dtype))
		p.PutFlag(x.number)
		p.PutText(device)
	}
	p.PutInt(len(c.saved))
	for _, v := range c.saved {
		p.PutInt(slices.Index(values, v.tensor))
		p.PutInt(int(v.version))
		p.PutText(v.what)
	}
	return string(p), storages
}

func unpackCall(text string, storages []*storage) (c *call, cast Dtype) {
	p := packed.Data(text)
	c = &call{op: opNamed(p.Text()), scope: p.Text(), released: p.Flag()}
	cast = Dtype(p.Int())
	in := p.Int()
	values := make([]*Tensor, p.Int())
	for i := range values {
		values[i] = &Tensor{storage: storages[i], layout: p.Layout(), dtype: Dtype(p.Int()), number: p.Flag()}
		if name := p.Text(); name != "" {
			if d, err := FindDevice(name); err == nil {
				values[i].storage = &storage{device: d.backend}
			}
		}
	}
	c.in, c.out = values[:in:in], values[in]
	c.saved = make([]savedValue, p.Int())
	for i := range c.saved {
		c.saved[i] = savedValue{values[p.Int()], uint64(p.Int()), p.Text()}
	}
	return c, cast
}

// opNamed returns an operation by its name.
func opNamed(name string) *op { return opNames()[name] }

var opNames = sync.OnceValue(func() map[string]*op {
	named := make(map[string]*op, len(ops))
	for _, o := range ops {
		named[o.name] = o
	}
	return named
})

// keptAttr is an attribute of a call: the field of its type points to it. An
// attribute of another type can't be kept, until it gets a field here.
type keptAttr struct {
	Int       *int
	Float     *float64
	Dtype     *Dtype
	Place     *keptPlacement
	View      **relayout
	Spread    *spread
	Window    *window
	Reduced   *reduced
	Variance  *variance
	Bounds    *bounds
	Instead   *substitutes
	Norm      *rowNorm
	Selection *selection
	Gathering *gathering
	Classes   *classes
	Value     **Tensor
	Rows      *rowMajorOrder
	Attention **attention
}

// keptPlacement is a placement, whose device has to be found again.
type keptPlacement struct {
	Dtype  Dtype
	Device string
}

// attrFields has the fields of keptAttr by the type that they point to.
var attrFields = sync.OnceValue(func() map[reflect.Type]int {
	fields := map[reflect.Type]int{}
	for i, t := 0, reflect.TypeFor[keptAttr](); i < t.NumField(); i++ {
		fields[t.Field(i).Type.Elem()] = i
	}
	return fields
})

func keepAttr(attr any) *keptAttr {
	if p, ok := attr.(placement); ok {
		attr = keptPlacement{p.dtype, p.device.String()}
	}
	v := reflect.ValueOf(attr)
	i, ok := attrFields()[v.Type()]
	if !ok {
		panic(fmt.Sprintf("tensor: there is no field for a %T in keptAttr", attr))
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	k := new(keptAttr)
	reflect.ValueOf(k).Elem().Field(i).Set(p)
	return k
}

func (k *keptAttr) value() any {
	if k.Place != nil {
		device, _ := FindDevice(k.Place.Device) // a program that does not know it goes on with the processor
		return placement{k.Place.Dtype, device}
	}
	v := reflect.ValueOf(k).Elem()
	for i := range v.NumField() {
		if p := v.Field(i); !p.IsNil() {
			return p.Elem().Interface()
		}
	}
	return nil
}
