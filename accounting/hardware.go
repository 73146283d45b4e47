package accounting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/tabular"
	"github.com/lectern-go/lectern/tensor"
)

// Device is what a manufacturer states about one accelerator. Rates are dense: the
// rates that data sheets print for 2:4 structured sparsity, where two of every four
// weights are zero and skipped, are twice as high and out of reach in ordinary
// training.
type Device struct {
	Name              string
	ComputeCapability string
	PerSecond         map[Precision]float64 // FLOP/s, accumulated in float32
	BytesPerSecond    float64               // memory bandwidth
	Memory            float64               // bytes, as sold (1 GB is 1e9)
	Source            string
	HalvedFromSparse  bool   // the source prints only sparse tensor rates; these are half of them
	Note              string // what differs between sources or variants
}

// Precision is the number format that a matrix product is computed in.
type Precision string

const (
	FP32 Precision = "fp32" // float32, without tensor cores
	TF32 Precision = "tf32" // float32 operands rounded to 10 bits of mantissa
	FP16 Precision = "fp16"
	BF16 Precision = "bf16"
	FP8  Precision = "fp8"
	FP64 Precision = "fp64"
)

// PrecisionOf returns the precision in which tensors of a dtype are multiplied;
// ok is false for integers.
func PrecisionOf(d tensor.Dtype) (p Precision, ok bool) {
	switch d {
	case tensor.Float32:
		return FP32, true
	case tensor.Float64:
		return FP64, true
	case tensor.Float16:
		return FP16, true
	case tensor.BFloat16:
		return BF16, true
	case tensor.Float8E4M3, tensor.Float8E5M2:
		return FP8, true
	}
	return "", false
}

// tera builds the rates of a device from TFLOP/s; 0 means that it has no such unit.
func tera(fp32, tf32, fp16, bf16, fp8 float64) map[Precision]float64 {
	rates := map[Precision]float64{}
	for p, r := range map[Precision]float64{FP32: fp32, TF32: tf32, FP16: fp16, BF16: bf16, FP8: fp8} {
		if r > 0 {
			rates[p] = r * 1e12
		}
	}
	return rates
}

// known is one device with the words that its name must contain.
type known struct {
	match string
	Device
}

// knownDevices is searched from the top: names with more words come first.
var knownDevices = []known{
	{"H200 NVL", Device{"H200 NVL", "9.0", tera(60, 417.5, 835.5, 835.5, 1670.5), 4800e9, 141e9, "NVIDIA H200 datasheet", true, ""}},
	{"H200", Device{"H200 SXM", "9.0", tera(67, 494.5, 989.5, 989.5, 1979), 4800e9, 141e9, "NVIDIA H200 datasheet", true, ""}},
	{"H100 NVL", Device{"H100 NVL", "9.0", tera(60, 417.5, 835.5, 835.5, 1670.5), 3900e9, 94e9, "NVIDIA H100 datasheet", true, ""}},
	{"H100 PCIe", Device{"H100 PCIe", "9.0", tera(51, 378, 756.5, 756.5, 1513), 2000e9, 80e9, "NVIDIA H100 datasheet, 2022-23 edition", true, ""}},
	{"H100", Device{"H100 SXM", "9.0", tera(67, 494.5, 989.5, 989.5, 1979), 3350e9, 80e9, "NVIDIA H100 datasheet", true, "the lecture quotes 67.5e12 for fp32"}},
	{"GB200", Device{"GB200, one GPU", "10.0", tera(80, 1250, 2500, 2500, 5000), 8000e9, 186e9, "NVIDIA GB200 NVL72 datasheet", true, ""}},
	{"B200", Device{"B200 (HGX)", "10.0", tera(75, 1100, 2250, 2250, 4500), 7700e9, 180e9, "NVIDIA Blackwell datasheet", true, "the first edition says 80 fp32, 8000 GB/s"}},
	{"A100-SXM4-80GB", Device{"A100 80GB SXM", "8.0", tera(19.5, 156, 312, 312, 0), 2039e9, 80e9, "NVIDIA A100 datasheet", false, ""}},
	{"A100 80GB PCIe", Device{"A100 80GB PCIe", "8.0", tera(19.5, 156, 312, 312, 0), 1935e9, 80e9, "NVIDIA A100 datasheet", false, ""}},
	{"A100", Device{"A100 40GB", "8.0", tera(19.5, 156, 312, 312, 0), 1555e9, 40e9, "NVIDIA A100 datasheet", false, ""}},
	{"A10", Device{"A10", "8.6", tera(31.2, 62.5, 125, 125, 0), 600e9, 24e9, "NVIDIA A10 datasheet", false, ""}},
	{"L40S", Device{"L40S", "8.9", tera(91.6, 183, 362, 362, 733), 864e9, 48e9, "NVIDIA L40S datasheet", false, ""}},
	{"L4", Device{"L4", "8.9", tera(30.3, 60, 121, 121, 242.5), 300e9, 24e9, "NVIDIA L4 datasheet", true, ""}},
	{"T4", Device{"T4", "7.5", tera(8.1, 0, 65, 0, 0), 320e9, 16e9, "NVIDIA T4 datasheet", false, ""}},
	{"V100-SXM2", Device{"V100 SXM2", "7.0", tera(15.7, 0, 125, 0, 0), 900e9, 16e9, "NVIDIA V100 datasheet", false, "also sold with 32 GB"}},
	{"V100-PCIE", Device{"V100 PCIe", "7.0", tera(14, 0, 112, 0, 0), 900e9, 16e9, "NVIDIA V100 datasheet", false, "also sold with 32 GB"}},
	{"RTX 5090", Device{"RTX 5090", "12.0", tera(104.8, 104.8, 209.5, 209.5, 419), 1792e9, 32e9, "NVIDIA RTX Blackwell whitepaper", false, "twice the fp16 and fp8 rates with fp16 accumulation"}},
	{"RTX 4090", Device{"RTX 4090", "8.9", tera(82.6, 82.6, 165.2, 165.2, 330.3), 1008e9, 24e9, "NVIDIA Ada whitepaper, revised", false, "twice the fp16 and fp8 rates with fp16 accumulation"}},
	{"RTX 3090", Device{"RTX 3090", "8.6", tera(35.6, 35.6, 71, 71, 0), 936e9, 24e9, "NVIDIA GA102 whitepaper", false, "twice the fp16 rate with fp16 accumulation"}},
	{"MI300X", Device{"MI300X", "gfx942", tera(163.4, 653.7, 1307.4, 1307.4, 2614.9), 5300e9, 192e9, "AMD Instinct MI300X data sheet", false, ""}},
}

// otherCards are words after a name that make it a different card, about which we know
// nothing.
var otherCards = []string{"Ti", "D", "SUPER", "Laptop", "Max-Q", "Mobile", "MIG"}

// UnknownDeviceError says that a device is not in the table.
type UnknownDeviceError struct{ Name string }

func (e *UnknownDeviceError) Error() string {
	return fmt.Sprintf("accounting: device %q is not in the table of known hardware, so there is no peak to compare with; "+
		"describe it with an accounting.Device from its data sheet", e.Name)
}

// LookUp finds a device by the name that its driver reports, such as "NVIDIA H100 80GB
// HBM3". Names are compared by whole words: an "A10G" is not an A10. For any other
// name the error is an [*UnknownDeviceError].
func LookUp(name string) (Device, error) {
	words := nameWords(name)
	for _, other := range otherCards {
		if containsWords(words, nameWords(other)) {
			return Device{}, &UnknownDeviceError{name}
		}
	}
	for _, k := range knownDevices {
		if containsWords(words, nameWords(k.match)) {
			return k.Device, nil
		}
	}
	return Device{}, &UnknownDeviceError{name}
}

func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool {
		return !('A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
}

// containsWords reports whether all of want occur in words, in this order.
func containsWords(words, want []string) bool {
	for _, w := range words {
		if len(want) > 0 && w == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// Devices returns all known devices, in the order in which names are looked up.
func Devices() []Device {
	all := make([]Device, len(knownDevices))
	for i, k := range knownDevices {
		all[i] = k.Device
	}
	return all
}

// Peak returns the peak FLOP/s in a precision. The error says which
// precisions the device has.
func (d Device) Peak(p Precision) (float64, error) {
	if r, ok := d.PerSecond[p]; ok {
		return r, nil
	}
	var have []string
	for q := range d.PerSecond {
		have = append(have, string(q))
	}
	slices.Sort(have)
	return 0, fmt.Errorf("accounting: no peak is known for %s on %s, only for %s", p, d.Name, strings.Join(have, ", "))
}

// String prints what is stated, with its source.
func (d Device) String() string {
	text := fmt.Sprintf("%s (compute capability %s): ", d.Name, d.ComputeCapability)
	for _, p := range []Precision{FP32, TF32, FP16, BF16, FP8} {
		if r := d.PerSecond[p]; r > 0 {
			text += fmt.Sprintf("%s %s, ", p, rate(r, "FLOP"))
		}
	}
	text += fmt.Sprintf("dense; %s of memory at %s; %s", trim(d.Memory/1e9, 4)+" GB", rate(d.BytesPerSecond, "B"), d.Source)
	if d.HalvedFromSparse {
		text += ", tensor rates are half of the sparse ones"
	}
	if d.Note != "" {
		text += "; " + d.Note
	}
	return text
}

// Intensity returns the machine's intensity in a precision: how many FLOPs it
// can do while it moves one byte. Computations below it wait for memory.
func (d Device) Intensity(p Precision) (float64, error) {
	peak, err := d.Peak(p)
	return Intensity(peak, d.BytesPerSecond), err
}

// DeviceTable is the table of all known devices.
type DeviceTable struct{}

// HardwareTable returns a table of what is known about all devices.
func HardwareTable() DeviceTable { return DeviceTable{} }

// String prints one line per device.
func (DeviceTable) String() string { return hardwareTable().String() }

// HTML shows the same as a table.
func (DeviceTable) HTML() string { return hardwareTable().HTML() }

func hardwareTable() *tabular.Table {
	t := &tabular.Table{Header: []string{"TFLOP/s, dense", "fp32", "tf32", "fp16", "bf16", "fp8", "GB/s", "GB", "source"}}
	t.Left = func(column int) bool { return column == 0 || column == len(t.Header)-1 }
	for _, d := range Devices() {
		cells := []string{d.Name}
		for _, p := range []Precision{FP32, TF32, FP16, BF16, FP8} {
			cell := "-"
			if r := d.PerSecond[p]; r > 0 {
				cell = trim(r/1e12, 6)
			}
			cells = append(cells, cell)
		}
		source := d.Source
		if d.HalvedFromSparse {
			source += " (tensor rates: half of the sparse ones)"
		}
		t.Add(append(cells, trim(d.BytesPerSecond/1e9, 6), trim(d.Memory/1e9, 6), source)...)
	}
	return t
}
