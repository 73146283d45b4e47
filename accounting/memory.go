package accounting

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/tabular"
	"github.com/lectern-go/lectern/tensor"
)

// Category is what memory is held for.
type Category int

const (
	Parameters     Category = iota // what is trained
	Gradients                      // kept by Backward
	OptimizerState                 // moments and the like
	Activations                    // values of the forward pass that the graph saved for Backward
	Data                           // inputs and targets
	Temporary                      // everything else: intermediate values, and the Go program's own tensors
	numCategories
)

// String returns the category's name.
func (c Category) String() string {
	return [...]string{"parameters", "gradients", "optimizer state", "activations", "data", "temporary"}[c]
}

// Bytes holds sizes by category.
type Bytes [numCategories]int

// Total returns the sum over all categories.
func (b Bytes) Total() int {
	total := 0
	for _, n := range b {
		total += n
	}
	return total
}

// String prints the categories that are not empty.
func (b Bytes) String() string {
	var parts []string
	for c, n := range b {
		if n != 0 {
			parts = append(parts, fmt.Sprintf("%s %s", Category(c), humanize.Thousands(n)))
		}
	}
	return strings.Join(append(parts, "total "+humanize.Thousands(b.Total())+" bytes"), ", ")
}

// A Ledger follows the memory of tensors; see [Track].
type Ledger struct {
	mu      sync.Mutex
	stop    func()
	devices map[string]*account
}

// account is the memory of one device.
type account struct {
	entries map[tensor.Memory]*entry
	current Bytes
	peak    Bytes        // at the moment when the total was highest
	highest Bytes        // of each category by itself
	saved   []SavedValue // the activations when they were highest

	atPeak, atHighest blocks // what peak and highest consist of
}

// blocks are the sizes of memory by category, the largest first.
type blocks [numCategories][]int

// blocks returns the sizes of what is held now.
func (a *account) blocks() (all blocks) {
	for _, x := range a.entries {
		all[x.category] = append(all[x.category], x.size)
	}
	for _, sizes := range all {
		slices.SortFunc(sizes, func(a, b int) int { return b - a })
	}
	return all
}

// parts says what the bytes of a category consist of.
func (b blocks) parts(c Category) (lines []string) {
	for sizes := b[c]; len(sizes) > 0; {
		n := 1
		for n < len(sizes) && sizes[n] == sizes[0] {
			n++
		}
		switch size := humanize.Thousands(n * sizes[0]); {
		case sizes[0] == 0: // a tensor without elements
		case n == 1:
			lines = append(lines, "a tensor: "+size)
		default:
			lines = append(lines, fmt.Sprintf("%s of %s each: %s", many(n, "tensor"), many(sizes[0], "byte"), size))
		}
		sizes = sizes[n:]
	}
	return lines
}

// entry is one block of memory.
type entry struct {
	size     int
	category Category
	existing bool         // it existed before the ledger
	savings  []SavedValue // by operations that have not released it yet
}

// SavedValue is a value that an operation kept for its gradient.
type SavedValue struct {
	Op    string // the operation
	Scope string // see tensor.Scope
	What  string // which value, such as "its left operand"
	Shape []int
	Bytes int // of the memory behind it
}

// Track starts a ledger of the memory that tensors hold from now on, on all
// goroutines, until its Stop is called. Existing tensors are entered when they are
// passed here, saved by an operation, or given a role.
//
// The purpose of memory follows from [tensor.Tensor.SetRole], which RequireGrad and
// Backward call for parameters and gradients. Without a role, tensors that existed
// before count as data, and values that the graph saved as activations.
//
// The ledger sees memory disappear when the garbage collector has freed it. So that
// garbage doesn't count as a peak, it runs the collector whenever a peak seems to be
// reached; a tracked program is therefore slower. Without a ledger, an operation pays
// only for an atomic load.
func Track(existing ...*tensor.Tensor) *Ledger {
	l := &Ledger{devices: map[string]*account{}}
	for _, t := range existing {
		m := tensor.MemoryOf(t)
		l.account(m).meet(m)
	}
	l.stop = tensor.Trace(l.note)
	return l
}

// Stop ends the ledger; its results stay available.
func (l *Ledger) Stop() { l.stop() }

func (l *Ledger) account(m tensor.Memory) *account {
	name := m.Device()
	a := l.devices[name]
	if a == nil {
		a = &account{entries: map[tensor.Memory]*entry{}}
		l.devices[name] = a
	}
	return a
}

func (l *Ledger) note(e tensor.Event) {
	if e.Kind == tensor.Ran {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.account(e.Storage)
	switch e.Kind {
	case tensor.Allocated:
		a.enter(e.Storage, &entry{size: e.Size})
	case tensor.Saved:
		x := a.meet(e.Storage)
		x.savings = append(x.savings, SavedValue{Op: e.Op, Scope: e.Scope, What: e.What, Shape: e.Shape, Bytes: x.size})
		a.classify(e.Storage, x)
	case tensor.Released:
		if x := a.entries[e.Storage]; x != nil && len(x.savings) > 0 {
			x.savings = x.savings[1:]
			a.classify(e.Storage, x)
		}
	case tensor.RoleSet:
		a.classify(e.Storage, a.meet(e.Storage))
	}
	a.climb()
}

// enter adds memory to the ledger.
func (a *account) enter(m tensor.Memory, x *entry) *entry {
	a.entries[m] = x
	a.current[Temporary] += x.size
	x.category = Temporary
	a.classify(m, x)
	return x
}

// meet returns the entry of memory that may be older than the ledger.
func (a *account) meet(m tensor.Memory) *entry {
	if x := a.entries[m]; x != nil {
		return x
	}
	return a.enter(m, &entry{size: m.Size(), existing: true})
}

// classify moves an entry to the category that it now belongs to.
func (a *account) classify(m tensor.Memory, x *entry) {
	c := Temporary
	switch m.Role() {
	case tensor.Parameter:
		c = Parameters
	case tensor.Gradient:
		c = Gradients
	case tensor.OptimizerState:
		c = OptimizerState
	case tensor.Input:
		c = Data
	default:
		switch {
		case x.existing:
			c = Data
		case len(x.savings) > 0:
			c = Activations
		}
	}
	a.current[x.category] -= x.size
	a.current[c] += x.size
	x.category = c
}

// climb notes a new peak, if there still is one when the garbage is gone.
func (a *account) climb() {
	if !a.above() {
		return
	}
	a.sweep()
	if a.current[Activations] > a.highest[Activations] {
		a.saved = a.savedNow()
	}
	now := a.blocks()
	for c, n := range a.current {
		if n > a.highest[c] {
			a.highest[c], a.atHighest[c] = n, now[c]
		}
	}
	if a.current.Total() > a.peak.Total() {
		a.peak, a.atPeak = a.current, now
	}
}

func (a *account) above() bool {
	for c, n := range a.current {
		if n > a.highest[c] {
			return true
		}
	}
	return a.current.Total() > a.peak.Total()
}

// sweep removes the memory that nothing refers to.
func (a *account) sweep() {
	runtime.GC()
	for m, x := range a.entries {
		if !m.Live() {
			a.current[x.category] -= x.size
			delete(a.entries, m)
		}
	}
}

// savedNow lists the memory in category Activations, once each.
func (a *account) savedNow() []SavedValue {
	var saved []SavedValue
	for _, x := range a.entries {
		if x.category == Activations {
			first := x.savings[0]
			for _, other := range x.savings[1:] {
				if !strings.Contains(first.Op, other.Op) {
					first.Op += ", " + other.Op
				}
			}
			saved = append(saved, first)
		}
	}
	slices.SortFunc(saved, func(a, b SavedValue) int {
		if a.Bytes != b.Bytes {
			return b.Bytes - a.Bytes
		}
		return strings.Compare(a.Op+a.What+fmt.Sprint(a.Shape), b.Op+b.What+fmt.Sprint(b.Shape))
	})
	return saved
}

// MemoryReport is what a ledger found on one device.
type MemoryReport struct {
	Device  string
	Current Bytes        // held now
	Peak    Bytes        // held when the total was highest
	Highest Bytes        // the highest of each category, at any moment
	Saved   []SavedValue // the activations when they were highest

	now, atPeak, atHighest blocks // what the first three consist of
}

// Report returns what is held now and what was held at the peak, for the device "cpu".
// It runs the garbage collector.
func (l *Ledger) Report() MemoryReport { return l.Device("cpu") }

// Device returns the report for one device, zero if no tensor was there.
func (l *Ledger) Device(name string) MemoryReport {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := MemoryReport{Device: name}
	if a := l.devices[name]; a != nil {
		a.sweep()
		r.Current, r.Peak, r.Highest, r.Saved = a.current, a.peak, a.highest, a.saved
		r.now, r.atPeak, r.atHighest = a.blocks(), a.atPeak, a.atHighest
	}
	return r
}

// Devices returns the names of the devices that held tensors.
func (l *Ledger) Devices() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for name := range l.devices {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Memory runs f under a ledger and returns its report for the device "cpu",
// with what f left behind as Current.
func Memory(f func(), existing ...*tensor.Tensor) MemoryReport {
	l := Track(existing...)
	defer l.Stop()
	f()
	return l.Report()
}

func (r MemoryReport) table() *tabular.Table {
	t := &tabular.Table{Header: []string{"bytes on " + r.Device, "now", "at the peak", "highest"}}
	for c := range numCategories {
		if r.Highest[c] > 0 {
			t.Add(c.String(), humanize.Thousands(r.Current[c]), humanize.Thousands(r.Peak[c]), humanize.Thousands(r.Highest[c]))
			for i, b := range []blocks{r.now, r.atPeak, r.atHighest} {
				t.Unfold(1+i, b.parts(c)...)
			}
		}
	}
	t.Add("total", humanize.Thousands(r.Current.Total()), humanize.Thousands(r.Peak.Total()), "")
	return t
}

func (r MemoryReport) savedTable() *tabular.Table {
	t := &tabular.Table{Header: []string{"activations when highest", "shape", "bytes"}}
	for _, s := range r.Saved {
		t.Add(s.Op+": "+s.What, fmt.Sprint(s.Shape), humanize.Thousands(s.Bytes))
	}
	return t
}

// String prints the bytes by category, then what activations were saved for.
func (r MemoryReport) String() string {
	if len(r.Saved) == 0 {
		return r.table().String()
	}
	return r.table().String() + r.savedTable().String()
}

// HTML shows the same as tables, whose numbers unfold into the tensors that they consist of.
func (r MemoryReport) HTML() string {
	if len(r.Saved) == 0 {
		return r.table().HTML()
	}
	return r.table().HTML() + r.savedTable().HTML()
}

// Compare puts the measured bytes beside those of a formula.
func (r MemoryReport) Compare(formula TrainingMemory) MemoryComparison {
	return MemoryComparison{formula, r}
}

// MemoryComparison is a prediction beside a measurement.
type MemoryComparison struct {
	Predicted TrainingMemory
	Measured  MemoryReport
}

// Difference returns measured minus predicted bytes of the four categories that
// the formula knows.
func (c MemoryComparison) Difference() int {
	sum := 0
	for category := range Data {
		sum += c.Measured.Highest[category] - c.Predicted.Bytes()[category]
	}
	return sum
}

// String prints both, and what the difference consists of.
func (c MemoryComparison) String() string {
	t := &tabular.Table{Header: []string{"bytes", "formula", "measured", "difference"}}
	total := 0
	for category, predicted := range c.Predicted.Bytes() {
		if Category(category) >= Data {
			continue
		}
		measured := c.Measured.Highest[category]
		total += measured
		t.Add(Category(category).String(), humanize.Thousands(predicted), humanize.Thousands(measured), humanize.Thousands(measured-predicted))
	}
	t.Add("total", humanize.Thousands(c.Predicted.Total()), humanize.Thousands(total), humanize.Thousands(total-c.Predicted.Total()))
	text := t.String()
	if c.Measured.Highest[Activations] != c.Predicted.Bytes()[Activations] {
		text += "the graph saved\n"
		for _, s := range c.Measured.Saved {
			text += fmt.Sprintf("  %s bytes %v for %s (%s)\n", humanize.Thousands(s.Bytes), s.Shape, s.Op, s.What)
		}
		text += "the formula counts the result of each hidden layer only\n"
	}
	return text
}

// HTML shows the same text.
func (c MemoryComparison) HTML() string { return preformatted(c.String()) }
