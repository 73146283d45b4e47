package tokenizer

import "github.com/lectern-go/lectern/internal/cellstate"

// A notebook keeps values from cell to cell. What a tokenizer can't hand over, functions and room to work in, is made
// anew; its tables are plain arrays, which cost nothing to carry.

func init() {
	cellstate.RegisterType(keepPattern, restorePattern)
	cellstate.RegisterType(keepBPE, restoreBPE)
}

type patternState struct{ Expr string }

func keepPattern(p *Pattern) any { return &patternState{p.expr} }

func restorePattern(p *Pattern, state any) {
	made, err := Compile(state.(*patternState).Expr)
	if err != nil {
		panic(err) // it compiled when the state was taken
	}
	*p = *made
}

type bpeState struct {
	Pattern *Pattern
	Tokens  tokenList
	ByteID  [256]int32
	Merges  []Merge
	Pairs   pairTable
	Ranked  bool
	Whole   byteTable
	Special map[string]int32
}

// keepBPE returns what a notebook keeps of t. The arrays are shared with t.
func keepBPE(t *BPE) any {
	return &bpeState{t.pattern, t.tokens, t.byteID, t.merges, t.pairs, t.ranked, t.whole, t.Special()}
}

func restoreBPE(t *BPE, state any) {
	s := state.(*bpeState)
	t.pattern, t.tokens, t.byteID, t.merges = s.Pattern, s.Tokens, s.ByteID, s.Merges
	t.pairs, t.ranked, t.whole = s.Pairs, s.Ranked, s.Whole
	if err := t.finish(s.Special); err != nil {
		panic(err) // it was in order when the state was taken
	}
}
