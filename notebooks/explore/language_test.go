package main

import (
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/po"
)

// TestLanguages: with all texts of the catalogue in capitals, an explorer says nothing in small letters but code and
// names, whatever has been set.
func TestLanguages(t *testing.T) {
	text, err := os.ReadFile("../zh/explore.po")
	if err != nil {
		t.Fatal(err)
	}
	f, err := po.Parse("explore.po", text)
	if err != nil {
		t.Fatal(err)
	}
	translations = map[string]string{}
	defer func() { translations = nil }()
	as := regexp.MustCompile(`<[^>]*>|%[-+# 0]*[\d.]*[a-zA-Z%]|&\w+;`) // these stay as they are
	for _, m := range f.Messages[1:] {
		capitals, rest := "", m.ID
		for _, same := range append(as.FindAllString(m.ID, -1), "") {
			before, after, _ := strings.Cut(rest, same)
			if same == "" {
				before = rest
			}
			capitals, rest = capitals+strings.ToUpper(before)+same, after
		}
		translations[m.ID] = capitals
	}
	code := regexp.MustCompile(`(?s)<(pre|code)\b.*?</(?:pre|code)>|<input[^>]*>|<details>.*</details>|<span class="h\w">.*?</span>`)
	attributes := regexp.MustCompile(`<[^>]*aria-label="([^"]*)"[^>]*>`)
	english := regexp.MustCompile(`\p{Ll}{4,}`)
	names := regexp.MustCompile(`GPT-2 small|Llama|(?:b?float\d+|float8)\w*|batch|hidden|einsum|heads|\b(?:bf16|fp32|mixed)\b[^.\n]*|relu|tanh|square|data ?sheet[^\n]*`)
	said := map[string]bool{}
	look := func(name string, x explorer, set string) {
		shown := html.UnescapeString(tag.ReplaceAllString(attributes.ReplaceAllString(code.ReplaceAllString(drawn(x), "\n"), "\n$1\n"), "\n"))
		for _, word := range english.FindAllString(names.ReplaceAllString(shown, " "), -1) {
			if !said[name+word] {
				t.Errorf("%s says %q in English after %s", name, word, set)
			}
			said[name+word] = true
		}
	}
	pressed := regexp.MustCompile(`data-set="([a-z]+)" data-value="([^"]*)"`)
	for name, known := range explorers {
		first := drawn(known.start())
		look(name, known.start(), "nothing")
		var settings [][]string
		for _, m := range control.FindAllStringSubmatch(first, -1) {
			for _, value := range []string{"0", "1", "2", "5", "8", "40", "0.5", "1e300", "nan", "x", "4 6", "5 5", "ab ab", "a*b", "a"} {
				settings = append(settings, []string{m[1], value})
			}
		}
		for _, m := range pressed.FindAllStringSubmatch(first, -1) {
			settings = append(settings, m[1:])
		}
		for _, s := range settings {
			x := known.start()
			x.set(s[0], s[1])
			look(name, x, s[0]+" = "+s[1])
		}
	}
}
