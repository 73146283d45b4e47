package accounting

import (
	"fmt"
	"math"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
)

// Estimates that fit on a napkin. Each is a struct of inputs, with methods for the
// results and a String that prints the derivation.

// TrainingFLOPs returns the FLOPs of training a dense model: 6 for each
// parameter and token, 2 of them forward and 4 backward.
func TrainingFLOPs(parameters, tokens float64) float64 { return 6 * parameters * tokens }

// MatmulFLOPs returns the FLOPs of an m x k matrix times a k x n one: k products and k
// sums for each of the m·n results. With m tokens it is 2 for each token and parameter
// of a linear layer.
func MatmulFLOPs(m, k, n float64) float64 { return 2 * m * k * n }

// TwoLayerFLOPs returns the FLOPs of the lecture's network x --w1--> h1 --w2-->
// h2, with x of B x D, w1 of D x D and w2 of D x K: forward, backward for w1, w2 and
// h1, and the additional ones for the gradient of x, if that is wanted.
func TwoLayerFLOPs(B, D, K float64) (forward, backward, inputGradient float64) {
	layer1, layer2 := MatmulFLOPs(B, D, D), MatmulFLOPs(B, D, K)
	return layer1 + layer2, layer1 + 2*layer2, layer1
}

// Machines is a number of identical devices.
type Machines struct {
	Count         int
	PeakPerSecond float64 // peak FLOP/s of one device, dense, in the dtype of the training
	MFU           float64 // the fraction of the peak that the model reaches; 0 means 1
}

func (m Machines) mfu() float64 {
	if m.MFU == 0 {
		return 1
	}
	return m.MFU
}

// FLOPs returns what the machines compute in a number of seconds.
func (m Machines) FLOPs(seconds float64) float64 {
	return float64(m.Count) * m.PeakPerSecond * m.mfu() * seconds
}

const (
	day  = 24 * 60 * 60
	week = 7 * day
)

// Week returns what the machines compute in a week.
func (m Machines) Week() float64 { return m.FLOPs(week) }

// String prints the FLOPs of a day and a week.
func (m Machines) String() string {
	return fmt.Sprintf("%s · %s FLOP/s · MFU %s · %d s = %s FLOPs a day, %s a week",
		humanize.Count(m.Count, "device"), short(m.PeakPerSecond), trim(m.mfu(), 4), day, short(m.FLOPs(day)), short(m.Week()))
}

// TrainingTime estimates how long training takes.
type TrainingTime struct {
	Parameters, Tokens float64
	On                 Machines
}

// FLOPs returns the work: 6·parameters·tokens.
func (t TrainingTime) FLOPs() float64 { return TrainingFLOPs(t.Parameters, t.Tokens) }

// Days returns the time in days.
func (t TrainingTime) Days() float64 { return t.FLOPs() / t.On.FLOPs(day) }

// String prints the derivation.
func (t TrainingTime) String() string {
	return fmt.Sprintf("work:  6 · %s parameters · %s tokens = %s FLOPs\n", short(t.Parameters), short(t.Tokens), short(t.FLOPs())) +
		fmt.Sprintf("speed: %s · %s FLOP/s · MFU %s · %d s = %s FLOPs a day\n", humanize.Count(t.On.Count, "device"), short(t.On.PeakPerSecond), trim(t.On.mfu(), 4), day, short(t.On.FLOPs(day))) +
		fmt.Sprintf("time:  %s / %s = %.2f days\n", short(t.FLOPs()), short(t.On.FLOPs(day)), t.Days())
}

// HTML shows the same text.
func (t TrainingTime) HTML() string { return preformatted(t.String()) }

// Cost returns the price of the training: device hours times dollars an hour.
func (t TrainingTime) Cost(dollarsPerDeviceHour float64) Cost {
	return Cost{Devices: t.On.Count, Days: t.Days(), DollarsPerDeviceHour: dollarsPerDeviceHour}
}

// Cost is the price of renting devices.
type Cost struct {
	Devices              int
	Days                 float64
	DollarsPerDeviceHour float64
}

// DeviceHours returns the hours that are paid for.
func (c Cost) DeviceHours() float64 { return float64(c.Devices) * c.Days * 24 }

// Dollars returns the price.
func (c Cost) Dollars() float64 { return c.DeviceHours() * c.DollarsPerDeviceHour }

// String prints the derivation.
func (c Cost) String() string {
	hours := humanize.Thousands(int(math.Round(c.DeviceHours())))
	return fmt.Sprintf("%s · %.2f days · 24 h = %s device hours\n", humanize.Count(c.Devices, "device"), c.Days, hours) +
		fmt.Sprintf("%s h · $%s = $%s\n", hours, trim(c.DollarsPerDeviceHour, 4), humanize.Thousands(int(math.Round(c.Dollars()))))
}

// HTML shows the same text.
func (c Cost) HTML() string { return preformatted(c.String()) }

// Part is one thing that is stored for each parameter.
type Part struct {
	Name  string
	Bytes float64
}

// Recipe says what a way of training stores for each parameter. Activations are
// not part of it: they depend on batch and sequence length.
type Recipe struct {
	Name   string
	Parts  []Part
	Source string
}

// The recipes of the lecture and its later edition.
var (
	// AdamWFloat32 is naive AdamW, all in float32.
	AdamWFloat32 = Recipe{"AdamW, all float32", []Part{{"parameter", 4}, {"gradient", 4}, {"m", 4}, {"v", 4}},
		"Loshchilov & Hutter 2017, arXiv:1711.05101"}
	// AdamWMixed computes in bfloat16 and keeps a float32 copy of the parameters:
	// faster, but not a byte smaller.
	AdamWMixed = Recipe{"AdamW, bf16 with float32 master copy", []Part{{"bf16 parameter", 2}, {"bf16 gradient", 2}, {"float32 master copy", 4}, {"float32 m", 4}, {"float32 v", 4}},
		"Micikevicius et al. 2017, arXiv:1710.03740; Rajbhandari et al. 2019 (ZeRO), arXiv:1910.02054"}
	// AdamWBFloat16 has no master copy.
	AdamWBFloat16 = Recipe{"AdamW, bf16 without master copy", []Part{{"bf16 parameter", 2}, {"bf16 gradient", 2}, {"float32 m", 4}, {"float32 v", 4}},
		"CS336, 2026 edition"}
	// AdamWFP8 stores what FP8-LM found to work in 8 bits, and the master copy and the
	// second moment in 16.
	AdamWFP8 = Recipe{"AdamW, FP8-LM", []Part{{"fp16 master copy", 2}, {"fp8 gradient", 1}, {"fp8 m", 1}, {"fp16 v", 2}},
		"Peng et al. 2023 (FP8-LM), arXiv:2310.18313"}
)

// Recipes holds all of these.
var Recipes = []Recipe{AdamWFloat32, AdamWMixed, AdamWBFloat16, AdamWFP8}

// BytesPerParameter returns the sum of the parts.
func (r Recipe) BytesPerParameter() float64 {
	sum := 0.
	for _, p := range r.Parts {
		sum += p.Bytes
	}
	return sum
}

// String prints the parts and their sum.
func (r Recipe) String() string {
	parts := make([]string, len(r.Parts))
	for i, p := range r.Parts {
		parts[i] = fmt.Sprintf("%s (%s)", trim(p.Bytes, 3), p.Name)
	}
	return fmt.Sprintf("%s: %s = %s bytes per parameter", r.Name, strings.Join(parts, " + "), trim(r.BytesPerParameter(), 3))
}

// LargestModel estimates the largest model that fits into the memory of a number of
// devices, not counting activations.
type LargestModel struct {
	Devices        int
	BytesPerDevice float64
	Recipe         Recipe
}

// Parameters returns the number of parameters.
func (l LargestModel) Parameters() float64 {
	return float64(l.Devices) * l.BytesPerDevice / l.Recipe.BytesPerParameter()
}

// String prints the derivation.
func (l LargestModel) String() string {
	return l.Recipe.String() + "\n" +
		fmt.Sprintf("%s · %s bytes / %s bytes = %s parameters, activations not counted\n",
			humanize.Count(l.Devices, "device"), short(l.BytesPerDevice), trim(l.Recipe.BytesPerParameter(), 3), short(l.Parameters()))
}

// HTML shows the same text.
func (l LargestModel) HTML() string { return preformatted(l.String()) }

// ComputeOptimal is the model that makes the best use of a number of FLOPs: C = 6·N·D
// with D = TokensPerParameter·N.
type ComputeOptimal struct {
	FLOPs              float64
	TokensPerParameter float64 // 0 means 20
}

// chinchilla is the ratio of tokens to parameters that Hoffmann et al. 2022
// (arXiv:2203.15556) found, rounded as it is usually quoted.
const chinchilla = 20

func (c ComputeOptimal) ratio() float64 {
	if c.TokensPerParameter == 0 {
		return chinchilla
	}
	return c.TokensPerParameter
}

// Parameters returns N = √(C / (6·ratio)).
func (c ComputeOptimal) Parameters() float64 { return math.Sqrt(c.FLOPs / (6 * c.ratio())) }

// Tokens returns D = ratio·N.
func (c ComputeOptimal) Tokens() float64 { return c.ratio() * c.Parameters() }

// String prints the derivation.
func (c ComputeOptimal) String() string {
	return fmt.Sprintf("C = 6·N·D with D = %s·N (Hoffmann et al. 2022): N = √(%s / %s) = %s parameters, D = %s tokens\n",
		trim(c.ratio(), 3), short(c.FLOPs), trim(6*c.ratio(), 4), short(c.Parameters()), short(c.Tokens()))
}

// HTML shows the same text.
func (c ComputeOptimal) HTML() string { return preformatted(c.String()) }

// TrainingMemory predicts the memory for training a stack of square layers without
// biases and a final one with a single output, like the lecture's Cruncher: Layers of
// Width x Width and one of Width x 1, on a batch of Batch vectors.
type TrainingMemory struct {
	Width, Layers, Batch int
	BytesPerElement      int // 0 means 4, float32
	StatePerParameter    int // numbers that the optimizer keeps for each parameter: 1 for AdaGrad, 2 for Adam, 0 for SGD
}

func (m TrainingMemory) element() int {
	if m.BytesPerElement == 0 {
		return 4
	}
	return m.BytesPerElement
}

// Parameters returns D·D·L + D.
func (m TrainingMemory) Parameters() int { return m.Width*m.Width*m.Layers + m.Width }

// Activations returns B·D·L, the results of the layers.
func (m TrainingMemory) Activations() int { return m.Batch * m.Width * m.Layers }

// Bytes returns the bytes by category.
func (m TrainingMemory) Bytes() Bytes {
	p := m.Parameters()
	return Bytes{
		Parameters: p * m.element(), Gradients: p * m.element(),
		OptimizerState: m.StatePerParameter * p * m.element(), Activations: m.Activations() * m.element(),
	}
}

// Total returns the sum in bytes.
func (m TrainingMemory) Total() int { return m.Bytes().Total() }

// StepFLOPs returns the FLOPs of one step by the rule of thumb: 6·B·parameters.
func (m TrainingMemory) StepFLOPs() int { return 6 * m.Batch * m.Parameters() }

// String prints the derivation.
func (m TrainingMemory) String() string {
	p, state := m.Parameters(), m.StatePerParameter*m.Parameters()
	return fmt.Sprintf("parameters      %d·%d·%d + %d = %s\n", m.Width, m.Width, m.Layers, m.Width, humanize.Thousands(p)) +
		fmt.Sprintf("activations     %d·%d·%d = %s\n", m.Batch, m.Width, m.Layers, humanize.Thousands(m.Activations())) +
		fmt.Sprintf("gradients       %s\noptimizer state %d·%s = %s\n", humanize.Thousands(p), m.StatePerParameter, humanize.Thousands(p), humanize.Thousands(state)) +
		fmt.Sprintf("total           %d · (%s + %s + %s + %s) = %s bytes\n", m.element(), humanize.Thousands(p), humanize.Thousands(m.Activations()), humanize.Thousands(p), humanize.Thousands(state), humanize.Thousands(m.Total())) +
		fmt.Sprintf("FLOPs per step  6·%d·%s = %s\n", m.Batch, humanize.Thousands(p), humanize.Thousands(m.StepFLOPs()))
}

// HTML shows the same text.
func (m TrainingMemory) HTML() string { return preformatted(m.String()) }

// ActivationMemory predicts the activations of a deep network of Layers blocks
// relu(x·w) of width Width, for a batch that may be cut into micro-batches whose
// gradients are added.
type ActivationMemory struct {
	Batch, Width, Layers int
	BytesPerElement      int // 2 for bfloat16
	MicroBatches         int // 0 means 1
}

// Bytes returns what is held at once: element·B·D·L / micro-batches.
func (a ActivationMemory) Bytes() int {
	return a.BytesPerElement * a.Batch * a.Width * a.Layers / max(a.MicroBatches, 1)
}

// Checkpointed returns the bytes if the input of every k-th layer is kept and the
// others are recomputed in backward: the kept ones, and those of the one segment that
// is being recomputed, which is at most all of them. It panics if k is not positive.
func (a ActivationMemory) Checkpointed(k int) int {
	if k < 1 {
		panic(fmt.Errorf("accounting: checkpointed: the input of every %d-th layer is kept; give a positive number", k))
	}
	k = max(min(k, a.Layers), 1)
	kept := (a.Layers + k - 1) / k
	return (kept + k - 1) * a.BytesPerElement * a.Batch * a.Width / max(a.MicroBatches, 1)
}

// String prints the derivation.
func (a ActivationMemory) String() string {
	text := fmt.Sprintf("%d·%d·%d·%d", a.BytesPerElement, a.Batch, a.Width, a.Layers)
	if a.MicroBatches > 1 {
		text += fmt.Sprintf(" / %d micro-batches", a.MicroBatches)
	}
	k := max(1, int(math.Round(math.Sqrt(float64(a.Layers)))))
	return fmt.Sprintf("activations %s = %s bytes\nkeeping every %d-th layer's input (√%d ≈ %d): %s bytes, for about one more forward pass\n",
		text, humanize.Thousands(a.Bytes()), k, a.Layers, k, humanize.Thousands(a.Checkpointed(k)))
}

// HTML shows the same text.
func (a ActivationMemory) HTML() string { return preformatted(a.String()) }
