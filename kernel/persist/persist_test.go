package persist

import (
	"errors"
	"hash/maphash"
	"io"
	"log"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/internal/testenv"
)

// newCell forgets everything that this process knows, as a new cell's process would.
func newCell(t *testing.T, folders ...string) {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	manifest, vars, mappings, loaded, written = newManifest(), nil, nil, map[int][]byte{}, false
	known, dynamics = map[string]reflect.Type{}, map[reflect.Type]*dynamic{}
	functions, instances, unlooked, byCode, stubs = map[string]*function{}, map[instance]*function{}, nil, map[uintptr]*function{}, map[unsafe.Pointer]*function{}
	limit = 1 << 62
	if folders != nil {
		dirs = folders
	}
}

// define runs a cell that defines variables, given as pairs of name and pointer, and returns what it wrote to stderr.
func define(t *testing.T, pairs ...any) string {
	t.Helper()
	newCell(t)
	return captureStderr(t, func() {
		done := Begin(1)
		Def(pairs...)
		done()
	})
}

// restore runs a cell that restores variables, changes them, and saves them.
func restore(t *testing.T, change func(), pairs ...any) string {
	t.Helper()
	return captureStderr(t, func() {
		done := Begin(2, pairs...)
		if change != nil {
			change()
		}
		done()
	})
}

func captureStderr(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = w
	defer func() { os.Stderr = old }()
	text := make(chan string)
	go func() { b, _ := io.ReadAll(r); text <- string(b) }()
	f()
	w.Close()
	return <-text
}

func folder(t *testing.T) string {
	d := t.TempDir()
	newCell(t, d)
	return d
}

type List struct {
	next *List
	v    int
}

//lint:ignore U1000 the values of fields are kept, read or not
type model struct {
	w, b *[]float64
	name string
	mu   sync.Mutex
	hist map[string][]float64
}

func TestValues(t *testing.T) {
	folder(t)
	var (
		n     = 3
		f     = 2.5
		s     = "é日本"
		xs    = []int{1, 2, 3}
		nilxs []int
		empty = []int{}
		m     = map[string][]int{"a": {1}, "b": nil}
		st    = struct {
			a int
			b string
			c *int
		}{1, "x", nil}
		when = time.Date(2024, 1, 2, 3, 4, 5, 6, time.UTC)
		big1 = big.NewInt(1).Lsh(big.NewInt(1), 200)
		arr  = [3]string{"p", "q", "r"}
		e    = errors.New("text")
		eof  = io.EOF
		v    any
		v2   any = []any{1, "a", map[string]any{"k": 2.5}}
		r        = rand.NewPCG(1, 2)
		zero struct{}
	)
	r.Uint64()
	want := r.Uint64
	if out := define(t, "n", &n, "f", &f, "s", &s, "xs", &xs, "nilxs", &nilxs, "empty", &empty, "m", &m, "st", &st, "when", &when,
		"big1", &big1, "arr", &arr, "e", &e, "eof", &eof, "v", &v, "v2", &v2, "r", &r, "zero", &zero); out != "" {
		t.Fatalf("notes: %s", out)
	}
	var (
		n2             int
		f2             float64
		s2             string
		xs2            []int
		nilxs2, empty2 []int
		m2             map[string][]int
		st2            = st
		when2          time.Time
		big2           *big.Int
		arr2           [3]string
		e2, eof2       error
		v_             any
		v22            any
		r2             *rand.PCG
		zero2          struct{}
	)
	st2.a, st2.b = 0, ""
	nilxs2 = []int{9}
	newCell(t)
	restore(t, nil, "n", &n2, "f", &f2, "s", &s2, "xs", &xs2, "nilxs", &nilxs2, "empty", &empty2, "m", &m2, "st", &st2, "when", &when2,
		"big1", &big2, "arr", &arr2, "e", &e2, "eof", &eof2, "v", &v_, "v2", &v22, "r", &r2, "zero", &zero2)
	if n2 != 3 || f2 != 2.5 || s2 != s || !reflect.DeepEqual(xs2, xs) || empty2 == nil || len(empty2) != 0 ||
		!reflect.DeepEqual(m2, m) || st2 != st || !when2.Equal(when) || big2.Cmp(big1) != 0 || arr2 != arr || e2.Error() != "text" || eof2 != io.EOF || v_ != nil ||
		!reflect.DeepEqual(v22, v2) {
		t.Errorf("restored %v %v %q %v %v %v %v %v %v %v %v %v %v %v", n2, f2, s2, xs2, empty2, m2, st2, when2, big2, arr2, e2, eof2, v_, v22)
	}
	if a, b := want(), r2.Uint64(); a != b {
		t.Errorf("the generator goes on with %d, want %d", b, a)
	}
	m3, err := ReadManifest(dirs[0])
	if err != nil || m3.Vars["xs"].Shape != "3" || m3.Vars["xs"].Type != "[]int" || m3.Saves != 2 {
		t.Errorf("manifest %+v, %v", m3.Vars["xs"], err)
	}
}

func TestNilSliceStaysNil(t *testing.T) {
	folder(t)
	var a []int
	define(t, "a", &a)
	newCell(t)
	var b []int
	restore(t, nil, "a", &b)
	if b != nil {
		t.Errorf("restored %v, want nil", b)
	}
}

func TestSharing(t *testing.T) {
	folder(t)
	a := []float64{1, 2, 3, 4, 5}
	b := a[1:3]
	c := a[2:5]
	p := &a[4]
	k := 1
	pk := &k
	l := &List{v: 1}
	l.next = &List{l, 2}
	inner := &l.next.v
	m := map[string]*List{"l": l}
	m2 := m
	type box struct{ arr [4]int }
	bx := box{[4]int{1, 2, 3, 4}}
	view := bx.arr[1:]
	var any1 any = l
	if out := define(t, "a", &a, "b", &b, "c", &c, "p", &p, "k", &k, "pk", &pk, "l", &l, "inner", &inner, "m", &m, "m2", &m2, "bx", &bx,
		"view", &view, "any1", &any1); out != "" {
		t.Fatalf("notes: %s", out)
	}
	mf, _ := ReadManifest(dirs[0])
	if g := mf.Vars["a"].Group; mf.Vars["b"].Group != g || mf.Vars["c"].Group != g || mf.Vars["p"].Group != g || mf.Vars["k"].Group == g ||
		mf.Vars["pk"].Group != mf.Vars["k"].Group || mf.Vars["l"].Group != mf.Vars["m2"].Group || mf.Vars["view"].Group != mf.Vars["bx"].Group {
		t.Errorf("groups: %+v", mf.Groups)
	}
	newCell(t)
	Reg[*List]()
	var (
		A, B, C []float64
		P       *float64
		K       int
		PK      *int
		L       *List
		I       *int
		M, M2   map[string]*List
		BX      box
		V       []int
		Any     any
	)
	restore(t, nil, "a", &A, "b", &B, "c", &C, "p", &P, "k", &K, "pk", &PK, "l", &L, "inner", &I, "m", &M, "m2", &M2, "bx", &BX, "view", &V, "any1", &Any)
	B[1] = 30
	if A[2] != 30 || C[0] != 30 {
		t.Errorf("a %v, b %v, c %v share no memory", A, B, C)
	}
	if *P != 5 {
		t.Errorf("*p = %v", *P)
	}
	A[4] = 50
	if *P != 50 || C[2] != 50 {
		t.Errorf("p leads elsewhere: %v %v", *P, C)
	}
	if len(B) != 2 || cap(B) != 4 {
		t.Errorf("b has length %d and capacity %d, want 2 and 4", len(B), cap(B))
	}
	*PK = 9
	if K != 9 {
		t.Error("pk does not lead to k")
	}
	if L.next.next != L || L.next.v != 2 {
		t.Error("the cycle is broken")
	}
	*I = 7
	if L.next.v != 7 {
		t.Error("inner does not lead into the List")
	}
	M["new"] = nil
	if len(M2) != 2 || M2["l"] != L || Any.(*List) != L {
		t.Error("the maps or the List in them are separate")
	}
	V[0] = 20
	if BX.arr[1] != 20 {
		t.Error("view does not lead into bx")
	}
}

func TestMappedArrays(t *testing.T) {
	d := folder(t)
	x := make([]float32, 100_000)
	for i := range x {
		x[i] = float32(i)
	}
	y := x[10:20]
	define(t, "x", &x, "y", &y)
	files := func() (names []string) {
		es, _ := os.ReadDir(d)
		for _, e := range es {
			names = append(names, e.Name())
		}
		return
	}
	before := files()
	newCell(t)
	var X, Y []float32
	restore(t, func() { X[15] = -1 }, "x", &X, "y", &Y)
	if Y[5] != -1 || X[99_999] != 99_999 {
		t.Errorf("y[5] = %v", Y[5])
	}
	if after := files(); !reflect.DeepEqual(before, after) {
		t.Errorf("files %v became %v although only mapped memory changed", before, after)
	}
	newCell(t)
	X, Y = nil, nil
	restore(t, func() { X = append(X, 5) }, "x", &X, "y", &Y)
	if Y[5] != -1 {
		t.Errorf("the change was lost: %v", Y[5])
	}
	newCell(t)
	X, Y = nil, nil
	restore(t, nil, "x", &X, "y", &Y)
	if len(X) != 100_001 || X[100_000] != 5 || X[15] != -1 || Y[5] != -1 {
		t.Errorf("after append: %d elements, %v, %v", len(X), X[100_000], Y[5])
	}
	if n := len(files()); n > 6 {
		t.Errorf("files that nobody needs stay: %v", files())
	}
}

// Counted keeps its values and not its cache.
type Counted struct {
	vals  []float64
	grad  *Counted
	cache func()
	from  int
}

type countedState struct {
	Vals []float64
	Grad *Counted
	Cell int
}

func (c *Counted) KeepState() any { return &countedState{c.vals, c.grad, cellstate.Cell()} }
func (c *Counted) RestoreState(s any) {
	st := s.(*countedState)
	c.vals, c.grad, c.from = st.Vals, st.Grad, st.Cell
}

func TestKeeper(t *testing.T) {
	folder(t)
	g := &Counted{vals: []float64{9}, cache: func() {}}
	a := &Counted{vals: []float64{1, 2}, grad: g, cache: func() {}}
	b := a
	val := Counted{vals: a.vals}
	params := []*Counted{a, g}
	var iface any = val
	if out := define(t, "a", &a, "b", &b, "g", &g, "val", &val, "params", &params, "iface", &iface); out != "" {
		t.Fatalf("notes: %s", out)
	}
	newCell(t)
	Reg[Counted]()
	var A, B, G *Counted
	var V Counted
	var P []*Counted
	var F any
	restore(t, nil, "a", &A, "b", &B, "g", &G, "val", &V, "params", &P, "iface", &F)
	if A != B || A.grad != G || P[0] != A || P[1] != G || A.from != 1 {
		t.Error("identity is lost")
	}
	V.vals[0] = 10
	if A.vals[0] != 10 || F.(Counted).vals[0] != 10 || G.vals[0] != 9 {
		t.Errorf("values: %v %v %v", A.vals, F, G.vals)
	}
}

func TestNotKept(t *testing.T) {
	folder(t)
	ch := make(chan int)
	fn := func() {}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	holder := struct{ f func() }{fn}
	var nilFn func()
	ok := 1
	seeded := maphash.MakeSeed() // means nothing to another process
	out := define(t, "seeded", &seeded, "ch", &ch, "fn", &fn, "file", &file, "holder", &holder, "nilFn", &nilFn, "ok", &ok)
	for _, w := range []string{
		"note: ch (chan int) is not remembered by later cells: a channel can't be kept\n",
		"note: fn (func()) is not remembered by later cells: a function value can't be kept\n",
		"note: file (*os.File) is not remembered by later cells: an os.File can't be kept\n",
		"field f: a function value can't be kept\n",
		"note: seeded (maphash.Seed) is not remembered by later cells: a maphash.Seed can't be kept\n",
	} {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
	if strings.Count(out, "note:") != 5 {
		t.Errorf("notes:\n%s", out)
	}
	newCell(t)
	if out := restore(t, func() { Def("ch", &ch) }, "ok", &ok); out != "" {
		t.Errorf("said twice: %s", out)
	}
}

func TestRedefine(t *testing.T) {
	folder(t)
	a, b := []int{1, 2}, 5
	shared := a
	define(t, "a", &a, "b", &b, "shared", &shared)
	newCell(t)
	var A, S []int
	restore(t, func() { A = []int{7}; Def("a", &A) }, "a", &A, "shared", &S)
	newCell(t)
	var B int
	restore(t, nil, "a", &A, "shared", &S, "b", &B)
	if A[0] != 7 || S[0] != 1 || B != 5 {
		t.Errorf("a %v, shared %v, b %v", A, S, B)
	}
	m, _ := ReadManifest(dirs[0])
	if m.Vars["a"].Group == m.Vars["shared"].Group {
		t.Error("a and shared are still one group")
	}
}

func TestForgetLeavesTheGroup(t *testing.T) {
	d := folder(t)
	n := &List{v: 4}
	m := model{name: "m", hist: map[string][]float64{"loss": {1}}}
	other := n
	define(t, "n", &n, "m", &m, "other", &other)
	if err := Forget(d, "n", "m"); err != nil {
		t.Fatal(err)
	}
	newCell(t)
	var o *List
	restore(t, nil, "other", &o)
	if o == nil || o.v != 4 {
		t.Errorf("other is %v", o)
	}
	mf, _ := ReadManifest(d)
	if _, ok := mf.Vars["n"]; ok {
		t.Error("n is still there")
	}
}

func TestLimit(t *testing.T) {
	folder(t)
	big, small := make([]byte, 1<<20), []int{1}
	newCell(t)
	limit = 1 << 19
	out := captureStderr(t, func() {
		done := Begin(1)
		Def("big", &big, "small", &small)
		done()
	})
	if !strings.Contains(out, "big ([]uint8) is not remembered") || !strings.Contains(out, LimitVar) {
		t.Errorf("said %q", out)
	}
	newCell(t)
	var s []int
	restore(t, nil, "small", &s)
	if len(s) != 1 {
		t.Errorf("small is %v", s)
	}
}

func TestSecondFolder(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "gone"), t.TempDir()
	os.Mkdir(a, 0o700)
	newCell(t, a, b)
	x := make([]int64, 10_000)
	x[9999] = 3
	define(t, "x", &x)
	newCell(t)
	var X []int64
	restore(t, nil, "x", &X)
	if X[9999] != 3 {
		t.Error("the array is lost")
	}
}

var registeredState = []byte("a")

func init() {
	cellstate.Register("keep/test", func() []byte { return registeredState }, func(b []byte) error { registeredState = b; return nil })
}

func TestLibraryState(t *testing.T) {
	folder(t)
	x := 1
	registeredState = []byte("first")
	define(t, "x", &x)
	registeredState = []byte("initial")
	newCell(t)
	restore(t, nil, "x", &x)
	if string(registeredState) != "first" {
		t.Errorf("state is %q", registeredState)
	}
}

func TestLongList(t *testing.T) {
	nodes := testenv.Cases(200_000)
	folder(t)
	var head *List
	for i := range nodes {
		head = &List{head, i}
	}
	define(t, "head", &head)
	newCell(t)
	var h *List
	restore(t, nil, "head", &h)
	n := 0
	for ; h != nil; h = h.next {
		n++
	}
	if n != nodes {
		t.Errorf("%d nodes came back", n)
	}
}

func FuzzDecode(f *testing.F) {
	d := f.TempDir()
	dirs = []string{d}
	manifest, vars = newManifest(), nil
	l := &List{v: 1, next: &List{v: 2}}
	m := map[string]*List{"a": l}
	done := Begin(1)
	Def("l", &l, "m", &m)
	done()
	es, _ := filepath.Glob(filepath.Join(d, "g*"))
	for _, e := range es {
		b, _ := os.ReadFile(e)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var l *List
		var m map[string]*List
		dec := decoder{}
		dec.restore(b, map[string]reflect.Value{"l": reflect.ValueOf(&l), "m": reflect.ValueOf(&m)}) // an error is fine, a crash is not
	})
}

// FuzzManifest checks that any bytes in the place of a manifest give a manifest or an error, and that one that can be
// read can be written and read again.
func FuzzManifest(f *testing.F) {
	d := f.TempDir()
	m := newManifest()
	m.Saves, m.Next = 3, 7
	m.Vars["x"] = Var{Group: 1, Type: "[]main.P", Sig: "s", Bytes: 24, Shape: "3"}
	m.Groups[1] = Group{Vars: []string{"x"}, Arrays: []string{"a1"}, Regs: []string{"main.P"}}
	m.Notes["c"] = "c (chan int) is not remembered"
	m.States["rng"] = []byte{1, 2}
	if err := m.write(d); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(d, manifestName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{1, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(d, manifestName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := ReadManifest(d)
		if err != nil {
			return
		}
		if err := m.write(d); err != nil {
			t.Fatal(err)
		}
		again, err := ReadManifest(d)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%q: read as %+v, written, and read as %+v (%v)", b, m, again, err)
		}
	})
}

// Values in the form of another version are refused, whether they have a number or are older than all numbers.
func TestFormatsOfOtherVersions(t *testing.T) {
	d := t.TempDir()
	m := newManifest()
	m.Vars["x"] = Var{Type: "int"}
	if err := m.write(d); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(d, manifestName)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var number, next writer
	number.int(format)
	next.int(format - 1)
	b = b[len(number.b):]
	for _, c := range []struct {
		name  string
		bytes []byte
		ok    bool
	}{{"this", append(number.b, b...), true}, {"the next", append(next.b, b...), false}, {"before there were numbers", b, false}} {
		if err := os.WriteFile(name, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := ReadManifest(d)
		var other *FormatError
		if errors.As(err, &other) == c.ok || (m.Vars["x"].Type == "int") != c.ok {
			t.Errorf("%s: got %+v, %v", c.name, m, err)
		}
	}
}

// A cell whose log package writes nowhere keeps its values: of no writer there is no type.
func TestLogWithoutWriter(t *testing.T) {
	folder(t)
	before := log.Writer()
	defer log.SetOutput(before)
	x := 7
	newCell(t)
	out := captureStderr(t, func() {
		done := Begin(1)
		Def("x", &x)
		log.SetOutput(nil)
		done()
	})
	log.SetOutput(before)
	if !strings.Contains(out, "what log.SetOutput sets ends with this cell") {
		t.Errorf("the note is missing: %q", out)
	}
	newCell(t)
	var x2 int
	if restore(t, nil, "x", &x2); x2 != 7 {
		t.Errorf("x is %d", x2)
	}
}

func BenchmarkKeep10M(b *testing.B) {
	d := "/dev/shm"
	if _, err := os.Stat(d); err != nil {
		d = os.TempDir()
	}
	d, err := os.MkdirTemp(d, "lectern-bench-")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(d)
	x := make([]float32, 10_000_000)
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			dirs, manifest, vars, mappings, loaded = []string{d}, newManifest(), nil, nil, map[int][]byte{}
			done := Begin(1)
			Def("x", &x)
			done()
		}
	})
	b.Run("restore", func(b *testing.B) {
		for b.Loop() {
			dirs, manifest, vars, mappings, loaded = []string{d}, newManifest(), nil, nil, map[int][]byte{}
			var X []float32
			Begin(1, "x", &X)
			if len(X) != 10_000_000 {
				b.Fatal("not restored")
			}
		}
	})
}

// Watched counts how often its methods are called.
type Watched struct{ v int }

type watchedState struct{ V int }

var watchedCalls int

func (w *Watched) KeepState() any     { watchedCalls++; return &watchedState{w.v} }
func (w *Watched) RestoreState(s any) { watchedCalls++; w.v = s.(*watchedState).V }

func TestUntouchedVariablesAreLeftAlone(t *testing.T) {
	d := folder(t)
	dead, x := []*Watched{{1}, {2}}, 1
	define(t, "dead", &dead, "x", &x)
	m, _ := ReadManifest(d)
	path := filepath.Join(d, groupName(m.Vars["dead"].Group))
	if err := os.WriteFile(path, []byte("not to be read"), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := watchedCalls
	for range 3 {
		newCell(t)
		var X int
		restore(t, func() { X++ }, "x", &X)
	}
	if watchedCalls != calls {
		t.Error("a variable that no cell names was restored or saved")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "not to be read" {
		t.Errorf("its file was written again (%v)", err)
	}
	if m, _ := ReadManifest(d); m.Vars["x"].Group == m.Vars["dead"].Group || len(m.Vars) != 2 {
		t.Errorf("kept are %v", sorted(m.Vars))
	}
}

func TestUnchangedGroupsAreNotWritten(t *testing.T) {
	d := folder(t)
	m := map[any]int{"a": 1, 2: 2, 3.5: 3, [2]int{1, 2}: 4, List{v: 1}: 5}
	for i := range 50 {
		m[i*100] = i
	}
	nested := map[string]map[float64]bool{"x": {1: true, 2: false}, "y": nil}
	define(t, "m", &m, "nested", &nested)
	before, _ := ReadManifest(d)
	for range 3 {
		newCell(t)
		Reg[[2]int]()
		Reg[List]()
		var M map[any]int
		var N map[string]map[float64]bool
		restore(t, nil, "m", &M, "nested", &N)
	}
	if after, _ := ReadManifest(d); !reflect.DeepEqual(before.Groups, after.Groups) {
		t.Errorf("groups %v became %v", before.Groups, after.Groups)
	}
}
