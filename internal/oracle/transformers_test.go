package oracle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// TestTransformers compares language models with those of PyTorch: a case is NAME.json,
// the sizes and the optimizer's settings, and NAME.safetensors, with the parameters
// (in.*), ids, logits, results of each part (part.*), gradients (grad.*) and their norm,
// losses, and parameters after some steps of AdamW (after.*). The environment variable
// LECTERN_LM names another folder of cases.
func TestTransformers(t *testing.T) {
	folder := os.Getenv("LECTERN_LM")
	if folder == "" {
		folder = "testdata/transformers"
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	var passed, asked int
	for _, path := range files {
		sizes, err := os.ReadFile(strings.TrimSuffix(path, ".safetensors") + ".json")
		if errors.Is(err, os.ErrNotExist) {
			continue // some other file of tensors
		}
		asked++
		t.Run(strings.TrimSuffix(filepath.Base(path), ".safetensors"), func(t *testing.T) {
			if err != nil {
				t.Fatal(err)
			}
			compareTransformer(t, sizes, path)
			if !t.Failed() {
				passed++
			}
		})
	}
	t.Logf("oracle transformers: passed %d of %d", passed, asked)
	fmt.Printf("oracle transformers: passed %d of %d\n", passed, asked)
	if asked == 0 {
		t.Errorf("no cases in %s", folder)
	}
}

// transformerCase is what NAME.json says.
type transformerCase struct {
	Vocabulary int     `json:"vocab_size"`
	Context    int     `json:"context_length"`
	Layers     int     `json:"num_layers"`
	Width      int     `json:"d_model"`
	Heads      int     `json:"num_heads"`
	Hidden     int     `json:"d_ff"`
	Theta      float64 `json:"rope_theta"`
	AdamW      struct {
		LR    float64
		Betas [2]float64
		Eps   float64
		Decay float64 `json:"weight_decay"`
		Steps int
	}
}

func compareTransformer(t *testing.T, sizes []byte, path string) {
	var c transformerCase
	if err := json.Unmarshal(sizes, &c); err != nil {
		t.Fatal(err)
	}
	file, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want, err := file.All()
	if err != nil {
		t.Fatal(err)
	}
	dtype := want["logits"].Dtype()
	tolerance := 1e-9
	if dtype != tensor.Float64 {
		tolerance = 1e-4
	}
	model := transformer.New(transformer.Config{
		Vocabulary: c.Vocabulary, Context: c.Context, Layers: c.Layers, Width: c.Width, Heads: c.Heads, Hidden: c.Hidden, Theta: c.Theta,
	}, dtype)
	if err := nn.LoadStateDict(model, withPrefix(want, "in.")); err != nil {
		t.Fatal(err)
	}
	compared := map[string]bool{"ids": true}
	check := func(name string, got *tensor.Tensor) {
		t.Helper()
		compared[name] = true
		answer, ok := want[name]
		if !ok {
			return
		}
		if diff := farthest(got, answer); !(diff <= tolerance) {
			t.Errorf("%s is off by %.2g of its size, more than %.0g", name, diff, tolerance)
		}
	}
	ids := want["ids"]
	T := ids.Size(1) - 1
	x, y := ids.Narrow(1, 0, T), ids.Narrow(1, 1, T)
	parts(model, x, check)
	check("logits", model.Forward(x))

	options := []optim.Option{optim.Betas(c.AdamW.Betas[0], c.AdamW.Betas[1]), optim.Eps(c.AdamW.Eps), optim.WeightDecay(c.AdamW.Decay)}
	opt := optim.NewAdamW(nn.Parameters(model), c.AdamW.LR, options...)
	var losses []float64
	for step := range c.AdamW.Steps {
		opt.ZeroGrad(true)
		loss := model.Loss(x, y)
		loss.Backward()
		losses = append(losses, loss.Item())
		if step == 0 {
			for _, p := range nn.Parameters(model) {
				check("grad."+p.Name, p.Tensor.Grad())
			}
			norm := optim.ClipGradNorm(nn.Parameters(model), math.Inf(1))
			check("gradnorm", tensor.With(tensor.Float64).Of([]float64{norm}))
		}
		opt.Step()
	}
	check("losses", tensor.With(tensor.Float64).Of(losses))
	for _, p := range nn.Parameters(model) {
		check("after."+p.Name, p.Tensor)
	}
	for name := range want {
		if !compared[name] && !strings.HasPrefix(name, "in.") {
			t.Errorf("nothing was compared with %s", name)
		}
	}
}

// parts runs a model piece by piece and checks what each piece gives.
func parts(model *transformer.LM, ids *tensor.Tensor, check func(string, *tensor.Tensor)) {
	x := model.TokenEmbeddings.Forward(ids)
	for i, block := range model.Layers {
		attended := block.Attn.Forward(block.LN1.Forward(x))
		check(fmt.Sprintf("part.attn%d", i), attended)
		check(fmt.Sprintf("part.ffn%d", i), block.FFN.Forward(block.LN2.Forward(x.Add(attended))))
		x = block.Forward(x)
		check(fmt.Sprintf("part.block%d", i), x)
	}
}

// withPrefix returns the tensors whose names begin with a prefix, without it.
func withPrefix(all map[string]*tensor.Tensor, prefix string) map[string]*tensor.Tensor {
	found := map[string]*tensor.Tensor{}
	for name, x := range all {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			found[rest] = x
		}
	}
	return found
}

// farthest returns the largest difference of two tensors, relative to the element and to
// the root mean square of all: +Inf if shapes differ.
func farthest(got, want *tensor.Tensor) float64 {
	if got == nil || !slices.Equal(got.Shape(), want.Shape()) {
		return math.Inf(1)
	}
	a, b := got.Floats(), want.Floats()
	square := 0.0
	for _, x := range b {
		square += x * x
	}
	size := math.Sqrt(square / float64(max(len(b), 1)))
	most := 0.0
	for i := range b {
		off := math.Abs(a[i] - b[i])
		if off == 0 {
			continue
		}
		if off /= math.Abs(b[i]) + size; !(off <= most) {
			most = off
		}
	}
	return most
}
