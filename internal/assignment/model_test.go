package assignment

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/tensor"
)

// The tolerance that the assignment's snapshots have unless a test says otherwise.
const rtol = 1e-4

// reference is one of the models that PyTorch computed.
type reference struct {
	*transformer.LM
	answers map[string]*tensor.Tensor
	ids     *tensor.Tensor // [B T]
}

// references runs a test on both models, in float32 as the assignment does.
func references(t *testing.T, test func(t *testing.T, r reference)) {
	for _, name := range []string{"lm_small", "lm_odd"} {
		t.Run(name, func(t *testing.T) {
			base := "../oracle/testdata/transformers/" + name
			var sizes struct {
				Vocabulary int     `json:"vocab_size"`
				Context    int     `json:"context_length"`
				Layers     int     `json:"num_layers"`
				Width      int     `json:"d_model"`
				Heads      int     `json:"num_heads"`
				Hidden     int     `json:"d_ff"`
				Theta      float64 `json:"rope_theta"`
			}
			file, err := os.ReadFile(base + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(file, &sizes); err != nil {
				t.Fatal(err)
			}
			r := reference{answers: tensors(t, base+".safetensors")}
			r.LM = transformer.New(transformer.Config{
				Vocabulary: sizes.Vocabulary, Context: sizes.Context, Layers: sizes.Layers, Width: sizes.Width,
				Heads: sizes.Heads, Hidden: sizes.Hidden, Theta: sizes.Theta,
			})
			state := map[string]*tensor.Tensor{}
			for name, x := range r.answers {
				if name, ok := strings.CutPrefix(name, "in."); ok {
					state[name] = x
				}
			}
			if err := nn.LoadStateDict(r.LM, state); err != nil {
				t.Fatal(err)
			}
			ids := r.answers["ids"]
			r.ids = ids.Narrow(1, 0, ids.Size(1)-1)
			test(t, r)
		})
	}
}

// features returns numbers for a model of the given width: the assignment's x, cut or
// repeated.
func features(t *testing.T, width int) *tensor.Tensor {
	return tensors(t, "testdata/weightless.safetensors")["x"].Narrow(-1, 0, width).Contiguous()
}

// naiveLinear is x·Wᵀ by loops in float64.
func naiveLinear(x, w *tensor.Tensor) *tensor.Tensor {
	rows := x.Reshape(-1, x.Size(-1))
	out := tensor.With(tensor.Float64).Zeros(rows.Size(0), w.Size(0))
	for i := range rows.Size(0) {
		for j := range w.Size(0) {
			sum := 0.0
			for k := range w.Size(1) {
				sum += rows.At(i, k) * w.At(j, k)
			}
			out.SetAt(sum, i, j)
		}
	}
	shape := x.Shape()
	shape[len(shape)-1] = w.Size(0)
	return out.View(shape...)
}

func TestLinear(t *testing.T) {
	references(t, func(t *testing.T, r reference) {
		x, layer := features(t, r.Config().Width), r.Layers[0].FFN.(*transformer.SwiGLU).W1
		allClose(t, layer.Forward(x), naiveLinear(x, layer.Weight), rtol, 1e-5)
	})
}

func TestEmbedding(t *testing.T) {
	references(t, func(t *testing.T, r reference) {
		got, weight := r.TokenEmbeddings.Forward(r.ids), r.answers["in.token_embeddings.weight"]
		for b := range r.ids.Size(0) {
			for i := range r.ids.Size(1) {
				allClose(t, got.Index(b, i), weight.Index(int(r.ids.AtInt(b, i))), 1e-6, 0)
			}
		}
	})
}

func TestSwiGLU(t *testing.T) {
	references(t, func(t *testing.T, r reference) {
		eachBlock(r, func(i int, block *transformer.Block, _, between *tensor.Tensor) {
			allClose(t, block.FFN.Forward(block.LN2.Forward(between)), r.answers[fmt.Sprintf("part.ffn%d", i)], rtol, 1e-5)
		})
	})
}

// eachBlock calls f with what goes into each block, and into its feed-forward part.
func eachBlock(r reference, f func(i int, block *transformer.Block, x, between *tensor.Tensor)) {
	x := r.TokenEmbeddings.Forward(r.ids)
	for i, block := range r.Layers {
		f(i, block, x, x.Add(block.Attn.Forward(block.LN1.Forward(x))))
		x = block.Forward(x)
	}
}

func TestScaledDotProductAttention(t *testing.T) {
	in := tensors(t, "testdata/weightless.safetensors")
	got := tensor.Attention(in["q"], in["k"], in["v"], tensor.AttentionSettings{Mask: in["mask"].Ne(0)})
	allClose(t, got, in["sdpa"], rtol, 1e-6)
}

func Test4DScaledDotProductAttention(t *testing.T) {
	in := tensors(t, "testdata/weightless.safetensors")
	heads := func(name string) *tensor.Tensor {
		return einops.Rearrange(in[name], "(batch head) seq d -> batch head seq d", einops.Axis("head", 2))
	}
	mask := einops.Rearrange(in["mask"], "(batch head) query key -> batch head query key", einops.Axis("head", 2))
	got := tensor.Attention(heads("q"), heads("k"), heads("v"), tensor.AttentionSettings{Mask: mask.Ne(0)})
	allClose(t, got, in["sdpa_heads"], rtol, 1e-6)
}

// The reference models have rotary positions, so that what attention is without them
// comes from loops over heads, queries and keys in float64.
func TestMultiheadSelfAttention(t *testing.T) {
	references(t, func(t *testing.T, r reference) {
		attention := *r.Layers[0].Attn
		attention.RoPE = nil
		x := features(t, r.Config().Width)
		q, k, v := naiveLinear(x, attention.QProj.Weight), naiveLinear(x, attention.KProj.Weight), naiveLinear(x, attention.VProj.Weight)
		d, heads := r.Config().HeadSize(), r.Config().Heads
		mixed := tensor.With(tensor.Float64).Zeros(x.Shape()...)
		for b := range x.Size(0) {
			for h := range heads {
				for i := range x.Size(1) {
					weights, total := make([]float64, i+1), 0.0
					for j := range weights {
						score := 0.0
						for c := h * d; c < (h+1)*d; c++ {
							score += q.At(b, i, c) * k.At(b, j, c)
						}
						weights[j] = math.Exp(score / math.Sqrt(float64(d)))
						total += weights[j]
					}
					for c := h * d; c < (h+1)*d; c++ {
						sum := 0.0
						for j, w := range weights {
							sum += w / total * v.At(b, j, c)
						}
						mixed.SetAt(sum, b, i, c)
					}
				}
			}
		}
		allClose(t, attention.Forward(x), naiveLinear(mixed, attention.OutputProj.Weight), rtol, 1e-6)
	})
}

func TestMultiheadSelfAttentionWithRoPE(t *testing.T) {
	references(t, func(t *testing.T, r reference) {
		eachBlock(r, func(i int, block *transformer.Block, x, _ *tensor.Tensor) {
			allClose(t, block.Attn.Forward(block.LN1.Forward(x)), r.answers[fmt.Sprintf("part.attn%d", i)], rtol, 1e-6)
		})
	})
}

func TestTransformerLM(t *testing.T) {
	references(t, func(t *testing.T, r reference) {
		allClose(t, r.Forward(r.ids), r.answers["logits"], 1e-2, 1e-4)
	})
}

// A sequence that is cut off has the logits of its first part: nothing looks ahead.
func TestTransformerLMTruncatedInput(t *testing.T) {
	references(t, func(t *testing.T, r reference) {
		half := r.ids.Size(1) / 2
		allClose(t, r.Forward(r.ids.Narrow(1, 0, half)), r.answers["logits"].Narrow(1, 0, half), rtol, 1e-4)
	})
}

func TestTransformerBlock(t *testing.T) {
	references(t, func(t *testing.T, r reference) {
		eachBlock(r, func(i int, block *transformer.Block, x, _ *tensor.Tensor) {
			allClose(t, block.Forward(x), r.answers[fmt.Sprintf("part.block%d", i)], rtol, 1e-6)
		})
	})
}

func TestRMSNorm(t *testing.T) {
	references(t, func(t *testing.T, r reference) {
		norm := r.Layers[0].LN1.(*nn.RMSNorm)
		x := features(t, r.Config().Width)
		got := norm.Forward(x)
		for b := range x.Size(0) {
			for i := range x.Size(1) {
				square := 0.0
				for c := range x.Size(2) {
					square += x.At(b, i, c) * x.At(b, i, c)
				}
				for c := range x.Size(2) {
					want := x.At(b, i, c) / math.Sqrt(square/float64(x.Size(2))+1e-5) * norm.Weight.At(c)
					if math.Abs(got.At(b, i, c)-want) > 1e-6+rtol*math.Abs(want) {
						t.Fatalf("element %d %d %d is %v, want %v", b, i, c, got.At(b, i, c), want)
					}
				}
			}
		}
	})
}

func TestRoPE(t *testing.T) {
	in := tensors(t, "testdata/weightless.safetensors")
	rope := transformer.NewRoPE(64, 12, 10000)
	positions := tensor.With(tensor.Int64).Arange(0, 12, 1)
	allClose(t, rope.Rotate(in["x"], positions), in["rope"], rtol, 1e-6)
}

func TestSiLUMatchesPyTorch(t *testing.T) {
	x := tensor.Of([]float64{0.2352, 0.9259, 0.5189, 0.4725, 0.9730}, []float64{0.7581, 0.9692, 0.2129, 0.9345, 0.0149})
	want := tensor.Of(
		[]float64{0.13136635720729828, 0.6631691455841064, 0.32529348134994507, 0.2910483181476593, 0.706122636795044},
		[]float64{0.5162214040756226, 0.7026312351226807, 0.1177389919757843, 0.6709591746330261, 0.0075055016204714775})
	allClose(t, x.SiLU(), want, 1e-7, 1e-6)
}
