package tokenizer

import (
	"fmt"
	"sort"
	"strings"
)

// specials finds special tokens in text. They stand for things that are not text, such as the end of a document, so
// they never merge with their neighbors and are never split.
type specials struct {
	text   map[int32]string
	byText []string // the longest first, so that of two that start at the same place the longer one wins
	ids    []int32  // in the order of byText
	prefix string   // what all of them begin with
	first  string   // the bytes they begin with, when they have no common prefix
}

func newSpecials(special map[string]int32) (specials, error) {
	s := specials{text: map[int32]string{}}
	for text, id := range special {
		if other, ok := s.text[id]; ok {
			return s, vocabErrorf("special tokens %q and %q both have id %d", min(text, other), max(text, other), id)
		}
		s.text[id] = text
		s.byText = append(s.byText, text)
	}
	sort.Slice(s.byText, func(i, j int) bool {
		a, b := s.byText[i], s.byText[j]
		return len(a) > len(b) || len(a) == len(b) && a < b
	})
	for i, text := range s.byText {
		s.ids = append(s.ids, special[text])
		if i == 0 {
			s.prefix = text
		}
		for !strings.HasPrefix(text, s.prefix) {
			s.prefix = s.prefix[:len(s.prefix)-1]
		}
		s.first += text[:1]
	}
	return s, nil
}

// find returns the first special token in text, or ok false.
func (s *specials) find(text string) (start, end int, id int32, ok bool) {
	if len(s.byText) == 0 {
		return 0, 0, 0, false
	}
	for from := 0; from < len(text); {
		var n int
		if s.prefix != "" {
			n = strings.Index(text[from:], s.prefix)
		} else {
			n = indexBytes(text[from:], s.first)
		}
		if n < 0 {
			break
		}
		start = from + n
		for i, token := range s.byText {
			if strings.HasPrefix(text[start:], token) {
				return start, start + len(token), s.ids[i], true
			}
		}
		from = start + 1
	}
	return 0, 0, 0, false
}

// indexBytes returns the first place in text of any byte of set. (strings.IndexAny compares characters.)
func indexBytes(text, set string) int {
	for i := range len(text) {
		if strings.IndexByte(set, text[i]) >= 0 {
			return i
		}
	}
	return -1
}

// each calls f with the parts of text: ordinary ones with special false, and special tokens with their id.
func (s *specials) each(text string, f func(part string, id int32, special bool)) {
	for text != "" {
		start, end, id, ok := s.find(text)
		if !ok {
			f(text, 0, false)
			return
		}
		if start > 0 {
			f(text[:start], 0, false)
		}
		f(text[start:end], id, true)
		text = text[end:]
	}
}

// longest returns the length of the longest special token.
func (s *specials) longest() int {
	if len(s.byText) == 0 {
		return 0
	}
	return len(s.byText[0])
}

// straddles reports whether a special token in text begins before place i and ends after it.
func (s *specials) straddles(text string, i int) bool {
	for _, token := range s.byText {
		from, to := max(0, i-len(token)+1), min(len(text), i+len(token)-1)
		if from < to && strings.Contains(text[from:to], token) {
			return true
		}
	}
	return false
}

// SpecialTokenError reports a special token in text that must not hold any, such as text from a user who
// could end the document by writing <|endoftext|>.
type SpecialTokenError struct {
	Token  string
	Offset int // in bytes
}

func (e *SpecialTokenError) Error() string {
	return fmt.Sprintf("tokenizer: encode: special token %q at byte %d; use Encode to treat it as one token, or EncodeOrdinary to treat it as text", e.Token, e.Offset)
}

// lastEnd returns where the last special token of text ends that cannot turn out to be another one when more text
// follows, or 0.
func (s *specials) lastEnd(text string) int {
	last, at := 0, 0
	s.each(text, func(part string, _ int32, special bool) {
		if special && at+s.longest() <= len(text) {
			last = at + len(part)
		}
		at += len(part)
	})
	return last
}
