package oracle_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

func TestNN(t *testing.T) { oracle.Run(t, "nn", nnOps()) }

func nnOps() oracle.Ops {
	return oracle.Ops{
		"mse_loss": loss(nn.MSE), "l1_loss": loss(nn.L1), "bce_with_logits": loss(nn.BCEWithLogits),
		"cross_entropy": loss(nn.CrossEntropy), "nll_loss": loss(nn.NLL),
		"linear": layer(func(in []*tensor.Tensor) *tensor.Tensor {
			return nn.Affine(in[0], in[1], third(in))
		}),
		"embedding": layer(func(in []*tensor.Tensor) *tensor.Tensor { return (&nn.Embedding{Weight: in[0]}).Forward(in[1]) }),
		"silu":      layer(func(in []*tensor.Tensor) *tensor.Tensor { return nn.SiLU{}.Forward(in[0]) }),
		"gelu_tanh": layer(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].GELUTanh() }),
		"gelu":      layer(func(in []*tensor.Tensor) *tensor.Tensor { return nn.GELU{}.Forward(in[0]) }),
		"relu":      layer(func(in []*tensor.Tensor) *tensor.Tensor { return nn.ReLU{}.Forward(in[0]) }),
		"tanh":      layer(func(in []*tensor.Tensor) *tensor.Tensor { return nn.Tanh{}.Forward(in[0]) }),
		"sigmoid":   layer(func(in []*tensor.Tensor) *tensor.Tensor { return nn.Sigmoid{}.Forward(in[0]) }),
		"softplus":  layer(func(in []*tensor.Tensor) *tensor.Tensor { return nn.Softplus(in[0]) }),
		"softmax":   alongDim((*tensor.Tensor).Softmax), "log_softmax": alongDim((*tensor.Tensor).LogSoftmax),
		"layer_norm": layerNorm, "rms_norm": rmsNorm, "cruncher": cruncher,
		"clip_grad_norm": clipGradNorm, "grad_scaler": gradScaler, "grad_unscale": gradUnscale,
		"init.xavier_uniform": initialValues, "init.xavier_normal": initialValues, "init.kaiming_uniform": initialValues,
		"init.kaiming_normal": initialValues, "init.trunc_normal": initialValues, "init.lecture_linear": initialValues,
		"accounting": accountingCase,
	}
}

func third(in []*tensor.Tensor) *tensor.Tensor {
	if len(in) > 2 {
		return in[2]
	}
	return nil
}

// compute runs f and returns its tensor, or the library's error.
func compute(f func() *tensor.Tensor) (any, error) {
	var y *tensor.Tensor
	if err := tensor.Try(func() { y = f() }); err != nil {
		return nil, err
	}
	return answer(y), nil
}

func layer(f func(in []*tensor.Tensor) *tensor.Tensor) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		c.DecodeArgs(&struct{}{})
		return compute(func() *tensor.Tensor { return f(toTensors(c)) })
	}
}

func loss(f func(x, y *tensor.Tensor, options ...nn.LossOption) *tensor.Tensor) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct {
			Reduction      string
			IgnoreIndex    *int    `json:"ignore_index"`
			LabelSmoothing float64 `json:"label_smoothing"`
			SoftTargets    given   `json:"soft_targets"`
			Weight         given
		}
		c.DecodeArgs(&args)
		options := []nn.LossOption{nn.LabelSmoothing(args.LabelSmoothing)}
		if args.IgnoreIndex != nil {
			options = append(options, nn.IgnoreIndex(*args.IgnoreIndex))
		}
		reductions := map[string]nn.Reduction{"": nn.MeanLoss, "mean": nn.MeanLoss, "sum": nn.SumLoss, "none": nn.EachLoss}
		reduction, ok := reductions[args.Reduction]
		if !ok {
			return nil, fmt.Errorf("no reduction %q", args.Reduction)
		}
		in := toTensors(c)
		target, rest := in[0], in[1:]
		if args.SoftTargets.list != nil {
			target = tensor.With(in[0].Dtype()).Of(args.SoftTargets.list).View(in[0].Shape()...)
		} else if len(rest) > 0 {
			target, rest = rest[0], rest[1:]
		}
		if args.SoftTargets.yes != target.Dtype().IsFloat() && args.SoftTargets.asked {
			return nil, fmt.Errorf("soft_targets is %v and the target %s", args.SoftTargets.yes, target.Dtype())
		}
		switch {
		case args.Weight.list != nil:
			options = append(options, nn.ClassWeights(tensor.With(in[0].Dtype()).Of(args.Weight.list)))
		case args.Weight.yes && len(rest) == 0:
			return nil, errors.New("the case has a weight and no input for it")
		case len(rest) > 0 && args.Weight.asked:
			options = append(options, nn.ClassWeights(rest[0]))
		}
		return compute(func() *tensor.Tensor { return f(in[0], target, append(options, reduction)...) })
	}
}

// given is an argument that is a list of numbers, however nested, or says that
// there is an input for it.
type given struct {
	asked, yes bool
	list       []float64
}

func (g *given) UnmarshalJSON(text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil || value == nil {
		return err
	}
	g.asked = true
	var add func(v any) error
	add = func(v any) error {
		switch v := v.(type) {
		case float64:
			g.list = append(g.list, v)
		case []any:
			for _, item := range v {
				if err := add(item); err != nil {
					return err
				}
			}
		case map[string]any:
			return add(v["data"])
		case bool:
			g.yes = v
		case string: // the name of the input
			g.yes = true
		default:
			return fmt.Errorf("%T among the numbers", v)
		}
		return nil
	}
	err := add(value)
	g.yes = g.yes || g.list != nil
	return err
}

func alongDim(f func(x *tensor.Tensor, axis int) *tensor.Tensor) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct{ Dim int }
		c.DecodeArgs(&args)
		return compute(func() *tensor.Tensor { return f(toTensor(c.Inputs[0]), args.Dim) })
	}
}

func layerNorm(c *oracle.Case) (any, error) {
	var args struct {
		Shape []int `json:"normalized_shape"`
		Eps   float64
	}
	c.DecodeArgs(&args)
	in := append(toTensors(c), nil, nil)
	return compute(func() *tensor.Tensor { return nn.Standardize(in[0], args.Shape, in[1], in[2], args.Eps) })
}

func rmsNorm(c *oracle.Case) (any, error) {
	var args struct{ Eps float64 }
	c.DecodeArgs(&args)
	in := toTensors(c)
	return compute(func() *tensor.Tensor { return nn.RMS(in[0], in[1], args.Eps) })
}

func cruncher(c *oracle.Case) (any, error) {
	var args struct {
		Layers int      `json:"num_layers"`
		Names  []string `json:"param_names"`
	}
	c.DecodeArgs(&args)
	in := toTensors(c)
	model := nn.To(nn.NewCruncher(in[0].Size(1), args.Layers), tensor.Float64)
	state := map[string]*tensor.Tensor{}
	for i, name := range args.Names {
		state[name] = in[i+1]
	}
	if err := nn.LoadStateDict(model, state); err != nil {
		return nil, err
	}
	return compute(func() *tensor.Tensor { return model.Forward(in[0]).Detach() })
}

// withGrads makes parameters whose gradients are the inputs.
func withGrads(c *oracle.Case) []tensor.NamedTensor {
	var params []tensor.NamedTensor
	for i, g := range toTensors(c) {
		p := tensor.With(g.Dtype()).Zeros(g.Shape()...).RequireGrad()
		p.SetGrad(g)
		params = append(params, tensor.Named(fmt.Sprint(i), p))
	}
	return params
}

func grads(params []tensor.NamedTensor) []oracle.Tensor {
	var all []oracle.Tensor
	for _, p := range params {
		all = append(all, answer(p.Tensor.Grad()))
	}
	return all
}

func clipGradNorm(c *oracle.Case) (any, error) {
	var args struct {
		Max  float64 `json:"max_norm"`
		Type any     `json:"norm_type"`
	}
	c.DecodeArgs(&args)
	kind, ok := args.Type.(float64)
	if !ok {
		kind = math.Inf(1)
	}
	params := withGrads(c)
	total := optim.ClipGradNorm(params, args.Max, kind)
	return map[string]any{"total_norm": total, "grads": grads(params)}, nil
}

func gradUnscale(c *oracle.Case) (any, error) {
	var args struct{ Scale float64 }
	c.DecodeArgs(&args)
	params := withGrads(c)
	s := optim.NewGradScaler(optim.ScalerSettings{InitialScale: args.Scale})
	finite := s.Unscale(optim.NewSGD(params, 1))
	return map[string]any{"found_inf": !finite, "grads": grads(params)}, nil
}

func gradScaler(c *oracle.Case) (any, error) {
	var args struct {
		InitialScale   float64 `json:"init_scale"`
		GrowthFactor   float64 `json:"growth_factor"`
		BackoffFactor  float64 `json:"backoff_factor"`
		GrowthInterval int     `json:"growth_interval"`
		FoundInf       []bool  `json:"found_inf"`
	}
	c.DecodeArgs(&args)
	w := tensor.Named("w", tensor.Zeros(1).RequireGrad())
	opt := optim.NewSGD([]tensor.NamedTensor{w}, 1)
	var states [][]float64
	var stepped []bool
	err := tensor.Try(func() {
		s := optim.NewGradScaler(optim.ScalerSettings{InitialScale: args.InitialScale, GrowthFactor: args.GrowthFactor, BackoffFactor: args.BackoffFactor, GrowthInterval: args.GrowthInterval})
		for _, overflow := range args.FoundInf {
			if s.CurrentScale() < 1e-30 { // its inverse is no float32, so no gradient stays finite
				s.UpdateWith(overflow)
				stepped = append(stepped, !overflow)
			} else {
				w.Tensor.SetGrad(tensor.Ones(1))
				if overflow {
					w.Tensor.SetGrad(tensor.Full(math.Inf(1), 1))
				}
				stepped = append(stepped, s.Step(opt))
				s.Update()
			}
			states = append(states, []float64{s.CurrentScale(), float64(s.GrowthTracker())})
		}
	})
	if err != nil {
		return nil, err
	}
	return map[string]any{"scale_and_tracker_after_update": states, "optimizer_stepped": stepped}, nil
}

// initialValues checks the moments of many numbers and, of bounded ones, that none
// is out of bounds.
func initialValues(c *oracle.Case) (any, error) {
	var args struct {
		Shape           []int
		Gain            float64
		Mode            string
		Nonlinearity    string
		Mean, Std, A, B float64
		InputDim        int `json:"input_dim"`
		OutputDim       int `json:"output_dim"`
	}
	c.DecodeArgs(&args)
	fan := nn.FanIn
	if args.Mode == "fan_out" {
		fan = nn.FanOut
	}
	g := tensor.NewGenerator(11)
	draw := map[string]func(w *tensor.Tensor){
		"init.xavier_uniform":  func(w *tensor.Tensor) { nn.XavierUniform(w, args.Gain, g) },
		"init.xavier_normal":   func(w *tensor.Tensor) { nn.XavierNormal(w, args.Gain, g) },
		"init.kaiming_uniform": func(w *tensor.Tensor) { nn.KaimingUniform(w, fan, nn.Gain(args.Nonlinearity), g) },
		"init.kaiming_normal":  func(w *tensor.Tensor) { nn.KaimingNormal(w, fan, nn.Gain(args.Nonlinearity), g) },
		"init.trunc_normal":    func(w *tensor.Tensor) { w.TruncNormalInPlace(args.Mean, args.Std, args.A, args.B, g) },
		"init.lecture_linear":  func(w *tensor.Tensor) { w.CopyFrom(nn.NewDense(args.InputDim, args.OutputDim, g).Weight.Detach()) },
	}[c.Op]
	shape := args.Shape
	switch c.Op {
	case "init.trunc_normal":
		shape = []int{1000}
	case "init.lecture_linear":
		shape = []int{args.InputDim, args.OutputDim}
	}
	w := tensor.Zeros(shape...)
	var all []float64
	for len(all) < 100_000 {
		if err := tensor.Try(func() { draw(w) }); err != nil {
			return nil, err
		}
		all = append(all, w.Floats()...)
	}
	return oracle.Check(func() error {
		var want struct {
			FanIn           *int `json:"fan_in"`
			FanOut          *int `json:"fan_out"`
			Mean            float64
			Std, Var        *float64
			Bound, Min, Max *float64
		}
		c.DecodeExpect(&want)
		if want.FanIn != nil {
			if in, out := nn.Fans(w); in != *want.FanIn || out != *want.FanOut {
				return fmt.Errorf("fans %d and %d, want %d and %d", in, out, *want.FanIn, *want.FanOut)
			}
		}
		if want.Bound != nil {
			low := -*want.Bound
			want.Min, want.Max = &low, want.Bound
		}
		if want.Std != nil {
			v := *want.Std * *want.Std
			want.Var = &v
		}
		return checkMoments(all, want.Mean, *want.Var, want.Min, want.Max)
	}), nil
}

// checkMoments compares within five standard errors. The fourth moment, which the
// error of the variance depends on, is at most three variances squared here.
func checkMoments(x []float64, mean, variance float64, low, high *float64) error {
	n := float64(len(x))
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += (v - mean) * (v - mean)
		if low != nil && (v < *low*(1+1e-6) && *low < 0 || v < *low-1e-6 || v > *high+1e-6) {
			return fmt.Errorf("%v is outside [%v, %v]", v, *low, *high)
		}
	}
	if off := math.Abs(sum/n - mean); off > 5*math.Sqrt(variance/n) {
		return fmt.Errorf("mean %v, want %v: %.1f standard errors off", sum/n, mean, off/math.Sqrt(variance/n))
	}
	if off := math.Abs(squares/n - variance); off > 5*variance*math.Sqrt(2/n) {
		return fmt.Errorf("variance %v, want %v: %.1f standard errors off", squares/n, variance, off/(variance*math.Sqrt(2/n)))
	}
	return nil
}

// accountingCase measures where a model can be measured, and computes where the
// sizes are those of a cluster.
func accountingCase(c *oracle.Case) (any, error) {
	var args struct {
		What      string
		Shape     []int
		Dtype     string
		B, D, K   int
		Params    float64
		Tokens    float64
		Dim       int
		NumLayers int `json:"num_layers"`
	}
	c.DecodeArgs(&args)
	var value float64
	switch args.What {
	case "memory_bytes":
		dtype, err := dtypeOf(cmp.Or(args.Dtype, "float32"))
		if err != nil {
			return nil, err
		}
		one := tensor.With(dtype).Zeros() // an expanded view, as the shape may be that of a cluster's model
		value = float64(one.Expand(args.Shape...).Bytes())
	case "matmul_flops":
		value = accounting.MatmulFLOPs(float64(args.B), float64(args.D), float64(args.K))
		if value < 1e9 {
			if ran := ranFLOPs(func() { tensor.Ones(args.B, args.D).Matmul(tensor.Ones(args.D, args.K)) }); ran != value {
				return nil, fmt.Errorf("the formula gives %g FLOPs, the product counts %g", value, ran)
			}
		}
	case "train_memory_bytes_fp32_adagrad":
		value = float64(accounting.TrainingMemory{Batch: args.B, Width: args.D, Layers: args.NumLayers, StatePerParameter: 1}.Total())
	case "train_flops":
		value = accounting.TrainingFLOPs(args.Params, args.Tokens)
	case "cruncher_params":
		value = float64(nn.NumParameters(nn.NewCruncher(args.Dim, args.NumLayers)))
	case "two_layer_forward_flops", "two_layer_backward_flops":
		forward, backward, xGrad := accounting.TwoLayerFLOPs(float64(args.B), float64(args.D), float64(args.K))
		if forward > 1e10 { // too much to run: the sizes are those of a cluster
			value = forward
			if args.What == "two_layer_backward_flops" {
				value = backward + xGrad
			}
			break
		}
		x := tensor.Ones(args.B, args.D).RequireGrad() // the case counts x.grad, too
		w1, w2 := tensor.Ones(args.D, args.D).RequireGrad(), tensor.Ones(args.D, args.K).RequireGrad()
		flops := 0
		stop := tensor.Trace(func(e tensor.Event) {
			if e.Kind == tensor.Ran && e.Op == "matmul" && e.Backward == (args.What == "two_layer_backward_flops") {
				flops += e.FLOPs
			}
		})
		x.Matmul(w1).Matmul(w2).Square().Mean().Backward()
		stop()
		value = float64(flops)
	default:
		return nil, fmt.Errorf("accounting of %q is not known here", args.What)
	}
	return map[string]any{"value": value}, nil
}

// ranFLOPs counts what f runs.
func ranFLOPs(f func()) (flops float64) {
	stop := tensor.Trace(func(e tensor.Event) { flops += float64(e.FLOPs) })
	defer stop()
	f()
	return flops
}
