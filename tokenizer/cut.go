package tokenizer

// A corpus is read in blocks. A block must end where a segment ends, whatever comes before and after, or the segments
// would depend on the size of the blocks. The functions of this file find such places, from the end of a block
// backwards, at ASCII white space: text without any is read whole.

// cutGPT2 cuts before white space that follows anything else: every alternative of the pattern ends there, and the
// run of white space, whose division depends on what follows it, stays in one block.
func cutGPT2(s string) int {
	for i := len(s) - 1; i > 0; i-- {
		if asciiSpace(s[i]) && classBefore(s, i) != space {
			return i
		}
	}
	return 0
}

// cutCL100K cuts as cutGPT2 does, but newlines belong to the punctuation before them.
func cutCL100K(s string) int {
	for i := len(s) - 1; i > 0; i-- {
		if asciiSpace(s[i]) && !newline(s[i]) && classBefore(s, i) != space {
			return i
		}
		// After "。\n", and before "\n" that follows a letter or digit.
		if !newline(s[i-1]) && newline(s[i]) {
			switch classBefore(s, i) {
			case letter, number:
				return i
			case other:
				end := i
				for end < len(s) && newline(s[end]) {
					end++
				}
				// Only before text: white space would form one segment with newlines after a special
				// token.
				if end < len(s) {
					if c, _ := classAt(s, end); c != space {
						return end
					}
				}
			}
		}
	}
	return 0
}

// cutWords cuts before white space, which is a segment by itself. Newlines are in no segment, and a run of them stays
// whole.
func cutWords(s string) int {
	for i := len(s) - 1; i > 0; i-- {
		if asciiSpace(s[i]) && s[i-1] != '\n' {
			return i
		}
	}
	return 0
}

func asciiSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

func newline(b byte) bool { return b == '\n' || b == '\r' }
