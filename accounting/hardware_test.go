package accounting_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/accounting"
)

// How many FLOPs an H100 can do in bf16 while it reads one byte.
func ExampleDevice_Intensity() {
	d, _ := accounting.LookUp("NVIDIA H100 80GB HBM3")
	x, _ := d.Intensity(accounting.BF16)
	fmt.Printf("%.4g FLOP/s / %.4g B/s = %.1f\n", d.PerSecond[accounting.BF16], d.BytesPerSecond, x)
	// Output: 9.895e+14 FLOP/s / 3.35e+12 B/s = 295.4
}

func TestLookUp(t *testing.T) {
	tests := []struct{ name, want string }{
		{"NVIDIA H100 80GB HBM3", "H100 SXM"},
		{"NVIDIA H100 PCIe", "H100 PCIe"},
		{"NVIDIA H100 NVL", "H100 NVL"},
		{"NVIDIA H200", "H200 SXM"},
		{"NVIDIA H200 NVL", "H200 NVL"},
		{"NVIDIA A100-SXM4-80GB", "A100 80GB SXM"},
		{"NVIDIA A100-SXM4-40GB", "A100 40GB"},
		{"NVIDIA A100-PCIE-40GB", "A100 40GB"},
		{"NVIDIA A100 80GB PCIe", "A100 80GB PCIe"},
		{"NVIDIA GB200", "GB200, one GPU"},
		{"NVIDIA B200", "B200 (HGX)"},
		{"NVIDIA L4", "L4"},
		{"NVIDIA L40S", "L40S"},
		{"NVIDIA A10", "A10"},
		{"Tesla T4", "T4"},
		{"Tesla V100-SXM2-16GB", "V100 SXM2"},
		{"Tesla V100-PCIE-32GB", "V100 PCIe"},
		{"NVIDIA GeForce RTX 5090", "RTX 5090"},
		{"NVIDIA GeForce RTX 4090", "RTX 4090"},
		{"NVIDIA GeForce RTX 3090", "RTX 3090"},
		{"AMD Instinct MI300X", "MI300X"},
		{"NVIDIA A10G", ""},
		{"NVIDIA L40", ""},
		{"NVIDIA GeForce RTX 4090 D", ""},
		{"NVIDIA GeForce RTX 3090 Ti", ""},
		{"NVIDIA GeForce RTX 4090 Laptop GPU", ""},
		{"NVIDIA GeForce RTX 2060", ""},
		{"", ""},
	}
	for _, tt := range tests {
		d, err := accounting.LookUp(tt.name)
		if d.Name != tt.want {
			t.Errorf("%q is %q, want %q", tt.name, d.Name, tt.want)
		}
		var unknown *accounting.UnknownDeviceError
		if (err != nil) != (tt.want == "") || err != nil && !errors.As(err, &unknown) {
			t.Errorf("%q: error %v", tt.name, err)
		}
	}
}

func TestEveryDeviceSaysWhereItsNumbersComeFrom(t *testing.T) {
	for _, d := range accounting.Devices() {
		if d.Source == "" || d.BytesPerSecond < 100e9 || d.Memory < 16e9 || d.PerSecond[accounting.FP32] < 1e12 {
			t.Errorf("incomplete: %+v", d)
		}
		if d.PerSecond[accounting.FP16] < d.PerSecond[accounting.FP32] || d.PerSecond[accounting.FP8] != 0 && d.PerSecond[accounting.FP8] < 1.9*d.PerSecond[accounting.FP16] {
			t.Errorf("%s: a smaller format is slower: %v", d.Name, d.PerSecond)
		}
	}
	if !strings.Contains(accounting.HardwareTable().String(), "half of the sparse ones") {
		t.Error("the table does not mark what was halved")
	}
	d, _ := accounting.LookUp("Tesla T4")
	if _, err := d.Peak(accounting.BF16); err == nil || !strings.Contains(err.Error(), "only for fp16, fp32") {
		t.Errorf("bf16 on a T4: %v", err)
	}
}
