package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// Character gives every character its Unicode code point as its id: a is 97, 🌍 is 127757.
//
// There are about 150,000 characters (see AssignedCharacters), most of them rare, so the vocabulary is large
// and poorly used. Bytes that are not valid UTF-8 become U+FFFD when encoded.
type Character struct{}

// Encode returns the code points of text.
func (Character) Encode(text string) []int32 {
	if !utf8.ValidString(text) {
		text = DecodeUTF8([]byte(text))
	}
	ids := make([]int32, 0, utf8.RuneCountInString(text))
	for _, r := range text {
		ids = append(ids, r)
	}
	return ids
}

// Decode returns the characters with the given code points. Numbers that are not code points, surrogates
// included, become U+FFFD.
func (Character) Decode(ids []int32) string {
	text := make([]byte, 0, len(ids))
	for _, id := range ids {
		text = utf8.AppendRune(text, id)
	}
	return string(text)
}

// DecodeBytes is like Decode, but returns an *UnknownIDError where Decode writes U+FFFD.
func (c Character) DecodeBytes(ids []int32) ([]byte, error) {
	for i, id := range ids {
		if !utf8.ValidRune(id) {
			return nil, &UnknownIDError{ID: id, Index: i, Vocab: c.VocabSize()}
		}
	}
	return []byte(c.Decode(ids)), nil
}

// VocabSize returns 1114112, one more than the largest code point. Most of these numbers are not assigned to a
// character; AssignedCharacters counts those that are.
func (Character) VocabSize() int { return unicode.MaxRune + 1 }

// AssignedCharacters returns how many code points Unicode (in the version that Go knows) has given to a character:
// letters, marks, digits, punctuation, symbols, separators and format characters.
func AssignedCharacters() int {
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cf) {
			n++
		}
	}
	return n
}
