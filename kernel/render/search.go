package render

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"strings"

	"golang.org/x/net/html"
)

// index is what pages search. It is part of each, so that searching needs no server and no second file.
type index struct {
	Pages    [][2]string    `json:"p"` // file and title of each lesson
	Sections []indexSection `json:"s"`
	Synonyms [][]string     `json:"y"` // words of which each finds the others
}

// An indexSection is a lesson as a whole, or what is below a heading of the second or third level.
type indexSection struct {
	Page  int    `json:"p"`
	ID    string `json:"i"` // the heading's anchor, empty for a lesson
	Title string `json:"h"`
	Text  string `json:"t"` // words and code, without what cells printed
}

// synonyms are words that readers know from elsewhere, besides those that lessons use.
var synonyms = [][]string{
	{"mfu", "model flops utilization", "utilisation"},
	{"dataloader", "data loader", "loader", "get_batch", "getbatch", "getpair"},
	{"bf16", "bfloat16"}, {"fp16", "float16", "half precision"}, {"fp32", "float32", "single precision"}, {"fp64", "float64", "double precision"}, {"fp8", "float8", "e4m3"},
	{"amp", "autocast", "mixed precision"},
	{"matmul", "matrix multiplication", "matrix product", "gemm"},
	{"backprop", "backpropagation", "backward"},
	{"autograd", "automatic differentiation", "autodiff"},
	{"bpe", "byte-pair", "byte pair"},
	{"ckpt", "checkpoint"}, {"gradient checkpointing", "activation checkpointing", "recompute"},
	{"lr", "learning rate"},
	{"oom", "out of memory"},
	{"init", "initialization", "initialisation"},
	{"tokenization", "tokenisation"},
	{"dtype", "number format"},
	{"contiguous", "stride"},
	{"rng", "random seed", "seed"},
	{"gpu", "cuda", "device"},
	{"einsum", "einops"},
	{"relu", "activation function"},
	{"loss scaling", "gradscaler", "scaler"},
}

// searchIndex returns the index of all lessons: JSON, deflated, in base64.
func searchIndex(pages []*page) string {
	x := index{Synonyms: synonyms}
	for i, p := range pages {
		x.Pages = append(x.Pages, [2]string{p.out, p.title})
		x.Sections = append(x.Sections, p.sections(i)...)
	}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // the level is one of its own
	err := json.NewEncoder(w).Encode(x)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // strings and numbers into memory
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// sections cuts what search looks through at headings of the second and third level.
func (p *page) sections(page int) []indexSection {
	list := []indexSection{{Page: page, Title: p.title}}
	titles := map[string]string{}
	for _, e := range p.toc {
		if e.level <= 3 {
			titles[e.id] = e.text
		}
	}
	var text strings.Builder
	end := func() {
		list[len(list)-1].Text = strings.Join(strings.Fields(text.String()), " ")
		text.Reset()
	}
	skip, label := 0, "" // label is the element of a heading, or of a link of ours, that we are in
	for s := scan(p.indexed.String()); ; {
		t, ok := s.next()
		if !ok {
			break
		}
		switch t.kind {
		case html.StartTagToken:
			if id, _ := t.attr("id"); titles[id] != "" && (t.name == "h2" || t.name == "h3") {
				end()
				list = append(list, indexSection{Page: page, ID: id, Title: titles[id]})
				label = t.name
			}
			if class, _ := t.attr("class"); class == "anchor" || class == "count" || t.name == "h1" {
				label = t.name
			}
			if t.name == "math" && skip == 0 && label == "" { // what is found must not have a hole there
				if tex, _ := t.attr("alttext"); strings.ContainsAny(tex, `\{`) {
					text.WriteString("…")
				} else {
					text.WriteString(tex)
				}
			}
			if t.name == "math" || t.name == "svg" && !t.void {
				skip++
			}
			if skip == 0 && !inline[t.name] {
				text.WriteByte(' ')
			}
		case html.EndTagToken:
			if t.name == "math" || t.name == "svg" {
				skip--
			}
			if t.name == label {
				label = ""
			}
			if skip == 0 && !inline[t.name] {
				text.WriteByte(' ')
			}
		case html.TextToken:
			if skip == 0 && label == "" {
				text.WriteString(html.UnescapeString(t.raw))
			}
		}
	}
	end()
	return list
}

// inline elements stand within a word or beside it.
var inline = set("a abbr b code em i kbd mark math q s small span strong sub sup u var")
