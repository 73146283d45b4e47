package nn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

func param(shape ...int) *tensor.Tensor { return nn.Parameter(tensor.Zeros(shape...)) }

func names(model any) []string {
	var all []string
	for _, p := range nn.StateDict(model) {
		all = append(all, p.Name)
	}
	return all
}

type attention struct {
	QProj, KProj *nn.Linear
	Scale        float64
}

type inner struct{ Extra *tensor.Tensor }

// zoo has a field of every kind in which tensors can be.
type zoo struct {
	inner
	*attention
	W1       *tensor.Tensor
	Mask     *tensor.Tensor `nn:",buffer"`
	Ids      *tensor.Tensor
	Renamed  *tensor.Tensor `nn:"old_name"`
	Absent   *tensor.Tensor
	Left     *tensor.Tensor `nn:"-"`
	Slice    []*nn.Dense
	Array    [2]*tensor.Tensor
	Values   []nn.Dense
	Any      any
	List     nn.ModuleList
	ByName   map[string]nn.Module
	ByNumber map[int]*tensor.Tensor
	MLPNorm  *nn.RMSNorm
	Started  time.Time
	Callback func()
	hidden   int
}

func newZoo() *zoo {
	linear := func() *nn.Linear { return nn.NewLinear(2, 2, nn.NoBias) }
	return &zoo{
		inner: inner{param(1)}, attention: &attention{QProj: linear(), KProj: linear()},
		W1: param(3), Mask: tensor.Ones(2, 2), Ids: tensor.Of(1, 2), Renamed: param(1), Left: param(9),
		Slice: []*nn.Dense{nn.NewDense(2, 2), nn.NewDense(2, 2)}, Array: [2]*tensor.Tensor{param(1), nil}, Values: []nn.Dense{{param(4)}},
		Any: nn.NewDense(1, 1), List: nn.ModuleList{nn.ReLU{}, linear()}, ByName: map[string]nn.Module{"b": linear(), "a": linear()},
		ByNumber: map[int]*tensor.Tensor{10: param(1), 9: param(1)}, MLPNorm: nn.NewRMSNorm(3), hidden: 1,
	}
}

func TestEveryKindOfFieldIsFoundInOrder(t *testing.T) {
	want := []string{"extra", "q_proj.weight", "k_proj.weight", "w1", "mask", "ids", "old_name", "slice.0.weight", "slice.1.weight", "array.0",
		"values.0.weight", "any.weight", "list.1.weight", "by_name.a.weight", "by_name.b.weight", "by_number.9", "by_number.10", "mlp_norm.weight"}
	z := newZoo()
	for range 3 {
		if got := names(z); !slices.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	}
	for _, p := range nn.Parameters(z) {
		if p.Name == "mask" || p.Name == "ids" {
			t.Errorf("%s is a parameter", p.Name)
		}
	}
	if len(nn.Parameters(z)) != len(want)-2 {
		t.Errorf("%d parameters, want %d", len(nn.Parameters(z)), len(want)-2)
	}
}

type (
	unexportedSlice  struct{ layers []*nn.Dense }
	unexportedNested struct{ Block struct{ inner *nn.Linear } }
	unexportedAny    struct{ m nn.Module }
	unexportedMode   struct{ drop *nn.Dropout }
	unexportedSkip   struct {
		W     *tensor.Tensor
		cache []*nn.Dense `nn:"-"`
	}
	byValue    struct{ T tensor.Tensor }
	oddKeys    struct{ M map[[2]int]*tensor.Tensor }
	dottedKeys struct{ M map[string]*tensor.Tensor }
	badTag     struct {
		W *tensor.Tensor `nn:",buffered"`
	}
	sameName struct {
		Weight *tensor.Tensor
		Other  *tensor.Tensor `nn:"weight"`
	}
	denses         []*nn.Dense
	unexportedList struct{ *denses }

	list struct {
		Value float64
		Next  *list
	}
	node struct {
		W      *tensor.Tensor
		Parent *node
	}
)

func TestWhatWouldBeMissedIsRefused(t *testing.T) {
	nested := &unexportedNested{}
	nested.Block.inner = nn.NewLinear(1, 1, nn.NoBias)
	cycle := &node{W: param(1)}
	cycle.Parent = cycle
	tests := []struct {
		name  string
		model any
		want  string
	}{
		{"slice", &unexportedSlice{[]*nn.Dense{nn.NewDense(1, 1)}}, "field layers of nn_test.unexportedSlice holds a tensor (layers[0].Weight)"},
		{"nested", nested, "field inner"},
		{"interface", &unexportedAny{nn.NewDense(1, 1)}, "field m"},
		{"dropout", &unexportedMode{nn.NewDropout(0.1, nil)}, "Eval"},
		{"tensor by value", &byValue{}, "hold a *tensor.Tensor"},
		{"map keys", &oddKeys{map[[2]int]*tensor.Tensor{{}: param(1)}}, "keys of type [2]int"},
		{"dots in a key", &dottedKeys{map[string]*tensor.Tensor{"a.b": param(1)}}, "without dots"},
		{"tag", &badTag{param(1)}, "only option is buffer"},
		{"two of one name", &sameName{param(1), param(1)}, `"weight"`},
		{"cycle", cycle, "leads back"},
		{"struct by value", nn.Dense{param(1)}, "pass a pointer"},
		{"nil", (*nn.Dense)(nil), "nil"},
		{"nothing", nil, "nil"},
		{"an embedded list", &unexportedList{&denses{nn.NewDense(1, 1)}}, "field denses of nn_test.unexportedList holds a tensor"},
		{"no list", nn.Sequential(nil), "nil"},
		{"no map", map[string]*nn.Dense(nil), "nil"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := tensor.Try(func() { nn.Parameters(test.model) })
			if !errors.Is(err, nn.ErrModel) || !strings.HasPrefix(err.Error(), "nn: parameters: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an ErrModel of nn that says %q", err, test.want)
			}
		})
	}
	ok := &unexportedSkip{param(1), []*nn.Dense{nn.NewDense(1, 1)}}
	if got := names(ok); !slices.Equal(got, []string{"w"}) || ok.cache == nil {
		t.Errorf("a field that was taken out: got %v", got)
	}
	if got := names(&list{Next: &list{}}); got != nil {
		t.Errorf("a type that holds itself and no tensor: got %v", got)
	}
	if got := names(&unexportedSlice{}); got != nil {
		t.Errorf("an empty field that is not exported: got %v", got)
	}
}

type tied struct {
	Embed *nn.Embedding
	Head  *tensor.Tensor
}

func TestTiedWeightsAreOneParameterWithTwoNames(t *testing.T) {
	e := nn.NewEmbedding(3, 2)
	m := &tied{e, e.Weight}
	if got := names(m); !slices.Equal(got, []string{"embed.weight", "head"}) {
		t.Errorf("state: %v", got)
	}
	if n := nn.NumParameters(m); n != 6 || len(nn.Parameters(m)) != 1 {
		t.Errorf("%d elements in %d parameters, want 6 in one", n, len(nn.Parameters(m)))
	}
	nn.To(m, tensor.BFloat16)
	if m.Head != m.Embed.Weight || m.Head.Dtype() != tensor.BFloat16 {
		t.Error("To untied the weights")
	}
}

func TestToConvertsInPlace(t *testing.T) {
	z := newZoo()
	held := nn.Parameters(z)
	nn.To(z, tensor.Float64)
	for _, p := range held {
		if p.Tensor.Dtype() != tensor.Float64 || !p.Tensor.RequiresGrad() {
			t.Errorf("%s: %v, requires grad: %v", p.Name, p.Tensor.Dtype(), p.Tensor.RequiresGrad())
		}
	}
	if z.Ids.Dtype() != tensor.Int64 {
		t.Error("integers were converted")
	}
	if err := tensor.Try(func() { nn.To(z, tensor.Int32) }); !errors.Is(err, tensor.ErrDtype) {
		t.Errorf("To int32: got %v", err)
	}
}

type dropping struct {
	List  []*nn.Dropout
	Value nn.Dropout
}

func TestTrainAndEvalReachEveryDropout(t *testing.T) {
	m := &dropping{[]*nn.Dropout{nn.NewDropout(0.5, nil)}, *nn.NewDropout(0.5, nil)}
	x := tensor.Ones(1000)
	nn.Eval(m)
	if got := m.Value.Forward(m.List[0].Forward(x)); got != x {
		t.Error("in use, Dropout changed its input")
	}
	nn.Train(m)
	y := m.List[0].Forward(x)
	if zeros := y.Eq(0).Sum().Item(); zeros < 400 || zeros > 600 || y.Max().Item() != 2 {
		t.Errorf("in training: %v zeros of 1000, largest %v", zeros, y.Max().Item())
	}
	if m.Value.Evaluating {
		t.Error("a Dropout by value was not reached")
	}
	unreachable := struct{ M map[string]nn.Dropout }{map[string]nn.Dropout{"a": {}}}
	if err := tensor.Try(func() { nn.Eval(&unreachable) }); !errors.Is(err, nn.ErrModel) {
		t.Errorf("a Dropout by value in a map: got %v, want ErrModel", err)
	}
}

func TestLoadStateDict(t *testing.T) {
	from, to := nn.NewCruncher(4, 2), nn.NewCruncher(4, 2)
	nn.To(from, tensor.Float64)
	if err := nn.LoadStateDict(to, nn.StateDict(from).Map()); err != nil {
		t.Fatal(err)
	}
	x := tensor.Randn(3, 4)
	nn.To(from, tensor.Float32)
	if !tensor.Equal(from.Forward(x), to.Forward(x)) {
		t.Error("the loaded model computes something else")
	}
	before := to.Final.Weight.Clone()
	state := nn.StateDict(nn.NewCruncher(4, 2)).Map()
	delete(state, "layers.0.weight")
	state["layers.1.weight"] = tensor.Zeros(4, 5)
	state["head.bias"] = tensor.Zeros(1)
	err := nn.LoadStateDict(to, state)
	if !errors.Is(err, nn.ErrState) {
		t.Fatalf("got %v, want ErrState", err)
	}
	if want := "nn: load state dict: layers.0.weight is missing, layers.1.weight is [4 5] and the model's is [4 4], the model has no head.bias"; err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if !tensor.Equal(before, to.Final.Weight) {
		t.Error("a refused state changed the model")
	}
}

func TestPartSavesGenerators(t *testing.T) {
	type network struct {
		Drops []*nn.Dropout
		W     *nn.Dense
	}
	newNetwork := func() *network {
		g := tensor.NewGenerator(1)
		return &network{[]*nn.Dropout{nn.NewDropout(0.5, g), nn.NewDropout(0.5, nil), nn.NewDropout(0.5, tensor.NewGenerator(2))}, nn.NewDense(3, 3, g)}
	}
	x := tensor.Ones(100)
	a, b := newNetwork(), newNetwork()
	for _, d := range a.Drops {
		d.Forward(x)
	}
	tensors, values := nn.Part(a).SaveState()
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	if err := nn.Part(b).LoadState(tensors, text); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 2} {
		if !tensor.Equal(a.Drops[i].Forward(x), b.Drops[i].Forward(x)) {
			t.Errorf("dropout %d does not go on where it was", i)
		}
	}
	before := b.W.Weight.Detach().Clone()
	tensors["w.weight"] = tensor.Ones(3, 3)
	if err := nn.Part(b).LoadState(tensors, []byte(`{"drops.0.generator":"AAAA"}`)); err == nil || !strings.Contains(err.Error(), "drops.0.generator") || !tensor.Equal(before, b.W.Weight.Detach()) {
		t.Errorf("a damaged state: %v, weight %v", err, b.W.Weight)
	}
	if _, values := nn.Part(nn.NewDense(1, 1)).SaveState(); values != nil {
		t.Errorf("a model without generators has %v", values)
	}
}

func ExampleStateDict() {
	model := nn.NewCruncher(64, 2)
	fmt.Println(nn.StateDict(model))
	fmt.Println(nn.NumParameters(model), "parameters")
	fmt.Println(model.Forward(tensor.Randn(8, 64)).Shape())
	// Output:
	// layers.0.weight [64 64] float32
	// layers.1.weight [64 64] float32
	// final.weight    [64 1] float32
	// 8256 parameters
	// [8]
}
