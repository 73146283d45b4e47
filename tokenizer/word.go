package tokenizer

// UnknownWord is the text to which Word decodes the id of an unseen word.
const UnknownWord = "<unk>"

// Word gives its own id to every word that it was shown.
//
// Compression is good, but the vocabulary is as large as the text is varied, and all words that are not in
// it become the same unknown token, id 0: the model reads UNK, and the word is lost.
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

// Encode returns one id per segment, 0 for those that are not in the vocabulary. Text that the pattern does not
// match, such as the newlines that Words leaves out, has no id.
func (w *Word) Encode(text string) []int32 {
	segments := w.pattern.Split(text)
	ids := make([]int32, len(segments))
	for i, segment := range segments {
		ids[i] = w.ids[segment] // 0, the unknown word, if it is not there
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

// DecodeBytes is like Decode, but returns an *UnknownIDError for an id outside the vocabulary. Id 0 is in it.
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

// VocabSize returns the number of known words, plus one for the unknown word.
func (w *Word) VocabSize() int { return len(w.words) }
