package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"time"
)

// report collects the results of one group and prints them as they come.
type report struct {
	name    string
	rounds  int // how often to measure each side of a case, alternately
	threads int
	only    *regexp.Regexp // the cases that are wanted, by name

	worst     float64
	worstCase string
	limits    int  // cases judged by a limit
	over      int  // those beyond it
	missed    bool // some case is not as good as wanted

	card, driver, peer string // of a group that measures a device
	rows               []recordedRow
}

// recordedRow is a figure as -record writes it, for notebooks/lesson to show; Peer is 0 without one.
type recordedRow struct {
	What string  `json:"what"`
	Here float64 `json:"here"`
	Peer float64 `json:"peer,omitempty"`
	Unit string  `json:"unit"`
}

// record writes the figures of a group, and where and when they were measured.
func (r *report) record(file string) error {
	data, err := json.MarshalIndent(map[string]any{
		"date": time.Now().UTC().Format(time.DateOnly), "card": r.card, "driver": r.driver, "peer": r.peer, "rows": r.rows,
	}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// better says which way a quantity is good.
type better bool

const (
	more better = true
	less better = false
)

// compare prints a case and remembers the worst ratio. ours and peer are in the same unit; wanted is the least good
// ratio, or 0 for figures that are shown but not judged.
func (r *report) compare(what string, ours float64, peerName string, peer float64, unit string, good better, wanted float64) {
	r.rows = append(r.rows, recordedRow{what, ours, peer, unit})
	ratio := ours / peer
	if good == less {
		ratio = peer / ours
	}
	verdict := ""
	if wanted > 0 {
		verdict = fmt.Sprintf("  wanted %gx", wanted)
		if !(ratio >= wanted) { // also when it is no number
			verdict += ", missed"
			r.missed = true
		}
		if r.worstCase == "" || ratio < r.worst || math.IsNaN(ratio) {
			r.worst, r.worstCase = ratio, what
		}
	}
	fmt.Printf("  %-44s %8.4g %-5s  %s %.4g  %.3gx%s\n", what, ours, unit, peerName, peer, ratio, verdict)
}

// within prints a case that is judged by a limit of its own, in the unit of both sides, not by a ratio.
func (r *report) within(what string, ours float64, peerName string, peer, limit float64, unit string) {
	verdict := fmt.Sprintf("at most %.4g", limit)
	r.limits++
	if !(ours <= limit) {
		r.over++
		verdict += ", missed"
		r.missed = true
	}
	fmt.Printf("  %-44s %8.4g %-5s  %s %.4g  %s\n", what, ours, unit, peerName, peer, verdict)
}

// note prints a line beside the figures.
func (r *report) note(format string, args ...any) { fmt.Printf("  "+format+"\n", args...) }

// absent says that a peer is not here and why; its cases are left out.
func (r *report) absent(peer string, why error) { fmt.Printf("  %s is left out: %v\n", peer, why) }

// summary is the last line of a group.
func (r *report) summary() string {
	switch {
	case r.worstCase == "" && r.limits > 0:
		return fmt.Sprintf("group %s: %d of %d limits kept", r.name, r.limits-r.over, r.limits)
	case r.worstCase == "":
		return fmt.Sprintf("group %s: no ratio, since no peer is here", r.name)
	}
	return fmt.Sprintf("group %s: worst ratio %.3g (%s)", r.name, r.worst, r.worstCase)
}
