//go:build js

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall/js"

	"github.com/lectern-go/lectern/kernel/translate"
)

// main answers calls from JavaScript.
func main() {
	e, err := newEngine("/pkg/index.json", "/keep")
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
	call := func(f func(args []js.Value) any) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) })
	}
	js.Global().Set("lecternEngine", map[string]any{
		"rewrite": call(func(args []js.Value) any {
			e.forget(args[3].Int())
			return text(e.rewrite(args[0].Int(), args[1].String(), args[2].Bool(), args[4].String()))
		}),
		"turn": call(func(args []js.Value) any {
			if runs, ok := e.turn(args[0].Int(), args[1].String(), args[2].Int()); ok {
				return runs
			}
			return nil
		}),
		"mine": call(func(args []js.Value) any {
			var files map[string]string
			if err := json.Unmarshal([]byte(args[0].String()), &files); err == nil {
				e.student.begin(files)
			}
			return nil
		}),
		"errors": call(func(args []js.Value) any {
			e.language = translate.ReadErrors([]byte(args[0].String()))
			return nil
		}),
		"compiled": call(func(args []js.Value) any { e.student.compiled(args[0].String()); return nil }),
		"event":    call(func(args []js.Value) any { return text(e.event(args[0].String())) }),
		"said": call(func(args []js.Value) any {
			b := make([]byte, args[1].Length())
			js.CopyBytesToGo(b, args[1])
			e.now.said(args[0].Int(), string(b))
			return nil
		}),
		"refused":  call(func(args []js.Value) any { e.now.refused(args[0].String()); return nil }),
		"ended":    call(func(args []js.Value) any { return text(e.ended(args[0].String())) }),
		"outputs":  call(func([]js.Value) any { return text(e.now.changes()) }),
		"cell":     call(func([]js.Value) any { return string(e.now.notebook()) }),
		"export":   call(func(args []js.Value) any { return text(e.export(args[0].String(), args[1].String())) }),
		"complete": call(func(args []js.Value) any { return text(e.complete(args[0].String(), args[1].Int())) }),
		"help":     call(func(args []js.Value) any { return text(e.help(args[0].String(), args[1].Int())) }),
	})
	select {}
}
