package tokenizer

import "unicode/utf8"

// The scanners in this file do by hand what the regular expressions in pattern.go say, about twenty times faster than
// a backtracking engine, which is the oracle in their tests. Each takes a text and a place in it and returns where the
// segment that starts there ends.

// scanGPT2 follows
//
//	'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func scanGPT2(s string, i int) (start, end int) {
	if s[i] == '\'' {
		if n := contraction(s[i+1:], false); n > 0 {
			return i, i + 1 + n
		}
	}
	j := i // where the run begins: after the one space that it may include
	if s[i] == ' ' && i+1 < len(s) {
		j++
	}
	c, width := classAt(s, j)
	if c == space {
		return i, whitespaceEnd(s, i)
	}
	return i, skip(s, j+width, c)
}

// scanCL100K follows
//
//	'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanCL100K(s string, i int) (start, end int) {
	b := s[i]
	if b == '\'' {
		if n := contraction(s[i+1:], true); n > 0 {
			return i, i + 1 + n
		}
	}
	c, width := classAt(s, i)
	next := i + width
	switch c {
	case letter:
		return i, skip(s, next, letter)
	case number:
		for range 2 {
			if next == len(s) {
				break
			}
			c, width := classAt(s, next)
			if c != number {
				break
			}
			next += width
		}
		return i, next
	}
	if next < len(s) && b != '\r' && b != '\n' {
		after, width := classAt(s, next)
		if after == letter { // any one character except a newline goes with the letters after it
			return i, skip(s, next+width, letter)
		}
		if b == ' ' && after == other {
			c, next = other, next+width
		}
	}
	if c == other {
		end = skip(s, next, other)
		for end < len(s) && (s[end] == '\r' || s[end] == '\n') {
			end++
		}
		return i, end
	}
	// White space: through its last newline if it has one.
	end = skip(s, i, space)
	for j := end; j > i; j-- {
		if s[j-1] == '\r' || s[j-1] == '\n' {
			return i, j
		}
	}
	return i, whitespaceEnd(s, i)
}

// scanWords follows \w+|. and skips the newlines that neither half matches. A byte that is not UTF-8 is a segment.
func scanWords(s string, i int) (start, end int) {
	for s[i] == '\n' {
		i++
		if i == len(s) {
			return i, i
		}
	}
	r, width := utf8.DecodeRuneInString(s[i:])
	end = i + width
	if !isWord(r) || r == utf8.RuneError && width == 1 {
		return i, end
	}
	for end < len(s) {
		r, width := utf8.DecodeRuneInString(s[end:])
		if !isWord(r) {
			break
		}
		end += width
	}
	return i, end
}

// whitespaceEnd follows \s+(?!\S)|\s+ from s[i], which is white space: the whole run, without its last character
// if something else follows, so that a word keeps the space before it. A run of one stays whole.
func whitespaceEnd(s string, i int) int {
	end, last := i, i
	for end < len(s) {
		c, width := classAt(s, end)
		if c != space {
			if last > i {
				return last
			}
			return end
		}
		last = end
		end += width
	}
	return end
}

// contraction returns the length of the English ending (s, d, m, t, ll, ve, re) that s starts with, or 0. It
// comes after an apostrophe.
func contraction(s string, foldCase bool) int {
	if s == "" {
		return 0
	}
	lower := func(b byte) byte {
		if foldCase && b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		return b
	}
	switch a := lower(s[0]); a {
	case 's', 'd', 'm', 't':
		return 1
	case 'l', 'v', 'r':
		if len(s) < 2 {
			return 0
		}
		if b := lower(s[1]); a == 'l' && b == 'l' || a != 'l' && b == 'e' {
			return 2
		}
	}
	if foldCase && len(s) >= 2 && s[:2] == "ſ" { // the long s folds to s
		return 2
	}
	return 0
}
