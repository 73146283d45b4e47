package measure

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// spin is work for the processor, however much of it others take.
func spin() (x float64) {
	for i := range 400_000_000 {
		x += math.Sqrt(float64(i))
	}
	return x
}

func TestFlame(t *testing.T) {
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Skip(err) // the test itself is being profiled
	}
	spin()
	pprof.StopCPUProfile()
	stacks, err := readProfile(b.Bytes())
	if err != nil || len(stacks) == 0 {
		t.Fatalf("%d stacks, %v", len(stacks), err)
	}
	svg := flame(stacks)
	if !strings.Contains(svg, "measure.spin: ") {
		t.Errorf("spin is not in the graph:\n%s", svg)
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the graph is no XML: %v\n%s", err, svg)
		}
	}
	for n := range b.Len() { // a file that is cut off
		if n%7 == 0 {
			readProfile(b.Bytes()[:n])
		}
	}
	for _, plain := range []string{"\x0a", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x09", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x12\x02\x0a\x05"} {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write([]byte(plain))
		w.Close()
		if _, err := readProfile(z.Bytes()); err == nil {
			t.Errorf("%q is a profile", plain)
		}
	}
}

func TestMost(t *testing.T) {
	svg := flame([]stack{{[]string{"the cell", "main.slow"}, 3e9}, {[]string{"the cell", "a/b.fast<T>"}, 1e9}})
	for _, want := range []string{"<title>Flame graph of 4 s of processor time: 75 % in main.slow, 25 % in b.fast&lt;T&gt;</title>", "<title>main.slow: 3 s, 75.0 %</title>", ">the cell</text>"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the graph lacks %s:\n%s", want, svg)
		}
	}
}

func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{0.5: "0.5 ns", 12.34: "12.3 ns", 1234: "1.23 µs", 56.7e6: "56.7 ms", 2e9: "2 s"} {
		if got := duration(ns); got != want {
			t.Errorf("%g ns is written %q, want %q", ns, got, want)
		}
	}
}

func TestTimeCalls(t *testing.T) {
	var clock time.Time
	defer func() { now = time.Now }()
	now = func() time.Time { return clock }
	for took, want := range map[time.Duration]int{
		60 * time.Millisecond: 1 + rounds*2, // one alone ends too early, two are a round
		time.Second:           rounds,
		time.Minute:           3,
	} {
		calls := 0
		Time(func() { calls++; clock = clock.Add(took) })
		if calls != want {
			t.Errorf("what takes %v was called %d times, want %d", took, calls, want)
		}
	}
}
