package tokenizer

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// A class is what the GPT patterns ask of a character.
type class uint8

const (
	other  class = iota // none of the following: punctuation, symbols, marks, bytes that are not UTF-8
	letter              // \p{L}
	number              // \p{N}
	space               // \s
)

// asciiClass is the class of each byte below 0x80.
var asciiClass = func() (table [utf8.RuneSelf]class) {
	for b := range table {
		table[b] = runeClass(rune(b))
	}
	return table
}()

// planeClass holds the classes of the first 65,536 code points: searching Unicode's range tables for every
// character would take longer than everything else in splitting Chinese text. Built on first use.
var planeClass = sync.OnceValue(func() *[1 << 16]class {
	table := new([1 << 16]class)
	set := func(t *unicode.RangeTable, c class) {
		for _, r := range t.R16 {
			for x := uint32(r.Lo); x <= uint32(r.Hi); x += uint32(r.Stride) {
				table[x] = c
			}
		}
	}
	set(unicode.L, letter)
	set(unicode.N, number)
	set(unicode.White_Space, space)
	return table
})

func runeClass(r rune) class {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// classAt returns the class of the character that starts at s[i], and its width in bytes. A byte that is not UTF-8
// is a character by itself.
func classAt(s string, i int) (class, int) {
	if b := s[i]; b < utf8.RuneSelf {
		return asciiClass[b], 1
	}
	r, width := utf8.DecodeRuneInString(s[i:])
	if r < 1<<16 {
		return planeClass()[r], width
	}
	return runeClass(r), width
}

// classBefore returns the class of the character that ends at s[:i].
func classBefore(s string, i int) class {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return runeClass(r)
}

// skip returns the end of the run of characters of class c that starts at s[i].
func skip(s string, i int, c class) int {
	for i < len(s) {
		if b := s[i]; b < utf8.RuneSelf {
			if asciiClass[b] != c {
				return i
			}
			i++
			continue
		}
		k, width := classAt(s, i)
		if k != c {
			return i
		}
		i += width
	}
	return i
}

// isWord reports whether r matches \w as Unicode defines it: alphabetic characters, marks, decimal digits,
// connecting punctuation and the two joiners.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiClass[r] == letter || asciiClass[r] == number || r == '_'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic) ||
		r == '\u200c' || r == '\u200d'
}
