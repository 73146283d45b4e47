package tokenizer

// Byte gives every byte of the UTF-8 text its value as its id: 🌍 is f0 9f 8c 8d.
//
// The vocabulary is as small as can be and nothing is unknown, but the compression ratio is exactly 1, so
// sequences are long.
type Byte struct{}

// Encode returns the bytes of text.
func (Byte) Encode(text string) []int32 {
	ids := make([]int32, len(text))
	for i := range len(text) {
		ids[i] = int32(text[i])
	}
	return ids
}

// Decode returns the text that the bytes spell. Bytes that are not UTF-8 and ids outside 0..255 become U+FFFD.
func (Byte) Decode(ids []int32) string {
	text := make([]byte, 0, len(ids))
	for _, id := range ids {
		if id < 0 || id > 255 {
			text = append(text, replacement...)
			continue
		}
		text = append(text, byte(id))
	}
	return DecodeUTF8(text)
}

// DecodeBytes returns the bytes as they are, or an *UnknownIDError for an id outside 0..255.
func (b Byte) DecodeBytes(ids []int32) ([]byte, error) {
	text := make([]byte, len(ids))
	for i, id := range ids {
		if id < 0 || id > 255 {
			return nil, &UnknownIDError{ID: id, Index: i, Vocab: b.VocabSize()}
		}
		text[i] = byte(id)
	}
	return text, nil
}

// VocabSize returns 256.
func (Byte) VocabSize() int { return 256 }
