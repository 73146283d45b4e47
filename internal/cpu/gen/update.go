package main

// updates are the steps of optimizers: one pass through a parameter x, its gradient and its state. They round each
// product and each sum, as do the Go loops of package optim that they replace.
func updates(e element) []*loop {
	// The program gets x and d = sign·g + decay·x. The parameters at first and after it are decay and sign.
	with := func(first int, name, doc string, state []string, program func(l *lanes, x, d ref)) *loop {
		return &loop{name: name, doc: doc, e: e, operands: append([]string{"x", "grad"}, state...), unroll: [2]int{2, 3}, params: true,
			program: func(l *lanes) {
				x := l.load(0)
				program(l, x, l.add(l.mul(l.load(1), l.parameter(first+1)), l.mul(x, l.parameter(first))))
			}}
	}
	// Parameter 0 is lr.
	update := func(name, doc string, state []string, program func(l *lanes, x, d ref)) *loop {
		return with(1, name, doc, state, program)
	}
	step := func(l *lanes, x, d ref) { l.store(0, l.sub(x, l.mul(l.parameter(0), d))) }
	momentum := func(l *lanes, d ref) ref {
		b := l.add(l.mul(l.load(2), l.parameter(3)), l.mul(d, l.parameter(4)))
		l.store(2, b)
		return b
	}
	all := []*loop{
		update("descend", "does a step of gradient descent; see Vectors.", nil, step),
		update("momentum", "does a step with momentum; see Vectors.", []string{"buffer"}, func(l *lanes, x, d ref) { step(l, x, momentum(l, d)) }),
		update("nesterov", "does a step with Nesterov's momentum; see Vectors.", []string{"buffer"}, func(l *lanes, x, d ref) {
			step(l, x, l.add(d, l.mul(momentum(l, d), l.parameter(5))))
		}),
		update("adagrad", "does a step of AdaGrad; see Vectors.", []string{"sum"}, func(l *lanes, x, d ref) {
			sum := l.add(l.load(2), l.mul(d, d))
			l.store(2, sum)
			l.store(0, l.sub(x, l.div(l.mul(d, l.parameter(0)), l.add(l.sqrt(sum), l.parameter(3)))))
		}),
		{name: "adagradInside", doc: "does a step of AdaGrad with eps inside the root; see Vectors.", e: e, operands: []string{"x", "grad", "sum"}, unroll: [2]int{2, 3}, params: true,
			program: func(l *lanes) {
				d := l.mul(l.load(1), l.parameter(1))
				sum := l.add(l.load(2), l.mul(d, d))
				l.store(2, sum)
				l.store(0, l.sub(l.load(0), l.div(l.mul(d, l.parameter(0)), l.sqrt(l.add(sum, l.parameter(2))))))
			}},
		with(0, "adam", "does a step of Adam; see Vectors.", []string{"m", "v"}, func(l *lanes, x, d ref) {
			l.store(0, adam(l, x, d, func(v ref) ref { return v }))
		}),
		with(0, "amsgrad", "does a step of Adam with the largest average; see Vectors.", []string{"m", "v", "largest"}, func(l *lanes, x, d ref) {
			l.store(0, adam(l, x, d, func(v ref) ref {
				v = l.max(l.load(4), v) // NaN stays
				l.store(4, v)
				return v
			}))
		}),
	}
	for _, kind := range []struct {
		name, doc          string
		centered, momentum bool
	}{
		{"rmsprop", "does a step of RMSProp; see Vectors.", false, false},
		{"rmspropMomentum", "does a step of RMSProp with momentum; see Vectors.", false, true},
		{"rmspropCentered", "does a step of centered RMSProp; see Vectors.", true, false},
		{"rmspropCenteredMomentum", "does a step of centered RMSProp with momentum; see Vectors.", true, true},
	} {
		state := []string{"squares"}
		if kind.centered {
			state = append(state, "mean")
		}
		if kind.momentum {
			state = append(state, "buffer")
		}
		all = append(all, update(kind.name, kind.doc, state, func(l *lanes, x, d ref) {
			alpha, rest := l.parameter(4), l.parameter(5)
			v := l.add(l.mul(l.load(2), alpha), l.mul(l.mul(d, rest), d))
			l.store(2, v)
			if kind.centered {
				mean := l.add(l.mul(l.load(3), alpha), l.mul(d, rest))
				l.store(3, mean)
				v = l.sub(v, l.mul(mean, mean))
			}
			d = l.div(d, l.add(l.sqrt(v), l.parameter(3)))
			if last := 1 + len(state); kind.momentum {
				d = l.add(l.mul(l.load(last), l.parameter(6)), d)
				l.store(last, d)
			}
			step(l, x, d)
		}))
	}
	return all
}

// adam returns the new x, given a function that is applied to v before its root is taken.
func adam(l *lanes, x, d ref, chosen func(v ref) ref) ref {
	b1, r1, b2, r2, keep, floor, times := l.parameter(2), l.parameter(3), l.parameter(4), l.parameter(5), l.parameter(6), l.parameter(7), l.parameter(8)
	m := l.add(l.mul(l.load(2), b1), l.mul(d, r1))
	l.store(2, m)
	v := l.add(l.mul(l.load(3), b2), l.mul(l.mul(d, d), r2))
	l.store(3, v)
	return l.sub(l.mul(x, keep), l.div(m, l.mul(l.add(l.sqrt(chosen(v)), floor), times)))
}
