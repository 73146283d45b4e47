package widget

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// fresh lets a test make widgets of its own.
func fresh(t *testing.T) *Kept {
	made = &Kept{}
	t.Cleanup(func() { made = nil })
	return made
}

func TestEvents(t *testing.T) {
	k := fresh(t)
	var said []string
	say := func(v ...any) { said = append(said, fmt.Sprint(v...)) }
	n := IntSlider("n", -5, 5, 99).OnChange(func(n int) { say("n ", n) })
	f := FloatSlider("f", 0, 1, 0.5).OnChange(func(f float64) { say("f ", f) })
	d := Dropdown("d", "x", "y").OnChange(func(s string) { say("d ", s) })
	s := Text("s", "a").OnChange(func(s string) { say("s ", s) })
	b := Checkbox("b", false).OnChange(func(on bool) { say("b ", on) })
	clicks := 0
	button := Button("go", func() { clicks++ })
	Interact(func(n int, b bool) { say("both ", n, " ", b) }, n, b)
	if n.Value() != 5 {
		t.Errorf("99 of at most 5 is %d", n.Value())
	}
	for _, c := range []struct{ id, value, want string }{
		{n.id, "3", "n 3|both 3 false"},
		{n.id, "3.0", "n 3|both 3 false"},
		{n.id, "-1e30", "n -5|both -5 false"},
		{n.id, "NaN", ""},
		{n.id, "many", ""},
		{f.id, "0.25", "f 0.25"},
		{f.id, "17", "f 1"},
		{f.id, "-Inf", "f 0"},
		{d.id, "1", "d y"},
		{d.id, "2", ""},
		{d.id, "-1", ""},
		{d.id, "y", ""},
		{s.id, "", "s "},
		{s.id, "a\x00b", "s a\x00b"},
		{b.id, "true", "b true|both -5 true"},
		{b.id, "yes", ""},
		{"nobody", "1", ""},
		{button.id, "1", ""},
	} {
		said = nil
		k.handle(c.id + "\x00" + c.value)
		if got := strings.Join(said, "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.value, got, c.want)
		}
	}
	for range 2 {
		k.handle(button.id)
		k.handle(n.id) // a slider is not clicked on
	}
	if clicks != 2 {
		t.Errorf("%d clicks, want 2", clicks)
	}
	large := IntSlider("parameters", 0, 70_000_000_000, 7_000_000_000)
	if k.handle(large.id + "\x0050000000000"); large.Value() != 50_000_000_000 {
		t.Errorf("a large slider at 5e10 is %d", large.Value())
	}
}

func TestPanics(t *testing.T) {
	fresh(t)
	n := IntSlider("n", 0, 1, 0)
	for want, f := range map[string]func(){
		"IntSlider from 2 to 1":               func() { IntSlider("", 2, 1, 0) },
		"FloatSlider from 0 to NaN":           func() { FloatSlider("", 0, math.NaN(), 0) },
		"FloatSlider from 0 to +Inf":          func() { FloatSlider("", 0, math.Inf(1), 0) },
		"Dropdown needs options":              func() { Dropdown("") },
		"needs a func(int), not func(string)": func() { Interact(func(string) {}, n) },
		"needs a func(int), not func()":       func() { Interact(func() {}, n) },
		"needs a func(int), not int":          func() { Interact(3, n) },
		"needs a func(int), not <nil>":        func() { Interact(nil, n) },
		"not func(...int)":                    func() { Interact(func(...int) {}, n) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

func TestStep(t *testing.T) {
	for distance, want := range map[float64]float64{1: 0.01, 10: 0.1, 100: 1, 3: 0.02, 7: 0.05, 0: 1, 2e-6: 2e-8} {
		if got := step(distance); math.Abs(got-want) > 1e-9*want {
			t.Errorf("steps of a slider over %v: %v, want %v", distance, got, want)
		}
	}
}

// TestBundle: what those see who can't draw widgets.
func TestBundle(t *testing.T) {
	fresh(t)
	pairs := Text("<name>", "a&b").MIMEBundle()
	if len(pairs) != 6 || pairs[4] != "text/plain" || pairs[5] != "<name>: a&b" || !strings.Contains(pairs[3], "&lt;name&gt;: a&amp;b") || !strings.Contains(pairs[3], "Run the cell") {
		t.Errorf("%q", pairs)
	}
	if got := Text("", "a").String(); got != "a" {
		t.Errorf("without a label: %q", got)
	}
}
