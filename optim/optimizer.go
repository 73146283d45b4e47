package optim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// Settings are the numbers that control an algorithm. Each algorithm uses some of them.
type Settings struct {
	LR                 float64
	Momentum           float64
	Dampening          float64
	Nesterov           bool
	WeightDecay        float64
	Beta1, Beta2       float64 // of Adam: how much of the old averages is kept
	Alpha              float64 // of RMSProp: the same
	Eps                float64
	AMSGrad            bool
	Centered           bool
	LRDecay            float64
	InitialAccumulator float64
	Maximize           bool
	MasterWeights      bool
}

// An Option is a setting that differs from its default.
type Option struct {
	name string
	set  func(*Settings)
}

// LR sets the learning rate of a group; the constructors take it directly.
func LR(lr float64) Option { return Option{"lr", func(s *Settings) { s.LR = lr }} }

// Momentum makes SGD and RMSProp average the steps: buf = m·buf + step.
func Momentum(m float64) Option { return Option{"momentum", func(s *Settings) { s.Momentum = m }} }

// Dampening multiplies what goes into SGD's average by 1-d.
func Dampening(d float64) Option { return Option{"dampening", func(s *Settings) { s.Dampening = d }} }

// Nesterov makes SGD look ahead along its average.
func Nesterov() Option { return Option{"nesterov", func(s *Settings) { s.Nesterov = true }} }

// WeightDecay pulls weights toward 0: by adding decay·p to the gradient or, in AdamW,
// separately from it.
func WeightDecay(decay float64) Option {
	return Option{"weight_decay", func(s *Settings) { s.WeightDecay = decay }}
}

// Betas sets how much Adam keeps of its averages of the gradient and of its
// square.
func Betas(beta1, beta2 float64) Option {
	return Option{"betas", func(s *Settings) { s.Beta1, s.Beta2 = beta1, beta2 }}
}

// Alpha sets how much RMSProp keeps of its average.
func Alpha(a float64) Option { return Option{"alpha", func(s *Settings) { s.Alpha = a }} }

// Eps sets the number that keeps divisors away from 0.
func Eps(eps float64) Option { return Option{"eps", func(s *Settings) { s.Eps = eps }} }

// AMSGrad makes Adam divide by the largest average so far.
func AMSGrad() Option { return Option{"amsgrad", func(s *Settings) { s.AMSGrad = true }} }

// Centered makes RMSProp divide by the standard deviation of the gradient instead
// of its root mean square.
func Centered() Option { return Option{"centered", func(s *Settings) { s.Centered = true }} }

// LRDecay makes AdaGrad divide the learning rate by 1 + decay·(step-1).
func LRDecay(decay float64) Option {
	return Option{"lr_decay", func(s *Settings) { s.LRDecay = decay }}
}

// InitialAccumulator sets the sum that AdaGrad starts from.
func InitialAccumulator(v float64) Option {
	return Option{"initial_accumulator_value", func(s *Settings) { s.InitialAccumulator = v }}
}

// Maximize follows the gradient upwards.
func Maximize() Option { return Option{"maximize", func(s *Settings) { s.Maximize = true }} }

// MasterWeights keeps a float32 copy of parameters of small floats. Steps change the
// copy, and the parameter is the copy rounded.
func MasterWeights() Option {
	return Option{"master_weights", func(s *Settings) { s.MasterWeights = true }}
}

// Params makes a list of parameters from tensors that belong to no model:
//
//	opt := optim.NewSGD(optim.Params(w, b), 0.1)
//	optim.ClipGradNorm(optim.Params(w, b), 1)
//
// Those that are nil, such as the bias of a layer that has none, are left out. An optimizer gives them names.
func Params(tensors ...*tensor.Tensor) []tensor.NamedTensor {
	var all []tensor.NamedTensor
	for _, t := range tensors {
		if t != nil {
			all = append(all, tensor.NamedTensor{Tensor: t})
		}
	}
	return all
}

// An Optimizer changes parameters by their gradients. Make one with [NewSGD],
// [NewAdamW] and so on.
type Optimizer struct {
	groups      []*Group
	algorithm   string
	defaults    Settings
	allowUnused bool
}

// String returns the algorithm and, for each group, its learning rate and how many
// parameters it has.
func (o *Optimizer) String() string {
	var b strings.Builder
	b.WriteString(o.algorithm + ", parameters: ")
	for i, g := range o.groups {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d with lr %g", len(g.params), g.LR)
	}
	return b.String()
}

// A Group is a set of parameters that share settings, which may be changed between steps.
type Group struct {
	Settings
	params     []tensor.NamedTensor
	slots      []*slot // by parameter
	proportion float64 // of its learning rate to the optimizer's
}

// slot is what is known about one parameter besides its value.
type slot struct {
	steps  int
	state  []*tensor.Tensor // by the algorithm's names; nil until the first step
	master *tensor.Tensor   // nil unless the group keeps master weights and the parameter is small
}

// AllowUnused makes Step skip parameters without gradients, leaving their state as it
// is, instead of panicking. It returns o.
func (o *Optimizer) AllowUnused() *Optimizer {
	o.allowUnused = true
	return o
}

func fail(kind error, op, reason, hint string) {
	(&tensor.Error{Package: "optim", Kind: kind, Op: op, Reason: reason, Hint: hint}).Panic()
}

func newOptimizer(name string, params []tensor.NamedTensor, lr float64, options []Option) *Optimizer {
	a := algorithms[name]
	o := &Optimizer{algorithm: name, defaults: a.defaults}
	o.defaults.LR = lr
	o.apply(&o.defaults, options)
	if len(params) == 0 {
		fail(tensor.ErrValue, name, "there are no parameters", "pass nn.Parameters(model), or optim.Params(w, b)")
	}
	o.AddGroup(params)
	return o
}

// AddGroup adds parameters with their own settings; settings without an option are the
// optimizer's. It returns o. It panics if a parameter is already there or requires no
// gradient, or if the algorithm has no such option.
func (o *Optimizer) AddGroup(params []tensor.NamedTensor, options ...Option) *Optimizer {
	g := &Group{Settings: o.defaults, params: slices.Clone(params), proportion: 1}
	o.apply(&g.Settings, options)
	if o.defaults.LR > 0 {
		g.proportion = g.LR / o.defaults.LR
	}
	seen, names := map[*tensor.Tensor]string{}, map[string]bool{}
	for _, other := range o.groups {
		for _, p := range other.params {
			seen[p.Tensor], names[p.Name] = p.Name, true
		}
	}
	for i, p := range g.params {
		if p.Name == "" || names[p.Name] { // two models may have the same names
			g.params[i].Name = fmt.Sprintf("group%d.%d%s", len(o.groups), i, p.Name)
		}
		names[g.params[i].Name] = true
		switch first, twice := seen[p.Tensor]; {
		case p.Tensor == nil:
			fail(tensor.ErrValue, o.algorithm, fmt.Sprintf("parameter %q is nil", g.params[i].Name), "")
		case !p.Tensor.RequiresGrad() || !p.Tensor.IsLeaf():
			fail(tensor.ErrGrad, o.algorithm, fmt.Sprintf("parameter %q is not a leaf that requires a gradient, so it would never change", g.params[i].Name),
				"call RequireGrad on it, or pass nn.Trainable(model), which leaves frozen ones out")
		case twice:
			fail(tensor.ErrValue, o.algorithm, fmt.Sprintf("parameter %q is there twice, first as %q", g.params[i].Name, first), "")
		}
		seen[p.Tensor] = g.params[i].Name
		g.slots = append(g.slots, &slot{})
	}
	o.groups = append(o.groups, g)
	return o
}

// apply changes settings by options and checks the result.
func (o *Optimizer) apply(s *Settings, options []Option) {
	a := algorithms[o.algorithm]
	for _, option := range options {
		if !slices.Contains(a.options, option.name) && !slices.Contains(commonOptions, option.name) {
			fail(tensor.ErrValue, o.algorithm, fmt.Sprintf("it has no option %s", option.name),
				"it has "+strings.Join(append(slices.Clone(a.options), commonOptions...), ", "))
		}
		option.set(s)
	}
	s.check(o.algorithm)
}

var commonOptions = []string{"lr", "maximize", "master_weights"}

// check panics if a setting is out of its range.
func (s *Settings) check(op string) {
	for _, v := range []struct {
		name   string
		value  float64
		below1 bool
	}{
		{name: "lr", value: s.LR}, {name: "momentum", value: s.Momentum}, {name: "weight_decay", value: s.WeightDecay},
		{name: "beta1", value: s.Beta1, below1: true}, {name: "beta2", value: s.Beta2, below1: true}, {name: "alpha", value: s.Alpha},
		{name: "eps", value: s.Eps}, {name: "lr_decay", value: s.LRDecay}, {name: "initial_accumulator_value", value: s.InitialAccumulator},
	} {
		if !(v.value >= 0) || v.below1 && v.value >= 1 {
			limit := "at least 0"
			if v.below1 {
				limit = "from 0 to less than 1"
			}
			fail(tensor.ErrValue, op, fmt.Sprintf("%s is %g and must be %s", v.name, v.value, limit), "")
		}
	}
	if s.Nesterov && (s.Momentum == 0 || s.Dampening != 0) {
		fail(tensor.ErrValue, op, fmt.Sprintf("nesterov needs a momentum and no dampening, and they are %g and %g", s.Momentum, s.Dampening), "")
	}
}

// Groups returns the groups, in the order in which they were added. Their settings may
// be changed.
func (o *Optimizer) Groups() []*Group { return o.groups }

// Params returns the parameters of the group.
func (g *Group) Params() []tensor.NamedTensor { return slices.Clone(g.params) }

// SetLR sets the learning rate, typically from a schedule. Groups that were added with
// a different learning rate keep its ratio to the optimizer's.
func (o *Optimizer) SetLR(lr float64) {
	for _, g := range o.groups {
		g.LR = lr * g.proportion
	}
}

// ZeroGrad removes the gradients of all parameters, or, if setToNil is false, sets
// them to 0, which keeps their memory.
func (o *Optimizer) ZeroGrad(setToNil bool) {
	for _, g := range o.groups {
		for _, p := range g.params {
			if setToNil {
				p.Tensor.ZeroGrad()
			} else if grad := raw.Grad(p.Tensor); grad != nil {
				grad.Zero()
			}
		}
	}
}

// Step changes every parameter by its gradient. It panics if parameters have none,
// naming them, unless [Optimizer.AllowUnused] was called, and if a setting is out of
// its range; in these cases nothing has changed.
func (o *Optimizer) Step() {
	var missing []string
	count := 0
	for _, g := range o.groups {
		g.Settings.check(o.algorithm)
		count += len(g.params)
		for _, p := range g.params {
			if raw.Grad(p.Tensor) == nil {
				missing = append(missing, p.Name)
			}
		}
	}
	switch {
	case len(missing) == 0 || o.allowUnused:
	case len(missing) == count:
		fail(tensor.ErrGrad, o.algorithm+" step", "no parameter has a gradient", "call Backward on the loss before Step")
	default:
		more := ""
		if len(missing) > 8 {
			more = fmt.Sprintf(" and %d more", len(missing)-8)
			missing = missing[:8]
		}
		fail(tensor.ErrGrad, o.algorithm+" step", "no gradient for "+strings.Join(missing, ", ")+more,
			"the loss does not depend on these; leave them out, or call AllowUnused to pass over them")
	}
	tensor.NoGrad(func() {
		var waiting []later
		for _, g := range o.groups {
			for i, p := range g.params {
				if grad := raw.Grad(p.Tensor); grad != nil {
					o.update(g, g.slots[i], p.Tensor, grad, &waiting)
				}
			}
		}
		for i := range waiting {
			waiting[i].do()
		}
	})
}
