package bench

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	for _, c := range []struct {
		name   string
		rows   func(r *report)
		missed bool
		last   string
	}{
		{"nothing", func(r *report) {}, false, "group g: no ratio, since no peer is here"},
		{"a time", func(r *report) { r.compare("a", 2, "p", 3, "s", less, 1) }, false, "group g: worst ratio 1.5 (a)"},
		{"a speed", func(r *report) { r.compare("a", 2, "p", 3, "MB/s", more, 1) }, true, "group g: worst ratio 0.667 (a)"},
		{"the worst of three", func(r *report) {
			r.compare("a", 4, "p", 1, "MB/s", more, 1)
			r.compare("b", 3, "p", 1, "MB/s", more, 1)
			r.compare("shown only", 1, "p", 9, "MB", more, 0)
		}, false, "group g: worst ratio 3 (b)"},
		{"no number", func(r *report) { r.compare("a", math.NaN(), "p", 1, "s", less, 1) }, true, "group g: worst ratio NaN (a)"},
	} {
		r := &report{name: "g"}
		c.rows(r)
		if r.missed != c.missed || r.summary() != c.last {
			t.Errorf("%s: missed %v, %q; want %v, %q", c.name, r.missed, r.summary(), c.missed, c.last)
		}
	}
}

// TestRecord: the figures and where they were measured are in the file, with the names that lessons read.
func TestRecord(t *testing.T) {
	r := &report{name: "g", card: "a card", driver: "1.2", peer: "p 3"}
	r.compare("a", 2, "p", 3, "ms", less, 0)
	file := filepath.Join(t.TempDir(), "recorded.json")
	if err := r.record(file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	for _, want := range []string{`"date": "20`, `"card": "a card"`, `"driver": "1.2"`, `"peer": "p 3"`, `"what": "a"`, `"here": 2`, `"peer": 3`, `"unit": "ms"`} {
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%v, or it lacks %s:\n%s", err, want, data)
		}
	}
}

func TestPick(t *testing.T) {
	yes, no := true, false
	chosen := map[string]*bool{"peers": &yes, "kernel": &no}
	if picked, err := pick(chosen, []string{"tokenizer"}); err != nil || len(picked) != 1 || picked[0].name != "tokenizer" {
		t.Errorf("picked %v, %v", picked, err)
	}
	if _, err := pick(chosen, []string{"nothing"}); err == nil {
		t.Error("a group that is not there gives no error")
	}
	if _, err := pick(map[string]*bool{"peers": &no, "kernel": &no}, nil); err == nil {
		t.Error("no kind gives no error")
	}
}
