// Package tokenizer turns text into lists of integers and back, in the four ways that the lecture
// compares: by character, by byte, by word and by byte-pair encoding (BPE).
//
//	t, err := tokenizer.TrainBPE("the cat in the hat", 3)
//	ids := t.Encode("the quick brown fox")
//	text := t.Decode(ids)
//	tokenizer.CompressionRatio(text, ids) // bytes per token
//
// TrainNaive is the lecture's loop, for reading; Train is the same algorithm made fast enough for corpora larger
// than memory, and gives the same merges. Load, LoadGPT2 and LoadTiktoken read trained and published vocabularies.
//
// Every tokenizer is safe for concurrent use. Text that is not valid UTF-8 and ids that no token has give
// defined results everywhere:
//
//   - Encode keeps every byte of any string, except that Character, which has no ids for stray bytes, and Word, which
//     has one id for all that it never saw, lose what they cannot name;
//   - Decode never fails: an id that no token has becomes U+FFFD, and so does each longest run of
//     bytes that is the start of no character (the rule of Python's errors="replace");
//   - DecodeBytes gives the exact bytes, or an *UnknownIDError.
package tokenizer
