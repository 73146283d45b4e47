package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DecodeUTF8 returns b as valid UTF-8: each longest run of bytes that could begin a character but does not continue
// as one becomes a single U+FFFD. This is what Python's errors="replace" gives; Go's own conversions write one
// U+FFFD per byte instead.
//
//	DecodeUTF8([]byte("\xf0\x9f\x8cX")) // "\uFFFDX": three bytes of an emoji, then a letter
func DecodeUTF8(b []byte) string {
	s := string(b)
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	for s != "" {
		r, width := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && width == 1 {
			width = brokenWidth(s)
			out.WriteString(replacement)
		} else {
			out.WriteString(s[:width])
		}
		s = s[width:]
	}
	return out.String()
}

// InvalidUTF8Error reports the first byte that belongs to no character.
type InvalidUTF8Error struct {
	Offset int    // of the first byte that is not part of a valid character
	Bytes  []byte // the broken run that starts there
}

func (e *InvalidUTF8Error) Error() string {
	return fmt.Sprintf("tokenizer: bytes % x at offset %d are not UTF-8; use DecodeUTF8 to replace them by U+FFFD", e.Bytes, e.Offset)
}

// CheckUTF8 returns an *InvalidUTF8Error when b is not valid UTF-8, as when ids are cut in the middle of a character.
func CheckUTF8(b []byte) error {
	for i := 0; i < len(b); {
		r, width := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && width == 1 {
			width = brokenWidth(string(b[i:min(len(b), i+utf8.UTFMax)]))
			return &InvalidUTF8Error{Offset: i, Bytes: append([]byte(nil), b[i:i+width]...)}
		}
		i += width
	}
	return nil
}

// brokenWidth returns how many bytes at the start of s, which does not start with a valid character, form the
// longest prefix of one; at least 1.
func brokenWidth(s string) int {
	// The second byte is restricted after some first bytes, so that no character has two spellings
	// (e0, f0), no surrogate is spelled (ed), and nothing is beyond U+10FFFF (f4).
	low, high, length := byte(0x80), byte(0xbf), 0
	switch first := s[0]; {
	case first >= 0xc2 && first <= 0xdf:
		length = 2
	case first >= 0xe0 && first <= 0xef:
		length = 3
		if first == 0xe0 {
			low = 0xa0
		} else if first == 0xed {
			high = 0x9f
		}
	case first >= 0xf0 && first <= 0xf4:
		length = 4
		if first == 0xf0 {
			low = 0x90
		} else if first == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for n < length && n < len(s) && s[n] >= low && s[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}
