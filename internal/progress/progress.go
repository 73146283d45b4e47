// Package progress shows how far along long work is. It writes lines; a notebook, which can draw more than lines, says
// so in [Here], and the work need not know.
package progress

import (
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
)

// A Page can show a program's reader more than lines.
type Page struct {
	// Replace shows something, a text for each MIME type, in the display of that name, which already exists if it is
	// shown again.
	Replace func(display string, again bool, pairs ...string)
	// Formats returns what Replace should show of a value, such as a figure.
	Formats func(v any) (pairs []string)
}

// Here is the page of this program, nil if it has none. It is set before main begins, and never again.
var Here *Page

// A Display is a place on the page whose content can be replaced.
type Display struct {
	name  string
	shown bool
}

// NewDisplay returns a display that is not on the page yet.
func NewDisplay() *Display {
	// Not crypto/rand, which every cell would have to link.
	return &Display{name: fmt.Sprintf("%016x", rand.Uint64())}
}

func (d *Display) replace(pairs ...string) {
	Here.Replace(d.name, d.shown, pairs...)
	d.shown = true
}

// Value shows v in place of what was there. Without a page it prints it.
func (d *Display) Value(v any) {
	if Here == nil {
		fmt.Println(strings.TrimSuffix(fmt.Sprint(v), "\n"))
		return
	}
	d.replace(Here.Formats(v)...)
}

// A Bar is what there is to say about long work; package show offers it to users.
type Bar struct {
	mu          sync.Mutex
	label       string
	total, done int64
	before      int64 // the part of done that is not this run's work
	note        string
	curve       curve
	start, last time.Time
	end         time.Time // zero while it runs
	display     *Display
}

// New returns a bar for total steps; a total of 0 means that the end is unknown. It appears at once.
func New(label string, total int64) *Bar {
	p := &Bar{label: label, total: total, display: NewDisplay()}
	p.start = time.Now()
	p.draw(true)
	return p
}

// Add notes that n more steps are done.
func (p *Bar) Add(n int64) {
	p.mu.Lock()
	p.done += n
	complete := p.total > 0 && p.done >= p.total
	p.mu.Unlock()
	if complete {
		p.Done()
		return
	}
	p.draw(false)
}

// Before notes that n steps were done earlier, such as before a run was resumed: they count as done, but not in
// the rate.
func (p *Bar) Before(n int64) {
	p.mu.Lock()
	p.before += n
	p.mu.Unlock()
	p.Add(n)
}

// Note sets the words after the bar. They appear with the next change.
func (p *Bar) Note(s string) {
	p.mu.Lock()
	p.note = s
	p.mu.Unlock()
	p.draw(false)
}

// Loss adds a loss, or another number to follow, to the curve below the bar.
func (p *Bar) Loss(x float64) {
	p.mu.Lock()
	p.curve.add(x)
	p.mu.Unlock()
	p.draw(false)
}

// Done draws the last state, once. Add calls it when all steps are done.
func (p *Bar) Done() {
	p.mu.Lock()
	first := p.end.IsZero()
	if first {
		p.end = time.Now()
	}
	p.mu.Unlock()
	if !first {
		return
	}
	p.draw(true)
	if Here == nil {
		fmt.Fprintln(os.Stderr)
	}
}

// draw shows the state, at most ten times a second unless forced.
func (p *Bar) draw(force bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !force && now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last = now
	text := p.text(now)
	if Here == nil {
		switch {
		case isTerminal():
			fmt.Fprintf(os.Stderr, "\r\x1b[K%s", text)
		case force && !p.end.IsZero():
			fmt.Fprint(os.Stderr, text)
		}
		return
	}
	bar := ""
	if p.total > 0 {
		bar = fmt.Sprintf(`<progress max="%d" value="%d" aria-label="%s" style="width:20em;max-width:100%%;vertical-align:middle"></progress> `,
			p.total, min(p.done, p.total), html.EscapeString(p.label))
	}
	p.display.replace("text/html", "<div>"+bar+html.EscapeString(text)+p.curve.html()+"</div>", "text/plain", text)
}

// isTerminal reports whether standard error is a terminal.
func isTerminal() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (p *Bar) text(now time.Time) string {
	var b strings.Builder
	if p.label != "" {
		b.WriteString(p.label + ": ")
	}
	fmt.Fprint(&b, p.done)
	if !p.end.IsZero() {
		now = p.end
	}
	spent := now.Sub(p.start)
	if p.total > 0 {
		fmt.Fprintf(&b, " of %d (%d %%)", p.total, 100*p.done/p.total)
	}
	if own := p.done - p.before; own > 0 && spent > 0 {
		b.WriteString(", " + rate(float64(own)/spent.Seconds()))
		if p.done < p.total && p.end.IsZero() {
			left := time.Duration(float64(spent) / float64(own) * float64(p.total-p.done))
			fmt.Fprintf(&b, ", %v left", left.Round(time.Second))
		}
	}
	fmt.Fprintf(&b, ", %v", spent.Round(100*time.Millisecond))
	if p.note != "" {
		b.WriteString(", " + p.note)
	}
	if s := p.curve.text(); s != "" {
		b.WriteString(", " + s)
	}
	return b.String()
}

// rate writes steps per second, or seconds per step if they are slow.
func rate(perSecond float64) string {
	if perSecond < 1 {
		return humanize.Significant(1/perSecond, 2) + " s each"
	}
	return humanize.Significant(perSecond, 3) + "/s"
}

// maxCurve is how many points a curve keeps; a longer one keeps means of neighbors.
const maxCurve = 400

// A curve is a series of numbers that arrive one after the other.
type curve struct {
	points []float64 // each the mean of stride numbers
	stride int
	sum    float64 // of those that are not a point yet
	held   int

	count                    int
	first, last, lowest, top float64
	broken                   int // at which number the first NaN or infinity came, counted from 1
}

func (c *curve) add(x float64) {
	c.count++
	if c.count == 1 {
		c.first, c.stride = x, 1
	}
	c.last = x
	if math.IsNaN(x) || math.IsInf(x, 0) {
		if c.broken == 0 {
			c.broken = c.count
		}
		return
	}
	if len(c.points) == 0 && c.held == 0 {
		c.lowest, c.top = x, x
	}
	c.lowest, c.top = min(c.lowest, x), max(c.top, x)
	c.sum += x
	if c.held++; c.held < c.stride {
		return
	}
	c.points = append(c.points, c.sum/float64(c.stride))
	c.sum, c.held = 0, 0
	if len(c.points) == maxCurve {
		for i := range maxCurve / 2 {
			c.points[i] = (c.points[2*i] + c.points[2*i+1]) / 2
		}
		c.points, c.stride = c.points[:maxCurve/2], 2*c.stride
	}
}

// text says where the curve is now.
func (c *curve) text() string {
	if c.count == 0 {
		return ""
	}
	s := "loss " + humanize.Significant(c.last, 4)
	if c.broken > 0 {
		return s + fmt.Sprintf(", not finite since number %d", c.broken)
	}
	if c.count > 1 {
		s += fmt.Sprintf(" (from %s, lowest %s)", humanize.Significant(c.first, 4), humanize.Significant(c.lowest, 4))
	}
	return s
}

// html draws the curve, on a logarithmic scale if it falls far, with its highest and lowest value beside it.
func (c *curve) html() string {
	if len(c.points) < 2 || c.lowest == c.top {
		return ""
	}
	const width, height = 420., 90.
	scale := func(x float64) float64 { return x }
	if c.lowest > 0 && c.top/c.lowest > 20 {
		scale = math.Log
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg role="img" width="500" height="98" viewBox="-2 -4 500 98" style="display:block;max-width:100%%;height:auto" font-family="system-ui, sans-serif" font-size="11"><title>%s</title>`,
		html.EscapeString("curve: "+c.text()))
	b.WriteString(`<path d="M0 0H420M0 90H420" stroke="currentColor" stroke-opacity=".25" fill="none"/><path d="M`)
	for i, x := range c.points {
		if i > 0 {
			b.WriteByte(' ')
		}
		at := height * (1 - (scale(x)-scale(c.lowest))/(scale(c.top)-scale(c.lowest)))
		b.WriteString(strconv.FormatFloat(width*float64(i)/float64(len(c.points)-1), 'f', 1, 64) + " " + strconv.FormatFloat(at, 'f', 1, 64))
	}
	fmt.Fprintf(&b, `" fill="none" stroke="#3289c7" stroke-width="1.5"/><text x="426" y="6" fill="currentColor">%s</text><text x="426" y="92" fill="currentColor">%s</text></svg>`,
		humanize.Significant(c.top, 4), humanize.Significant(c.lowest, 4))
	return b.String()
}
