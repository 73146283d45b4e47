package lesson_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

var update = flag.Bool("update", false, "write the names in docs/pytorch.md again")

const (
	namesHead = "| PyTorch | here |\n|---|---|\n"
	// namesWidth is how many characters of code fit side by side in a page's column, in both columns together.
	namesWidth = 80
)

// A nameRow is a row of a lesson's table "PyTorch ↔ here", as Markdown.
type nameRow struct{ file, torch, here string }

func (r nameRow) String() string { return fmt.Sprintf("| %s | %s |", r.torch, r.here) }

// nameRows returns the rows of the tables, by lesson. Each lesson from 02 on has one right before what is folded, but
// for that of problems, which uses nothing of PyTorch.
func nameRows(t *testing.T) (files []string, rows map[string][]nameRow) {
	all := lessons(t)
	files, rows = slices.Sorted(maps.Keys(all)), map[string][]nameRow{}
	for _, file := range files {
		cells := all[file].Cells
		for i, c := range cells {
			_, table, found := strings.Cut(c.Source, namesHead)
			if c.Type != "markdown" || !found {
				continue
			}
			if strings.HasPrefix(c.Source, "## PyTorch ↔ here\n") && !slices.Contains(tags(cells[i+1]), "pytorch") {
				t.Errorf("%s: the table stands right before the cell tagged pytorch", file)
			}
			for line := range strings.Lines(table) {
				if !strings.HasPrefix(line, "|") {
					break
				}
				cells := strings.Split(strings.TrimSpace(line), " | ")
				if len(cells) != 2 {
					t.Errorf("%s: a row has two columns: %s", file, line)
					continue
				}
				rows[file] = append(rows[file], nameRow{file, cells[0][2:], strings.TrimSuffix(cells[1], " |")})
			}
		}
		wanted := file >= "02" && !strings.HasPrefix(file, "29")
		if n := len(rows[file]); n > 10 || wanted && n < 5 {
			t.Errorf("%s: its table of PyTorch's names has %d rows; five to ten are wanted", file, n)
		}
	}
	return files, rows
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// TestPyTorchTables: what a table calls the library's compiles, so that a wrong name, order or number of arguments
// fails; equal things are called the same everywhere; the tables fit a page; and docs/pytorch.md has all of it.
func TestPyTorchTables(t *testing.T) {
	files, rows := nameRows(t)
	var list strings.Builder
	var from []nameRow
	first := map[string]nameRow{} // by PyTorch's name
	for _, file := range files {
		wide := [2]int{}
		fresh := ""
		for _, r := range rows[file] {
			from = append(from, r)
			for i, cell := range []string{r.torch, r.here} {
				for _, code := range codeSpan.FindAllStringSubmatch(cell, -1) {
					wide[i] = max(wide[i], len([]rune(code[1])))
				}
			}
			if other, ok := first[r.torch]; !ok {
				first[r.torch] = r
				fresh += r.String() + "\n"
			} else if other.here != r.here {
				t.Errorf("%s has %s, and %s has\n%s", r.file, r, other.file, other)
			}
		}
		if wide[0]+wide[1] > namesWidth {
			t.Errorf("%s: the longest code of both columns has %d and %d characters, together at most %d are wanted",
				file, wide[0], wide[1], namesWidth)
		}
		if fresh != "" {
			title, _, _ := strings.Cut(lessons(t)[file].Cells[0].Source, "\n")
			fmt.Fprintf(&list, "\n### [%s](../notebooks/%s)\n\n%s%s", strings.TrimPrefix(title, "# "), file, namesHead, fresh)
		}
	}
	compileRows(t, from)
	listedRows(t, list.String())
}

// listedRows compares the rows of all lessons with those of docs/pytorch.md.
func listedRows(t *testing.T, list string) {
	const path = "../../docs/pytorch.md"
	const begin, end = "<!-- from the lessons, by go test ./notebooks/lesson -run PyTorch -update -->\n", "\n<!-- end -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	stored, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part between %q and %q", path, begin, end)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+list+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, pair := range []struct{ in, of, what string }{{list, stored, "lacks a row of a lesson"}, {stored, list, "has what no lesson has"}} {
		for line := range strings.Lines(pair.in) {
			if !strings.Contains(pair.of, line) {
				t.Errorf("%s %s: %sgo test ./notebooks/lesson -run PyTorch -update mends that", path, pair.what, line)
			}
		}
	}
	if list != stored && !t.Failed() {
		t.Errorf("%s has the rows in another order: go test ./notebooks/lesson -run PyTorch -update mends that", path)
	}
}

// names are what the rows' code may use. "…" stands for what a reader would write there.
const names = `
var (
	x, y, w, w1, w3, q, k, v, h, rows, mask, pred, loss, scores, later, logits, ids, probabilities *tensor.Tensor
	i, j, n, B, D, K, T, V, H, step int
	d, gain                     float64
	f                           func()
	block                       func(*tensor.Tensor) *tensor.Tensor
	training                    func(keep func(*tensor.Tensor) *tensor.Tensor)
	g                           *tensor.Generator
	device                      tensor.Device
	dtype                       tensor.Dtype
	place                       func(*tensor.Tensor) *tensor.Tensor
	settings                    tensor.AttentionSettings
	heads                       einops.Size
	decay                       optim.Option
	pattern, path               string
	model                       *nn.Cruncher
	net                         *nn.DeepNetwork
	l                           *nn.Dense
	state                       nn.State
	p                           []tensor.NamedTensor
	opt                         *optim.Optimizer
	adamW                       func([]tensor.NamedTensor) *optim.Optimizer
	scaler                      *optim.GradScaler
	schedule                    optim.Schedule
	ctx                         context.Context
	config                      train.Config
	all                         iter.Seq[int32]
	tokens                      *data.Tokens
	loader                      *data.Loader
	store                       checkpoint.Store
	parts                       checkpoint.Parts
	file                        *checkpoint.File
	tensors                     map[string]*tensor.Tensor
	report                      accounting.Report
	timing                      accounting.Timing
	ledger                      *accounting.Ledger
	lm                          *transformer.LM
	cache                       *transformer.Cache
	prompt                      []int32
	sampling                    transformer.Sampling
	r                           *parallel.Rank
	body                        func(*parallel.Rank)
)
`

// compileRows has Go compile the code of the right column, each piece in a function of its own.
func compileRows(t *testing.T, rows []nameRow) {
	var program strings.Builder
	program.WriteString("package rows\n\nimport (\n")
	for _, path := range []string{"context", "iter", "math", "runtime"} {
		fmt.Fprintf(&program, "\t%q\n", path)
	}
	for _, path := range []string{"accounting", "checkpoint", "data", "einops", "gpu", "nn", "nn/parallel", "nn/train", "nn/transformer",
		"optim", "plots/diagram", "tensor"} {
		fmt.Fprintf(&program, "\t%q\n", "github.com/lectern-go/lectern/"+path)
	}
	program.WriteString(")\n" + names)
	line := strings.Count(program.String(), "\n")
	from := map[int]nameRow{} // by line
	for _, r := range rows {
		for _, span := range codeSpan.FindAllStringSubmatch(r.here, -1) {
			code := strings.ReplaceAll(span[1], "…", "")
			statement := code
			if e, err := parser.ParseExpr(code); err == nil {
				if _, call := e.(*ast.CallExpr); !call {
					statement = "_ = " + code
				}
			}
			fmt.Fprintf(&program, "func _() { %s }\n", statement)
			line++
			from[line] = r
		}
	}
	path := filepath.Join(t.TempDir(), "rows.go")
	if err := os.WriteFile(path, []byte(program.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-gcflags=-e", path)
	build.Dir = "../.."
	said, err := build.CombinedOutput()
	if err == nil {
		return
	}
	place := regexp.MustCompile(`(?m)^\S*rows\.go:([0-9]+):[0-9]+: (.*)$`)
	found := place.FindAllSubmatch(said, -1)
	for _, m := range found {
		number, _ := strconv.Atoi(string(m[1]))
		r, ok := from[number]
		switch {
		case bytes.Contains(m[2], []byte(" and not used")): // a name that a row introduces, a package that no row uses
		case !ok:
			t.Errorf("line %d of the program: %s", number, m[2])
		default:
			t.Errorf("%s: %s\n\t%s", r.file, m[2], r)
		}
	}
	if len(found) == 0 {
		t.Errorf("go build: %v\n%s", err, said)
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
