package show

import (
	"github.com/lectern-go/lectern/internal/progress"
	"github.com/lectern-go/lectern/kernel/internal/inband"
)

func init() {
	if inband.On() {
		progress.Here = &progress.Page{Replace: replace, Formats: formats}
	}
}

// A Progress is a bar for long work, with its rate and the time that is left, and for a training the losses as a
// curve. It is safe for concurrent use. In a notebook it is one display that changes in place; on a terminal one line;
// elsewhere its last state is printed once.
//
//	p := show.NewProgress("train", steps)
//	for range steps {
//		...
//		p.Loss(loss.Item())
//		p.Add(1)
//	}
type Progress struct{ bar *progress.Bar }

// NewProgress returns a bar for total steps; a total of 0 counts without a limit. The bar appears at once.
func NewProgress(label string, total int64) *Progress { return &Progress{progress.New(label, total)} }

// Add notes that n more steps are done.
func (p *Progress) Add(n int64) { p.bar.Add(n) }

// Before notes that n steps were done earlier, for example before a run was resumed: they count as done, but not toward
// the rate.
func (p *Progress) Before(n int64) { p.bar.Before(n) }

// Note sets the words after the bar. They appear with the next change.
func (p *Progress) Note(s string) { p.bar.Note(s) }

// Loss adds a loss, or another number to follow, to the curve under the bar.
func (p *Progress) Loss(x float64) { p.bar.Loss(x) }

// Done draws the last state, once. Add calls it when all steps are done.
func (p *Progress) Done() { p.bar.Done() }
