package widget_test

import (
	"fmt"

	"github.com/lectern-go/lectern/kernel/show"
	"github.com/lectern-go/lectern/kernel/show/widget"
)

// In a notebook the line is printed again whenever one of the two is moved. Elsewhere it is printed once.
func ExampleInteract() {
	widget.Interact(func(n int, unit string) {
		fmt.Printf("%d %s\n", n, unit)
	}, widget.IntSlider("n", 1, 100, 10), widget.Dropdown("unit", "B", "kB", "MB"))
	// Output:
	// n: 10 (from 1 to 100)
	// unit: B (of B, kB, MB)
	// 10 B
}

// A widget in a variable can be read and moved by later cells.
func ExampleValue() {
	rate := widget.FloatSlider("rate", 0, 1, 0.1)
	rate.OnChange(func(r float64) { fmt.Println("now", r) }) // in a notebook, when the reader moves it
	rate.Set(7)
	show.Value(rate)
	fmt.Println(rate.Value())
	// Output:
	// rate: 1 (from 0 to 1)
	// 1
}

func ExampleButton() {
	show.Value(widget.Button("again", func() { fmt.Println("once more") }))
	show.Value(widget.Checkbox("noise", true))
	show.Value(widget.ToggleButton("dark", false))
	show.Value(widget.Text("name", "Ada"))
	// Output:
	// [again]
	// noise: true
	// dark: false
	// name: Ada
}
