package tokenizer

import (
	"context"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dlclark/regexp2/v2"
)

// goSources returns text of about n bytes at hand on every machine that compiles Go: the sources of its library.
func goSources(b *testing.B, n int) string {
	b.Helper()
	text, err := readSources()
	if err != nil || len(text) < n {
		b.Skipf("the sources of Go's library are not here: %d bytes, %v", len(text), err)
	}
	return text[:n]
}

var readSources = sync.OnceValues(func() (string, error) {
	const most = 16 << 20
	var text strings.Builder
	err := filepath.WalkDir(filepath.Join(build.Default.GOROOT, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		text.Write(source)
		if text.Len() >= most {
			return fs.SkipAll
		}
		return err
	})
	return text.String(), err
})

func BenchmarkTrain(b *testing.B) {
	for _, n := range []int{1 << 20, 16 << 20} {
		text := goSources(b, n)
		b.Run(fmt.Sprintf("%dMiB", n>>20), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if _, err := Train(context.Background(), strings.NewReader(text), 4096, TrainOptions{Pattern: GPT2}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTrainNaive(b *testing.B) {
	text := goSources(b, 1<<16)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := TrainNaive(text, 64, TrainOptions{Pattern: GPT2}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	source := goSources(b, 4<<20)
	mixed := strings.Repeat(strings.Join(languages, "\n"), 1000)
	for _, v := range []struct {
		name string
		load func() (*embedded, error)
	}{{"gpt2", embeddedGPT2}, {"cl100k", embeddedCL100K}} {
		for _, x := range []struct{ name, text string }{{"source", source}, {"languages", mixed}} {
			b.Run(v.name+"/"+x.name, func(b *testing.B) {
				tok := mustEmbedded(b, v.load).ours
				b.SetBytes(int64(len(x.text)))
				var ids []int32
				for b.Loop() {
					ids = tok.AppendEncode(ids[:0], x.text)
				}
				b.ReportMetric(CompressionRatio(x.text, ids), "bytes/token")
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	tok := mustEmbedded(b, embeddedCL100K).ours
	text := goSources(b, 4<<20)
	ids := tok.Encode(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tok.Decode(ids)
	}
}

func BenchmarkScan(b *testing.B) {
	source := goSources(b, 1<<20)
	for name, p := range map[string]*Pattern{"gpt2": GPT2, "cl100k": CL100K} {
		re, err := regexp2.Compile(p.expr)
		if err != nil {
			b.Fatal(err)
		}
		for how, p := range map[string]*Pattern{"scanner": p, "regexp2": {expr: p.expr, re: re}} {
			b.Run(name+"/"+how, func(b *testing.B) {
				b.SetBytes(int64(len(source)))
				for b.Loop() {
					p.each(source, func(string, bool) {})
				}
			})
		}
	}
}
