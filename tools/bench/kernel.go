package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

func init() {
	register("kernel", "cells", "the same cells in our kernel, in stock GoNB and in GoNB with our settings but no server of ours", benchCells)
	register("kernel", "start", "a fresh kernel: its start, and its first cell against its tenth", benchStart)
}

// kernelCell is a cell to be timed.
type kernelCell struct {
	name   string
	stock  string // the contender that stands for GoNB as its manual installs it
	code   string
	want   string  // in what it prints
	wanted float64 // stock over ours
}

// runsOn reports whether a contender is to run the cell: of the stock ones, one is.
func (c kernelCell) runsOn(contender string) bool {
	return contender == c.stock || contender != stockGoNB && contender != stockWorkspace
}

// The cells. %d is another number in each round: GoNB runs a cell that has not changed without building it.
var kernelCells = []kernelCell{
	{"hello", stockGoNB, "%%%%\nfmt.Println(\"hello\", %d)", "hello %d", 1.82},
	{"tensor", stockWorkspace, "import \"github.com/lectern-go/lectern/tensor\"\n%%%%\nfmt.Println(tensor.Arange(16).View(4, 4).Transpose(0, 1).Shape(), %d)", "[4 4] %d", 1.79},
	{"plot", stockGoNB, `import (
	"bytes"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)
%%%%
p := plot.New()
line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}, {X: 2, Y: 4}})
if err != nil {
	panic(err)
}
p.Add(line)
c := vgsvg.New(3*vg.Inch, 2*vg.Inch)
p.Draw(draw.New(c))
var b bytes.Buffer
if _, err := c.WriteTo(&b); err != nil {
	panic(err)
}
fmt.Println(bytes.Contains(b.Bytes(), []byte("</svg>")), %d)`, "true %d", 3.33},
}

// tenthOverFirst is how long the tenth cell must at least take beside the first after setup: the first takes 1.2 times
// the tenth at most.
const tenthOverFirst = 0.83

// contender is a kernel to be measured.
type contender struct {
	name string
	spec *jupyter.Spec
}

const (
	stockGoNB      = "stock GoNB"
	stockWorkspace = "stock GoNB, go_work" // installed for our workspace: without that it can't import the library
)

// contenders are our kernel, GoNB as its manual installs it, without and with a workspace, and GoNB with our settings
// but without our server.
func contenders(root string) ([]contender, error) {
	ours, err := jupyter.ReadSpec(filepath.Join(root, ".lectern", "share", "jupyter", "kernels", "lectern"))
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(root, ".lectern", "bin")
	gonb, err := exec.LookPath(filepath.Join(bin, "gonb"))
	if err != nil {
		return nil, err
	}
	quiet := []string{"-logtostderr=false", "-stderrthreshold=3", "-log_file=" + os.DevNull}
	stock := append([]string{gonb, "--kernel", "{connection_file}"}, quiet...)
	workspace := append(slices.Clone(stock), "-go_work="+root)
	// Its tools have to be found; the rest is as it comes.
	plain := map[string]string{"PATH": bin + string(os.PathListSeparator) + "${PATH}", "GOFLAGS": ""}
	return []contender{
		{"ours", ours},
		{stockGoNB, &jupyter.Spec{Argv: stock, InterruptMode: "message", Env: plain}},
		{stockWorkspace, &jupyter.Spec{Argv: workspace, InterruptMode: "message", Env: plain}},
		{"tuned GoNB", &jupyter.Spec{Argv: workspace, InterruptMode: "message", Env: ours.Env}},
	}, nil
}

func startKernel(ctx context.Context, root string, c contender) (*jupyter.Kernel, time.Duration, error) {
	began := time.Now()
	k, err := jupyter.Start(ctx, c.spec, jupyter.StartOptions{Dir: root, RuntimeDir: filepath.Join(root, ".lectern", "run")})
	if err != nil {
		err = fmt.Errorf("%s: %w", c.name, err)
	}
	return k, time.Since(began), err
}

// timeCell executes a cell and checks that it printed what it should.
func timeCell(ctx context.Context, k *jupyter.Kernel, code, want string) (time.Duration, error) {
	var said strings.Builder
	began := time.Now()
	r, err := k.Execute(ctx, code, jupyter.ExecuteOptions{Timeout: 5 * time.Minute, Output: func(m *jupyter.Message) {
		var c struct{ Text string }
		if m.Header.Type == "stream" && m.DecodeContent(&c) == nil {
			said.WriteString(c.Text)
		}
	}})
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	if r.Status != "ok" || !strings.Contains(said.String(), want) {
		return 0, fmt.Errorf("the cell\n%s\nended with %s %s and printed %q, want %q", code, r.Status, r.EValue, said.String(), want)
	}
	return took, nil
}

// kernelRounds is how many rounds are measured for one of the report's: cells take a fraction of a second and vary,
// and the median counts.
const kernelRounds = 5

// kernelReady sets the kernel up and returns the contenders: ours, stock GoNB, tuned GoNB.
func kernelReady(ctx context.Context) (root string, list []contender, err error) {
	root, err = repository()
	if err != nil {
		return "", nil, err
	}
	setup := exec.CommandContext(ctx, "go", "run", "./kernel", "setup")
	setup.Dir, setup.Stdout, setup.Stderr = root, os.Stderr, os.Stderr
	if err := setup.Run(); err != nil {
		return "", nil, fmt.Errorf("go run ./kernel setup: %w", err)
	}
	list, err = contenders(root)
	return root, list, err
}

// middle returns the median in milliseconds.
func middle(d []time.Duration) float64 {
	s := slices.Sorted(slices.Values(d))
	n := len(s)
	return float64(s[(n-1)/2]+s[n/2]) / 2e6
}

// benchCells times the cells in turns: a disturbance of the machine meets all kernels.
func benchCells(ctx context.Context, r *report) error {
	root, list, err := kernelReady(ctx)
	if err != nil {
		return err
	}
	kernels := make([]*jupyter.Kernel, len(list))
	for i, c := range list {
		k, _, err := startKernel(ctx, root, c)
		if err != nil {
			return err
		}
		defer k.Shutdown(5 * time.Second)
		kernels[i] = k
	}
	rounds := r.rounds * kernelRounds
	r.note("medians of %d rounds, the kernels in turns", rounds)
	serial := 0
	for _, cell := range kernelCells {
		times := make([][]time.Duration, len(list))
		for round := range rounds + 1 {
			for i, k := range kernels {
				if !cell.runsOn(list[i].name) {
					continue
				}
				serial++
				t, err := timeCell(ctx, k, fmt.Sprintf(cell.code, serial), fmt.Sprintf(cell.want, serial))
				if err != nil {
					return fmt.Errorf("%s, %s: %w", list[i].name, cell.name, err)
				}
				if round > 0 { // the first round warms up
					times[i] = append(times[i], t)
				}
			}
		}
		ours := middle(times[0])
		for i := 1; i < len(list); i++ {
			switch {
			case list[i].name == cell.stock:
				r.compare(cell.name+" cell", ours, list[i].name, middle(times[i]), "ms", less, cell.wanted)
			case cell.runsOn(list[i].name):
				r.compare(cell.name+" cell", ours, list[i].name, middle(times[i]), "ms", less, 0)
			}
		}
	}
	return nil
}

// benchStart times fresh kernels, in turns.
func benchStart(ctx context.Context, r *report) error {
	root, list, err := kernelReady(ctx)
	if err != nil {
		return err
	}
	const cells = 10
	cell := kernelCells[1]
	rounds := r.rounds * kernelRounds / 3
	r.note("medians of %d fresh kernels each, in turns; the cell is the %s cell", rounds, cell.name)
	start := make([][]time.Duration, len(list))
	first := make([][]time.Duration, len(list))
	tenth := make([][]time.Duration, len(list))
	serial := 1_000_000
	one := func(i int) error {
		k, took, err := startKernel(ctx, root, list[i])
		if err != nil {
			return err
		}
		defer k.Kill()
		start[i] = append(start[i], took)
		for n := 1; n <= cells; n++ {
			serial++
			t, err := timeCell(ctx, k, fmt.Sprintf(cell.code, serial), fmt.Sprintf(cell.want, serial))
			if err != nil {
				return fmt.Errorf("%s, cell %d: %w", list[i].name, n, err)
			}
			switch n {
			case 1:
				first[i] = append(first[i], t)
			case cells:
				tenth[i] = append(tenth[i], t)
			}
		}
		return k.Shutdown(5 * time.Second)
	}
	list = slices.DeleteFunc(list, func(c contender) bool { return !cell.runsOn(c.name) })
	for range rounds {
		for i := range list {
			if err := one(i); err != nil {
				return err
			}
		}
	}
	for i := 1; i < len(list); i++ {
		r.compare("start", middle(start[0]), list[i].name, middle(start[i]), "ms", less, 0)
		r.compare("first cell", middle(first[0]), list[i].name, middle(first[i]), "ms", less, 0)
	}
	r.compare("first cell against our tenth", middle(first[0]), "tenth", middle(tenth[0]), "ms", less, tenthOverFirst)
	return nil
}
