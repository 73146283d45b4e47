package diagram

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Passes runs f, which computes a loss and calls Backward, and draws its matrix
// products in the order in which they ran: forward from left to right, backward
// from right to left, each with its FLOPs, and a bar that adds them up. On a page the
// products appear one after the other; pointing at the figure pauses it. In print, and
// for readers who prefer less motion, the figure is still and shows all of them.
//
// f must compute its products in a chain, each from the previous result and a weight,
// as layers do. Passes panics if f computes none.
func Passes(f func()) *Figure {
	var mu sync.Mutex
	var events []tensor.Event
	stop := tensor.Trace(func(e tensor.Event) {
		if e.Kind == tensor.Ran && e.Op == "matmul" && (!e.Backward || e.Of == "matmul") {
			mu.Lock()
			events = append(events, e)
			mu.Unlock()
		}
	})
	defer stop()
	f()
	stop()
	layers := pair(events)
	if len(layers) == 0 {
		panic(fmt.Errorf("diagram: passes: the function computed no matrix product; compute a loss from x.Matmul(w) in it"))
	}
	return fitted(func(phone bool) *Figure {
		p := passes{Figure: &Figure{}, layers: layers}
		if phone {
			p.drawList()
		} else {
			p.draw()
		}
		return p.Figure
	})
}

// layer is one product with those of its gradients; nil for those that were not
// computed.
type layer struct {
	forward *tensor.Event
	back    [2]*tensor.Event // with respect to the left operand and the right one
	order   [3]int           // when forward, back[0] and back[1] ran
}

// pair finds the product that each product of backward belongs to. Backward goes
// through them from the last to the first.
func pair(events []tensor.Event) []layer {
	var layers []layer
	for i := range events {
		if e := &events[i]; !e.Backward {
			layers = append(layers, layer{forward: e, order: [3]int{i, -1, -1}})
		}
	}
	at := len(layers) - 1
	for i := range events {
		e := &events[i]
		if !e.Backward || e.Input > 1 {
			continue
		}
		for at >= 0 && (layers[at].back[e.Input] != nil || !slices.Equal(e.Output, layers[at].forward.Inputs[e.Input])) {
			at--
		}
		if at < 0 {
			break
		}
		layers[at].back[e.Input] = e
		layers[at].order[1+e.Input] = i
	}
	return layers
}

type passes struct {
	*Figure
	layers []layer
	steps  int    // drawn so far
	counts []int  // FLOPs of each step
	name   string // of its classes: two figures may share a page
}

const secondsPerStep = 1.6

func (p *passes) draw() {
	const boxH = 30.
	pitch := 204.
	for _, l := range p.layers { // room for the widest product between two boxes
		box := textWidth("h0.grad "+fmt.Sprint(l.forward.Output)) + 16
		for _, e := range []*tensor.Event{l.forward, l.back[0], l.back[1]} {
			if e != nil {
				pitch = max(pitch, 0.92*textWidth(productText(e))+box+24)
			}
		}
	}
	const yValue, yWeight, yGrad, yWeightGrad = 22., 82., 168., 228.

	all := 0
	step, total := p.order()
	names := p.names()
	center := func(i int) float64 { return 76 + float64(i)*pitch }
	node := func(x, y float64, text string, shape []int, colour string) {
		text += " " + fmt.Sprint(shape)
		w := textWidth(text) + 16
		p.box(x-w/2, y, w, boxH, colour)
		p.label(x, y+20, "middle", text)
	}
	half := func(text string, shape []int) float64 { return (textWidth(text+" "+fmt.Sprint(shape)) + 16) / 2 }

	p.label(0, 8, "start", "forward", bold)
	p.label(0, yGrad-10, "start", "backward", bold)
	n := len(p.layers)
	node(center(0), yValue, names[0], p.layers[0].forward.Inputs[0], plain)
	for i, l := range p.layers {
		middle, to := (center(i)+center(i+1))/2, center(i+1)
		shape := l.forward.Output
		weight := fmt.Sprintf("w%d", i+1)
		node(middle, yWeight, weight, l.forward.Inputs[1], plain)
		p.counts[step(l.order[0])] = l.forward.FLOPs
		p.group(step(l.order[0]), func() {
			p.arrow(center(i)+half(names[i], l.forward.Inputs[0]), yValue+boxH/2, to-half(names[i+1], shape), yValue+boxH/2, lineBlue)
			p.arrow(middle, yWeight, middle, yValue+boxH/2+3, lineBlue)
			p.label(middle, yValue+4, "middle", productText(l.forward), `font-size="12"`)
			node(to, yValue, names[i+1], shape, blue)
		})
		all += l.forward.FLOPs
	}
	end := center(n)
	p.label(end+half(names[n], p.layers[n-1].forward.Output)+10, yValue+20, "start", "→ loss")
	lossGrad := func() {
		node(end, yGrad, names[n]+".grad", p.layers[n-1].forward.Output, red)
		p.label(end+half(names[n]+".grad", p.layers[n-1].forward.Output)+10, yGrad+20, "start", "← loss")
	}
	if n < total { // it is there when backward begins
		p.group(n, lossGrad)
	} else {
		lossGrad()
	}
	for i := n - 1; i >= 0; i-- {
		l := p.layers[i]
		from, to := center(i+1), center(i)
		middle := (from + to) / 2
		shapeOut, shapeIn, shapeW := l.forward.Output, l.forward.Inputs[0], l.forward.Inputs[1]
		weight := fmt.Sprintf("w%d.grad", i+1)
		input := names[i] + ".grad"
		if e := l.back[0]; e != nil {
			p.counts[step(l.order[1])] = e.FLOPs
			all += e.FLOPs
			p.group(step(l.order[1]), func() {
				p.arrow(from-half(names[i+1]+".grad", shapeOut), yGrad+boxH/2, to+half(input, shapeIn), yGrad+boxH/2, wireColours[1])
				p.label(middle, yGrad+4, "middle", productText(e), `font-size="12"`)
				node(to, yGrad, input, shapeIn, red)
			})
		} else {
			p.label(to, yGrad+20, "middle", input+": not asked for", faint)
		}
		if e := l.back[1]; e != nil {
			p.counts[step(l.order[2])] = e.FLOPs
			all += e.FLOPs
			p.group(step(l.order[2]), func() {
				p.arrow(from-20, yGrad+boxH, middle+half(weight, shapeW), yWeightGrad+boxH/2, wireColours[1])
				p.label(middle, yWeightGrad+boxH+15, "middle", productText(e), `font-size="12"`)
				node(middle, yWeightGrad, weight, shapeW, red)
			})
		} else {
			p.label(middle, yWeightGrad+20, "middle", weight+": not asked for", faint)
		}
	}

	p.bar(314, max(end, 300), all, step, func(y float64, split string) { p.label(0, y, "start", split) })
}

// order numbers the steps by when they ran, and names the figure's classes.
func (p *passes) order() (step func(ran int) int, total int) {
	var order []int
	for _, l := range p.layers {
		for _, o := range l.order {
			if o >= 0 {
				order = append(order, o)
			}
		}
	}
	slices.Sort(order)
	h := fnv.New32a()
	for _, l := range p.layers {
		fmt.Fprint(h, l.forward.Inputs, l.order)
	}
	p.name = fmt.Sprintf("passes-%08x", h.Sum32())
	p.counts = make([]int, len(order))
	return func(ran int) int { return slices.Index(order, ran) }, len(order)
}

// names are those of the values: x, h1, h2 and so on.
func (p *passes) names() []string {
	names := make([]string, len(p.layers)+1)
	for i := range names {
		names[i] = fmt.Sprintf("h%d", i)
	}
	names[0] = "x"
	return names
}

// drawList draws the products one below the other, for a phone.
func (p *passes) drawList() {
	step, _ := p.order()
	names := p.names()
	y, all := 0., 0
	product := func(ran int, e *tensor.Event, colour, text string) {
		p.counts[step(ran)] = e.FLOPs
		all += e.FLOPs
		p.group(step(ran), func() {
			p.box(0, y, 8, 36, colour)
			p.label(16, y+14, "start", text)
			p.label(16, y+32, "start", productText(e)+" FLOPs", `font-size="12"`)
		})
		y += 46
	}
	heading := func(text string) {
		p.label(0, y+10, "start", text, bold)
		y += 22
	}
	heading("forward")
	for i, l := range p.layers {
		product(l.order[0], l.forward, blue, fmt.Sprintf("%s = %s · w%d", names[i+1], names[i], i+1))
	}
	y += 8
	heading("backward")
	for i := len(p.layers) - 1; i >= 0; i-- {
		l := p.layers[i]
		for k, text := range []string{
			fmt.Sprintf("%s.grad = %s.grad · w%dᵀ", names[i], names[i+1], i+1),
			fmt.Sprintf("w%d.grad = %sᵀ · %s.grad", i+1, names[i], names[i+1]),
		} {
			if e := l.back[k]; e != nil {
				product(l.order[1+k], e, red, text)
			} else {
				name, _, _ := strings.Cut(text, " ")
				p.label(16, y+10, "start", name+": not asked for", faint)
				y += 24
			}
		}
	}
	p.bar(y+30, phoneWidth, all, step, func(y float64, split string) { p.paragraph(0, y, phoneWidth, 17, split) })
}

// bar draws a bar of all FLOPs with the sum so far, the total, and the animation. It ends the figure.
func (p *passes) bar(yBar, width float64, all int, step func(ran int) int, tell func(y float64, split string)) {
	total := len(p.counts)
	x, sum, forward := 0., 0, 0
	p.label(0, yBar-10, "start", "FLOPs", bold)
	p.box(0, yBar, width, 24, plain)
	isForward := make([]bool, total)
	for _, l := range p.layers {
		isForward[step(l.order[0])] = true
	}
	for s, count := range p.counts {
		colour := red
		if isForward[s] {
			colour = blue
			forward += count
		}
		w := width * float64(count) / float64(all)
		p.group(s, func() { p.box(x, yBar, w, 24, colour) })
		x += w
		sum += count
		p.moment(s, s == total-1, func() { p.label(60, yBar-10, "start", humanize.Thousands(sum)+" so far") })
	}
	split := fmt.Sprintf("forward %s, backward %s: %.3g times as many", humanize.Thousands(forward), humanize.Thousands(all-forward), float64(all-forward)/float64(max(forward, 1)))
	tell(yBar+42, split)
	p.include(0, yBar+46)
	p.animate(total)
	p.title = p.sentence(split)
}

// productText counts the FLOPs of a product: "2·16·8·4 = 1,024".
func productText(e *tensor.Event) string {
	rows := 1
	for _, size := range e.Output[:max(len(e.Output)-1, 0)] {
		rows *= size
	}
	inner, columns := e.Inputs[0][len(e.Inputs[0])-1], 1
	if len(e.Inputs[1]) > 1 {
		columns = e.Output[len(e.Output)-1]
	} else if len(e.Output) > 0 {
		rows *= e.Output[len(e.Output)-1]
	}
	if 2*rows*inner*columns != e.FLOPs {
		return humanize.Thousands(e.FLOPs)
	}
	return fmt.Sprintf("2·%d·%d·%d = %s", rows, inner, columns, humanize.Thousands(e.FLOPs))
}

// group draws what appears with a step.
func (p *passes) group(step int, draw func()) {
	fmt.Fprintf(&p.body, `<g class="%s-%d">`, p.name, step)
	draw()
	p.body.WriteString(`</g>`)
	p.steps = max(p.steps, step+1)
}

// moment draws what is only visible during one step; the still picture shows only the last.
func (p *passes) moment(step int, last bool, draw func()) {
	hidden := ` opacity="0"`
	if last {
		hidden = ""
	}
	fmt.Fprintf(&p.body, `<g class="%s-m%d"%s>`, p.name, step, hidden)
	draw()
	p.body.WriteString(`</g>`)
}

// animate writes the style: every step is faint until its turn, and after the last one
// the figure pauses before it begins again.
func (p *passes) animate(total int) {
	rest := 3
	percent := func(step int) string { return number(100 * float64(step) / float64(total+rest)) }
	length := number(secondsPerStep * float64(total+rest))
	var s strings.Builder
	s.WriteString(`<style>@media screen and (prefers-reduced-motion:no-preference){`)
	for step := range total {
		fmt.Fprintf(&s, `@keyframes %[1]s-%[2]d{0%%,%[3]s%%{opacity:.1}%[4]s%%,100%%{opacity:1}}.%[1]s-%[2]d{animation:%[1]s-%[2]d %[5]ss infinite}`,
			p.name, step, percent(step), number(100*(float64(step)+0.3)/float64(total+rest)), length)
		until := percent(step + 1)
		if step == total-1 {
			until = "100"
		}
		fmt.Fprintf(&s, `@keyframes %[1]s-m%[2]d{0%%,%[3]s%%{opacity:0}%[3]s%%,%[4]s%%{opacity:1}%[4]s%%,100%%{opacity:%[5]s}}.%[1]s-m%[2]d{animation:%[1]s-m%[2]d %[6]ss step-end infinite}`,
			p.name, step, percent(step), until, map[bool]string{true: "1", false: "0"}[step == total-1], length)
	}
	fmt.Fprintf(&s, `svg:has(.%[1]s-0):hover *{animation-play-state:paused}}</style>`, p.name)
	p.body.WriteString(s.String())
}

// sentence describes the figure for readers who can't see it.
func (p *passes) sentence(split string) string {
	var parts []string
	for i, l := range p.layers {
		parts = append(parts, fmt.Sprintf("product %d of %v by %v, %s", i+1, l.forward.Inputs[0], l.forward.Inputs[1], humanize.Thousands(l.forward.FLOPs)))
	}
	for i := len(p.layers) - 1; i >= 0; i-- {
		for k, what := range []string{"its input", "its weight"} {
			if e := p.layers[i].back[k]; e != nil {
				parts = append(parts, fmt.Sprintf("gradient of product %d with respect to %s, %s", i+1, what, humanize.Thousands(e.FLOPs)))
			}
		}
	}
	return "FLOPs of a forward and a backward pass: " + strings.Join(parts, "; ") + "; " + split
}
