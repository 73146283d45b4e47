//go:build unix

package main

import (
	"encoding/json"
	"os"
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
