package tokenizer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// GPT-2's files, also those of Hugging Face, write bytes as printable characters: a byte that is one in Latin-1 as
// itself, the 68 others as the characters from U+0100 on. So a space is Ġ and a newline Ċ.
var byteToRune, runeToByte = func() (to [256]rune, from map[rune]byte) {
	from = make(map[rune]byte, 256)
	next := rune(0x100)
	for b := range to {
		switch {
		case b >= '!' && b <= '~', b >= 0xa1 && b <= 0xac, b >= 0xae:
			to[b] = rune(b)
		default:
			to[b] = next
			next++
		}
		from[to[b]] = byte(b)
	}
	return to, from
}()

// spell writes bytes as GPT-2's files do.
func spell(text []byte) string {
	var b strings.Builder
	for _, c := range text {
		b.WriteRune(byteToRune[c])
	}
	return b.String()
}

// unspell reads what spell wrote.
func unspell(s string) ([]byte, error) {
	text := make([]byte, 0, len(s))
	for i, r := range s {
		b, ok := runeToByte[r]
		if !ok {
			if r == utf8.RuneError {
				return nil, fmt.Errorf("token %q is not UTF-8 at byte %d", s, i)
			}
			return nil, fmt.Errorf("token %q has %q, which stands for no byte; in this format a space is Ġ", s, r)
		}
		text = append(text, b)
	}
	return text, nil
}

// LoadGPT2 reads a vocabulary from GPT-2's two files: vocab.json, which maps tokens to ids, and merges.txt, which has
// one merge per line. Entries of vocab.json that are neither a byte nor made by a merge, such as <|endoftext|>, are
// special tokens. pattern is usually GPT2; the files do not say. A file that makes no sense gives a *FileError.
func LoadGPT2(vocabPath, mergesPath string, pattern *Pattern) (*BPE, error) {
	vocab, err := os.ReadFile(vocabPath)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: load: %w", err)
	}
	merges, err := os.ReadFile(mergesPath)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: load: %w", err)
	}
	ids := map[string]int32{}
	if err := json.Unmarshal(vocab, &ids); err != nil {
		return nil, inFile(vocabPath, jsonError(vocab, err))
	}
	var byteID [256]int32
	made := make(map[string]bool, len(ids))
	for b := range byteID {
		name := spell([]byte{byte(b)})
		id, ok := ids[name]
		if !ok {
			return nil, inFile(vocabPath, fmt.Errorf("it has no token %q for byte %#02x", name, b))
		}
		byteID[b] = id
		made[name] = true
	}
	list, err := parseMerges(merges, ids, made)
	if err != nil {
		return nil, inFile(mergesPath, err)
	}
	special := map[string]int32{}
	for name, id := range ids {
		if !made[name] {
			special[name] = id
		}
	}
	t, err := newBPE(byteID, list, pattern, special)
	return t, inFile(vocabPath, err)
}

// parseMerges reads merges.txt and adds the tokens that its merges make to made.
func parseMerges(text []byte, ids map[string]int32, made map[string]bool) ([]Merge, error) {
	var merges []Merge
	for n := 1; len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 || n == 1 && bytes.HasPrefix(line, []byte("#version")) {
			continue
		}
		left, right, ok := strings.Cut(string(line), " ")
		if !ok || left == "" || right == "" || strings.Contains(right, " ") {
			return nil, &FileError{Line: n, Err: fmt.Errorf("%q is not two tokens with a space between them", line)}
		}
		m := Merge{}
		for _, side := range []struct {
			name string
			id   *int32
		}{{left, &m.Left}, {right, &m.Right}, {left + right, &m.ID}} {
			if _, err := unspell(side.name); err != nil {
				return nil, &FileError{Line: n, Err: err}
			}
			if *side.id, ok = ids[side.name]; !ok {
				return nil, &FileError{Line: n, Err: fmt.Errorf("token %q is not in the vocabulary; are the two files of one model?", side.name)}
			}
		}
		if !made[left] || !made[right] {
			return nil, &FileError{Line: n, Err: fmt.Errorf("%q joins a token that no earlier line makes", line)}
		}
		made[left+right] = true
		merges = append(merges, m)
	}
	return merges, nil
}

// SaveGPT2 writes the vocabulary as GPT-2's vocab.json and merges.txt, which other tools read. They do not hold the
// pattern. It returns a *VocabError if the format cannot express the vocabulary: if two tokens spell the same
// bytes, or if no merges make a tiktoken vocabulary.
func (t *BPE) SaveGPT2(vocabPath, mergesPath string) error {
	if a, b, shared := t.sharedBytes(); shared {
		return vocabErrorf("tokens %d and %d both spell %s, and vocab.json can hold only one; use Save", a, b, quote(t.tokens.at(a)))
	}
	merges := t.Merges()
	if merges == nil && t.ranked {
		return vocabErrorf("no sequence of merges makes these ranks, so there is no merges.txt; use SaveTiktoken")
	}
	var vocab bytes.Buffer
	entry := func(name string, id int32) error {
		text, err := json.Marshal(name)
		if vocab.Len() > 0 {
			vocab.WriteString(",\n")
		}
		fmt.Fprintf(&vocab, "%s: %d", text, id)
		return err
	}
	names := map[string]bool{}
	for _, id := range t.usedIDs() {
		name := spell(t.tokens.at(id))
		names[name] = true
		if err := entry(name, id); err != nil {
			return err
		}
	}
	for _, id := range t.specialIDs() {
		text := t.special.text[id]
		if names[text] {
			return vocabErrorf("special token %q is written like an ordinary token, and vocab.json can hold only one", text)
		}
		if !utf8.ValidString(text) {
			return vocabErrorf("special token %q is not UTF-8, which vocab.json needs", text)
		}
		if err := entry(text, id); err != nil {
			return err
		}
	}
	err := writeFile(vocabPath, func(w *bufio.Writer) error {
		_, err := fmt.Fprintf(w, "{\n%s\n}\n", vocab.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	return writeFile(mergesPath, func(w *bufio.Writer) error {
		_, err := w.WriteString("#version: 0.2\n")
		for _, m := range merges {
			_, e := fmt.Fprintf(w, "%s %s\n", spell(t.tokens.at(m.Left)), spell(t.tokens.at(m.Right)))
			err = errors.Join(err, e)
		}
		return err
	})
}
