package render

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// unpacked is what the script of a page makes of a record.
func unpacked(t *testing.T, text string) (r report.Record) {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		b, err = io.ReadAll(flate.NewReader(bytes.NewReader(b)))
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var stepsInPage = regexp.MustCompile(`id="lectern-steps">(.*)</script>`)

func withSteps(t *testing.T, steps Steps, cells ...*notebook.Cell) (page string, packed map[string]packedSteps) {
	t.Helper()
	dir := t.TempDir()
	file := write(t, dir, "01-test.ipynb", cells...)
	r, err := Site(Options{Notebooks: []string{file}, Out: filepath.Join(dir, "site"), Steps: map[string]Steps{file: steps}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.Pages[0].File)
	if err != nil {
		t.Fatal(err)
	}
	if m := stepsInPage.FindSubmatch(b); m != nil {
		if err := json.Unmarshal(m[1], &packed); err != nil {
			t.Fatal(err)
		}
	}
	if len(b) > PageLimit {
		t.Errorf("the page has %d bytes", len(b))
	}
	return string(b), packed
}

func TestSteps(t *testing.T) {
	record := func(n int, text string) *report.Record {
		r := &report.Record{}
		for i := range n {
			r.Steps = append(r.Steps, report.Step{Line: i + 1, Vars: []report.StepVar{{Name: "x", Text: fmt.Sprint(text, i)}}})
		}
		return r
	}
	stepper := display("text/html", `<div class="lectern-steps" id="old">the stepper of a notebook</div>`)
	page, packed := withSteps(t, Steps{"b": {Record: record(3, "</script>")}, "m": {Why: "It measures."}, "gone": {Record: record(1, "")}, "hidden": {Record: record(1, "")}},
		md("a", "# T"), code("b", "%%\n\nx := 1\n", stepper), code("m", "time.Now()"), code("s", "//step", stepper),
		&notebook.Cell{ID: "hidden", Type: "code", Source: "check()", Metadata: tagged([]string{"check-only"})})
	if len(packed) != 2 || packed["m"].Why != "It measures." || packed["m"].Record != "" {
		t.Errorf("the page has %+v", packed)
	}
	if r := unpacked(t, packed["b"].Record); len(r.Steps) != 3 || r.Steps[2].Vars[0].Text != "</script>2" || packed["b"].Offset != 2 {
		t.Errorf("offset %d, record %+v", packed["b"].Offset, r)
	}
	if n := strings.Count(page, "the stepper of a notebook"); n != 1 {
		t.Errorf("%d steppers of outputs, want that of the cell alone which has no record", n)
	}
	want(t, page, "var lecternSteps =", "Step through", ".stepped")
	plain, none := withSteps(t, nil, md("a", "# T"), code("b", "x := 1"))
	if none != nil {
		t.Error("steps of nothing")
	}
	wantNot(t, plain, "lecternSteps", ".stepped")
}

// Records that are too long for the page are cut, the longest first.
func TestLongStepsAreCut(t *testing.T) {
	noise := func(n int) *report.Record {
		r, seed := &report.Record{}, uint64(1)
		for range n {
			text := make([]byte, 150)
			for i := range text {
				seed = seed*6364136223846793005 + 1442695040888963407
				text[i] = ' ' + byte(seed>>57)%90
			}
			r.Steps = append(r.Steps, report.Step{Line: 1, Vars: []report.StepVar{{Name: "x", Text: string(text)}}})
		}
		return r
	}
	_, packed := withSteps(t, Steps{"a": {Record: noise(5000)}, "b": {Record: noise(5000)}, "c": {Record: noise(30)}}, code("a", "a()"), code("b", "b()"), code("c", "c()"))
	a, b, c := unpacked(t, packed["a"].Record), unpacked(t, packed["b"].Record), unpacked(t, packed["c"].Record)
	if len(a.Steps) >= 5000 || len(b.Steps) >= 5000 || len(a.Steps) < 1000 || !strings.Contains(a.Cut, fmt.Sprintf("first %d steps", len(a.Steps))) || b.Cut == "" {
		t.Errorf("%d and %d steps are left: %s; %s", len(a.Steps), len(b.Steps), a.Cut, b.Cut)
	}
	if len(c.Steps) != 30 || c.Cut != "" {
		t.Errorf("a short record has %d steps left: %s", len(c.Steps), c.Cut)
	}
}

func TestNoStepsOfStrangers(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "01-test.ipynb", code("b", "x := 1"))
	_, err := Site(Options{Notebooks: []string{file}, Out: filepath.Join(dir, "site"), Untrusted: true, Steps: map[string]Steps{file: {}}})
	if err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("got %v", err)
	}
}
