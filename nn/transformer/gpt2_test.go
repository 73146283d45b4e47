package transformer

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

// testdata/gpt2.py wrote the model, as Hugging Face's transformers saves it, and what it
// answers.
func TestOpenGPT2(t *testing.T) {
	m, err := OpenGPT2("testdata/gpt2")
	if err != nil {
		t.Fatal(err)
	}
	file, err := checkpoint.Open("testdata/gpt2/answers.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want, err := file.All()
	if err != nil {
		t.Fatal(err)
	}
	x := want["ids"]
	near(t, "logits", m.Forward(x), want["logits"], 2e-4)

	T := x.Size(1) - 1
	loss := m.Loss(x.Narrow(1, 0, T), x.Narrow(1, 1, T))
	near(t, "loss", loss.Detach().View(1), want["loss"], 1e-4)
	loss.Backward()
	near(t, "the embedding's gradient", m.TokenEmbeddings.Weight.Grad(), want["grad.wte.weight"], 1e-4)
	a := m.Layers[1].Attn
	joined := tensor.Cat(0, a.QProj.Weight.Grad(), a.KProj.Weight.Grad(), a.VProj.Weight.Grad()).T()
	near(t, "attention's gradient", joined, want["grad.h.1.attn.c_attn.weight"], 1e-4)

	var prompt, rest []int32
	for i, id := range want["continued"].Index(0).Ints() {
		if i < 5 {
			prompt = append(prompt, int32(id))
		} else {
			rest = append(rest, int32(id))
		}
	}
	if got := slices.Collect(m.Generate(prompt, Sampling{Max: len(rest)})); !slices.Equal(got, rest) {
		t.Errorf("the text goes on with %v, want %v", got, rest)
	}
}

// Names as other programs write them, and files that don't fit.
func TestLoadGPT2Names(t *testing.T) {
	m, err := OpenGPT2("testdata/gpt2")
	if err != nil {
		t.Fatal(err)
	}
	file, err := checkpoint.Open("testdata/gpt2/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	load := func(change func(map[string]*tensor.Tensor)) error {
		all, err := file.All()
		if err != nil {
			t.Fatal(err)
		}
		plain := map[string]*tensor.Tensor{}
		for name, w := range all {
			plain[strings.TrimPrefix(name, "transformer.")] = w
		}
		change(plain)
		other := New(m.Config())
		err = other.LoadGPT2(plain)
		if err == nil {
			near(t, "logits", other.Forward(ids(m, 1, 1, 5)), m.Forward(ids(m, 1, 1, 5)), 0)
		}
		return err
	}
	for name, change := range map[string]func(map[string]*tensor.Tensor){
		"without a prefix": func(map[string]*tensor.Tensor) {},
		"with masks": func(all map[string]*tensor.Tensor) {
			all["h.0.attn.bias"], all["h.1.attn.masked_bias"] = tensor.Ones(1, 1, 24, 24), tensor.Scalar(-1e4)
		},
		"with the output layer": func(all map[string]*tensor.Tensor) { all["lm_head.weight"] = all["wte.weight"] },
	} {
		if err := load(change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for says, change := range map[string]func(map[string]*tensor.Tensor){
		"layers.1.ln1.bias is missing":                  func(all map[string]*tensor.Tensor) { delete(all, "h.1.ln_1.bias") },
		"the model has no layers.2.ln1.bias":            func(all map[string]*tensor.Tensor) { all["h.2.ln_1.bias"] = tensor.Ones(24) },
		"position_embeddings.weight is [9 24]":          func(all map[string]*tensor.Tensor) { all["wpe.weight"] = tensor.Ones(9, 24) },
		"not queries, keys and values side by side":     func(all map[string]*tensor.Tensor) { all["h.0.attn.c_attn.weight"] = tensor.Ones(24, 71) },
		"layers.0.ffn.up.weight is [24 96] and the mod": func(all map[string]*tensor.Tensor) { all["h.0.mlp.c_fc.weight"] = tensor.Ones(96, 24) },
	} {
		if err := load(change); !errors.Is(err, nn.ErrState) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

func TestGPT2Configs(t *testing.T) {
	good := `{"model_type": "gpt2", "vocab_size": 61, "n_positions": 24, "n_embd": 24, "n_layer": 2, "n_head": 3}`
	if c, err := parseGPT2Config([]byte(good)); err != nil || c.Hidden != 96 || c.Eps != 1e-5 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := parseGPT2Config([]byte(good)); err != nil || c.gpt2Weights() != float64(c.Sizes().Parameters()) {
		t.Errorf("%v weights, %v", c.gpt2Weights(), err)
	}
	for text, says := range map[string]string{
		"{":                                                    "unexpected end",
		`{"n_embd": 24}`:                                       "the sizes of a model",
		strings.Replace(good, "61", "1e999", 1):                "1e999",
		strings.Replace(good, "61", "-1", 1):                   "the sizes of a model",
		strings.Replace(good, "61", "1<<40", 1):                "invalid character",
		strings.Replace(good, "gpt2", "bert", 1):               `model_type is "bert"`,
		strings.Replace(good, `"n_head": 3`, `"n_head": 5`, 1): "5 heads don't divide a width of 24",
		strings.Replace(good, "{", `{"activation_function": "relu", `, 1):                                `activation_function is "relu"`,
		strings.Replace(good, "{", `{"tie_word_embeddings": false, `, 1):                                 "is not as in GPT-2",
		strings.Replace(good, "{", `{"scale_attn_by_inverse_layer_idx": true, `, 1):                      "is not as in GPT-2",
		strings.Replace(good, `"n_positions": 24`, `"n_positions": 99999999999999, "model_type": ""`, 1): "the sizes of a model",
	} {
		if c, err := parseGPT2Config([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v, want %q", text, c, err, says)
		}
	}
	if _, err := OpenGPT2(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(good), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), []byte("no tensors"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenGPT2(dir); err == nil || !strings.Contains(err.Error(), "config.json: ") {
		t.Errorf("a file without sizes: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(good), 0o644); err != nil {
		t.Fatal(err)
	}
	var damaged *checkpoint.FormatError
	if _, err := OpenGPT2(dir); !errors.As(err, &damaged) {
		t.Errorf("a damaged file: %v", err)
	}
	if err := checkpoint.WriteFile(filepath.Join(dir, "model.safetensors"), map[string]*tensor.Tensor{"wte.weight": tensor.Ones(61, 24)}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenGPT2(dir); !errors.Is(err, nn.ErrState) {
		t.Errorf("a file of other weights: %v", err)
	}
	weights, err := os.ReadFile("testdata/gpt2/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), weights, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{ // each would take all memory
		strings.Replace(good, "{", `{"n_inner": 1099511627776, `, 1),
		strings.Replace(good, `"n_layer": 2`, `"n_layer": 16777216`, 1),
		strings.NewReplacer(`"vocab_size": 61`, `"vocab_size": 16777216`, `"n_embd": 24`, `"n_embd": 16777216`, `"n_head": 3`, `"n_head": 1`).Replace(good),
	} {
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenGPT2(dir); !errors.Is(err, nn.ErrState) || !strings.Contains(err.Error(), "the file has") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
