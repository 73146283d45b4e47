package tokenizer

// UnknownWord is what Word decodes the id of an unseen word to.
const UnknownWord = "<unk>"

// Word gives every word that it was shown an id of its own.
//
// Compression is good, but the vocabulary is as large as the text is rich, and every word that was not in it
// is the same unknown token, id 0: what a model reads as UNK is lost.
type Word struct {
	pattern *Pattern
	words   []string // by id; words[0] is UnknownWord
	ids     map[string]int32
}

// NewWord makes a vocabulary of the segments that pattern finds in the texts, in the order of their first
// appearance, from id 1 on.
func NewWord(pattern *Pattern, texts ...string) *Word {
	w := &Word{pattern: pattern, words: []string{UnknownWord}, ids: map[string]int32{}}
	for _, text := range texts {
		for _, word := range pattern.Split(text) {
			if _, ok := w.ids[word]; !ok {
				w.ids[word] = int32(len(w.words))
				w.words = append(w.words, word)
			}
		}
	}
	return w
}

// Encode returns one id per segment, 0 for those that are not in the vocabulary. What the pattern does not match,
// such as the newlines that Words leaves out, has no id.
func (w *Word) Encode(text string) []int32 {
	segments := w.pattern.Split(text)
	ids := make([]int32, len(segments))
	for i, segment := range segments {
		ids[i] = w.ids[segment] // 0, the unknown word, when it is not there
	}
	return ids
}

// Decode joins the words. Id 0 becomes UnknownWord; ids outside the vocabulary become U+FFFD.
func (w *Word) Decode(ids []int32) string {
	var text []byte
	for _, id := range ids {
		if id < 0 || int(id) >= len(w.words) {
			text = append(text, replacement...)
			continue
		}
		text = append(text, w.words[id]...)
	}
	return DecodeUTF8(text)
}

// DecodeBytes is Decode that returns an *UnknownIDError for an id outside the vocabulary. Id 0 is in it.
func (w *Word) DecodeBytes(ids []int32) ([]byte, error) {
	var text []byte
	for i, id := range ids {
		if id < 0 || int(id) >= len(w.words) {
			return nil, &UnknownIDError{ID: id, Index: i, Vocab: len(w.words)}
		}
		text = append(text, w.words[id]...)
	}
	return text, nil
}

// VocabSize returns the number of known words, and one for the unknown.
func (w *Word) VocabSize() int { return len(w.words) }
