//go:build unix

package main

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/install"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// interruptSignal ends a cell in an orderly way.
var interruptSignal = os.Interrupt

// onShell handles the requests of Jupyter. What the kernel can answer it answers at once, even while a cell runs.
func (k *kernel) onShell(m *jupyter.Message) {
	switch m.Header.Type {
	case "execute_request":
		k.queue.add(m)
	case "kernel_info_request":
		k.answer(m, "kernel_info_reply", kernelInfo())
	case "is_complete_request":
		var c struct {
			Code string `json:"code"`
		}
		m.DecodeContent(&c)
		state, indent := rewrite.Complete(c.Code)
		reply := map[string]any{"status": state}
		if state == "incomplete" {
			reply["indent"] = indent
		}
		k.answer(m, "is_complete_reply", reply)
	case "complete_request":
		go k.attempt(m, k.onComplete)
	case "inspect_request":
		go k.attempt(m, k.onInspect)
	case "history_request":
		k.answer(m, "history_reply", k.pastCells(m))
	case "shutdown_request":
		k.onControl(m)
	case "comm_info_request", "comm_open", "comm_msg", "comm_close":
		if !k.onComm(m) {
			k.toGoNB(m)
		}
	default: // requests of later protocols
		k.toGoNB(m)
	}
}

// toGoNB passes a message on, if GoNB runs.
func (k *kernel) toGoNB(m *jupyter.Message) {
	if g := k.running(); g != nil {
		g.sockets.Shell.Send(m)
	}
}

// answer replies, between busy and idle as the protocol asks.
func (k *kernel) answer(m *jupyter.Message, msgType string, content any) {
	k.publishStatus(m, "busy")
	k.jupyter.Shell.Send(m.Reply(msgType, content))
	k.publishStatus(m, "idle")
}

func kernelInfo() map[string]any {
	return map[string]any{
		"status": "ok", "protocol_version": jupyter.ProtocolVersion, "implementation": "lectern", "implementation_version": strings.TrimPrefix(install.Version(), "v"),
		"banner": "Lectern: Go in a notebook",
		"language_info": map[string]any{"name": "go", "version": runtime.Version(), "mimetype": "text/x-go", "file_extension": ".go",
			"pygments_lexer": "go", "codemirror_mode": "go", "nbconvert_exporter": ""},
		"help_links": []map[string]string{{"text": "Go", "url": "https://go.dev/doc/"}, {"text": "Go packages", "url": "https://pkg.go.dev/std"},
			{"text": "GoNB", "url": "https://github.com/janpfeifer/gonb"}},
	}
}

// pastCells answers a request for the cells that have run: the last ones, those of a range, or those whose text is as a
// pattern says, in which * stands for any text and ? for any character.
func (k *kernel) pastCells(m *jupyter.Message) map[string]any {
	var c struct {
		Access  string `json:"hist_access_type"`
		N       int    `json:"n"`
		Start   int    `json:"start"`
		Stop    int    `json:"stop"`
		Pattern string `json:"pattern"`
		Unique  bool   `json:"unique"`
		Output  bool   `json:"output"`
	}
	m.DecodeContent(&c)
	k.mu.Lock()
	defer k.mu.Unlock()
	cells := slices.Clone(k.history)
	switch c.Access {
	case "range":
		cells = slices.DeleteFunc(cells, func(h historyEntry) bool { return h.count < c.Start || c.Stop > 0 && h.count >= c.Stop })
	case "search":
		pattern := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(c.Pattern))
		wanted := regexp.MustCompile("(?s)^" + pattern + "$")
		cells = slices.DeleteFunc(cells, func(h historyEntry) bool { return !wanted.MatchString(h.code) })
		if c.Unique { // the last of each
			last := map[string]int{}
			for _, h := range cells {
				last[h.code] = h.count
			}
			cells = slices.DeleteFunc(cells, func(h historyEntry) bool { return last[h.code] != h.count })
		}
	}
	if c.Access != "range" && c.N > 0 && c.N < len(cells) {
		cells = cells[len(cells)-c.N:]
	}
	list := [][]any{}
	for _, h := range cells {
		var code any = h.code
		if c.Output {
			code = []any{h.code, nil}
		}
		list = append(list, []any{1, h.count, code})
	}
	return map[string]any{"status": "ok", "history": list}
}

// onControl handles what must not wait for a cell.
func (k *kernel) onControl(m *jupyter.Message) {
	switch m.Header.Type {
	case "interrupt_request":
		k.interrupt()
		k.publishStatus(m, "busy")
		k.jupyter.Control.Send(m.Reply("interrupt_reply", map[string]string{"status": "ok"}))
		k.publishStatus(m, "idle")
	case "shutdown_request":
		var c struct {
			Restart bool `json:"restart"`
		}
		m.DecodeContent(&c)
		reply := m.Reply("shutdown_reply", map[string]any{"status": "ok", "restart": c.Restart})
		k.publishStatus(m, "busy")
		k.jupyter.Control.Send(reply)
		pub := *reply
		pub.Identities = [][]byte{[]byte("kernel.shutdown_reply")}
		k.jupyter.IOPub.Send(&pub)
		k.publishStatus(m, "idle")
		time.Sleep(20 * time.Millisecond) // the reply is on its way when we go
		k.end()
	case "kernel_info_request":
		k.publishStatus(m, "busy")
		k.jupyter.Control.Send(m.Reply("kernel_info_reply", kernelInfo()))
		k.publishStatus(m, "idle")
	}
}
