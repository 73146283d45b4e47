package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// record is how the moving picture in README.md is made again:
//
//	go -C kernel/e2e test -v -run TestRecord . -record ../../docs/lab.gif
var record = flag.String("record", "", "file for the moving picture of a session in JupyterLab")

// tour are the cells of the moving picture, each with what its output has to hold.
var tour = []struct{ source, shows string }{
	{"x := tensor.Arange(0, 3, 0.5).View(2, 3)\nx", "2.5"},
	{"diagram.Storage(diagram.View(\"x.T()\", x.T()))", "strides [1 3]"},
	{"w := tensor.Ones(3).RequireGrad()\nloss := x.Matmul(w).Pow(2).Mean()\nloss", "19.125"},
	{"loss.Backward() // the graph lives on, too\nw.Grad()", "12.75"},
	{"x.Matmul(x)", "use T()"},
}

// picturesLimit is the size of a picture in README.md that still loads on a train.
const picturesLimit = 600_000

// TestRecord types the cells of the tour into JupyterLab, runs them and writes what is to be seen.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("makes docs/lab.gif when it is named with -record")
	}
	tourFile := filepath.Join(root(t), "tour.ipynb")
	nb := map[string]any{"nbformat": 4, "nbformat_minor": 5, "cells": []any{}, "metadata": map[string]any{
		"kernelspec": map[string]any{"name": "lectern", "display_name": "Go (Lectern)", "language": "go"},
	}}
	text, err := json.Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tourFile, text, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(tourFile) })
	address := lab(t, kernelCommand(t))
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/doc/tree/" + filepath.Base(tourFile) // one notebook, and nothing beside it

	b := openBrowser(t)
	b.window(960, 660, false)
	b.do(chromedp.Navigate(u.String()))
	const cells = `[...document.querySelectorAll(".jp-Notebook .jp-CodeCell")]`
	b.until("a cell to write into", cells+`.length > 0`, `document.title`)
	b.until("our kernel is idle", kernelIs+`.includes("Go (Lectern)") && document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status == "idle"`, kernelIs)
	b.do(chromedp.Click(chromedp.CSS(".jp-Notebook .jp-CodeCell .cm-content")))

	var film film
	shoot := func(stays time.Duration) {
		t.Helper()
		film.add(t, get(b, chromedp.CaptureScreenshot()), stays)
	}
	for i, cell := range tour {
		shoot(400 * time.Millisecond)
		for part := range slices.Chunk([]byte(cell.source), 3) {
			b.do(send(input.InsertText, input.InsertTextParams{Text: string(part)}))
			shoot(90 * time.Millisecond)
		}
		shoot(500 * time.Millisecond)
		b.press("Enter", keyEnter, shift)
		at := cells + "[" + string(rune('0'+i)) + "]"
		b.until("the cell has run", `/\[\d+\]/.test(`+at+`.querySelector(".jp-InputPrompt").textContent)`, at+`.innerText`)
		b.until("its output", `(`+at+`.querySelector(".jp-OutputArea")?.textContent ?? "").includes(`+quote(cell.shows)+`)`, at+`.innerText`)
		if fails := ask[bool](b, at+`.querySelector('[data-mime-type="application/vnd.jupyter.error"], [data-mime-type="application/vnd.jupyter.stderr"]') != null`); fails != (i == len(tour)-1) {
			t.Fatalf("cell %d: an error is shown: %v; only the last is to have one", i+1, fails)
		}
		time.Sleep(time.Second) // JupyterLab scrolls
		shoot(1600 * time.Millisecond)
	}
	shoot(2500 * time.Millisecond)

	var out bytes.Buffer
	if err := gif.EncodeAll(&out, film.develop()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*record, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d frames, %d bytes", *record, len(film.frames), out.Len())
	if out.Len() > picturesLimit {
		t.Errorf("that is more than %d bytes: leave cells out", picturesLimit)
	}
}

// TestMovingPicture asks that the picture in README.md is one that moves, is small, and stands
// still for those who ask for that.
func TestMovingPicture(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root(t), "docs", "lab.gif"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) < 20 || g.LoopCount != 0 || len(b) > picturesLimit {
		t.Errorf("docs/lab.gif: %d frames, loop count %d, %d bytes", len(g.Image), g.LoopCount, len(b))
	}
	readme, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`src="docs/lab.gif"`, `media="(prefers-reduced-motion: reduce)"`} {
		if !bytes.Contains(readme, []byte(want)) {
			t.Errorf("README.md has no %s", want)
		}
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// A film is a row of pictures, each with the time for which it is shown.
type film struct {
	frames []*image.RGBA
	stays  []time.Duration
}

// add appends a picture. One that is as the last prolongs that.
func (f *film) add(t *testing.T, data []byte, stays time.Duration) {
	t.Helper()
	p, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	frame := image.NewRGBA(p.Bounds())
	for y := range frame.Rect.Dy() {
		for x := range frame.Rect.Dx() {
			frame.Set(x, y, p.At(x, y))
		}
	}
	if n := len(f.frames); n > 0 && bytes.Equal(frame.Pix, f.frames[n-1].Pix) {
		f.stays[n-1] += stays
		return
	}
	f.frames = append(f.frames, frame)
	f.stays = append(f.stays, stays)
}

// colors are those that most points have, none of them close to another.
func (f *film) colors(n int) color.Palette {
	count := map[color.RGBA]int{}
	for _, frame := range f.frames {
		for i := 0; i < len(frame.Pix); i += 4 {
			count[color.RGBA{frame.Pix[i], frame.Pix[i+1], frame.Pix[i+2], 255}]++
		}
	}
	often := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range often {
		if len(palette) == n {
			break
		}
		close := func(p color.Color) bool {
			q := p.(color.RGBA)
			r, g, b := int(c.R)-int(q.R), int(c.G)-int(q.G), int(c.B)-int(q.B)
			return r*r+g*g+b*b < 40
		}
		if !slices.ContainsFunc(palette, close) {
			palette = append(palette, c)
		}
	}
	return palette
}

// develop makes the pictures an animation that goes round. Of each but the first it keeps what
// differs from the one before.
func (f *film) develop() *gif.GIF {
	palette := f.colors(255)
	unchanged := uint8(len(palette))
	palette = append(palette, color.RGBA{})
	nearest := map[color.RGBA]uint8{}
	g := &gif.GIF{}
	for i, frame := range f.frames {
		differs := frame.Rect
		same := func(x, y int) bool { return i > 0 && frame.RGBAAt(x, y) == f.frames[i-1].RGBAAt(x, y) }
		if i > 0 {
			differs = image.Rectangle{}
			for y := range frame.Rect.Dy() {
				for x := range frame.Rect.Dx() {
					if !same(x, y) {
						differs = differs.Union(image.Rect(x, y, x+1, y+1))
					}
				}
			}
		}
		p := image.NewPaletted(differs, palette)
		for y := differs.Min.Y; y < differs.Max.Y; y++ {
			for x := differs.Min.X; x < differs.Max.X; x++ {
				c := frame.RGBAAt(x, y)
				index, known := nearest[c]
				if !known {
					index = uint8(palette[:unchanged].Index(c))
					nearest[c] = index
				}
				if same(x, y) {
					index = unchanged
				}
				p.SetColorIndex(x, y, index)
			}
		}
		g.Image = append(g.Image, p)
		g.Delay = append(g.Delay, int(f.stays[i]/(10*time.Millisecond)))
		g.Disposal = append(g.Disposal, gif.DisposalNone)
	}
	return g
}
