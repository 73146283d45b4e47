package transformer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

// OpenGPT2 reads a GPT-2 from a folder with its config.json and model.safetensors, as
// published for GPT-2 and similar models. All weights are copied, so the file is closed
// again. It returns an error that names what is missing or does not fit.
func OpenGPT2(folder string) (*LM, error) {
	path := filepath.Join(folder, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("transformer: %w", err)
	}
	c, err := parseGPT2Config(text)
	if err != nil {
		return nil, fmt.Errorf("transformer: %s: %w", path, err)
	}
	file, err := checkpoint.Open(filepath.Join(folder, "model.safetensors"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	weights, err := file.All()
	if err != nil {
		return nil, err
	}
	have := 0
	for _, w := range weights {
		have += w.Len()
	}
	// A damaged config.json may ask for more than any memory holds. LoadGPT2 names what a file lacks, but needs a model.
	if want := c.gpt2Weights(); want > 2*float64(have) {
		return nil, &tensor.Error{Package: "transformer", Kind: nn.ErrState, Op: "open gpt2",
			Reason: fmt.Sprintf("%s is for a model with %.4g weights, and the file has %.4g", path, want, float64(have))}
	}
	m := New(c)
	if err := m.LoadGPT2(weights); err != nil {
		return nil, err
	}
	return m, nil
}

// parseGPT2Config reads the sizes from a config.json.
func parseGPT2Config(text []byte) (Config, error) {
	file := struct {
		Type       string  `json:"model_type"`
		Vocabulary int     `json:"vocab_size"`
		Context    int     `json:"n_positions"`
		Width      int     `json:"n_embd"`
		Layers     int     `json:"n_layer"`
		Heads      int     `json:"n_head"`
		Hidden     int     `json:"n_inner"`
		Eps        float64 `json:"layer_norm_epsilon"`
		Activation string  `json:"activation_function"`
		Tied       *bool   `json:"tie_word_embeddings"`
		Scaled     *bool   `json:"scale_attn_weights"`
		ByLayer    bool    `json:"scale_attn_by_inverse_layer_idx"`
	}{Activation: "gelu_new"}
	if err := json.Unmarshal(text, &file); err != nil {
		return Config{}, err
	}
	c := Config{Vocabulary: file.Vocabulary, Context: file.Context, Width: file.Width, Layers: file.Layers, Heads: file.Heads, Hidden: file.Hidden, Eps: file.Eps, GPT2: true}
	const most = 1 << 24 // more than any model has of anything, so that a damaged file can't ask for too much memory
	for _, size := range []int{c.Vocabulary, c.Context, c.Width, c.Layers, c.Heads} {
		if size < 1 || size > most {
			return Config{}, fmt.Errorf("vocab_size, n_positions, n_embd, n_layer and n_head are %d, %d, %d, %d and %d, which can't be the sizes of a model",
				c.Vocabulary, c.Context, c.Width, c.Layers, c.Heads)
		}
	}
	if file.Type != "" && file.Type != "gpt2" {
		return Config{}, fmt.Errorf("model_type is %q, not gpt2", file.Type)
	}
	if file.Activation != "gelu_new" && file.Activation != "gelu_pytorch_tanh" {
		return Config{}, fmt.Errorf("activation_function is %q; only gelu_new is known", file.Activation)
	}
	if file.ByLayer || file.Tied != nil && !*file.Tied || file.Scaled != nil && !*file.Scaled {
		return Config{}, errors.New("tie_word_embeddings, scale_attn_weights or scale_attn_by_inverse_layer_idx is not as in GPT-2")
	}
	err := tensor.Try(func() { c = c.complete() })
	return c, err
}

// gpt2Weights returns how many weights a GPT-2 of these sizes has, as they may be too many for an int.
func (c Config) gpt2Weights() float64 {
	v, t, d, l, h := float64(c.Vocabulary), float64(c.Context), float64(c.Width), float64(c.Layers), float64(c.Hidden)
	return (v+t)*d + l*(4*d*d+2*d*h+9*d+h) + 2*d
}

// gpt2Parts has the names of layers that differ between here and GPT-2's files. There,
// linear layers are Conv1D, whose weights are [in out].
var gpt2Parts = strings.NewReplacer(
	"wte.", "token_embeddings.", "wpe.", "position_embeddings.", "ln_f.", "ln_final.", "h.", "layers.",
	".ln_1.", ".ln1.", ".ln_2.", ".ln2.", ".attn.c_proj.", ".attn.output_proj.", ".mlp.c_fc.", ".ffn.up.", ".mlp.c_proj.", ".ffn.down.",
)

// causalMask matches the masks that older files hold beside the weights.
var causalMask = regexp.MustCompile(`^h\.\d+\.attn\.(bias|masked_bias)$`)

// LoadGPT2 copies weights with GPT-2's names into the model, which was made with
// Config.GPT2. Names may begin with "transformer."; masks and an lm_head that repeats
// the embedding are skipped. It returns an error that lists what is missing or has
// another shape; then the model is unchanged.
func (m *LM) LoadGPT2(weights map[string]*tensor.Tensor) error {
	if !m.config.GPT2 {
		fail(tensor.ErrValue, "load gpt2", "the model has other parts than GPT-2", "make it with Config.GPT2")
	}
	state := map[string]*tensor.Tensor{}
	for _, full := range slices.Sorted(maps.Keys(weights)) {
		name, w := strings.TrimPrefix(full, "transformer."), weights[full]
		if name == "lm_head.weight" || causalMask.MatchString(name) {
			continue
		}
		name = gpt2Parts.Replace(name)
		linear := strings.Contains(name, ".attn.") || strings.Contains(name, ".ffn.")
		if linear && w.Dim() == 2 {
			w = w.T()
		}
		before, after, joined := strings.Cut(name, ".c_attn.")
		if !joined {
			state[name] = w
			continue
		}
		if w.Size(0)%3 != 0 {
			return &tensor.Error{Package: "transformer", Kind: nn.ErrState, Op: "load gpt2", Reason: fmt.Sprintf("%s is %v, which is not queries, keys and values side by side", full, weights[full].Shape())}
		}
		for i, part := range w.SplitInto(0, 3) {
			state[before+[]string{".q_proj.", ".k_proj.", ".v_proj."}[i]+after] = part
		}
	}
	return nn.LoadStateDict(m, state)
}
