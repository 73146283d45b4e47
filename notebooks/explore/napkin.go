package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/accounting"
)

// napkin estimates how long training takes, and how much memory it wants.
type napkin struct {
	machineChoice
	fields map[string]string // as typed: parameters and tokens in billions, devices, mfu in percent
	recipe int
}

func newNapkin() *napkin {
	return &napkin{machineChoice: newMachineChoice(), fields: map[string]string{"parameters": "70", "tokens": "15000", "count": "1024", "mfu": "50"}}
}

func (x *napkin) set(control, value string) {
	x.machineChoice.set(control, value)
	if _, ok := x.fields[control]; ok {
		x.fields[control] = value
	}
	if control == "recipe" {
		if i, ok := chosen(value, len(accounting.Recipes)); ok {
			x.recipe = i
		}
	}
}

// number reads a field; ok is false unless it is a number above 0.
func (x *napkin) number(name string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(x.fields[name]), 64)
	return n, err == nil && n > 0 && n <= 1e9
}

func (x *napkin) draw(p *page) {
	wrong := false
	field := func(label, name string, size int) float64 {
		n, ok := x.number(name)
		wrong = wrong || !ok
		p.field(label, name, x.fields[name], size, !ok)
		return n
	}
	p.add(`<div class="x-row">`)
	parameters := field(phrase("Billions of parameters"), "parameters", 6) * 1e9
	tokens := field(phrase("of tokens"), "tokens", 6) * 1e9
	p.add(`</div><div class="x-row">`)
	count := field(phrase("Devices"), "count", 6)
	x.machineChoice.draw(p)
	mfu := field(phrase("MFU in %"), "mfu", 4)
	p.add(`</div>`)
	var recipes []string
	for _, r := range accounting.Recipes {
		recipes = append(recipes, r.Name)
	}
	p.add(`<div class="x-row">`)
	p.choice("Trained with", "recipe", recipes, x.recipe)
	p.add(`</div>`)
	machine, err := x.machine()
	switch {
	case err != nil:
		p.refused(err.Error())
		return
	case wrong || count != math.Trunc(count) || mfu > 100:
		p.refused(phrase("Each field needs a number above 0, the devices an integer, and the MFU is at most 100 %."))
		return
	}
	device, recipe := x.devices[x.device], accounting.Recipes[x.recipe]
	t := accounting.TrainingTime{Parameters: parameters, Tokens: tokens, On: accounting.Machines{Count: int(count), PeakPerSecond: machine.PeakPerSecond, MFU: mfu / 100}}
	needs, has := parameters*recipe.BytesPerParameter(), count*device.Memory
	verdict := say("which fits into")
	if needs > has {
		verdict = say("which does not fit into")
	}
	p.says(`Training takes <b>%s</b> and needs <b>%s</b> for parameters, gradients and the optimizer, %s the %s of these devices.`,
		seconds(t.Days()*86400), prefixed(needs, "B"), verdict, prefixed(has, "B"))
	p.add(`<div class="x-memory" aria-hidden="true"><span style="width:%.1f%%" class="%s"></span></div>`, 100*min(1, needs/has), map[bool]string{true: "x-full", false: "x-fits"}[needs > has])
	p.add(`<pre class="x-working">%s%s</pre>`, t.String(),
		fmt.Sprintf("\n%s\n%s parameters · %s bytes = %s\n", recipe, prefixed(parameters, ""), num(recipe.BytesPerParameter()), prefixed(needs, "B")))
}
