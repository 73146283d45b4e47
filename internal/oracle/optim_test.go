package oracle_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

func TestOptim(t *testing.T) {
	ops := oracle.Ops{}
	for name, make := range map[string]func([]tensor.NamedTensor, float64, ...optim.Option) *optim.Optimizer{
		"sgd": optim.NewSGD, "lecture_sgd": optim.NewSGD, "adagrad": optim.NewAdaGrad, "lecture_adagrad": optim.NewLectureAdaGrad,
		"rmsprop": optim.NewRMSProp, "adam": optim.NewAdam, "adamw": optim.NewAdamW,
	} {
		ops["optim."+name] = func(c *oracle.Case) (any, error) { return optimize(c, make) }
	}
	oracle.Run(t, "optim", ops)
}

// torchDefaultLR is the learning rate of cases that give none.
const torchDefaultLR = 1e-3

// optimOption turns a keyword of torch.optim into an option.
func optimOption(name string, value json.RawMessage) ([]optim.Option, error) {
	var number float64
	var numbers []float64
	var flag bool
	var err error
	switch name {
	case "betas":
		err = json.Unmarshal(value, &numbers)
	case "nesterov", "amsgrad", "centered", "maximize":
		err = json.Unmarshal(value, &flag)
		if !flag {
			return nil, err
		}
	default:
		err = json.Unmarshal(value, &number)
	}
	if err != nil {
		return nil, err
	}
	options := map[string]func() optim.Option{
		"lr": func() optim.Option { return optim.LR(number) }, "momentum": func() optim.Option { return optim.Momentum(number) },
		"dampening": func() optim.Option { return optim.Dampening(number) }, "weight_decay": func() optim.Option { return optim.WeightDecay(number) },
		"eps": func() optim.Option { return optim.Eps(number) }, "alpha": func() optim.Option { return optim.Alpha(number) },
		"lr_decay":                  func() optim.Option { return optim.LRDecay(number) },
		"initial_accumulator_value": func() optim.Option { return optim.InitialAccumulator(number) },
		"betas":                     func() optim.Option { return optim.Betas(numbers[0], numbers[1]) },
		"nesterov":                  optim.Nesterov, "amsgrad": optim.AMSGrad, "centered": optim.Centered, "maximize": optim.Maximize,
	}
	option, ok := options[name]
	if !ok {
		return nil, fmt.Errorf("no option %q", name)
	}
	return []optim.Option{option()}, nil
}

func optimize(c *oracle.Case, make func([]tensor.NamedTensor, float64, ...optim.Option) *optim.Optimizer) (any, error) {
	type gradJSON struct {
		Dtype string
		Shape []int
		Data  []float64
	}
	var args struct {
		Hyper     map[string]json.RawMessage
		Steps     int
		Grads     [][]*gradJSON
		LRPerStep []float64 `json:"lr_per_step"`
		Groups    []map[string]json.RawMessage
	}
	c.DecodeArgs(&args)
	var options []optim.Option
	for name, value := range args.Hyper {
		more, err := optimOption(name, value)
		if err != nil {
			return nil, err
		}
		options = append(options, more...)
	}
	params := []tensor.NamedTensor{}
	for _, x := range toTensors(c) {
		params = append(params, tensor.Named("", x.RequireGrad()))
	}
	if len(params) == 0 { // cases about settings have no parameters
		params = append(params, tensor.Named("w", tensor.Zeros(1).RequireGrad()))
	}
	var opt *optim.Optimizer
	if len(args.Groups) == 0 {
		if err := tensor.Try(func() { opt = make(params, torchDefaultLR, options...) }); err != nil {
			return nil, err
		}
	}
	for i, group := range args.Groups {
		var own []optim.Option
		var members []tensor.NamedTensor
		for name, value := range group {
			if name == "params" {
				var numbers []int
				if err := json.Unmarshal(value, &numbers); err != nil {
					return nil, err
				}
				for _, n := range numbers {
					members = append(members, params[n])
				}
				continue
			}
			more, err := optimOption(name, value)
			if err != nil {
				return nil, err
			}
			own = append(own, more...)
		}
		if i == 0 {
			// The first group's own settings must not become the others' defaults.
			placeholder := tensor.Named("placeholder", tensor.Zeros(0).RequireGrad())
			opt = make([]tensor.NamedTensor{placeholder}, torchDefaultLR, options...)
		}
		opt.AddGroup(members, own...)
	}
	opt.AllowUnused()
	var trajectory [][]oracle.Tensor
	for step, grads := range args.Grads {
		for i, g := range grads {
			params[i].Tensor.ZeroGrad()
			if g != nil {
				params[i].Tensor.SetGrad(toTensor(oracle.Input{Dtype: g.Dtype, Shape: g.Shape, Data: g.Data}))
			}
		}
		if args.LRPerStep != nil {
			opt.SetLR(args.LRPerStep[step])
		}
		if err := tensor.Try(opt.Step); err != nil {
			return nil, err
		}
		var now []oracle.Tensor
		for _, p := range params {
			now = append(now, answer(p.Tensor.Detach()))
		}
		trajectory = append(trajectory, now)
	}
	return map[string]any{"trajectory": trajectory}, nil
}
