package lesson_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/notebook"
)

var recordedFile = flag.String("recorded", "", "with -update: figures of another run, which bench -record wrote")

const recordedFiles = "testdata/recorded.json"

// A recordedRun is what bench -record writes.
type recordedRun struct {
	Date   string        `json:"date"`
	Card   string        `json:"card"`
	Driver string        `json:"driver"`
	Peer   string        `json:"peer"`
	Rows   []recordedRow `json:"rows"`
}

type recordedRow struct {
	What string  `json:"what"`
	Here float64 `json:"here"`
	Peer float64 `json:"peer,omitempty"`
	Unit string  `json:"unit"`
}

// recordedNames are what lessons call the cases of the benchmark.
var recordedNames = map[string]string{
	"matmul bf16 4096x4096x4096":     "product of two 4096 × 4096 matrices, bfloat16",
	"matmul bf16 16384x32768x8192":   "16384 × 32768 times 32768 × 8192, bfloat16",
	"matmul fp8":                     "product of large matrices, FP8",
	"copy":                           "1 GiB copied within the memory",
	"add 65536x4096":                 "x + x, float32, 65536 × 4096",
	"gelu 65536x4096":                "GELU of the same",
	"softmax 65536x4096":             "softmax of its rows",
	"sum 65536x4096":                 "sums of its rows",
	"lm step 768x12x12x1024x8x50304": "training step",
	"lm step 768x12x12x1024x8x50304, peak memory": "peak memory of the step",
	"lm prefill 768x12x12x1024x8x50304":           "reading 8 × 1,024 tokens without gradients",
	"lm decode 768x12x12x1024x1x50304":            "one more token after 1,024",
	"attention bf16 in steps 8x12x1024x64":        "in steps, with all scores in memory",
	"attention bf16 flash 8x12x1024x64":           "as one operation: 8 texts, 12 heads, 1,024 tokens",
	"attention bf16 flash 2x16x4096x64":           "2 texts, 16 heads, 4,096 tokens",
	"norm bf16 8192x768":                          "RMS norm and its gradients, 8192 × 768",
	"swiglu bf16 8192x2048":                       "SwiGLU and its gradients, 8192 × 2048",
	"loss bf16 8192x50304":                        "cross-entropy and its gradient, 8192 × 50304",
}

// recordedTable returns what a cell of the given rows begins with. The newest run that has a row counts.
func recordedTable(runs []recordedRun, what []string) (string, error) {
	var b strings.Builder
	b.WriteString(folds["recorded"] + "| | Lectern | PyTorch |\n|---|---|---|\n")
	var dates, places []string
	for _, w := range what {
		var row *recordedRow
		for i := range runs {
			if k := slices.IndexFunc(runs[i].Rows, func(r recordedRow) bool { return r.What == w }); k >= 0 {
				row = &runs[i].Rows[k]
				day, err := time.Parse(time.DateOnly, runs[i].Date)
				if err != nil {
					return "", err
				}
				if date := day.Format("2 January 2006"); !slices.Contains(dates, date) {
					dates = append(dates, date)
				}
				if place := fmt.Sprintf("%s, driver %s, beside %s", runs[i].Card, runs[i].Driver, runs[i].Peer); !slices.Contains(places, place) {
					places = append(places, place)
				}
				break
			}
		}
		if row == nil || recordedNames[w] == "" {
			return "", fmt.Errorf("no run has %q, or it has no name", w)
		}
		peer := "–"
		if row.Peer != 0 {
			peer = fmt.Sprintf("%.3g %s", row.Peer, row.Unit)
		}
		if row.Peer >= 100 {
			peer = fmt.Sprintf("%.0f %s", row.Peer, row.Unit)
		}
		here := fmt.Sprintf("%.3g %s", row.Here, row.Unit)
		if row.Here >= 100 {
			here = fmt.Sprintf("%.0f %s", row.Here, row.Unit)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", recordedNames[w], here, peer)
	}
	fmt.Fprintf(&b, "\nMeasured on %s: %s.\n", strings.Join(dates, " and "), strings.Join(places, "; "))
	return b.String(), nil
}

var recordedPart = regexp.MustCompile(`(?s)^<details>.*\nMeasured on [^\n]*\n`)

// TestRecorded: cells tagged recorded, whose metadata name their rows, have the figures of the newest run on a card.
// With -update it writes them; with -recorded FILE, too, from another run.
func TestRecorded(t *testing.T) {
	data, err := os.ReadFile(recordedFiles)
	if err != nil {
		t.Fatal(err)
	}
	var runs []recordedRun
	if err := json.Unmarshal(data, &runs); err != nil {
		t.Fatal(err)
	}
	if *update && *recordedFile != "" {
		var run recordedRun
		if data, err = os.ReadFile(*recordedFile); err == nil {
			err = json.Unmarshal(data, &run)
		}
		if err == nil && !strings.Contains(run.Card, "H100") {
			err = fmt.Errorf("%s is of %q; lessons show an H100", *recordedFile, run.Card)
		}
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
		if data, err = json.MarshalIndent(runs, "", "\t"); err == nil {
			err = os.WriteFile(recordedFiles, append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.SortStableFunc(runs, func(a, b recordedRun) int { return strings.Compare(b.Date, a.Date) })
	for file, n := range lessons(t) {
		changed := false
		for i, c := range n.Cells {
			if !slices.Contains(tags(c), "recorded") {
				continue
			}
			var what []string
			about, _ := c.Metadata["lectern"].(notebook.Object)
			list, _ := about["recorded"].([]any)
			for _, w := range list {
				what = append(what, fmt.Sprint(w))
			}
			want, err := recordedTable(runs, what)
			if err != nil {
				t.Errorf("%s, cell %d: %v", file, i, err)
				continue
			}
			if strings.HasPrefix(c.Source, want) {
				continue
			}
			if !*update {
				t.Errorf("%s, cell %d: the figures are not those of %s: go test ./notebooks/lesson -run TestRecorded -update mends that", file, i, recordedFiles)
				continue
			}
			rest := recordedPart.ReplaceAllString(c.Source, "")
			c.Source, changed = want+rest, true
		}
		if changed {
			if err := n.Write(filepath.Join(folder, file)); err != nil {
				t.Error(err)
			}
		}
	}
}
