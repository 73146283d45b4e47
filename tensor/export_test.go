package tensor

// OpCase is a row of the table of operations, for tests that import packages
// which import this one.
type OpCase struct{ c opCase }

// OpTable returns the table.
func OpTable() []OpCase {
	var all []OpCase
	for _, c := range opTable() {
		all = append(all, OpCase{c})
	}
	return all
}

func (o OpCase) Name() string                                     { return o.c.name }
func (o OpCase) Run(in []*Tensor) *Tensor                         { return o.c.run(in) }
func (o OpCase) Twice() bool                                      { return o.c.second }
func (o OpCase) Dtypes() []Dtype                                  { return o.c.dtypes() }
func (o OpCase) Inputs(dtype Dtype, seed uint64) []*Tensor        { return o.c.inputs(dtype, seed) }
func Relaid(x *Tensor, draw func(n int, what string) int) *Tensor { return relaid(x, draw) }

// OpsWithGradients returns the names of the operations that have a derivative.
func OpsWithGradients() (names []string) {
	for _, o := range ops {
		for _, g := range o.gradients {
			if g.of != nil {
				names = append(names, o.name)
				break
			}
		}
	}
	return names
}
