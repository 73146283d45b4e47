package transformer

import (
	"fmt"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Config holds the sizes of a model. Vocabulary, Context, Layers, Width and Heads are
// required; for the others, 0 means the default that each describes.
type Config struct {
	Vocabulary int // V: how many ids there are
	Context    int // the most tokens in a sequence
	Layers     int
	Width      int // D
	Heads      int // H; Width must be a multiple
	KVHeads    int // K, key/value heads (grouped-query attention); 0: as many as Heads
	// Hidden is the width inside the feed-forward layer. 0 means 8/3 of Width, rounded up
	// to a multiple of 64, so that its three matrices have about as many weights, 8·D², as
	// the two in a layer without a gate; with GPT2 it means 4·Width.
	Hidden int
	Theta  float64 // the base of rotary positions; 0: 10,000
	Eps    float64 // of the normalizations; 0: 1e-5
	Tied   bool    // the output layer shares the embedding's weights
	// GPT2 chooses GPT-2's parts: LayerNorm, learned positions, GELU and biases, and a
	// tied output layer.
	GPT2 bool
}

// complete returns c with its zeros replaced. It panics if the sizes don't fit.
func (c Config) complete() Config {
	for _, size := range []struct {
		name  string
		value int
	}{{"Vocabulary", c.Vocabulary}, {"Context", c.Context}, {"Layers", c.Layers}, {"Width", c.Width}, {"Heads", c.Heads}} {
		if size.value < 1 {
			fail(tensor.ErrValue, "new", fmt.Sprintf("Config.%s is %d", size.name, size.value), "Vocabulary, Context, Layers, Width and Heads must be at least 1")
		}
	}
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
	if c.Hidden == 0 {
		c.Hidden = (c.Width*8/3 + 63) / 64 * 64
		if c.GPT2 {
			c.Hidden = 4 * c.Width
		}
	}
	if c.Theta == 0 {
		c.Theta = 10_000
	}
	if c.Eps == 0 {
		c.Eps = 1e-5
	}
	c.Tied = c.Tied || c.GPT2
	switch {
	case c.Width%c.Heads != 0:
		fail(tensor.ErrValue, "new", fmt.Sprintf("%d heads don't divide a width of %d", c.Heads, c.Width), "make Width a multiple of Heads")
	case c.KVHeads < 1 || c.Heads%c.KVHeads != 0:
		fail(tensor.ErrValue, "new", fmt.Sprintf("%d query heads can't share %s", c.Heads, humanize.Count(c.KVHeads, "key/value head")), "make Heads a multiple of KVHeads")
	case !c.GPT2 && c.Width/c.Heads%2 != 0:
		fail(tensor.ErrValue, "new", fmt.Sprintf("a head has %s, and rotary positions turn pairs of them", humanize.Count(c.Width/c.Heads, "feature")), "make Width/Heads even")
	case c.Hidden < 1 || !(c.Theta > 0) || !(c.Eps > 0):
		fail(tensor.ErrValue, "new", fmt.Sprintf("Hidden is %d, Theta %g and Eps %g", c.Hidden, c.Theta, c.Eps), "they must be above 0, or 0 for the defaults")
	}
	return c
}

// HeadSize returns d, the features of one head.
func (c Config) HeadSize() int { return c.Width / c.Heads }

// Sizes returns the sizes from which package accounting predicts the model's costs.
func (c Config) Sizes() accounting.Transformer {
	c = c.complete()
	return accounting.Transformer{
		Layers: c.Layers, Width: c.Width, Heads: c.Heads, KVHeads: c.KVHeads, Hidden: c.Hidden, Gated: !c.GPT2,
		Vocabulary: c.Vocabulary, Context: c.Context, Positions: c.GPT2, Tied: c.Tied, Biases: c.GPT2,
	}
}
