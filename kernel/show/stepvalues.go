package show

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lectern-go/lectern/internal/goroutine"
	"github.com/lectern-go/lectern/internal/inspect"
	"github.com/lectern-go/lectern/kernel/internal/inband"
)

// A stepVar is a variable as it was shown last.
type stepVar struct {
	block   int    // that declares it
	value   any    // or its address
	address bool   // then it is read anew each time
	now     any    // what tells whether it has changed: a tensor's stamp, a number, or text
	shown   uint64 // sums up what the text shows
	summed  bool
	written bool // its text was recorded
	slow    int  // how often writing it took long: after a few times it is only written where a statement names it
}

// A stepFrame holds the variables of one call by name and block.
type stepFrame struct {
	function int // as the kernel numbers them
	block    int // in which it is
	vars     map[string]*stepVar
}

// A stepPlace is where a site is.
type stepPlace struct{ function, block int }

// A stepStack is the state of one goroutine. Its first frame is the cell's own, which all share.
type stepStack struct {
	id     int
	frames []*stepFrame
	since  time.Time // when the statement that runs began
	ops    []inspect.Op
	leave  func() // at the end of the goroutine's first function
	busy   bool   // a step of it is recorded: methods of the cell that write a value make no steps meanwhile
}

// A stepper remembers what a cell has shown, so that each step can show what has changed since then.
type stepper struct {
	turn       chan struct{} // holds something while a step is recorded
	n          int           // steps
	main       *stepStack
	stacks     goroutine.Local[*stepStack]
	started    int         // goroutines
	memories   map[any]int // by the order in which they were seen
	concurrent bool
	goroutines int           // before the cell began
	waited     time.Duration // for goroutines that have not ended
	places     []stepPlace
	around     []int // of each block the one around it
	now        func() time.Time
	began      time.Time
	before     time.Duration // of the processor, then
	live       int           // bytes of tensors that variables hold
	held       string        // what they consist of, as last told
	moved      bool          // that may be another number now
	stop       func()        // of the library's
	warned     bool          // that it ignores operations

	deaf  atomic.Bool // operations are not reported any more
	opsMu sync.Mutex
	heard atomic.Int64 // operations, also those that found no room
	spent atomic.Int64 // nanoseconds on recording, without hearing of operations
}

var steps = newStepper()

func newStepper() *stepper {
	return &stepper{now: time.Now, turn: make(chan struct{}, 1), memories: map[any]int{}, main: &stepStack{frames: []*stepFrame{{vars: map[string]*stepVar{}}}}}
}

func (s *stepper) begin(concurrent bool, places string, namesAndValues []any) {
	s.turn <- struct{}{}
	defer s.unlock()
	s.concurrent, s.began, s.before, s.goroutines = concurrent, time.Now(), processorTime(), runtime.NumGoroutine()
	sites, blocks, _ := strings.Cut(places, ";")
	for place := range strings.SplitSeq(sites, ",") {
		function, block, _ := strings.Cut(place, " ")
		s.places = append(s.places, stepPlace{number(function), number(block)})
	}
	for block := range strings.SplitSeq(blocks, ",") {
		s.around = append(s.around, number(block))
	}
	s.stacks.Set(s.main)
	s.main.busy = true
	fields := s.values(s.main, 0, namesAndValues, false)
	s.hold(s.main)
	if len(fields) > 0 {
		inband.Send("step", append([]string{"0", "begin", "0", "0", "0", strconv.Itoa(s.live), "0", "0", "0"}, fields...)...)
	}
	if inspect.Linked != nil {
		s.stop = inspect.Linked.Trace(s.ran)
	}
	ran := s.ran
	inspect.Updated.Store(&ran)
	s.main.busy, s.main.since = false, time.Now()
	s.spent.Add(int64(s.main.since.Sub(s.began)))
}

// number reads what the kernel has written.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// end stops recording, which it is this goroutine's turn to do.
func (s *stepper) end(what string) {
	stepping.Store(0)
	inband.Send("steps-cut", what)
	if s.stop != nil {
		s.stop()
	}
	inspect.Updated.Store(nil)
	s.main.frames = nil // variables are free to go
}

// lock waits for other goroutines to record their steps, but not for long: one of them may be writing a value
// by a method of the cell, which waits for this one. Then a step is lost. It is none if this goroutine, of
// which st may be known, itself writes one.
func (s *stepper) lock(st *stepStack) bool {
	if st != nil && st.busy {
		return false
	}
	select {
	case s.turn <- struct{}{}:
		return true
	default:
	}
	late := time.NewTimer(200 * time.Millisecond)
	defer late.Stop()
	select {
	case s.turn <- struct{}{}:
		return true
	case <-late.C:
		return false
	}
}

func (s *stepper) unlock() { <-s.turn }

// stack is that of this goroutine, nil if none of the cell's functions runs on it.
func (s *stepper) stack() *stepStack {
	st, _ := s.stacks.Get()
	return st
}

func (s *stepper) enter(site int) {
	st := s.stack()
	if stepping.Load() == 0 || !s.lock(st) {
		return
	}
	defer s.unlock()
	if st == nil {
		if s.main.frames == nil {
			return
		}
		s.started++
		st = &stepStack{id: s.started, frames: s.main.frames[:1:1], since: time.Now()}
		st.leave = s.stacks.Set(st)
	}
	st.frames = append(st.frames, &stepFrame{function: s.places[site-1].function, vars: map[string]*stepVar{}})
}

// arrive returns which of the calls that run a site belongs to, the innermost one of its function, and forgets the
// variables of blocks that this call has left.
func (s *stepper) arrive(st *stepStack, site int) (depth int) {
	place := s.places[site-1]
	if place.function > 0 { // what a loop over a function runs stands in the call around that
		for depth = len(st.frames) - 1; depth > 0 && st.frames[depth].function != place.function; {
			depth--
		}
	}
	f := st.frames[depth]
	if f.block == place.block {
		return depth
	}
	f.block = place.block
	for name, v := range f.vars {
		if !s.inside(place.block, v.block) {
			delete(f.vars, name)
			s.moved = true
		}
	}
	return depth
}

// inside reports whether a block is in another one, or is that one.
func (s *stepper) inside(block, other int) bool {
	for block != other && block > 0 {
		block = s.around[block-1]
	}
	return block == other
}

// alone reports whether the cell's other goroutines have ended, if it has started any. One that has just said so may
// take a moment, which is waited for as long as all such moments are a small part of the cell's time.
func (s *stepper) alone(st *stepStack) bool {
	if !s.concurrent || st != s.main {
		return !s.concurrent
	}
	for began := time.Now(); runtime.NumGoroutine() > s.goroutines; runtime.Gosched() {
		if waited := time.Since(began); waited > 2*time.Millisecond || s.waited+waited > 5*time.Millisecond+began.Sub(s.began)/20 {
			s.waited += waited
			return false
		}
	}
	return true
}

func (s *stepper) leave() {
	st := s.stack()
	if st == nil || st.busy || len(st.frames) < 2 {
		return
	}
	if stepping.Load() != 0 && s.lock(st) {
		inband.Send("leave", strconv.Itoa(st.id))
		s.moved = true
		s.unlock()
	}
	if st.frames = st.frames[:len(st.frames)-1]; len(st.frames) == 1 && st.leave != nil {
		st.leave()
	}
}

// ran notes an operation of the library.
func (s *stepper) ran(op inspect.Op) {
	st := s.stack()
	if st == nil { // a goroutine that the cell has passed on to other code
		st = s.main
	} else if st.busy {
		return
	}
	if s.heard.Add(1)%256 == 0 && s.stop != nil && s.tooLong(s.now(), 0.5) && !s.deaf.Swap(true) {
		s.stop() // there are very many small ones
	}
	s.opsMu.Lock()
	defer s.opsMu.Unlock()
	if len(st.ops) < maxSteps {
		st.ops = append(st.ops, op)
		return
	}
	last := &st.ops[maxSteps-1]
	last.FLOPs, last.Bytes, last.Elapsed = last.FLOPs+op.FLOPs, last.Bytes+op.Bytes, last.Elapsed+op.Elapsed
}

func (s *stepper) take(st *stepStack) (ops []inspect.Op) {
	s.opsMu.Lock()
	defer s.opsMu.Unlock()
	ops, st.ops = st.ops, nil
	return ops
}

// varFields is how many strings tell about a variable: name, frame, text, facts, gradient, strip.
const varFields = 6

// values tells of the variables that a statement set in a call, and then, if all, of those that have changed without
// being named: of the calls that run on this goroutine, and of the cell.
func (s *stepper) values(st *stepStack, depth int, namesAndValues []any, all bool) (fields []string) {
	var set []*stepVar
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		sort, name := namesAndValues[i].(string)[0], namesAndValues[i].(string)[1:]
		at := depth
		if sort == 'g' {
			at = 0
		}
		v := &stepVar{value: namesAndValues[i+1], address: strings.IndexByte("apg", sort) >= 0}
		if _, block, ok := strings.Cut(name, " "); ok {
			v.block = number(block)
		}
		if old := st.frames[at].vars[name]; old != nil {
			v.slow, v.now, v.shown, v.summed = old.slow, old.now, old.shown, old.summed
		}
		st.frames[at].vars[name] = v
		set = append(set, v)
		s.look(v)
		s.moved = s.moved || mayHoldTensors(v)
		fields = append(fields, s.tell(name, at, v)...)
		for d := depth - 1; d >= 0 && sort == 'p'; d-- { // of a function around this one, which may have returned
			if owner := st.frames[d].vars[name]; owner != nil && owner.value == v.value {
				if set = append(set, owner); s.look(owner) {
					fields = append(fields, s.tell(name, d, owner)...)
				}
			}
		}
	}
	if !all {
		return fields
	}
	alone := s.alone(st)
	for at := len(st.frames) - 1; at >= 0; at-- {
		f := st.frames[at]
		var names []string
		for name, v := range f.vars {
			if !slices.Contains(set, v) && v.slow < 3 && mayLook(v, alone) && s.look(v) {
				names = append(names, name)
				s.moved = s.moved || mayHoldTensors(v)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			fields = append(fields, s.tell(name, at, f.vars[name])...)
		}
	}
	return fields
}

// mayLook reports whether a variable may be read at a statement that doesn't name it: another goroutine may be writing
// it. Tensors are safe to look at.
func mayLook(v *stepVar, alone bool) bool {
	if alone {
		return v.address || points(v.value)
	}
	t := reflect.TypeOf(v.value)
	return inspect.Linked != nil && t == inspect.Linked.Type
}

// points reports whether a value can change through another name.
func points(v any) bool {
	switch reflect.ValueOf(v).Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Struct, reflect.Array:
		return true
	}
	return false
}

func (v *stepVar) get() reflect.Value {
	r := reflect.ValueOf(v.value)
	if v.address {
		r = r.Elem()
	}
	if r.IsValid() && r.Kind() == reflect.Interface {
		r = r.Elem()
	}
	return r
}

// look reads a variable, and reports whether it has changed since the last time.
func (s *stepper) look(v *stepVar) (changed bool) {
	r := v.get()
	var now any
	switch {
	case !r.IsValid():
		now = nil
	case isTensor(r):
		now = inspect.Linked.Stamp(r.Interface())
	case r.Kind() <= reflect.Float64 && r.CanInterface(): // numbers; NaN always counts as changed, which does no harm
		if now = r.Interface(); now == v.now && v.now != nil {
			return false
		}
	default:
		began := time.Now()
		tensors := s.sum(r)
		shown, ok := shownSum(r)
		if old, before := v.now.(shownText); !ok || !before || !v.summed || v.shown != shown {
			now = shownText{stepText(r), tensors}
		} else {
			now = shownText{old.text, tensors}
		}
		v.shown, v.summed = shown, ok
		if time.Since(began) > 5*time.Millisecond {
			v.slow++
		}
	}
	if v.now == now && v.written {
		return false
	}
	v.now = now
	return true
}

// A shownText is what tells whether a value has changed: its text, which may be cut, and a sum over the tensors in it.
type shownText struct {
	text    string
	tensors uint64
}

var stampSeed = maphash.MakeSeed()

// sum changes when a tensor does that a value holds, as a model does, unless the value says
// itself all that can be seen of it.
func (s *stepper) sum(r reflect.Value) (sum uint64) {
	if inspect.Linked == nil || !r.CanInterface() || !holdsTensors(r.Type()) || hasText(r.Interface()) {
		return 0
	}
	w := reachWalk{seen: map[any]bool{}, maps: !s.concurrent, left: 10_000}
	w.visit = func(t any) { sum += maphash.Comparable(stampSeed, inspect.Linked.Stamp(t)) }
	w.walk(r)
	return sum
}

func isTensor(r reflect.Value) bool {
	return inspect.Linked != nil && r.Type() == inspect.Linked.Type && !r.IsNil()
}

// tell describes a variable in varFields strings.
func (s *stepper) tell(name string, depth int, v *stepVar) []string {
	fields := make([]string, varFields)
	fields[0], fields[1] = name, strconv.Itoa(depth)
	r := v.get()
	switch {
	case !r.IsValid():
		fields[2] = "nil"
	case isTensor(r):
		t, ok := inspect.Linked.Describe(r.Interface(), maxStepValue)
		if !ok {
			fields[2] = stepText(r)
			break
		}
		fields[2] = t.Text
		id := s.memories[t.Memory]
		if id == 0 {
			id = len(s.memories) + 1
			s.memories[t.Memory] = id
		}
		tracked := ""
		if t.Tracked {
			tracked = "grad"
		}
		fields[3] = strings.Join([]string{t.Dtype, numbers(t.Shape), numbers(t.Strides), strconv.Itoa(t.Offset), strconv.Itoa(id), strconv.Itoa(t.Size), tracked}, ";")
		if t.Grad != nil {
			if g, ok := inspect.Linked.Describe(t.Grad, maxStepValue); ok {
				fields[4] = g.Text
			}
		}
		fields[5] = strings.Join(t.Strip, "\t")
	default:
		if shown, ok := v.now.(shownText); ok {
			fields[2] = shown.text
		} else {
			fields[2] = stepText(r)
		}
	}
	v.written = true
	return fields
}

func numbers(list []int) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ",")
}

// maxHeld is how many parts are listed of what variables hold.
const maxHeld = 24

// A heldPart is memory that a variable holds for a reason.
type heldPart struct {
	name, why string
	count     int // memories
	bytes     int
}

// rank orders the reasons: a memory is a tensor's own in the first place.
func (p *heldPart) rank() int {
	switch p.why {
	case "":
		return 0
	case "gradient":
		return 1
	}
	return 2
}

// hold sums up the memory of all tensors that the variables of a goroutine and of the cell hold, with gradients and
// what graphs have saved, and tells what it consists of if that has changed.
func (s *stepper) hold(st *stepStack) {
	s.live, s.moved = 0, false
	var fields []string
	rest := heldPart{why: "and more"}
	for i, p := range s.reached(st) {
		s.live += p.bytes
		if i < maxHeld {
			fields = append(fields, p.String())
		} else {
			rest.bytes, rest.count = rest.bytes+p.bytes, rest.count+p.count
		}
	}
	if rest.count > 0 {
		fields = append(fields, rest.String())
	}
	if now := strings.Join(fields, "\n"); now != s.held {
		s.held = now
		inband.Send("held", fields...)
	}
}

func (p *heldPart) String() string {
	return fmt.Sprintf("%d\t%s\t%s\t%d", p.bytes, p.name, p.why, p.count)
}

// reached lists what hold sums up, each memory once: as the own one of the first variable whose own it is, else as that
// of the first gradient or operation that keeps it.
func (s *stepper) reached(st *stepStack) (parts []heldPart) {
	if inspect.Linked == nil {
		return nil
	}
	memories := map[any]heldPart{}
	name := ""
	w := reachWalk{seen: map[any]bool{}, maps: !s.concurrent, left: 50_000}
	w.visit = func(t any) {
		inspect.Linked.Reach(t, func(memory any, size int, why string) {
			p := heldPart{name, why, 1, size}
			if old, ok := memories[memory]; !ok || p.rank() < old.rank() {
				memories[memory] = p
			}
		})
	}
	for _, f := range st.frames {
		for _, key := range slices.Sorted(maps.Keys(f.vars)) {
			v := f.vars[key]
			if r := v.get(); r.IsValid() && holdsTensors(r.Type()) && (mayLook(v, !s.concurrent) || isTensor(r)) {
				name, _, _ = strings.Cut(key, " ")
				w.walk(r)
			}
		}
	}
	sums := map[[2]string]heldPart{}
	for _, m := range memories {
		sum := sums[[2]string{m.name, m.why}]
		sums[[2]string{m.name, m.why}] = heldPart{m.name, m.why, sum.count + 1, sum.bytes + m.bytes}
	}
	parts = slices.Collect(maps.Values(sums))
	slices.SortFunc(parts, func(a, b heldPart) int {
		return cmp.Or(a.rank()-b.rank(), b.bytes-a.bytes, strings.Compare(a.name, b.name), strings.Compare(a.why, b.why))
	})
	return parts
}

// mayHoldTensors reports whether the value of a variable may lead to tensors, or may have done so.
func mayHoldTensors(v *stepVar) bool {
	r := v.get()
	return inspect.Linked != nil && (!r.IsValid() || holdsTensors(r.Type()))
}

// A reachWalk goes through values to the tensors in them.
type reachWalk struct {
	visit func(tensor any)
	seen  map[any]bool // pointers
	maps  bool
	left  int
}

func (w *reachWalk) walk(v reflect.Value) {
	if w.left--; w.left < 0 || !v.IsValid() || !holdsTensors(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			w.walk(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() || w.seen[v.UnsafePointer()] {
			return
		}
		w.seen[v.UnsafePointer()] = true
		if v.Type() == inspect.Linked.Type {
			t := reflect.NewAt(v.Type().Elem(), v.UnsafePointer()) // a field may be unexported
			w.visit(t.Interface())
			return
		}
		w.walk(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			w.walk(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), 4096) {
			w.walk(v.Index(i))
		}
	case reflect.Map:
		if !w.maps {
			return
		}
		for it := v.MapRange(); it.Next(); {
			w.walk(it.Key())
			w.walk(it.Value())
		}
	}
}

// tensorTypes remembers which types may hold tensors.
var tensorTypes = map[reflect.Type]bool{}

// holdsTensors reports whether a value of a type may lead to tensors. It is called in a step's turn.
func holdsTensors(t reflect.Type) bool {
	yes, known := tensorTypes[t]
	if !known {
		yes = leadsToTensors(t, map[reflect.Type]bool{})
		tensorTypes[t] = yes
	}
	return yes
}

func leadsToTensors(t reflect.Type, open map[reflect.Type]bool) bool {
	if open[t] { // a type that leads only to itself holds none
		return false
	}
	open[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer:
		return t == inspect.Linked.Type || leadsToTensors(t.Elem(), open)
	case reflect.Slice, reflect.Array:
		return leadsToTensors(t.Elem(), open)
	case reflect.Map:
		return leadsToTensors(t.Key(), open) || leadsToTensors(t.Elem(), open)
	case reflect.Struct:
		for i := range t.NumField() {
			if leadsToTensors(t.Field(i).Type, open) {
				return true
			}
		}
	}
	return false
}
