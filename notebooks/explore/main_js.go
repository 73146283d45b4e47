package main

import (
	"encoding/json"
	"syscall/js"
)

// main answers calls from the page until it is closed: explorers(place, name, control, value) sets a control of the
// explorer at a place of the page, or nothing if control is empty, and returns its HTML.
func main() {
	at := map[int]explorer{}
	if words := js.Global().Get("lecternWords"); words.Type() == js.TypeString {
		if err := json.Unmarshal([]byte(words.String()), &translations); err != nil {
			panic(err) // the page has made it
		}
	}
	js.Global().Set("lecternExplorers", js.FuncOf(func(_ js.Value, args []js.Value) any {
		place, name, control := args[0].Int(), args[1].String(), args[2].String()
		x := at[place]
		if x == nil {
			x = explorers[name].start()
			at[place] = x
		}
		if control != "" {
			x.set(control, args[3].String())
		}
		return drawn(x)
	}))
	select {}
}
