//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// TestStepsGolden compares what is recorded of cells with what is written below them: of every tenth, in CI of every fifth,
// with LECTERN_LONG=1 of all. Each runs a
// second time without, in another kernel: it shows the same, and leaves the same variables.
func TestStepsGolden(t *testing.T) {
	t.Parallel()
	const path = "testdata/steps.txt"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	each := 10
	switch {
	case *update || os.Getenv("LECTERN_LONG") != "":
		each = 1
	case long():
		each = 5
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

// TestStepsEnd lets recording end in the middle of each cell of the golden files, of as many as there, and of some with closures, and
// compares what they show with what they show without.
func TestStepsEnd(t *testing.T) {
	t.Parallel()
	cells := map[string]string{}
	var names []string
	for _, path := range []string{"testdata/steps.txt", "testdata/stepsend.txt"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range strings.Split(string(b), "\n### ")[1:] {
			name, body, _ := strings.Cut(strings.TrimRight(g, "\n"), "\n")
			code, _, _ := strings.Cut(body, "\n---\n")
			if strings.Contains(code, "import ") || path == "testdata/steps.txt" && i%10 != 0 && os.Getenv("LECTERN_LONG") == "" {
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
		outs, record, r := recorded.steps(last)
		again, s := plain.run(last)
		if flat(outs) != flat(again) || r.Status != s.Status || r.EValue != s.EValue {
			t.Errorf("%s: it shows\n%s %s\nand without its steps recorded\n%s %s", name, r.Status, flat(outs), s.Status, flat(again))
		}
		if strings.Contains(flat(outs), "report the cell") {
			t.Errorf("%s: %s", name, flat(outs))
		}
		if record == nil || len(record.Steps) < 4950 {
			t.Errorf("%s: it is not recorded so far", name)
		}
		left, _ := recorded.run("%vars")
		right, _ := plain.run("%vars")
		if flat(left) != flat(right) {
			t.Errorf("%s: variables after recording\n%s\nand without\n%s", name, flat(left), flat(right))
		}
	}
}

// BenchmarkSteps runs the cells of all lessons without and with their steps recorded, side by side, and reports how many times as long
// the programs take: the middle cell, the 95th of a hundred, and the slowest. Of cells under 20 ms it reports the milliseconds that they
// take longer. Several rounds, as by -benchtime=3x, keep the best time of each. LECTERN_GROUP picks lessons by a part of their names.
func BenchmarkSteps(b *testing.B) {
	bin, err := tools()
	need(b, err)
	dir := filepath.Join(repoRoot(b), "notebooks")
	lessons, err := filepath.Glob(filepath.Join(dir, "*"+os.Getenv("LECTERN_GROUP")+"*.ipynb"))
	if err != nil || len(lessons) == 0 {
		b.Fatalf("no lessons: %v", err)
	}
	type cell struct {
		name            string
		plain, recorded time.Duration
	}
	var cells []*cell
	ran := regexp.MustCompile(`%time: ran for ([^ ]+) `)
	for round := range b.N {
		at := 0
		for _, lesson := range lessons {
			text, err := os.ReadFile(lesson)
			if err != nil {
				b.Fatal(err)
			}
			n, err := notebook.Parse(lesson, text)
			if err != nil {
				b.Fatal(err)
			}
			labs := [2]*lab{startLabIn(b, bin, dir, nil), startLabIn(b, bin, dir, nil)}
			for i, c := range n.Cells {
				if c.Type != "code" || strings.TrimSpace(c.Source) == "" || c.HasTag("check-only") || c.HasTag("skip-execution") {
					continue
				}
				if round == 0 {
					cells = append(cells, &cell{name: fmt.Sprintf("%s, cell %d", filepath.Base(lesson), i)})
				}
				for k, l := range labs {
					outs, _, err := l.try("%time\n"+c.Source, jupyter.ExecuteOptions{Timeout: 10 * time.Minute, Steps: k == 1})
					if err != nil {
						b.Fatalf("%s: %v", cells[at].name, err)
					}
					said := ran.FindStringSubmatch(flat(outs))
					if said == nil { // it declares something, or was refused
						continue
					}
					took, err := time.ParseDuration(said[1])
					if err != nil {
						b.Fatal(err)
					}
					best := &cells[at].plain
					if k == 1 {
						best = &cells[at].recorded
					}
					if *best == 0 || took < *best {
						*best = took
					}
				}
				at++
			}
			for _, l := range labs {
				l.k.Shutdown(30 * time.Second)
			}
		}
	}
	const short = 20 * time.Millisecond
	var ratios, more []float64
	var slowest strings.Builder
	slices.SortFunc(cells, func(x, y *cell) int {
		return cmp.Compare(float64(y.recorded)/float64(max(y.plain, short)), float64(x.recorded)/float64(max(x.plain, short)))
	})
	for i, c := range cells {
		switch {
		case c.plain == 0 || c.recorded == 0:
			continue
		case c.plain < short:
			more = append(more, float64(c.recorded-c.plain)/1e6)
		default:
			ratios = append(ratios, float64(c.recorded)/float64(c.plain))
		}
		if i < 20 {
			fmt.Fprintf(&slowest, "%-60s %10v %10v  %.2f\n", c.name, c.plain, c.recorded, float64(c.recorded)/float64(c.plain))
		}
	}
	b.Logf("%d cells of %v and more, %d shorter ones; those that recording slows down most:\n%s", len(ratios), short, len(more), &slowest)
	b.ReportMetric(0, "ns/op")
	for _, set := range []struct {
		name   string
		values []float64
	}{{"times", ratios}, {"ms-more-if-short", more}} {
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
