package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// walkers are the optimizers that can be chosen.
var walkers = []struct {
	name     string
	momentum bool // it has the slider
	make     func(p []tensor.NamedTensor, lr, momentum float64) *optim.Optimizer
}{
	{"SGD", true, func(p []tensor.NamedTensor, lr, m float64) *optim.Optimizer {
		return optim.NewSGD(p, lr, optim.Momentum(m))
	}},
	{"AdaGrad", false, func(p []tensor.NamedTensor, lr, _ float64) *optim.Optimizer { return optim.NewAdaGrad(p, lr) }},
	{"RMSProp", false, func(p []tensor.NamedTensor, lr, _ float64) *optim.Optimizer { return optim.NewRMSProp(p, lr) }},
	{"Adam", false, func(p []tensor.NamedTensor, lr, _ float64) *optim.Optimizer { return optim.NewAdam(p, lr) }},
}

// bowl shows the path of an optimizer through a valley of two parameters.
type bowl struct {
	walker, rate, momentum, steps, steep int
}

func newBowl() *bowl { return &bowl{rate: 44, steps: 20, steep: 20} }

// rates are the learning rates of the slider: 0.001 to 1, thirty for each power of ten.
const mostRate = 90

func (x *bowl) lr() float64 {
	lr := math.Pow(10, float64(x.rate)/30-3)
	digits := math.Pow(10, 2-math.Floor(math.Log10(lr))) // three of them are enough
	return math.Round(lr*digits) / digits
}

func (x *bowl) set(control, value string) {
	for _, c := range []struct {
		name        string
		least, most int
		to          *int
	}{
		{"walker", 0, len(walkers), &x.walker}, {"rate", 0, mostRate, &x.rate}, {"momentum", 0, 19, &x.momentum},
		{"steps", 1, 60, &x.steps}, {"steep", 1, 30, &x.steep},
	} {
		if n, ok := chosen(value, c.most+1); ok && c.name == control && n >= c.least {
			*c.to = n
		}
	}
}

// loss is half of x² + steep·y²: a valley along x.
func (x *bowl) loss(p *tensor.Tensor) *tensor.Tensor {
	return p.Square().Mul(tensor.Of([]float64{0.5, float64(x.steep) / 2})).Sum()
}

// walk takes the steps with one of the walkers, and returns where each of them ended, the start first, and the last
// loss.
func (x *bowl) walk(walker int) (path [][]float64, loss float64) {
	p := tensor.Of([]float64{4, 1}).RequireGrad()
	named := []tensor.NamedTensor{{Name: "p", Tensor: p}}
	opt := walkers[walker].make(named, x.lr(), float64(x.momentum)/20)
	path = append(path, p.Floats())
	for range x.steps {
		opt.ZeroGrad(true)
		x.loss(p).Backward()
		opt.Step()
		path = append(path, p.Floats())
	}
	return path, x.loss(p.Detach()).Item()
}

// racing reports whether all walkers go at once.
func (x *bowl) racing() bool { return x.walker == len(walkers) }

func (x *bowl) draw(p *page) {
	var names []string
	for _, w := range walkers {
		names = append(names, w.name)
	}
	p.add(`<div class="x-row">`)
	p.choice("Optimizer", "walker", append(names, phrase("all of them, a race")), x.walker)
	p.slider("Learning rate", "rate", 0, mostRate, x.rate, num(x.lr()))
	p.slider("Number of steps", "steps", 1, 60, x.steps, fmt.Sprint(x.steps))
	if x.racing() || walkers[x.walker].momentum {
		p.slider("Momentum", "momentum", 0, 19, x.momentum, fmt.Sprint(float64(x.momentum)/20))
	}
	p.slider("Steepness across", "steep", 1, 30, x.steep, say("%d times", x.steep))
	p.add(`</div>`)
	begin := 8 + float64(x.steep)/2
	if x.racing() {
		x.race(p, begin)
	} else {
		path, loss := x.walk(x.walker)
		end := path[len(path)-1]
		verdict := ""
		switch {
		case math.IsNaN(loss) || loss > begin:
			verdict = say("It has left the valley: the learning rate is too large.")
		case loss < begin/1e4:
			verdict = say("It is at the bottom.")
		}
		p.says(`After %d steps it is at (%.3g, %.3g), and the loss went from %.3g to <b>%.3g</b>. %s`, x.steps, end[0], end[1], begin, loss, verdict)
		x.drawPaths(p, path)
	}
	p.add(`<p class="x-hint">The loss is ½·x² + ½·%d·y². It begins at (4, 1).</p>`, x.steep)
}

// race has all walkers go with the same learning rate.
func (x *bowl) race(p *page, begin float64) {
	var paths [][][]float64
	var losses []string
	best, lowest := "", begin
	for i, w := range walkers {
		path, loss := x.walk(i)
		paths = append(paths, path)
		losses = append(losses, fmt.Sprintf(`<span class="x-way%d">%s %.3g</span>`, i, w.name, loss))
		if loss < lowest {
			best, lowest = w.name, loss
		}
	}
	won := say("None of them is below its start.")
	if best != "" {
		won = say("<b>%s</b> is lowest.", best)
	}
	p.says(`After %d steps the losses are %s. It was %.3g at the start. %s`, x.steps, raw(strings.Join(losses, ", ")), begin, raw(won))
	x.drawPaths(p, paths...)
}

// drawPaths draws the valley from above: lines of equal loss, and the paths over them.
func (x *bowl) drawPaths(p *page, paths ...[][]float64) {
	const halfX, halfY, scale = 5., 2.4, 42.
	at := func(q []float64) string {
		return fmt.Sprintf("%.1f %.1f", (halfX+clamp(q[0], 40))*scale, (halfY-clamp(q[1], 40))*scale)
	}
	p.add(`<svg class="x-plot" viewBox="0 0 %.0f %.0f" role="img" aria-label="The path over lines of equal loss">`, 2*halfX*scale, 2*halfY*scale)
	for _, level := range []float64{0.125, 0.5, 1.5, 4, 8, 16, 32, 64} {
		p.add(`<ellipse class="grid" cx="%.0f" cy="%.0f" rx="%.1f" ry="%.1f"/>`, halfX*scale, halfY*scale, math.Sqrt(2*level)*scale, math.Sqrt(2*level/float64(x.steep))*scale)
	}
	for k, path := range paths {
		way := ""
		if len(paths) > 1 {
			way = fmt.Sprintf(" x-way%d", k)
		}
		var line strings.Builder
		for i, q := range path {
			if math.IsNaN(q[0]+q[1]) || math.IsInf(q[0]+q[1], 0) {
				path = path[:i]
				break
			}
			line.WriteString("ML"[min(i, 1):][:1] + at(q))
		}
		p.add(`<path class="way%s" d="%s"/>`, way, line.String())
		for i, q := range path {
			class, r := "step", 2.2
			switch {
			case i == 0:
				class, r = "start", 4.5
			case i == len(path)-1:
				class, r = "dot", 4.5
			}
			where := strings.Fields(at(q))
			p.add(`<circle class="%s%s" cx="%s" cy="%s" r="%.1f"/>`, class, way, where[0], where[1], r)
		}
	}
	p.add(`<path class="bottom" d="M%.0f %.0fm-4-4l8 8m0-8l-8 8"/></svg>`, halfX*scale, halfY*scale)
}

// clamp keeps what has left the picture near enough to be drawn.
func clamp(v, most float64) float64 { return max(-most, min(v, most)) }
