// Package measure is what %timeit and %bench do: the kernel calls it around a cell's statements.
package measure

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
)

const (
	rounds = 7
	round  = 100 * time.Millisecond // at least, unless one call takes longer
)

// now is a variable for tests alone.
var now = time.Now

// Time calls f again and again, in rounds, and prints how long a call takes: the mean of the rounds, and how far they
// are from it.
func Time(f func()) {
	n := 1
	var took time.Duration
	for {
		took = timed(f, n)
		if took >= round || n >= 1<<30 {
			break
		}
		n = min(1<<30, max(n+1, int(min(100*float64(n), 1.2*float64(n)*float64(round)/float64(max(took, 1))))))
	}
	each := []float64{float64(took) / float64(n)}
	for len(each) < rounds && (took < 2*time.Second || len(each) < 3) {
		each = append(each, float64(timed(f, n))/float64(n))
	}
	mean, spread := 0.0, 0.0
	for _, x := range each {
		mean += x / float64(len(each))
	}
	for _, x := range each {
		spread += (x - mean) * (x - mean) / float64(len(each))
	}
	fmt.Printf("%%timeit: %s ± %s a call (%s of %d)\n", duration(mean), duration(math.Sqrt(spread)), humanize.Count(len(each), "round"), n)
}

func timed(f func(), n int) time.Duration {
	began := now()
	for range n {
		f()
	}
	return now().Sub(began)
}

// duration writes nanoseconds with three digits.
func duration(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size {
			return fmt.Sprintf("%.3g %s", ns/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}

// Bench runs f as a benchmark of package testing, and prints the result, allocations included.
func Bench(f func()) {
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
	})
	fmt.Printf("%%bench: %s %s\n", r.String(), r.MemString())
}
