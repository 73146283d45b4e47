package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// testStale changes the first of three cells and runs it again. The others are marked, and a note names them; %run-stale runs them where
// they stand.
func testStale(t *testing.T, address string) {
	path := filepath.Join(root(t), "my-lessons", "stale-marks.ipynb") // in no list of lessons, and git ignores it
	var cells []map[string]any
	for i, code := range []string{"x := 4", "y := 10 * x", `fmt.Println("y is", y)`, "%run-stale"} {
		cells = append(cells, map[string]any{"id": fmt.Sprint("cell-", i), "cell_type": "code", "source": code, "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil})
	}
	text, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "cells": cells,
		"metadata": map[string]any{"kernelspec": map[string]string{"name": "lectern", "display_name": "Go (Lectern)", "language": "go"}}})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(path) })
	u, err := url.Parse(at(t, address, path))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/lab/tree/my-lessons/" + filepath.Base(path)

	b := openBrowser(t)
	b.window(1200, 700, false)
	b.do(chromedp.Navigate(u.String()))
	const code = `[...document.querySelectorAll(".jp-Notebook .jp-CodeCell")]`
	b.until(time.Minute, "our kernel is idle", code+`.length == 4 && `+kernelIs+`.includes("Go (Lectern)") && document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status == "idle"`,
		code+`.length + " cells, kernel " + `+kernelIs)
	const outputs = code + `.map(c => c.querySelector(".jp-Cell-outputArea")?.innerText.trim() ?? "").join(" | ")`
	const marks = code + `.slice(0, 4).map(c => c.classList.contains("lectern-stale") ? "!" : ".").join("")`
	edit := func(cell string) {
		b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell:nth-child(` + cell + `) .cm-content`)))
		b.press("End", keyEnd, ctrl)
	}
	edit("1")
	for range 3 {
		b.press("Enter", keyEnter, shift)
	}
	b.until(time.Minute, "three cells have run", outputs+`.includes("y is 40")`, outputs)
	if got := ask[string](b, marks); got != "...." {
		t.Errorf("marks at first: %s", got)
	}
	edit("1")
	b.do(chromedp.KeyEvent("2")) // x := 42
	b.press("Enter", keyEnter, shift)
	b.until(time.Minute, "two cells are marked", marks+` == ".!!."`, marks+` + " " + `+outputs)
	b.until(10*time.Second, "a note says so", outputs+`.includes("note: [2] used the earlier x, and [3] what came of it")`, outputs)
	b.shoot("lab-stale", false)
	edit("4")
	b.press("Enter", keyEnter, shift)
	b.until(time.Minute, "the cells have run where they stand", marks+` == "...." && `+outputs+`.includes("y is 420")`, marks+` + " " + `+outputs)
	b.until(10*time.Second, "the note is gone", `!`+outputs+`.includes("note:")`, outputs)
	b.shoot("lab-stale-run", false)
}
