package oracle_test

import (
	"fmt"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

func TestAccounting(t *testing.T) {
	oracle.RunPart(t, "nn", "accounting", oracle.Ops{"accounting": account})
}

// account answers the lecture's questions about cost; those about the two-layer
// network are also counted while it runs. The lecture's backward count includes the
// gradient of the input, so that is asked for.
func account(c *oracle.Case) (any, error) {
	var args struct {
		What           string
		B, D, K        int
		Params, Tokens float64
		Dim            int
		NumLayers      int `json:"num_layers"`
	}
	c.DecodeArgs(&args)
	value := func(v float64) (any, error) { return map[string]any{"value": v}, nil }
	switch args.What {
	case "train_flops":
		return value(accounting.TrainingFLOPs(args.Params, args.Tokens))
	case "cruncher_params":
		return value(float64(accounting.TrainingMemory{Width: args.Dim, Layers: args.NumLayers}.Parameters()))
	case "two_layer_forward_flops", "two_layer_backward_flops":
		forward, backward, input := accounting.TwoLayerFLOPs(float64(args.B), float64(args.D), float64(args.K))
		if forward < 1e9 { // otherwise it would take too long
			x := tensor.Ones(args.B, args.D).RequireGrad()
			w1, w2 := tensor.Ones(args.D, args.D).RequireGrad(), tensor.Ones(args.D, args.K).RequireGrad()
			r := accounting.Count(func() {
				x.Matmul(w1).Matmul(w2).Backward(tensor.WithGrad(tensor.Ones(args.B, args.K)))
			})
			if float64(r.Forward.MatmulFLOPs()) != forward || float64(r.Backward.MatmulFLOPs()) != backward+input {
				return nil, fmt.Errorf("counted %d and %d, the formula says %g and %g", r.Forward.MatmulFLOPs(), r.Backward.MatmulFLOPs(), forward, backward+input)
			}
		}
		if args.What == "two_layer_forward_flops" {
			return value(forward)
		}
		return value(backward + input)
	}
	panic(fmt.Sprintf("no question %q", args.What))
}
