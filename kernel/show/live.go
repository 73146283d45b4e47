package show

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/inband"
)

// A Live is a display that can be replaced: a figure that follows a training, a status line. Its first call shows it, later
// ones change it in place. It is safe for concurrent use. Outside a notebook every call prints its text.
type Live struct {
	mu    sync.Mutex
	id    string
	shown bool
}

// NewLive returns a display that is not on the page yet.
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
	kind := "update"
	if !l.shown {
		l.shown, kind = true, "live"
	}
	inband.Send(kind, append([]string{l.id}, pairs...)...)
}

// Clear removes what the cell has shown so far; with wait, only when the next output comes, which avoids flicker.
func Clear(wait bool) {
	if inband.On() {
		inband.Send("clear", fmt.Sprint(wait))
	}
}

// A Progress is a bar for long work. It is safe for concurrent use.
type Progress struct {
	mu          sync.Mutex
	label       string
	total, done int64
	note        string
	start, last time.Time
	live        *Live
	now         func() time.Time
}

// NewProgress returns a bar for total steps; a total of 0 counts without an end. It appears at once.
func NewProgress(label string, total int64) *Progress {
	p := &Progress{label: label, total: total, live: NewLive(), now: time.Now}
	p.start = p.now()
	p.draw(true)
	return p
}

// Add notes that n more steps are done.
func (p *Progress) Add(n int64) {
	p.mu.Lock()
	p.done += n
	end := p.total > 0 && p.done >= p.total
	p.mu.Unlock()
	p.draw(end)
}

// Note sets the words after the bar, such as a loss. They appear with the next change.
func (p *Progress) Note(s string) {
	p.mu.Lock()
	p.note = s
	p.mu.Unlock()
	p.draw(false)
}

// Done draws the last state.
func (p *Progress) Done() {
	p.draw(true)
	if !inband.On() {
		fmt.Fprintln(os.Stderr)
	}
}

// draw shows the state, at most ten times a second unless forced.
func (p *Progress) draw(force bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if !force && now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last = now
	text := p.text(now)
	if !inband.On() {
		fmt.Fprintf(os.Stderr, "\r\x1b[K%s", text)
		return
	}
	if p.total <= 0 {
		p.live.Text(text)
		return
	}
	p.live.bundle("text/html", fmt.Sprintf(`<div><progress max="%d" value="%d" style="width:20em;vertical-align:middle"></progress> %s</div>`,
		p.total, min(p.done, p.total), escape(text)), "text/plain", text)
}

func (p *Progress) text(now time.Time) string {
	var b strings.Builder
	if p.label != "" {
		b.WriteString(p.label + ": ")
	}
	fmt.Fprint(&b, p.done)
	spent := now.Sub(p.start)
	if p.total > 0 {
		fmt.Fprintf(&b, " of %d (%d %%)", p.total, 100*p.done/p.total)
		if p.done > 0 && p.done < p.total {
			left := time.Duration(float64(spent) / float64(p.done) * float64(p.total-p.done))
			fmt.Fprintf(&b, ", %v left", left.Round(time.Second))
		}
	}
	fmt.Fprintf(&b, ", %v", spent.Round(100*time.Millisecond))
	if p.note != "" {
		b.WriteString(", " + p.note)
	}
	return b.String()
}
