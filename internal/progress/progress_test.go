package progress

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func TestBarText(t *testing.T) {
	start := time.Unix(100, 0)
	training := curve{}
	for _, x := range []float64{2.5, 1.5, 1.75} {
		training.add(x)
	}
	diverged := curve{}
	diverged.add(1)
	diverged.add(math.NaN())
	for _, c := range []struct {
		name string
		p    *Bar
		want string
	}{
		{"begin", &Bar{label: "train", total: 40}, "train: 0 of 40 (0 %), 5s"},
		{"half", &Bar{label: "train", total: 40, done: 10, note: "warming up"}, "train: 10 of 40 (25 %), 2/s, 15s left, 5s, warming up"},
		{"taken up again", &Bar{total: 40, done: 30, before: 20}, "30 of 40 (75 %), 2/s, 5s left, 5s"},
		{"no end", &Bar{done: 1000}, "1000, 200/s, 5s"},
		{"slow", &Bar{total: 4, done: 2}, "2 of 4 (50 %), 2.5 s each, 5s left, 5s"},
		{"finished", &Bar{total: 4, done: 4, end: start.Add(2 * time.Second)}, "4 of 4 (100 %), 2/s, 2s"},
		{"given up", &Bar{total: 4, done: 2, end: start.Add(2 * time.Second)}, "2 of 4 (50 %), 1/s, 2s"},
		{"training", &Bar{total: 10, done: 5, curve: training}, "5 of 10 (50 %), 1/s, 5s left, 5s, loss 1.75 (from 2.5, lowest 1.5)"},
		{"diverged", &Bar{total: 10, done: 5, curve: diverged}, "5 of 10 (50 %), 1/s, 5s left, 5s, loss NaN, not finite since number 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.p.start = start
			if got := c.p.text(start.Add(5 * time.Second)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestCurve(t *testing.T) {
	c := curve{}
	if c.html() != "" {
		t.Error("a curve without numbers is drawn")
	}
	for i := range 10_000 {
		c.add(1 + 100*math.Exp(-float64(i)/1000))
	}
	if len(c.points) >= maxCurve || len(c.points) < maxCurve/2 {
		t.Errorf("%d points are kept, want at most %d", len(c.points), maxCurve)
	}
	for i := 1; i < len(c.points); i++ {
		if c.points[i] >= c.points[i-1] {
			t.Fatalf("point %d is not below the one before", i)
		}
	}
	svg := c.html()
	if len(svg) > 8000 {
		t.Errorf("%d bytes are sent ten times a second", len(svg))
	}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"<title>curve: loss 1.005 (from 101, lowest 1.005)</title>", ">101<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in %s", want, svg)
		}
	}
}

// In a file or a pipe there is one line, however often Done is called.
func TestBarIsPrintedOnceWhereNobodyLooks(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func(before *os.File) { os.Stderr = before }(os.Stderr)
	os.Stderr = w
	p := New("work", 2)
	p.Add(1)
	p.Loss(0.5)
	p.Add(1)
	p.Note("afterwards")
	p.Done()
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil || strings.Count(string(text), "work") != 1 || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), "2 of 2") {
		t.Errorf("printed %q (%v)", text, err)
	}
}
