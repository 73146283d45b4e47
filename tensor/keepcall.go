package tensor

import (
	endian "encoding/binary" // "binary" is a kind of operation in this package
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// How a call is written down for a later notebook cell: its attribute by its type, all
// else in one string.

// packCall writes down what of a call is plain data: the operation; the values, which
// are its operands, its result, and what else it saved; and which of them it saved.
func packCall(c *call, cast Dtype) (packed string, storages []*storage) {
	p := make(packing, 0, 256)
	p.text(c.op.name)
	p.text(c.scope)
	p.flag(c.released)
	p.number(int(cast))
	values := append(slices.Clone(c.in), c.out)
	for _, v := range c.saved {
		if !slices.Contains(values, v.tensor) {
			values = append(values, v.tensor)
		}
	}
	p.number(len(c.in))
	p.number(len(values))
	storages = make([]*storage, len(values))
	for i, x := range values {
		storages[i] = x.storage
		device := ""
		if x.storage != nil && x.storage.device != nil && x.storage.size == 0 { // see elsewhere
			storages[i], device = nil, x.storage.device.Name()
		}
		p.layout(x.layout)
		p.number(int(x.dtype))
		p.flag(x.number)
		p.text(device)
	}
	p.number(len(c.saved))
	for _, v := range c.saved {
		p.number(slices.Index(values, v.tensor))
		p.number(int(v.version))
		p.text(v.what)
	}
	return string(p), storages
}

func unpackCall(packed string, storages []*storage) (c *call, cast Dtype) {
	p := packing(packed)
	c = &call{op: opNamed(p.nextText()), scope: p.nextText(), released: p.nextFlag()}
	cast = Dtype(p.nextNumber())
	in := p.nextNumber()
	values := make([]*Tensor, p.nextNumber())
	for i := range values {
		values[i] = &Tensor{storage: storages[i], layout: p.nextLayout(), dtype: Dtype(p.nextNumber()), number: p.nextFlag()}
		if name := p.nextText(); name != "" {
			if d, err := FindDevice(name); err == nil {
				values[i].storage = &storage{device: d.backend}
			}
		}
	}
	c.in, c.out = values[:in:in], values[in]
	c.saved = make([]savedValue, p.nextNumber())
	for i := range c.saved {
		c.saved[i] = savedValue{values[p.nextNumber()], uint64(p.nextNumber()), p.nextText()}
	}
	return c, cast
}

// packing is plain data one after the other.
type packing []byte

func (p *packing) number(n int) { *p = endian.AppendVarint(*p, int64(n)) }

func (p *packing) nextNumber() int {
	v, n := endian.Varint(*p)
	*p = (*p)[n:]
	return int(v)
}

func (p *packing) flag(set bool) {
	if set {
		p.number(1)
	} else {
		p.number(0)
	}
}

func (p *packing) nextFlag() bool { return p.nextNumber() == 1 }

func (p *packing) text(s string) {
	p.number(len(s))
	*p = append(*p, s...)
}

func (p *packing) nextText() string {
	n := p.nextNumber()
	s := string((*p)[:n])
	*p = (*p)[n:]
	return s
}

func (p *packing) layout(l Layout) {
	p.number(len(l.Shape))
	for i := range l.Shape {
		p.number(l.Shape[i])
		p.number(l.Strides[i])
	}
	p.number(l.Offset)
}

func (p *packing) nextLayout() Layout {
	rank := p.nextNumber()
	both := make([]int, 2*rank)
	l := Layout{Shape: both[:rank:rank], Strides: both[rank:]}
	for i := range rank {
		l.Shape[i], l.Strides[i] = p.nextNumber(), p.nextNumber()
	}
	l.Offset = p.nextNumber()
	return l
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
