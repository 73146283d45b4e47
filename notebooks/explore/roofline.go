package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/accounting"
)

// precisions are those of devices, with the bytes of a number in each.
var precisions = []struct {
	p     accounting.Precision
	bytes float64
}{
	{accounting.BF16, 2}, {accounting.FP16, 2}, {accounting.FP8, 1}, {accounting.TF32, 4}, {accounting.FP32, 4},
}

// usual is the device that the lessons take.
const usual = "H100 SXM"

// a machineChoice is a device and what it computes in.
type machineChoice struct {
	devices   []accounting.Device
	device    int
	precision int
}

func newMachineChoice() machineChoice {
	all := accounting.Devices()
	return machineChoice{devices: all, device: slices.IndexFunc(all, func(d accounting.Device) bool { return d.Name == usual })}
}

func (m *machineChoice) set(control, value string) {
	switch control {
	case "device":
		if i, ok := chosen(value, len(m.devices)); ok {
			m.device = i
		}
	case "precision":
		if i, ok := chosen(value, len(precisions)); ok {
			m.precision = i
		}
	}
}

func (m *machineChoice) machine() (accounting.Machine, error) {
	return m.devices[m.device].Machine(precisions[m.precision].p)
}

func (m *machineChoice) draw(p *page) {
	var names, formats []string
	for _, d := range m.devices {
		names = append(names, d.Name)
	}
	for _, f := range precisions {
		formats = append(formats, string(f.p))
	}
	p.choice("Device", "device", names, m.device)
	p.choice("Numbers in", "precision", formats, m.precision)
}

// roofline sets a matrix product under the roof of a device.
type roofline struct {
	machineChoice
	sizes [3]int // powers of two of m, k, n
}

func newRoofline() *roofline { return &roofline{newMachineChoice(), [3]int{10, 10, 10}} }

const largestPower = 14 // of a size

func (x *roofline) set(control, value string) {
	x.machineChoice.set(control, value)
	if i := strings.Index("mkn", control); i >= 0 && len(control) == 1 {
		if n, ok := chosen(value, largestPower+1); ok {
			x.sizes[i] = n
		}
	}
}

// operation is the product. Each operand is read once, and the result written once.
func (x *roofline) operation() accounting.Operation {
	m, k, n := math.Exp2(float64(x.sizes[0])), math.Exp2(float64(x.sizes[1])), math.Exp2(float64(x.sizes[2]))
	return accounting.Operation{Name: "matmul", FLOPs: accounting.MatmulFLOPs(m, k, n), Bytes: precisions[x.precision].bytes * (m*k + k*n + m*n)}
}

func (x *roofline) draw(p *page) {
	p.add(`<div class="x-row">`)
	x.machineChoice.draw(p)
	p.add(`</div><div class="x-row">`)
	for i, name := range []string{"m", "k", "n"} {
		p.slider(name, name, 0, largestPower, x.sizes[i], strconv.Itoa(1<<x.sizes[i]))
	}
	p.add(`</div>`)
	machine, err := x.machine()
	if err != nil {
		p.refused(err.Error())
		return
	}
	o := x.operation()
	bound := say("waits for memory")
	if o.Intensity() >= machine.Intensity() {
		bound = say("computes without waiting for memory")
	}
	p.says(`A matmul of %d × %d with %d × %d does <b>%.4g</b> FLOPs per byte. Here it <b>%s</b>: its MFU is at most <b>%.3g %%</b>, and it takes at least %s.`,
		1<<x.sizes[0], 1<<x.sizes[1], 1<<x.sizes[1], 1<<x.sizes[2], o.Intensity(), bound, 100*machine.MFUBound(o.Intensity()), seconds(machine.Seconds(o)))
	x.drawRoof(p, machine, o)
	p.add(`<dl class="x-facts"><div><dt>FLOPs: 2 · m · k · n</dt><dd>%s</dd></div><div><dt>bytes: %s · (mk + kn + mn)</dt><dd>%s</dd></div><div><dt>the device's FLOP per byte</dt><dd>%.4g</dd></div></dl>`,
		prefixed(o.FLOPs, ""), num(precisions[x.precision].bytes), prefixed(o.Bytes, "B"), machine.Intensity())
	p.add(`<p class="x-hint">%s: %s and %s, by the %s.</p>`, x.devices[x.device].Name, prefixed(machine.PeakPerSecond, "FLOP/s"), prefixed(machine.BytesPerSecond, "B/s"), x.devices[x.device].Source)
}

// prefixed writes a quantity with a prefix of units.
func prefixed(n float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E", "Z", "Y"}
	i := 0
	for ; n >= 999.5 && i < len(prefixes)-1; i++ {
		n /= 1000
	}
	return strings.TrimRight(fmt.Sprintf("%.3g %s%s", n, prefixes[i], unit), " ")
}

// seconds writes a time.
func seconds(s float64) string {
	for _, u := range []struct {
		name       string
		size, from float64
	}{{phrase("years"), 365.25 * 86400, 2}, {phrase("days"), 86400, 2}, {phrase("hours"), 3600, 2}, {"s", 1, 1}, {"ms", 1e-3, 1}, {"µs", 1e-6, 1}} {
		if s >= u.from*u.size {
			return fmt.Sprintf("%.3g %s", s/u.size, say(u.name))
		}
	}
	return fmt.Sprintf("%.3g ns", s*1e9)
}

// drawRoof draws both axes in powers of ten.
func (x *roofline) drawRoof(p *page, m accounting.Machine, o accounting.Operation) {
	const left, right, top, bottom = 52., 410., 14., 178.
	const leastX, mostX = -1.2, 4.2
	mostY := math.Log10(m.PeakPerSecond) + 0.4
	leastY := mostY - 4.6
	atX := func(intensity float64) float64 {
		return left + (right-left)*(math.Log10(intensity)-leastX)/(mostX-leastX)
	}
	atY := func(speed float64) float64 { return bottom - (bottom-top)*(math.Log10(speed)-leastY)/(mostY-leastY) }
	p.add(`<svg class="x-plot" viewBox="0 0 420 215" role="img" aria-label="Roofline of the %s, with the matmul at %.4g FLOP per byte and %s">`, m.Name, o.Intensity(), prefixed(m.Attainable(o.Intensity()), "FLOP/s"))
	for e := math.Ceil(leastX); e <= mostX; e++ {
		p.add(`<path class="grid" d="M%.1f %.0fV%.0f"/><text x="%.1f" y="193" text-anchor="middle">%s</text>`, atX(math.Pow(10, e)), top, bottom, atX(math.Pow(10, e)), num(math.Pow(10, e)))
	}
	for e := math.Ceil(leastY); e <= mostY; e++ {
		p.add(`<path class="grid" d="M%.0f %.1fH%.0f"/><text x="%.0f" y="%.1f" text-anchor="end">%s</text>`, left, atY(math.Pow(10, e)), right, left-5, atY(math.Pow(10, e))+4, prefixed(math.Pow(10, e), ""))
	}
	p.add(`<text x="231" y="210" text-anchor="middle">FLOP per byte</text><text x="2" y="12">FLOP/s</text>`)
	// The slope comes from the left edge or from below.
	first := max(math.Pow(10, leastX), math.Pow(10, leastY)/m.BytesPerSecond)
	ridge := m.Intensity()
	p.add(`<path class="roof" d="M%.1f %.1fL%.1f %.1fH%.0f"/>`, atX(first), atY(m.Attainable(first)), atX(ridge), atY(m.PeakPerSecond), right)
	p.add(`<path class="drop" d="M%.1f %.1fV%.0f"/>`, atX(ridge), atY(m.PeakPerSecond), bottom)
	here, speed := atX(o.Intensity()), atY(m.Attainable(o.Intensity()))
	p.add(`<path class="drop here" d="M%.1f %.1fV%.0f"/><circle class="dot" cx="%.1f" cy="%.1f" r="5"/></svg>`, here, speed, bottom, here, speed)
}
