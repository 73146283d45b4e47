package accounting_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/accounting"
)

// H100 is the lecture's device: 989.5e12 dense bf16 FLOP/s, half of the sparse
// figure of its data sheet.
var h100 = accounting.Machines{Count: 1024, PeakPerSecond: 1979e12 / 2, MFU: 0.5}

// How long does it take to train 70B parameters on 15T tokens with 1024 H100?
func ExampleTrainingTime() {
	t := accounting.TrainingTime{Parameters: 70e9, Tokens: 15e12, On: h100}
	fmt.Print(t)
	// Output:
	// work:  6 · 70e9 parameters · 15e12 tokens = 6.3e24 FLOPs
	// speed: 1024 devices · 989.5e12 FLOP/s · MFU 0.5 · 86400 s = 4.3772e22 FLOPs a day
	// time:  6.3e24 / 4.3772e22 = 143.93 days
}

// What is the largest model that AdamW can train on 8 H100 of 80e9 bytes?
func ExampleLargestModel() {
	for _, recipe := range accounting.Recipes {
		fmt.Print(accounting.LargestModel{Devices: 8, BytesPerDevice: 80e9, Recipe: recipe})
	}
	// Output:
	// AdamW, all float32: 4 (parameter) + 4 (gradient) + 4 (m) + 4 (v) = 16 bytes per parameter
	// 8 devices · 80e9 bytes / 16 bytes = 40e9 parameters, activations not counted
	// AdamW, bf16 with float32 master copy: 2 (bf16 parameter) + 2 (bf16 gradient) + 4 (float32 master copy) + 4 (float32 m) + 4 (float32 v) = 16 bytes per parameter
	// 8 devices · 80e9 bytes / 16 bytes = 40e9 parameters, activations not counted
	// AdamW, bf16 without master copy: 2 (bf16 parameter) + 2 (bf16 gradient) + 4 (float32 m) + 4 (float32 v) = 12 bytes per parameter
	// 8 devices · 80e9 bytes / 12 bytes = 53.333e9 parameters, activations not counted
	// AdamW, FP8-LM: 2 (fp16 master copy) + 1 (fp8 gradient) + 1 (fp8 m) + 2 (fp16 v) = 6 bytes per parameter
	// 8 devices · 80e9 bytes / 6 bytes = 106.67e9 parameters, activations not counted
}

// Eight H100 for one week, and for the two weeks that the notes speak of.
func ExampleMachines_Week() {
	eight := accounting.Machines{Count: 8, PeakPerSecond: 989.5e12}
	fmt.Printf("%.4g\n%.4g\n", eight.Week(), 2*eight.Week())
	// Output:
	// 4.788e+21
	// 9.575e+21
}

func ExampleComputeOptimal() {
	fmt.Print(accounting.ComputeOptimal{FLOPs: 5.76e23})
	// Output: C = 6·N·D with D = 20·N (Hoffmann et al. 2022): N = √(5.76e23 / 120) = 69.282e9 parameters, D = 1.3856e12 tokens
}

func ExampleTrainingTime_Cost() {
	t := accounting.TrainingTime{Parameters: 70e9, Tokens: 15e12, On: h100}
	fmt.Print(t.Cost(2))
	// Output:
	// 1024 devices · 143.93 days · 24 h = 3,537,140 device hours
	// 3,537,140 h · $2 = $7,074,280
}

// Gradient accumulation: a quarter of the batch at a time holds a quarter of the
// activations.
func ExampleActivationMemory() {
	a := accounting.ActivationMemory{Batch: 64, Width: 1024, Layers: 16, BytesPerElement: 2}
	fmt.Print(a)
	a.MicroBatches = 4
	fmt.Println(a.Bytes())
	// Output:
	// activations 2·64·1024·16 = 2,097,152 bytes
	// keeping every 4-th layer's input (√16 ≈ 4): 917,504 bytes, for about one more forward pass
	// 524288
}

func TestNapkinMath(t *testing.T) {
	time := accounting.TrainingTime{Parameters: 70e9, Tokens: 15e12, On: h100}
	tests := []struct {
		name            string
		got, want, near float64
	}{
		{"FLOPs of training", time.FLOPs(), 6.3e24, 1e-12},
		{"FLOPs of a day", h100.FLOPs(86400), 4.37723136e22, 1e-12},
		{"days", time.Days(), 143.93, 5e-5},
		{"MFU left out means all of the peak", accounting.Machines{Count: 2, PeakPerSecond: 5}.FLOPs(3), 30, 0},
		{"optimal tokens per parameter", accounting.ComputeOptimal{FLOPs: 1e21, TokensPerParameter: 30}.Tokens() / accounting.ComputeOptimal{FLOPs: 1e21, TokensPerParameter: 30}.Parameters(), 30, 1e-12},
		{"D²L of the deep network", float64(accounting.TrainingMemory{Width: 8, Layers: 3}.Parameters() - 8), 192, 0},
		{"last segment of a network that does not divide", float64(accounting.ActivationMemory{Batch: 1, Width: 1, Layers: 10, BytesPerElement: 1}.Checkpointed(3)), 4 + 2, 0},
		{"a segment longer than the network", float64(accounting.ActivationMemory{Batch: 1, Width: 1, Layers: 10, BytesPerElement: 1}.Checkpointed(100)), 10, 0},
		{"a network without layers", float64(accounting.ActivationMemory{Batch: 1, Width: 1, BytesPerElement: 1}.Checkpointed(3)), 0, 0},
	}
	for _, tt := range tests {
		if math.Abs(tt.got-tt.want) > tt.near*math.Abs(tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestCheckpointsNeedLayersBetweenThem(t *testing.T) {
	defer func() {
		if r, want := recover(), "every 0-th layer"; !strings.Contains(fmt.Sprint(r), want) {
			t.Errorf("panicked with %v, want %q in it", r, want)
		}
	}()
	accounting.ActivationMemory{Layers: 4}.Checkpointed(0)
}

// TestNumbersAreRoundedBeforeTheirExponent or prefix is chosen.
func TestNumbersAreRoundedBeforeTheirExponent(t *testing.T) {
	for tokens, want := range map[float64]string{
		1e23: "1e23", 9.99996e18: "1e19", 9.99994e18: "9.9999e18", 999_999_999: "1e9", 999_999: "1e6", -999_999: "-1e6", 99_999: "99999",
		15e12: "15e12", 2.5e-7: "2.5e-7", 5e-324: "4.9407e-324", 0.00099999: "9.9999e-4", 0.000999999: "0.001",
	} {
		text := accounting.TrainingTime{Parameters: 1, Tokens: tokens, On: h100}.String()
		if !strings.Contains(text, " · "+want+" tokens") {
			t.Errorf("%g tokens: %q, want %q in it", tokens, text, want)
		}
	}
	m := accounting.Machine{Name: "m", PeakPerSecond: 999.96e9, BytesPerSecond: 999_940}
	if want := "m: 1 TFLOP/s, 999.9 kB/s"; !strings.HasPrefix(m.String(), want) {
		t.Errorf("got %q, want %q", m, want)
	}
}
