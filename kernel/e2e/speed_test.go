package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// BenchmarkLive times pages whose cells run, with their files at hand: until the first Run has shown
// something, a cell that was changed, a whole lesson, and a matmul. `go run ./internal/bench -pages
// live` runs it and holds it to its goals.
func BenchmarkLive(b *testing.B) {
	if err := os.Setenv("LECTERN_LONG", "1"); err != nil {
		b.Fatal(err)
	}
	address := served(b)
	for _, name := range liveLessons(b, "LECTERN_LIVE_LESSONS", "02-tensors", "05-storage-strides-views", "11-gradients") {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := openBrowser(b)
				p.window(1280, 900, false)
				p.open(address + "/" + name + ".html")
				b.ReportMetric(p.timed(`lecternLive.cells()[0].runner.click()`), "first-s")
				var changed []float64
				for i := range 7 {
					changed = append(changed, p.timed(fmt.Sprintf(`lecternLive.cells()[0].keep("fmt.Println(%d)\n" + lecternLive.cells()[0].source); lecternLive.cells()[0].runner.click()`, i)))
				}
				b.ReportMetric(median(changed), "cell-s")
				var whole []float64
				for range 7 {
					whole = append(whole, p.timed(`document.querySelector(".live-strip .live-run").click()`))
				}
				b.ReportMetric(median(whole), "lesson-s")
			}
		})
	}
	b.Run("training", func(b *testing.B) {
		for b.Loop() {
			p := openBrowser(b)
			p.window(1280, 900, false)
			p.open(address + "/19-training-loop.html")
			p.timed(`lecternLive.cells()[0].runner.click()`)
			b.ReportMetric(p.timed(`document.querySelector(".live-strip .live-run").click()`), "training-s")
		}
	})
	b.Run("matmul", func(b *testing.B) {
		for b.Loop() {
			p := openBrowser(b)
			p.window(1280, 900, false)
			p.open(address + "/05-storage-strides-views.html")
			p.do(chromedp.Evaluate[chromedp.Void](`lecternLive.cells()[0].keep(` + quoted(`x, y := tensor.Randn(256, 256), tensor.Randn(256, 256)
best := time.Hour
for range 40 {
	began := time.Now()
	x.Matmul(y)
	best = min(best, time.Since(began))
}
fmt.Println(best.Microseconds())`) + `)`))
			p.timed(`lecternLive.cells()[0].runner.click()`)
			said := ask[string](p, `lecternLive.cells()[0].out.innerText`)
			best, err := strconv.ParseFloat(strings.TrimSpace(said), 64)
			if err != nil {
				b.Fatalf("the cell shows %q", said)
			}
			b.ReportMetric(best/1000, "matmul-ms")
		}
	})
}

func median(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }

// timed returns how many seconds pass until what a script begins has run, as the page itself sees it.
func (b *browser) timed(script string) float64 {
	b.t.Helper()
	ask[bool](b, `window.took = 0, (async () => {
		const at = performance.now();
		`+script+`;
		while (lecternLive.state !== "idle") await new Promise((r) => setTimeout(r, 4));
		window.took = performance.now() - at;
	})(), true`)
	b.until("cells have run", `took > 0`, liveState)
	if failed := ask[string](b, `lecternLive.cells().find(c => c.note.textContent === "failed" && !c.fails)?.out.innerText ?? ""`); failed != "" {
		b.t.Fatalf("a cell fails: %s", failed)
	}
	return ask[float64](b, `took`) / 1000
}
