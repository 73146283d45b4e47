package oracle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/elementwise"
	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

var update = flag.Bool("update", false, "ask PyTorch, in the Python that LECTERN_PYTHON names, for the answers of TestPrimitives")

// TestPrimitives asks results and gradients of every row of the table of elementwise operations, in all dtypes and on
// numbers that are large, tiny, infinite or NaN. The rows' own expressions wrote PyTorch's answers.
func TestPrimitives(t *testing.T) {
	if _, err := oracle.Asset("primitives.json"); errors.Is(err, fs.ErrNotExist) && os.Getenv("LECTERN_ORACLE") != "" {
		t.Skip("the folder that LECTERN_ORACLE names has no primitives.json")
	}
	if *update {
		askPyTorch(t)
	}
	missing := map[string]question{} // those that no case has been seen of, by their keys
	ops := oracle.Ops{}
	for i := range elementwise.Table {
		row := &elementwise.Table[i]
		for _, q := range questions(row) {
			missing[q.key()] = q
		}
		f := elementwise.Func[*tensor.Tensor](row)
		ops[row.Name] = func(c *oracle.Case) (any, error) {
			key := question{Name: row.Name, Dtype: c.Inputs[0].Dtype, Gradients: c.Inputs[0].RequiresGrad}.key()
			q := missing[key]
			delete(missing, key)
			return askOperation(c, func(in []*tensor.Tensor, a *operationArgs) []*tensor.Tensor {
				same := a.Torch == q.Torch && len(in) == len(q.Points)
				for i := 0; same && i < len(in); i++ {
					same = tensor.AllClose(in[i], tensor.With(tensor.Float64).Of([]float64(q.Points[i])).To(in[i].Dtype()), 0, 0)
				}
				if !same {
					panic("the answers are to another question than " + q.Torch + ": " + again)
				}
				return many(f(in))
			})
		}
	}
	oracle.Run(t, "primitives", ops)
	if !strings.Contains(flag.Lookup("test.run").Value.String(), "/") { // which asks for some of the cases
		for key := range missing {
			t.Errorf("there are no answers for %s: %s", key, again)
		}
	}
}

const again = "ask again with LECTERN_PYTHON=... go test ./internal/oracle -run TestPrimitives -update"

// numbersOf are those that operations are asked for, by dtype; questions adds more to those of floats.
var numbersOf = map[string][]float64{
	"float64":  {1e300, -1e300, 1e-300, -1e-300, 1e16, 709.5, -745},
	"float32":  {3e38, -3e38, 1e-37, -1e-37, 1e8, 88.5, -103},
	"float16":  {65504, -65504, 6.2e-5, -6.2e-5, 11},
	"bfloat16": {3e38, -3e38, 1e-37, -1e-37, 88.5},
	"int64":    {0, 1, -1, 2, -3, 7, 100, -128, 1 << 40, -(1 << 40)},
	"int32":    {0, 1, -1, 2, -3, 7, 100, -128, math.MaxInt32, -math.MaxInt32}, // the smallest of all over -1 ends PyTorch
	"uint8":    {0, 1, 2, 3, 7, 100, 128, 255},
	"bool":     {0, 1},
}

// list is numbers as JSON has them: what is not finite as text.
type list []float64

func (l list) MarshalJSON() ([]byte, error) {
	texts := make([]string, len(l))
	for i, v := range l {
		texts[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return json.Marshal(texts)
}

// question is a row in one dtype.
type question struct {
	Name, Torch, Operands, Dtype string
	Gradients, Exact             bool
	Points                       []list // of each operand
}

func (q question) key() string {
	if q.Gradients {
		return "the gradients of " + q.Name + " of " + q.Dtype
	}
	return q.Name + " of " + q.Dtype
}

// questions returns those for a row: its numbers are each with each where there are two operands. A divisor, which the
// row takes from c, is no whole 0: PyTorch refuses that.
func questions(row *elementwise.Op) (all []question) {
	inf, nan := math.Inf(1), math.NaN()
	names := row.Operands()
	for _, d := range slices.Sorted(maps.Keys(numbersOf)) {
		numbers, whole := numbersOf[d], !strings.Contains(d, "float")
		switch {
		case !whole && row.Bits, whole && row.Floats, d == "bool" && !row.Bools && !row.Bits:
			continue
		case !whole:
			numbers = slices.Concat([]float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, -2.5, 0.1, 1e-8, 3.25, 30, -30, inf, -inf, nan}, numbers)
		}
		differentiable := len(row.Slopes) > 0 && (d == "float64" || d == "float32")
		q := question{row.Name, row.Torch, names, d, differentiable, whole && row.Result != elementwise.Float, make([]list, len(names))}
		values := q // what is asked without gradients beside those with them
		values.Gradients, values.Points = false, make([]list, len(names))
		for _, a := range append(numbers, numbers[0]) { // a length that vectors don't fill
			for _, b := range numbers {
				p := elementwise.Point{a, b}[:len(names)]
				to := &q
				for _, left := range row.LeftOut {
					if left.At(d, p) && to != nil {
						if to = &values; !left.Gradient {
							to = nil
						}
					}
				}
				if to != nil && !(whole && names[len(names)-1] == 'c' && p[len(p)-1] == 0) {
					for i, v := range p {
						to.Points[i] = append(to.Points[i], v)
					}
				}
				if len(p) == 1 {
					break
				}
			}
		}
		if !differentiable { // one question is enough
			for i := range q.Points {
				q.Points[i] = append(q.Points[i], values.Points[i]...)
				values.Points[i] = nil
			}
		}
		for _, q := range []question{q, values} {
			if len(q.Points[0]) > 0 {
				all = append(all, q)
			}
		}
	}
	return all
}

// askPyTorch has the answers written.
func askPyTorch(t *testing.T) {
	var all []question
	for i := range elementwise.Table {
		all = append(all, questions(&elementwise.Table[i])...)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Getenv("LECTERN_PYTHON"), "-B", filepath.Join("generate", "primitives.py"))
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
