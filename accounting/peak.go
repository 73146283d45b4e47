package accounting

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/accounting/internal/peak"
	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Peak is what this computer's floating-point units can do, measured with loops that
// touch only registers. No computation that uses memory can be faster.
type Peak struct {
	CPU          string  // the processor's name, as the system gives it
	Dtype        string  // of the operands
	Threads      int     // one on each core
	PerSecond    float64 // FLOP/s of all threads together
	Instructions string  // the fastest ones: "AVX-512 FMA"
	Lanes        int     // multiply-adds that one port starts in a cycle
	GHz          float64 // measured clock; 0 if unknown
}

// CPUPeak measures the peak for a dtype on a number of threads; 0 threads
// means as many as package tensor uses. It takes about a tenth of a second the first
// time and is remembered, in a notebook also from cell to cell.
//
// Small floats count as the type that their products are computed in: float32 or, for
// bfloat16, the processor's own instructions if those are faster. The error says that
// integers have no peak.
func CPUPeak(d tensor.Dtype, threads int) (Peak, error) { return cpuPeak(d, threads, 0) }

// cpuPeak is CPUPeak when a computation has already reached a number of FLOP/s. A lower peak was measured
// while something else took the processor's time: it is measured again, a few times at most.
func cpuPeak(d tensor.Dtype, threads int, reached float64) (Peak, error) {
	if _, ok := PrecisionOf(d); !ok {
		return Peak{}, fmt.Errorf("accounting: there are no peak FLOP/s for %s, which isn't a floating-point type", d)
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	operands := []string{"float32"}
	switch d {
	case tensor.Float64:
		operands = []string{"float64"}
	case tensor.BFloat16:
		operands = []string{"bfloat16", "float32"}
	}
	peaks.Lock()
	defer peaks.Unlock()
	var best Peak
	for try := range 4 {
		for _, dtype := range operands {
			if p := peaks.measure(dtype, threads, try > 0); p.PerSecond > best.PerSecond {
				best = p
			}
		}
		if best.PerSecond >= reached {
			break
		}
	}
	return best, nil
}

// peaks remembers what was measured.
var peaks peakCache

type peakCache struct {
	sync.Mutex
	cpu string
	ghz float64
	all []Peak
	bandwidth
}

type bandwidth struct {
	threads   int
	perSecond float64
}

const (
	loopTime = 30 * time.Millisecond
	copyTime = 100 * time.Millisecond
)

// measure returns the fastest loop for operands of a dtype; PerSecond is 0 if
// there is none. What was measured before is measured again only on request; then the
// faster result counts.
func (c *peakCache) measure(dtype string, threads int, again bool) Peak {
	c.identify()
	i := slices.IndexFunc(c.all, func(p Peak) bool { return p.Dtype == dtype && p.Threads == threads })
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, Peak{CPU: c.cpu, Dtype: dtype, Threads: threads, GHz: c.ghz})
	} else if !again {
		return c.all[i]
	}
	best := &c.all[i]
	for _, l := range peak.Loops() {
		if l.Dtype != dtype || l.Lanes == 1 && best.Lanes > 1 {
			continue
		}
		if speed := l.PerSecond(threads, loopTime); speed > best.PerSecond {
			best.PerSecond, best.Instructions, best.Lanes = speed, l.Name, l.Lanes
		}
	}
	return *best
}

func (c *peakCache) identify() {
	if c.cpu == "" {
		c.cpu, c.ghz = cpuName(), peak.GHz()
	}
}

// CPUBandwidth measures the memory traffic of this computer, in bytes per second, read
// plus written, on a number of threads that copy or read memory that fits into no
// cache, whichever moves more; 0 threads means as many as package tensor uses. It
// takes about two tenths of a second the first time.
func CPUBandwidth(threads int) float64 { return cpuBandwidth(threads, 0) }

// cpuBandwidth is CPUBandwidth when a computation has already moved a number of bytes
// per second. As with cpuPeak, a lower result is measured again; the faster one
// counts.
func cpuBandwidth(threads int, reached float64) float64 {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	peaks.Lock()
	defer peaks.Unlock()
	peaks.identify()
	b := &peaks.bandwidth
	if b.threads != threads {
		*b = bandwidth{threads, peak.BytesPerSecond(threads, copyTime)}
	}
	for range 3 {
		if b.perSecond >= reached {
			break
		}
		b.perSecond = max(b.perSecond, peak.BytesPerSecond(threads, copyTime))
	}
	return b.perSecond
}

// keptPeaks is what a notebook keeps, so that not every cell has to measure.
type keptPeaks struct {
	CPU       string
	GHz       float64
	All       []Peak
	Threads   int
	Bandwidth float64
}

func init() {
	cellstate.Register("accounting/peak", savePeaks, loadPeaks)
}

func savePeaks() []byte {
	peaks.Lock()
	defer peaks.Unlock()
	if peaks.cpu == "" {
		return nil
	}
	state, err := json.Marshal(keptPeaks{peaks.cpu, peaks.ghz, peaks.all, peaks.bandwidth.threads, peaks.bandwidth.perSecond})
	if err != nil {
		return nil // they can be measured again
	}
	return state
}

func loadPeaks(state []byte) error {
	var k keptPeaks
	if err := json.Unmarshal(state, &k); err != nil {
		return fmt.Errorf("accounting: kept peaks: %w", err)
	}
	if k.CPU != cpuName() {
		return nil // the notebook has moved to another computer
	}
	peaks.Lock()
	defer peaks.Unlock()
	peaks.cpu, peaks.ghz, peaks.all = k.CPU, k.GHz, k.All
	peaks.bandwidth = bandwidth{k.Threads, k.Bandwidth}
	return nil
}

// cpuName returns what the system calls the processor.
func cpuName() string {
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH + " processor"
}

// Ports returns how many such instructions each core must start per cycle to reach the
// peak, to the nearest integer: the unknown of the formula.
func (p Peak) Ports() int {
	if p.GHz == 0 {
		return 1
	}
	return max(1, int(math.Round(p.PerSecond/(float64(p.Threads)*p.GHz*1e9*float64(p.Lanes)*2))))
}

// Formula returns cores · clock · lanes · 2 · ports; 0 if the clock is unknown.
func (p Peak) Formula() float64 {
	return float64(p.Threads) * p.GHz * 1e9 * float64(p.Lanes) * 2 * float64(p.Ports())
}

// String prints the measured peak with the formula as a cross-check.
func (p Peak) String() string {
	text := fmt.Sprintf("%s, %s, %s: %s with %s, measured\n", p.CPU, p.Dtype, humanize.Count(p.Threads, "thread"), rate(p.PerSecond, "FLOP"), p.Instructions)
	if p.GHz > 0 {
		text += fmt.Sprintf("formula: %s · %.2f GHz · %s · 2 · %d a cycle = %s; measured / formula = %.2f\n",
			humanize.Count(p.Threads, "core"), p.GHz, humanize.Count(p.Lanes, "lane"), p.Ports(), rate(p.Formula(), "FLOP"), p.PerSecond/p.Formula())
	}
	return text
}

// HTML shows the same text.
func (p Peak) HTML() string { return preformatted(p.String()) }
