package show

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/lectern-go/lectern/kernel/internal/inband"
)

// A Live is a display that can be replaced: a figure that follows a training, a status line. Its first call shows it,
// later ones change it in place. It is safe for concurrent use. Outside a notebook every call prints its text.
type Live struct {
	mu    sync.Mutex
	id    string
	shown bool
}

// NewLive returns a display that is not shown yet.
func NewLive() *Live {
	// Not crypto/rand, which every cell would have to link.
	return &Live{id: fmt.Sprintf("%016x", rand.Uint64())}
}

// Value shows v in place of what was there.
func (l *Live) Value(v any) { l.bundle(formats(v)...) }

// HTML shows a piece of HTML in place of what was there.
func (l *Live) HTML(s string) { l.bundle("text/html", s, "text/plain", htmlText(s)) }

// SVG shows an image in place of what was there.
func (l *Live) SVG(s string) { l.bundle("image/svg+xml", s, "text/plain", svgText(s)) }

// Markdown shows formatted text in place of what was there.
func (l *Live) Markdown(s string) { l.bundle("text/markdown", s, "text/plain", s) }

// Text shows s in place of what was there.
func (l *Live) Text(s string) { l.bundle("text/plain", s) }

func (l *Live) bundle(pairs ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !inband.On() {
		bundle("display", pairs...)
		return
	}
	replace(l.id, l.shown, pairs...)
	l.shown = true
}

// replace shows a display for the first time, or again.
func replace(id string, again bool, pairs ...string) {
	kind := "live"
	if again {
		kind = "update"
	}
	inband.Send(kind, append([]string{id}, pairs...)...)
}

// Clear removes what the cell has shown so far; with wait, only when the next output comes, which avoids flicker.
func Clear(wait bool) {
	if inband.On() {
		inband.Send("clear", fmt.Sprint(wait))
	}
}
