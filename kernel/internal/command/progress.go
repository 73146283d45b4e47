package command

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress shows a line for a step that takes longer than a moment: its name, and how long it has taken. On a
// terminal the line is rewritten each second; elsewhere it is written once when the step has lasted two seconds and
// once at its end.
type progress struct {
	w        io.Writer
	terminal bool
	what     string
	about    time.Duration // that it takes; 0 if unknown
	began    time.Time

	mu     sync.Mutex
	detail string
	shown  bool
	stop   chan struct{}
	done   sync.WaitGroup
}

// patience is how long a step may take in silence.
const patience = 1500 * time.Millisecond

// step begins a step; end it with its method end.
func (w *workspace) step(format string, args ...any) *progress {
	return w.longStep(0, format, args...)
}

// longStep is like step, for a step that takes about so long.
func (w *workspace) longStep(about time.Duration, format string, args ...any) *progress {
	p := &progress{w: w.stderr, terminal: isTerminal(w.stderr), what: fmt.Sprintf(format, args...), about: about, began: time.Now(), stop: make(chan struct{})}
	p.done.Add(1)
	go p.watch()
	return p
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

func (p *progress) watch() {
	defer p.done.Done()
	first := time.NewTimer(patience)
	defer first.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-first.C:
			p.shown = true
			if !p.terminal {
				fmt.Fprintf(p.w, "%s ...%s\n", p.what, p.of(" (about %.0f s)"))
			}
		case <-tick.C:
			if p.shown && p.terminal {
				p.mu.Lock()
				fmt.Fprintf(p.w, "\r\x1b[K%s ... %.0f s%s  %s", p.what, time.Since(p.began).Seconds(), p.of(" of about %.0f"), p.detail)
				p.mu.Unlock()
			}
		}
	}
}

// of is how long the step takes, in words, or nothing.
func (p *progress) of(format string) string {
	if p.about == 0 {
		return ""
	}
	return fmt.Sprintf(format, p.about.Seconds())
}

// note sets the text after the time on a terminal.
func (p *progress) note(detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(detail) > 60 {
		detail = detail[:60]
	}
	p.detail = detail
}

// end removes or completes the line. A step that was over in a moment leaves no trace.
func (p *progress) end() {
	close(p.stop)
	p.done.Wait()
	if !p.shown {
		return
	}
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	fmt.Fprintf(p.w, "%s: %.1f s\n", p.what, time.Since(p.began).Seconds())
}
