//go:build linux && cgo

package gpu

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/tensor"
)

// asked counts what f asks a card for: by kind, and by kind and name.
func asked(t *testing.T, f func()) (kinds map[string]int, list string) {
	t.Helper()
	kinds, names := map[string]int{}, map[string]int{}
	watch = func(kind, name string) {
		kinds[kind]++
		names[strings.TrimSpace(kind+" "+name)]++
	}
	defer func() { watch = nil }()
	f()
	var lines strings.Builder
	for _, name := range slices.SortedFunc(maps.Keys(names), func(a, b string) int { return names[b] - names[a] }) {
		fmt.Fprintf(&lines, "%6d %s\n", names[name], name)
	}
	return kinds, lines.String()
}

// A token that is decoded has so little to compute that its time is that of asking. A layer has 7 products, 3 sums and
// gates, 2 norms, 2 rotations, 2 copies into the cache, and attention; around the layers are an embedding, a copy, a
// norm and a product.
func TestDecodeAsksForLittle(t *testing.T) {
	fakeCard(t)
	d := GetDevice(0)
	for _, dtype := range []tensor.Dtype{tensor.BFloat16, tensor.Float32} {
		m := nn.To(transformer.New(transformer.Config{Vocabulary: 64, Context: 160, Layers: 12, Width: 64, Heads: 1, Hidden: 64}), d, dtype)
		cache := m.NewCache(1, 160)
		token := tensor.With(tensor.Int64, d).Zeros(1, 1)
		decode := func() {
			tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) { m.Next(token, cache) })
		}
		cache.Length = 140
		decode() // plans are made, and memory comes from the driver
		kinds, list := asked(t, decode)
		if n, most := kinds["launch"]+kinds["product"], 17*len(m.Layers)+4; n > most {
			t.Errorf("a token of %s takes %d launches, at most %d are expected:\n%s", dtype, n, most, list)
		}
		if kinds["upload"] > 0 || kinds["driver's block"] > 0 || kinds["download"] > 1 { // that of its number, to be checked
			t.Errorf("a token of %s takes %d uploads, %d blocks from the driver and %d downloads, one download is expected:\n%s",
				dtype, kinds["upload"], kinds["driver's block"], kinds["download"], list)
		}
	}
}

// Without gradients a pass over many tokens needs the memory of one layer, however many there are, and not that of
// scores or of logits for each token.
func TestPrefillHoldsOneLayer(t *testing.T) {
	fakeCard(t)
	d := GetDevice(0)
	const batch, tokens, width = 2, 128, 64
	for name, read := range map[string]func(m *transformer.LM, ids *tensor.Tensor){
		"next": func(m *transformer.LM, ids *tensor.Tensor) { m.Next(ids, m.NewCache(batch, tokens)) },
		"forward": func(m *transformer.LM, ids *tensor.Tensor) {
			tensor.NoGrad(func() { m.Forward(ids) })
		},
	} {
		for _, inScope := range []bool{true, false} {
			var peaks []int
			for _, layers := range []int{1, 4} {
				m := nn.To(transformer.New(transformer.Config{Vocabulary: 64, Context: tokens, Layers: layers, Width: width, Heads: 1, Hidden: 128}), d, tensor.BFloat16)
				ids := tensor.With(tensor.Int64, d).Zeros(batch, tokens)
				pass := func(func(*tensor.Tensor) *tensor.Tensor) { read(m, ids) }
				tensor.FreeAfter(pass)
				before := MemoryAllocated(0)
				ResetMaxMemoryAllocated(0)
				if inScope {
					tensor.FreeAfter(pass)
				} else {
					pass(nil)
				}
				peak := MaxMemoryAllocated(0) - before
				if name == "next" {
					peak -= 4 * layers * batch * tokens * width // the cache
				}
				peaks = append(peaks, peak/(2*batch*tokens*width))
				runtime.KeepAlive(m)
			}
			if peaks[1] > peaks[0] || peaks[0] > 20 {
				t.Errorf("%s, in a scope %v: at the peak %d times the numbers of a token in 1 layer and %d in 4, want the same, and at most 20", name, inScope, peaks[0], peaks[1])
			}
		}
	}
}
