// Steps of optimizers. The formulas are those of package optim, operation by
// operation, so that both round alike. It computes what depends on the step alone
// and hands it over as constants c, in the order of device.Backend.

struct update {
	u64 t[5]; // the parameter, its gradient, its state
	i64 count;
	double c[10];
	int algorithm;
	int tensors; // how many there are
};
static_assert(sizeof(update) == SIZE_update, "");

template <class C> INLINE void step(const update &a) {
	i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= a.count) return;
	C c[10];
	_Pragma("unroll") for (int k = 0; k < 10; k++) c[k] = (C)a.c[k];
	C &p = ((C *)a.t[0])[i];
	C g = ((const C *)a.t[1])[i], *first = (C *)a.t[2] + i, *second = (C *)a.t[3] + i, *third = (C *)a.t[4] + i;

	if (a.algorithm == update_adam) { // decay, sign, b1, r1, b2, r2, keep, floor, times, still
		C d = c[1] * g + c[0] * p;
		C m = *first = c[2] * *first + c[3] * d;
		C top = *second = c[4] * *second + c[5] * (d * d);
		if (a.tensors == 5) top = *third = larger(*third, top);
		p = c[9] != 0 ? c[6] * p : c[6] * p - m / ((square_root(top) + c[7]) * c[8]);
		return;
	}
	C lr = c[0], d = c[2] * g + c[1] * p; // lr, decay, sign, ...
	switch (a.algorithm) {
	case update_sgd:
		break;
	case update_momentum: { // momentum, rate, ahead
		C buffer = *first = c[3] * *first + c[4] * d;
		d = c[5] != 0 ? d + c[5] * buffer : buffer;
		break;
	}
	case update_adagrad: { // eps
		C sum = *first += d * d;
		p -= lr * d / (square_root(sum) + c[3]);
		return;
	}
	case update_lecture_adagrad: {
		d = c[2] * g;
		C sum = *first += d * d;
		p -= lr * d / square_root(sum + c[3]);
		return;
	}
	case update_rmsprop: { // eps, alpha, rest, momentum, centered
		C v = *first = c[4] * *first + c[5] * d * d, *next = second;
		if (c[7] != 0) {
			C average = *second = c[4] * *second + c[5] * d;
			v -= average * average;
			next = third;
		}
		d /= square_root(v) + c[3];
		if (c[6] > 0) d = *next = c[6] * *next + d;
		break;
	}
	}
	p -= lr * d;
}

extern "C" __global__ void step_f32(ARGUMENT update a) { step<float>(a); }
extern "C" __global__ void step_f64(ARGUMENT update a) { step<double>(a); }
