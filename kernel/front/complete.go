package main

import "github.com/lectern-go/lectern/kernel/jupyter"

type completer struct{}

func newCompleter(k *kernel) *completer { return &completer{} }
func (c *completer) stop()              {}

func (k *kernel) onComplete(m *jupyter.Message) {
	k.answer(m, "complete_reply", map[string]any{"status": "ok", "matches": []string{}, "cursor_start": 0, "cursor_end": 0, "metadata": map[string]any{}})
}
func (k *kernel) onInspect(m *jupyter.Message) {
	k.answer(m, "inspect_reply", map[string]any{"status": "ok", "found": false, "data": map[string]any{}, "metadata": map[string]any{}})
}
