package device

import (
	"fmt"
	"reflect"
	"slices"
)

// Numbers are what a step of an optimizer needs besides tensors. They depend only on the settings and the step, so
// they are computed once for all elements. An [Update] says which of them it uses, and for what.
type Numbers struct {
	LR, Decay, Sign       float64
	Momentum, Rate, Ahead float64
	Eps, Alpha, Rest      float64
	Centered              float64
	B1, R1, B2, R2        float64
	Keep, Floor, Times    float64
	Still, Amsgrad        float64
}

// An Update is one step of an optimizer, as every processor does it: package optim in Go, internal/cpu with vector
// instructions, package gpu with a kernel. Tests compare each of them with the formula.
type Update struct {
	Name    string
	Numbers []string // the numbers it uses, by their names in the formula, in the order in which a kernel gets them
	State   []State  // after the parameter p and its gradient g
	Formula string   // statements of Go over one element; each operation rounds

	each int            // operations of the formula if all of the following numbers are 0
	more map[string]int // how many more there are if one of these is not 0
}

// A State is a tensor that belongs to a parameter and lasts from step to step.
type State struct {
	Name string
	When string // the number that is 0 if there is no such tensor; "": there always is
}

// Updates lists the steps, in the order of the numbers by which kernels know them.
var Updates = []Update{
	{"sgd", []string{"lr", "decay", "sign"}, nil, `
		d := sign*g + decay*p
		p -= lr * d`, 5, nil},
	{"momentum", []string{"lr", "decay", "sign", "momentum", "rate", "ahead"}, []State{{"buf", ""}}, `
		d := sign*g + decay*p
		buf = momentum*buf + rate*d
		if ahead {
			d += ahead * buf
		} else {
			d = buf
		}
		p -= lr * d`, 8, map[string]int{"ahead": 2}},
	{"adagrad", []string{"lr", "decay", "sign", "eps"}, []State{{"sum", ""}}, `
		d := sign*g + decay*p
		sum += d * d
		p -= lr * d / (sqrt(sum) + eps)`, 10, nil},
	{"lecture_adagrad", []string{"lr", "sign", "eps"}, []State{{"g2", ""}}, `
		d := sign * g
		g2 += d * d
		p -= lr * d / sqrt(g2+eps)`, 8, nil},
	{"rmsprop", []string{"lr", "decay", "sign", "eps", "alpha", "rest", "momentum", "centered"},
		[]State{{"sq", ""}, {"avg", "centered"}, {"buf", "momentum"}}, `
		d := sign*g + decay*p
		sq = alpha*sq + rest*d*d
		v := sq
		if centered {
			avg = alpha*avg + rest*d
			v -= avg * avg
		}
		d /= sqrt(v) + eps
		if momentum {
			buf = momentum*buf + d
			d = buf
		}
		p -= lr * d`, 12, map[string]int{"centered": 5, "momentum": 2}},
	{"adam", []string{"decay", "sign", "b1", "r1", "b2", "r2", "keep", "floor", "times", "still", "amsgrad"},
		[]State{{"m", ""}, {"v", ""}, {"top", "amsgrad"}}, `
		d := sign*g + decay*p
		m = b1*m + r1*d
		v = b2*v + r2*(d*d)
		largest := v
		if amsgrad {
			top = max(top, v)
			largest = top
		}
		if still {
			p *= keep
		} else {
			p = keep*p - m/((sqrt(largest)+floor)*times)
		}`, 16, map[string]int{"amsgrad": 1, "still": -5}},
}

// FindUpdate returns the update with a name, and its position in [Updates].
func FindUpdate(name string) (u *Update, at int, err error) {
	at = slices.IndexFunc(Updates, func(u Update) bool { return u.Name == name })
	if at < 0 {
		return nil, 0, fmt.Errorf("%w: a step of %s", ErrUnsupported, name)
	}
	return &Updates[at], at, nil
}

// Tensors returns how many tensors a step takes with these numbers, including the parameter and its gradient.
func (u *Update) Tensors(n *Numbers) int {
	count := 2
	for _, s := range u.State {
		if s.When == "" || n.get(s.When) != 0 {
			count++
		}
	}
	return count
}

// FLOPs returns how many floating-point operations a step takes per element with these numbers, as the formula has
// them: a root and a maximum count as one.
func (u *Update) FLOPs(n *Numbers) int {
	count := u.each
	for name, more := range u.more {
		if n.get(name) != 0 {
			count += more
		}
	}
	return count
}

// Values returns the numbers that a step uses, in the order of its list.
func (u *Update) Values(n *Numbers) []float64 {
	c := make([]float64, len(u.Numbers))
	for i, name := range u.Numbers {
		c[i] = n.get(name)
	}
	return c
}

// places are the fields of [Numbers] by the names that formulas use.
var places = func() map[string]int {
	m := map[string]int{}
	t := reflect.TypeFor[Numbers]()
	for i := range t.NumField() {
		name := []byte(t.Field(i).Name)
		for j := range name {
			if name[j] >= 'A' && name[j] <= 'Z' {
				name[j] += 'a' - 'A'
			}
		}
		m[string(name)] = i
	}
	return m
}()

func (n *Numbers) get(name string) float64 {
	return reflect.ValueOf(n).Elem().Field(places[name]).Float()
}
