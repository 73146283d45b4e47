package widget

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Handle reacts to a change of a widget of k, or a click on it, which is on standard
// input. It is for the kernel alone.
func Handle(k *Kept) {
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	made = k
	k.handle(string(b))
}

// handle does the same for an event: the widget's id and, unless it was clicked on, its new value after a zero byte.
func (k *Kept) handle(event string) {
	id, value, changed := strings.Cut(event, "\x00")
	for _, a := range k.buttons {
		if a.id == id && !changed && a.clicked != nil {
			into(a.out)
			a.clicked()
		}
	}
	if !changed {
		return
	}
	i := slices.IndexFunc(k.ints, func(w *Value[int]) bool { return w.id == id })
	if f, err := strconv.ParseFloat(value, 64); err == nil && f == f && i >= 0 {
		const exact = 1 << 53 // a page's numbers are whole up to there
		change(k.ints[i], int(math.Round(min(max(f, -exact), exact))))
	}
	i = slices.IndexFunc(k.floats, func(w *Value[float64]) bool { return w.id == id })
	if f, err := strconv.ParseFloat(value, 64); err == nil && f == f && i >= 0 {
		change(k.floats[i], f)
	}
	i = slices.IndexFunc(k.bools, func(w *Value[bool]) bool { return w.id == id })
	if on, err := strconv.ParseBool(value); err == nil && i >= 0 {
		change(k.bools[i], on)
	}
	i = slices.IndexFunc(k.texts, func(w *Value[string]) bool { return w.id == id })
	if i >= 0 {
		w := k.texts[i]
		if w.options != nil {
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 || n >= len(w.options) {
				return
			}
			value = w.options[n]
		}
		change(w, value)
	}
}

// change gives a widget a value and calls what waits for that.
func change[T Scalar](w *Value[T], v T) {
	if w.value = w.within(v); w.value != v { // the page shows what can't be
		w.Set(w.value)
	}
	if len(w.changed) > 0 {
		into(w.out)
		for _, f := range w.changed {
			f(w.value)
		}
	}
	for _, g := range w.groups {
		into(g.out)
		g.call()
	}
}
