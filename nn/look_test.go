package nn

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/inspect"
	"github.com/lectern-go/lectern/tensor"
)

func ExampleSummarize() {
	s, err := Summarize(NewCruncher(64, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(s)
	// Output:
	// nn.Cruncher: 8,256 parameters
	// name             shape    dtype    elements   bytes  gradient
	// layers.0.weight  [64 64]  float32     4,096  16,384  asked for
	// layers.1.weight  [64 64]  float32     4,096  16,384  asked for
	// final.weight     [64 1]   float32        64     256  asked for
}

func TestLookOfAModel(t *testing.T) {
	m := NewCruncher(4, 1)
	m.Final.Weight.StopGrad()
	m.Forward(tensor.Ones(2, 4)).Sum().Backward()
	s, ok := inspect.ViewOf(m).(Summary)
	if !ok {
		t.Fatalf("a model is shown as %T", inspect.ViewOf(m))
	}
	if want := "nn.Cruncher: 20 parameters, 16 of them trained"; !strings.HasPrefix(s.String(), want) {
		t.Errorf("got %s, want %s", s, want)
	}
	for _, want := range []string{">layers.0.weight<", ">[4 4]<", ">there<", ">no<", `text-align:right">16<`} {
		if !strings.Contains(s.HTML(), want) {
			t.Errorf("HTML lacks %s:\n%s", want, s.HTML())
		}
	}
}

func TestListOfLayersIsAModel(t *testing.T) {
	s, ok := inspect.ViewOf(Sequential{NewLinear(2, 3, WithBias), ReLU{}}).(Summary)
	if !ok || len(s.Tensors) != 2 || s.Parameters != 9 {
		t.Errorf("shown is %v", s)
	}
}

func TestWhatIsNoModelLooksLikeItself(t *testing.T) {
	for _, v := range []any{nil, 3, "text", tensor.Ones(2), ReLU{}, (*Cruncher)(nil), Sequential{ReLU{}}, Sequential(nil)} {
		if _, ok := inspect.ViewOf(v).(Summary); ok {
			t.Errorf("%T is shown as a model", v)
		}
	}
}

func TestSummarizeSaysWhatIsWrong(t *testing.T) {
	if _, err := Summarize(nil); !errors.Is(err, ErrModel) {
		t.Errorf("got %v, want ErrModel", err)
	}
}
