package notebook

import (
	"fmt"
	"testing"
)

func TestAbout(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"lectern": {"summary": " All of it. ", "minutes": 40, "needs": ["01-a", "02-b"]}}`: "{All of it. 40 [01-a.ipynb 02-b.ipynb]}",
		`{"lectern": {"summary": 3, "minutes": "long", "needs": "01-a"}}`:                    "{ 0 []}",
		`{"lectern": {"minutes": -5}}`:                                                       "{ 0 []}",
		`{"lectern": {"minutes": 1e99}}`:                                                     "{ 0 []}",
		`{"lectern": {"minutes": 10000}}`:                                                    "{ 0 []}",
		`{"lectern": {"needs": [3]}}`:                                                        "{ 0 [.ipynb]}",
		`{"lectern": "what it likes to be"}`:                                                 "{ 0 []}",
		`{}`:                                                                                 "{ 0 []}",
	} {
		n, err := Parse("a.ipynb", []byte(`{"nbformat": 4, "nbformat_minor": 5, "cells": [], "metadata": `+metadata+`}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(n.About()); got != want {
			t.Errorf("%s says %s, want %s", metadata, got, want)
		}
	}
}

func TestTitle(t *testing.T) {
	n := &Notebook{Cells: []*Cell{{Type: "code", Source: "# no"}, {Type: "markdown", Source: "text\n\n# Views: all of them\n"}}}
	if got := n.Title(); got != "Views" {
		t.Errorf("the title is %q", got)
	}
	if got := (&Notebook{}).Title(); got != "" {
		t.Errorf("the title is %q", got)
	}
}
