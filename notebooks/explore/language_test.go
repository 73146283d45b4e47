package main

import (
	"html"
	"os"
	"regexp"
	"testing"

	"github.com/lectern-go/lectern/internal/po"
)

// TestLanguages: with all texts of the catalogue in brackets, an explorer says nothing beside them but code and names.
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
	for _, m := range f.Messages[1:] {
		translations[m.ID] = "⟦" + m.ID + "⟧"
	}
	code := regexp.MustCompile(`(?s)<(pre|code)\b.*?</(?:pre|code)>|<input[^>]*>|<details>.*</details>|<span class="h\w">.*?</span>`)
	inner := regexp.MustCompile(`⟦[^⟦⟧]*⟧`)
	attributes := regexp.MustCompile(`<[^>]*aria-label="([^"]*)"[^>]*>`)
	tags := regexp.MustCompile(`<[^>]*>`)
	english := regexp.MustCompile(`\p{Ll}{4,}`)
	names := regexp.MustCompile(`GPT-2 small|Llama|(?:b?float\d+|float8)\w*|batch|hidden|einsum|heads|\b(?:bf16|fp32|mixed)\b[^.⟦⟧]*|relu|tanh|square|data sheet[^⟦⟧]*`)
	for name, x := range explorers {
		html := html.UnescapeString(tags.ReplaceAllString(attributes.ReplaceAllString(code.ReplaceAllString(drawn(x.start()), " "), "$1"), ""))
		for inner.MatchString(html) {
			html = inner.ReplaceAllString(html, " ")
		}
		if left := english.FindAllString(names.ReplaceAllString(html, " "), -1); len(left) > 0 {
			t.Errorf("%s says %q in English", name, left)
		}
	}
}
