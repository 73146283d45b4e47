package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"os"
)

// measured is what a side has to say of a case.
type measured struct {
	Seconds float64    `json:"seconds"`          // 0 if the side has no such operation
	Peak    int64      `json:"peak,omitempty"`   // the most bytes that the process held, 0 if not known
	Sum     string     `json:"sum,omitempty"`    // of the result, and what else sides should agree about
	Some    []float64  `json:"some,omitempty"`   // the first numbers of the result
	Tokens  []string   `json:"tokens,omitempty"` // in GPT-2's spelling, sorted
	Merges  [][3]int32 `json:"merges,omitempty"`
}

// print is how a child answers.
func (m measured) print() error { return json.NewEncoder(os.Stdout).Encode(m) }

// side is one of those who are compared, measured in a process of its own.
type side func(answer *measured) error

// alternate runs the sides in turn and returns the best time and the largest memory of each, with the last answers.
func alternate(r *report, sides ...side) (best []float64, peak []int64, last []measured, err error) {
	best, peak, last = make([]float64, len(sides)), make([]int64, len(sides)), make([]measured, len(sides))
	for round := range r.rounds {
		for i, run := range sides {
			last[i] = measured{}
			if err := run(&last[i]); err != nil {
				return nil, nil, nil, err
			}
			if round == 0 || last[i].Seconds < best[i] {
				best[i] = last[i].Seconds
			}
			peak[i] = max(peak[i], last[i].Peak)
		}
	}
	return best, peak, last, nil
}

// ours is a side that runs in this program.
func ours(ctx context.Context, threads int, name string, args ...string) side {
	return func(a *measured) error { return runChild(ctx, a, threads, name, args...) }
}

//go:embed best.py
var pythonBest string

// theirs is a side that a program in Python measures.
func theirs(ctx context.Context, py, program string, env []string, args ...string) side {
	return func(a *measured) error {
		return runJSON(ctx, a, env, pythonBest+program, py, append([]string{"-"}, args...)...)
	}
}
