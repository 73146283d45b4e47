//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// steps runs a cell and records its steps.
func (l *lab) steps(code string) (outs []out, record *report.Record, r jupyter.Result) {
	l.t.Helper()
	all, r, err := l.try(code, jupyter.ExecuteOptions{Timeout: 3 * time.Minute, Steps: true})
	if err != nil {
		l.t.Fatalf("cell %q: %v\noutputs so far: %s", code, err, flat(all))
	}
	for _, o := range all {
		data, ok := o.data[notebook.StepsType]
		if !ok {
			outs = append(outs, o)
			continue
		}
		packed, err := json.Marshal(data)
		if err == nil {
			err = json.Unmarshal(packed, &record)
		}
		if err != nil {
			l.t.Fatal(err)
		}
	}
	return outs, record, r
}

// ofCell are the lines of a record that are not of goroutines, which end with the cell wherever they are.
func ofCell(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.HasPrefix(l, "goroutine ") })
	return strings.Join(lines, "\n")
}

// TestStepsGolden compares the steps of cells with those that are stored below them: of every 20th,
// with LECTERN_LONG=1 of all. Each runs a second time without, in another kernel: it shows
// the same, and leaves the same variables.
func TestStepsGolden(t *testing.T) {
	t.Parallel()
	const path = "testdata/steps.txt"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	each := 20
	if *update || long() {
		each = 1
	}
	recorded, plain := startLab(t), startLab(t)
	groups := strings.Split(string(b), "\n### ")
	word := os.Getenv("LECTERN_GROUP")
	for i, g := range groups[1:] {
		name, body, _ := strings.Cut(strings.TrimRight(g, "\n"), "\n")
		code, want, _ := strings.Cut(body, "\n---\n")
		if !strings.Contains(name, word) || word == "" && i%each != 0 {
			continue
		}
		recorded.run("%reset")
		plain.run("%reset")
		earlier, last, ok := strings.Cut(code, "\n===\n")
		if ok {
			recorded.run(earlier)
			plain.run(earlier)
		} else {
			last = earlier
		}
		outs, record, r := recorded.steps(last)
		again, s := plain.run(last)
		if flat(outs) != flat(again) || r.Status != s.Status || r.EValue != s.EValue {
			t.Errorf("%s: with its steps recorded it shows\n%s %s\nand without\n%s %s", name, r.Status, flat(outs), s.Status, flat(again))
		}
		if strings.Contains(flat(outs), "report the cell") {
			t.Errorf("%s: %s", name, flat(outs))
		}
		left, _ := recorded.run("%vars")
		right, _ := plain.run("%vars")
		if flat(left) != flat(right) {
			t.Errorf("%s: variables after recording\n%s\nand without\n%s", name, flat(left), flat(right))
		}
		got := "nothing"
		if record != nil {
			got = record.Text(60)
			if strings.Contains(record.Cut, "took longer") { // the machine is busy: only the steps that are listed count
				got, _, _ = strings.Cut(got, "\n… ")
				want, _, _ = strings.Cut(want, "\n… ")
			}
		}
		if *update {
			groups[i+1] = name + "\n" + code + "\n---\n" + got + "\n"
		} else if got != want && !(strings.Contains(code, "go func") && ofCell(got) == ofCell(want)) {
			t.Errorf("%s\n%s\nsteps:\n%s\nwant\n%s", name, code, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(groups, "\n### ")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStepsEnd lets recording end in the middle of cells of the golden files and of some with closures, with
// LECTERN_LONG=1 of all, and compares what they show with what they show without.
func TestStepsEnd(t *testing.T) {
	t.Parallel()
	cells := map[string]string{}
	var names []string
	each := map[string]int{"testdata/steps.txt": 20, "testdata/stepsend.txt": 4}
	for _, path := range slices.Sorted(maps.Keys(each)) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range strings.Split(string(b), "\n### ")[1:] {
			name, body, _ := strings.Cut(strings.TrimRight(g, "\n"), "\n")
			code, _, _ := strings.Cut(body, "\n---\n")
			if strings.Contains(code, "import ") || i%each[path] != 0 && !long() {
				continue
			}
			cells[name] = code
			names = append(names, name)
		}
	}
	recorded, plain := startLab(t), startLab(t)
	for i, name := range names {
		recorded.run("%reset")
		plain.run("%reset")
		earlier, last, ok := strings.Cut(cells[name], "\n===\n")
		if ok {
			recorded.run(earlier)
			plain.run(earlier)
		} else {
			last = earlier
		}
		last = fmt.Sprintf("for range %d {\n}\n", 4999-1-i*7%40) + last
		outs, _, r := recorded.steps(last) // on a busy machine recording ends earlier
		again, s := plain.run(last)
		if flat(outs) != flat(again) || r.Status != s.Status || r.EValue != s.EValue {
			t.Errorf("%s: it shows\n%s %s\nand without its steps recorded\n%s %s", name, r.Status, flat(outs), s.Status, flat(again))
		}
		if strings.Contains(flat(outs), "report the cell") {
			t.Errorf("%s: %s", name, flat(outs))
		}
		left, _ := recorded.run("%vars")
		right, _ := plain.run("%vars")
		if flat(left) != flat(right) {
			t.Errorf("%s: variables after recording\n%s\nand without\n%s", name, flat(left), flat(right))
		}
	}
}

// A timed cell is what BenchmarkSteps knows of a cell: the best times of its program, plain and with its steps
// recorded, those of the processors meanwhile, and those that one waits, from the cell's start to its end.
type timed struct {
	name            string
	plain, recorded [3]time.Duration
}

// BenchmarkSteps runs the cells of lessons without and with their steps recorded, side by side, and reports for each
// lesson, and at last for all, how many times as long the programs take: the middle cell, the 95th of a hundred, and
// the slowest. It does the same for the time of the processors, which other programs disturb less, and, of all cells,
// for the time that one waits for them. Of cells under 20 ms it reports the milliseconds that they take longer. Each
// lesson runs as often as -benchtime says, such as 1x, and one line names the cells that are slowed down most.
func BenchmarkSteps(b *testing.B) {
	dir := filepath.Join(repoRoot(b), "notebooks")
	lessons, err := filepath.Glob(filepath.Join(dir, "*.ipynb"))
	if err != nil || len(lessons) == 0 {
		b.Fatalf("no lessons: %v", err)
	}
	var all []*timed
	for _, lesson := range lessons {
		b.Run(strings.TrimSuffix(filepath.Base(lesson), ".ipynb"), func(b *testing.B) {
			cells := map[string]*timed{}
			for range b.N {
				timeCells(b, lesson, cells)
			}
			list := slices.Collect(maps.Values(cells))
			all = append(all, list...)
			reportTimes(b, list, 3)
		})
	}
	b.Run("all", func(b *testing.B) { reportTimes(b, all, 8) })
}

// timeCells runs a lesson in two kernels.
func timeCells(b *testing.B, lesson string, cells map[string]*timed) {
	text, err := os.ReadFile(lesson)
	if err != nil {
		b.Fatal(err)
	}
	n, err := notebook.Parse(lesson, text)
	if err != nil {
		b.Fatal(err)
	}
	bin, err := tools()
	need(b, err)
	labs := [2]*lab{startLabIn(b, bin, filepath.Dir(lesson), nil), startLabIn(b, bin, filepath.Dir(lesson), nil)}
	for i, c := range n.Cells {
		if c.Type != "code" || strings.TrimSpace(c.Source) == "" || c.HasTag("check-only") || c.HasTag("skip-execution") {
			continue
		}
		name := fmt.Sprintf("%s, cell %d", filepath.Base(lesson), i)
		if cells[name] == nil {
			cells[name] = &timed{name: name}
		}
		for k, l := range labs {
			began := time.Now()
			outs, _, err := l.try("%time\n"+c.Source, jupyter.ExecuteOptions{Timeout: 10 * time.Minute, Steps: k == 1})
			if err != nil {
				b.Fatalf("%s: %v", name, err)
			}
			waited := time.Since(began)
			times := timesOf(b, outs)
			if times == nil { // it only declares something, or was refused
				continue
			}
			for m, took := range append(times, waited) {
				best := &cells[name].plain[m]
				if k == 1 {
					best = &cells[name].recorded[m]
				}
				if *best == 0 || took < *best {
					*best = took
				}
			}
		}
	}
}

var timeSaid = regexp.MustCompile(`%time: ran for ([^ ]+) \(processors: ([^ ]+)\)`)

// timesOf is what %time says: how long the program ran, and how long processors worked for it. It is nil if %time says
// nothing.
func timesOf(b *testing.B, outs []out) (times []time.Duration) {
	b.Helper()
	said := timeSaid.FindStringSubmatch(flat(outs))
	if said == nil {
		return nil
	}
	for _, text := range said[1:] {
		took, err := time.ParseDuration(text)
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, took)
	}
	return times
}

// reportTimes reports what recording costs, and names some cells.
func reportTimes(b *testing.B, cells []*timed, some int) {
	const short = 20 * time.Millisecond
	ratio := func(c *timed, m int) float64 { return float64(c.recorded[m]) / float64(c.plain[m]) }
	cells = slices.DeleteFunc(slices.Clone(cells), func(c *timed) bool { return slices.Min(append(c.plain[:], c.recorded[:]...)) == 0 })
	slices.SortFunc(cells, func(x, y *timed) int { return cmp.Compare(ratio(y, 0), ratio(x, 0)) })
	var times, processors, waits, more []float64
	var slowest strings.Builder
	for _, c := range cells {
		waits = append(waits, ratio(c, 2))
		if c.plain[0] < short {
			more = append(more, float64(c.recorded[0]-c.plain[0])/1e6)
			continue
		}
		times, processors = append(times, ratio(c, 0)), append(processors, ratio(c, 1))
		if len(times) <= some {
			fmt.Fprintf(&slowest, "\n%-45s %10v %10v %6.2f, of processors %6.2f", c.name, c.plain[0], c.recorded[0], ratio(c, 0), ratio(c, 1))
		}
	}
	b.Logf("%d cells of %v and more, %d shorter ones:%s", len(times), short, len(more), &slowest)
	b.ReportMetric(0, "ns/op")
	for _, set := range []struct {
		name   string
		values []float64
	}{{"times", times}, {"times-of-processors", processors}, {"times-of-waiting", waits}, {"ms-more-if-short", more}} {
		if len(set.values) == 0 {
			continue
		}
		slices.Sort(set.values)
		at := func(part float64) float64 { return set.values[int(part*float64(len(set.values)-1)+0.5)] }
		b.ReportMetric(at(0.5), "median-"+set.name)
		b.ReportMetric(at(0.95), "95%-"+set.name)
		b.ReportMetric(at(1), "max-"+set.name)
	}
}

// BenchmarkAfterSteps runs loops that go on long after their steps have ended, without and with recording, in turns,
// and reports the part of its plain speed that each has left, what recording itself takes included. Loops of one cycle
// an iteration are not among those in functions: they would tell how the compiler happens to align them.
func BenchmarkAfterSteps(b *testing.B) {
	l := startLab(b)
	l.run("type pile struct{ n int }\nfunc (p *pile) add(i int) { p.n += i & 3 }\nfunc plus(a, b int) int { return a + b&3 }\nfunc upTo(n int) iter.Seq[int] { return func(yield func(int) bool) { for i := 0; i < n && yield(i); i++ { } } }\nxs := make([]int, 1<<20)")
	for _, c := range []struct{ name, code string }{
		{"three clauses", "s := 0\nfor i := 0; i < 4_000_000_000; i++ { s += i & 3 }"},
		{"range of a number", "s := 0\nfor i := range 4_000_000_000 { s += i & 3 }"},
		{"range of a slice", "s := 0\nfor range 2000 {\n\tfor i, x := range xs { s += i ^ x }\n}"},
		{"writes", "for k := range 2000 {\n\tfor i := range xs { xs[i] = i ^ k }\n}"},
		{"condition", "i := 0\nfor i < 4_000_000_000 { i += 1 + i&1 }"},
		{"calls", "s := 0\nfor i := range 3_000_000_000 { s = plus(s, i) }"},
		{"methods", "var p pile\nfor i := range 3_000_000_000 { p.add(i) }"},
		{"closure", "s := 0\nadd := func(i int) { s += i & 3 }\nfor i := range 2_000_000_000 { add(i) }"},
		{"recursion", "var fib func(n int) int\nfib = func(n int) int {\n\tif n < 2 { return n }\n\treturn fib(n-1) + fib(n-2)\n}\nfib(41)"},
		{"function", "func sum(n int) (s int) {\n\tfor i := range n { s += (s ^ i) & 3 }\n\treturn s\n}\nsum(4_000_000_000)"},
		{"local variables", "func sum2(n int) int {\n\ts := 0\n\tfor i := range n { s += (s ^ i) & 3 }\n\treturn s\n}\nsum2(4_000_000_000)"},
		{"local clauses", "func sum3(n int) int {\n\ts := 0\n\tfor i := 0; i < n; i++ { s += (s ^ i) & 3 }\n\treturn s\n}\nsum3(4_000_000_000)"},
		{"if and switch", "a, c := 0, 0\nfor i := range 2_000_000_000 {\n\tif i&1 == 0 { a++ } else { c += 2 }\n\tswitch i & 7 {\n\tcase 1: a--\n\tcase 2: c--\n\t}\n}"},
		{"range of a function", "s := 0\nfor i := range upTo(2_000_000_000) { s += i & 3 }"},
	} {
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			var ratios []float64
			for range max(b.N, 3) {
				var took [2]time.Duration
				for k := range took {
					outs, _, err := l.try("%time\n"+c.code+"\n_ = 0", jupyter.ExecuteOptions{Timeout: 10 * time.Minute, Steps: k == 1})
					if err != nil {
						b.Fatal(err)
					}
					times := timesOf(b, outs)
					if times == nil {
						b.Fatalf("no time: %s", flat(outs))
					}
					took[k] = times[0]
				}
				ratios = append(ratios, float64(took[0])/float64(took[1]))
			}
			slices.Sort(ratios)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ratios[len(ratios)/2], "of-plain-speed")
		})
	}
}
