package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/lectern-go/lectern/accounting"
)

// served are the models that can be chosen.
var served = []struct {
	name  string
	model accounting.Transformer
}{
	{"GPT-2 small", accounting.GPT2Small}, {"GPT-2 XL", accounting.GPT2XL}, {"Llama 3 8B", accounting.Llama3_8B}, {"Llama 3 70B", accounting.Llama3_70B},
}

// decode shows what a batch of conversations costs while a model writes: how long each waits for a token, and how many
// tokens come out in all.
type decode struct {
	machineChoice
	model, batch, past int // batch and past are powers of two
	queryHeads         int // 1: each query head has keys and values of its own
}

const (
	largestBatch = 12 // a power of two
	longestPast  = 17
)

func newDecode() *decode {
	return &decode{machineChoice: newMachineChoice(), model: 2, batch: 5, past: 12}
}

func (x *decode) set(control, value string) {
	x.machineChoice.set(control, value)
	for _, c := range []struct {
		name string
		n    int
		to   *int
	}{{"model", len(served), &x.model}, {"batch", largestBatch + 1, &x.batch}, {"past", longestPast + 1, &x.past}, {"heads", 2, &x.queryHeads}} {
		if n, ok := chosen(value, c.n); ok && c.name == control {
			*c.to = n
		}
	}
}

// chosenModel is the model with the heads of keys and values that were chosen.
func (x *decode) chosenModel() accounting.Transformer {
	m := served[x.model].model
	if x.queryHeads == 1 {
		m.KVHeads = m.Heads
	}
	return m
}

// A serving is what a batch costs.
type serving struct {
	weights, cache float64 // bytes
	seconds        float64 // for a token of each conversation
	perSecond      float64 // tokens, of all conversations
	memoryBound    bool
}

func (x *decode) serve(machine accounting.Machine, batch int) serving {
	m, element, past := x.chosenModel(), int(precisions[x.precision].bytes), 1<<x.past
	o := m.DecodeOperation(batch, past, element)
	s := serving{
		weights: float64(m.Parameters() * element), cache: float64(batch) * float64(past) * float64(m.KVCacheBytesPerToken(element)),
		seconds: machine.Seconds(o), memoryBound: o.Intensity() < machine.Intensity(),
	}
	s.perSecond = float64(batch) / s.seconds
	return s
}

func (x *decode) draw(p *page) {
	var names []string
	for _, s := range served {
		names = append(names, s.name)
	}
	p.add(`<div class="x-row">`)
	p.choice("Language model", "model", names, x.model)
	x.machineChoice.draw(p)
	p.choice("Keys and values", "heads", []string{phrase("as the model has them"), phrase("for each query head")}, x.queryHeads)
	p.add(`</div><div class="x-row">`)
	p.slider("Conversations at once", "batch", 0, largestBatch, x.batch, fmt.Sprint(1<<x.batch))
	p.slider("Tokens so far in each", "past", 0, longestPast, x.past, fmt.Sprint(1<<x.past))
	p.add(`</div>`)
	machine, err := x.machine()
	if err != nil {
		p.refused(err.Error())
		return
	}
	device := x.devices[x.device]
	s := x.serve(machine, 1<<x.batch)
	waits := say("arithmetic")
	if s.memoryBound {
		waits = say("memory")
	}
	fits := say("It fits.")
	if need := s.weights + s.cache; need > device.Memory {
		fits = say("It does not fit: %s are needed, and there are %s.", prefixed(need, "B"), prefixed(device.Memory, "B"))
	}
	p.says(`Each conversation gets a token every <b>%s</b>, and all of them together <b>%s tokens per second</b>. The device waits for %s. %s`,
		seconds(s.seconds), prefixed(s.perSecond, ""), waits, fits)
	full := raw("x-fits")
	if s.weights+s.cache > device.Memory {
		full = "x-full"
	}
	p.add(`<div class="x-memory" aria-hidden="true"><span class="%s" style="width:%.1f%%"></span></div>`, full, 100*min(1, (s.weights+s.cache)/device.Memory))
	x.drawCurve(p, machine, device.Memory)
	p.add(`<dl class="x-facts"><div><dt>weights</dt><dd>%s</dd></div><div><dt>cache of keys and values</dt><dd>%s</dd></div><div><dt>a conversation's cache</dt><dd>%s</dd></div><div><dt>memory of the %s</dt><dd>%s</dd></div></dl>`,
		prefixed(s.weights, "B"), prefixed(s.cache, "B"), prefixed(s.cache/float64(int(1)<<x.batch), "B"), device.Name, prefixed(device.Memory, "B"))
	p.add(`<p class="x-hint">At best: all weights are read once for a token of each conversation, and each cache once for its own. The line leads from one conversation to %d; where it is dashed, the caches no longer fit.</p>`, 1<<largestBatch)
}

// drawCurve draws what comes out in all over what each conversation waits, both in powers of ten.
func (x *decode) drawCurve(p *page, machine accounting.Machine, memory float64) {
	const left, right, top, bottom = 58., 410., 14., 178.
	var all []serving
	for b := range largestBatch + 1 {
		all = append(all, x.serve(machine, 1<<b))
	}
	first, last := all[0], all[largestBatch]
	axis := func(from, to float64) (least, most float64) { // whole powers of ten
		return math.Floor(math.Log10(from)), math.Ceil(math.Log10(to) + 1e-9)
	}
	leastX, mostX := axis(first.seconds, last.seconds)
	leastY, mostY := axis(first.perSecond, last.perSecond)
	atX := func(v float64) float64 { return left + (right-left)*(math.Log10(v)-leastX)/max(1, mostX-leastX) }
	atY := func(v float64) float64 { return bottom - (bottom-top)*(math.Log10(v)-leastY)/max(1, mostY-leastY) }
	p.add(`<svg class="x-plot" viewBox="0 0 420 215" role="img" aria-label="Tokens per second of all conversations, over the time for a token of each">`)
	for e := leastX; e <= mostX; e++ {
		v := math.Pow(10, e)
		p.add(`<path class="grid" d="M%.1f %.0fV%.0f"/><text x="%.1f" y="193" text-anchor="middle">%s</text>`, atX(v), top, bottom, atX(v), seconds(v))
	}
	for e := leastY; e <= mostY; e++ {
		v := math.Pow(10, e)
		p.add(`<path class="grid" d="M%.0f %.1fH%.0f"/><text x="%.0f" y="%.1f" text-anchor="end">%s</text>`, left, atY(v), right, left-5, atY(v)+4, prefixed(v, ""))
	}
	p.add(`<text x="234" y="210" text-anchor="middle">time for a token</text><text x="64" y="26">tokens per second</text>`)
	for _, part := range []struct {
		class string
		fits  bool
	}{{"roof", true}, {"drop here", false}} {
		var line strings.Builder
		for b, s := range all {
			if fits := s.weights+s.cache <= memory; fits != part.fits && (part.fits || b+1 == len(all) || all[b+1].weights+all[b+1].cache <= memory) {
				continue
			}
			fmt.Fprintf(&line, "%s%.1f %.1f", "ML"[min(line.Len(), 1):][:1], atX(s.seconds), atY(s.perSecond))
		}
		p.add(`<path class="%s" d="%s"/>`, part.class, line.String())
	}
	here := all[x.batch]
	p.add(`<circle class="dot" cx="%.1f" cy="%.1f" r="5"/></svg>`, atX(here.seconds), atY(here.perSecond))
}
