package tokenizer

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// Pattern is a regular expression that cuts text into segments before it is tokenized: words for Word, and the pieces
// that no merge crosses for BPE. A Pattern is safe for concurrent use.
type Pattern struct {
	expr string
	// scan returns the first segment of s[i:], which is not empty: [start, end). start == len(s) when there is none.
	scan func(s string, i int) (start, end int)
	// cut returns the last place in s at which any text may be cut without changing its segments, whatever comes
	// before and after, or 0 if there is none. It is nil if no such place is known.
	cut func(s string) int
	// re is set for patterns without a scanner of our own.
	re *regexp2.Regexp
}

// The patterns with names. Each has a hand-written scanner.
var (
	// Words is \w+|. and so leaves out newlines.
	Words = &Pattern{expr: `\w+|.`, scan: scanWords, cut: cutWords}
	// GPT2 is the pattern of GPT-2. Every character is in a segment.
	GPT2 = &Pattern{expr: `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, scan: scanGPT2, cut: cutGPT2}
	// CL100K is the pattern of GPT-4: numbers in groups of three digits, contractions in either case, newlines with the
	// punctuation before them. Every character is in a segment.
	CL100K = &Pattern{expr: `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, scan: scanCL100K, cut: cutCL100K}
)

// spellings are other ways in which files write the named patterns.
var spellings = map[string]*Pattern{
	Words.expr:  Words,
	GPT2.expr:   GPT2,
	CL100K.expr: CL100K,
	`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`:                                            GPT2,
	`'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s`:                                       GPT2,
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`:   CL100K,
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`:    CL100K,
	`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`:         CL100K,
	`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`: CL100K,
}

// PatternError reports an expression that cannot be used.
type PatternError struct {
	Expr string
	Err  error
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("tokenizer: pattern %q: %v", e.Expr, e.Err)
}

func (e *PatternError) Unwrap() error { return e.Err }

// Compile returns the pattern of a regular expression. Look-ahead such as \s+(?!\S) is understood; the possessive
// quantifiers ?+ and ++ are not, except in the published spellings of the GPT patterns, which Compile knows. In
// your own expressions, \w and the like mean what they do in .NET, and a byte that is not UTF-8 is a segment by
// itself. Compile returns a *PatternError if the expression is not valid; using the pattern panics with one if a
// single segment takes longer than 20 seconds to find.
func Compile(expr string) (*Pattern, error) {
	if p, ok := spellings[expr]; ok {
		return p, nil
	}
	re, err := regexp2.Compile(expr, regexp2.OptionMaxBacktrackingStackSize(-1)) // words may be of any length
	if err != nil {
		return nil, &PatternError{Expr: expr, Err: err}
	}
	re.MatchTimeout = matchTimeout
	return &Pattern{expr: expr, re: re}, nil
}

// matchTimeout is how long the search for one segment may take. Expressions such as (a+)+b, for which the number of
// ways to try doubles with each letter, would otherwise never end.
const matchTimeout = 20 * time.Second

// String returns the regular expression.
func (p *Pattern) String() string { return p.expr }

// Split returns the segments of text in order. They share its memory. Text that the expression does not match is
// left out, as in Python's findall.
func (p *Pattern) Split(text string) []string {
	segments := make([]string, 0, len(text)/5+1)
	p.each(text, func(segment string, matched bool) {
		if matched {
			segments = append(segments, segment)
		}
	})
	return segments
}

// each calls f with the consecutive parts of text: those that the pattern matches, and those between them that it
// does not. A nil pattern matches the whole text.
func (p *Pattern) each(text string, f func(part string, matched bool)) {
	switch {
	case text == "":
		return
	case p == nil:
		f(text, true)
		return
	case p.re != nil:
		p.eachRegexp(text, f)
		return
	}
	for i := 0; i < len(text); {
		start, end := p.scan(text, i)
		if start > i {
			f(text[i:start], false)
		}
		if end > start {
			f(text[start:end], true)
		}
		i = end
	}
}

// eachRegexp is each for an expression that the regular expression engine has to match.
func (p *Pattern) eachRegexp(text string, f func(part string, matched bool)) {
	for text != "" {
		n := validPrefix(text)
		if n == 0 { // the engine reads characters and would lose the byte
			f(text[:1], true)
			text = text[1:]
			continue
		}
		valid := text[:n]
		at, err := p.re.FindAllStringIndex(valid, -1)
		if err != nil { // out of time
			panic(&PatternError{Expr: p.expr, Err: err})
		}
		done := 0
		for _, m := range at {
			if m[0] > done {
				f(valid[done:m[0]], false)
			}
			if m[1] > m[0] {
				f(valid[m[0]:m[1]], true)
			}
			done = max(done, m[1])
		}
		if done < n {
			f(valid[done:], false)
		}
		text = text[n:]
	}
}

// validPrefix returns the length of the longest prefix of s that is UTF-8.
func validPrefix(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	for i := 0; ; {
		r, width := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && width == 1 {
			return i
		}
		i += width
	}
}
