// Steps of optimizers. The formulas are those of device.Updates, operation by
// operation, so that all processors round alike; a name such as adam_b1 is a number
// of the list there, which was computed for the whole step.

// A launch is for many tensors: a model has hundreds, most of them small. Their addresses travel in the argument, which
// has at most 4096 bytes, and a block finds its tensor by where the blocks of each begin.
struct update {
	u64 t[5][MAX_UPDATED]; // the parameters, their gradients, their state
	u64 count[MAX_UPDATED];
	u32 begin[MAX_UPDATED]; // the first block of each
	double c[MAX_NUMBERS];
	int tensors, algorithm;
};
static_assert(sizeof(update) == SIZE_update, "");

template <class C> INLINE void step(const update &a, const C *c, C &p, C g, C *first, C *second, C *third) {
	if (a.algorithm == update_adam) {
		C d = adam_sign * g + adam_decay * p;
		C m = *first = adam_b1 * *first + adam_r1 * d;
		C top = *second = adam_b2 * *second + adam_r2 * (d * d);
		if (adam_amsgrad != 0) top = *third = larger(*third, top);
		p = adam_still != 0 ? adam_keep * p : adam_keep * p - m / ((square_root(top) + adam_floor) * adam_times);
		return;
	}
	C lr = sgd_lr, d = sgd_sign * g + sgd_decay * p; // they stand in the same places of the lists to come, where those have them
	switch (a.algorithm) {
	case update_sgd:
		break;
	case update_momentum: {
		C buffer = *first = momentum_momentum * *first + momentum_rate * d;
		d = momentum_ahead != 0 ? d + momentum_ahead * buffer : buffer;
		break;
	}
	case update_adagrad: {
		C sum = *first += d * d;
		p -= lr * d / (square_root(sum) + adagrad_eps);
		return;
	}
	case update_lecture_adagrad: {
		d = lecture_adagrad_sign * g;
		C sum = *first += d * d;
		p -= lr * d / square_root(sum + lecture_adagrad_eps);
		return;
	}
	case update_rmsprop: {
		C v = *first = rmsprop_alpha * *first + rmsprop_rest * d * d, *next = second;
		if (rmsprop_centered != 0) {
			C average = *second = rmsprop_alpha * *second + rmsprop_rest * d;
			v -= average * average;
			next = third;
		}
		d /= square_root(v) + rmsprop_eps;
		if (rmsprop_momentum > 0) d = *next = rmsprop_momentum * *next + d;
		break;
	}
	}
	p -= lr * d;
}

template <class C> INLINE void step_all(const update &a) {
	int low = 0, high = a.tensors;
	while (high - low > 1) { // begin[low] <= block, and block < begin[high] if there is one
		int middle = (low + high) / 2;
		if (a.begin[middle] <= blockIdx.x)
			low = middle;
		else
			high = middle;
	}
	C c[MAX_NUMBERS];
	_Pragma("unroll") for (int k = 0; k < MAX_NUMBERS; k++) c[k] = (C)a.c[k];
	u64 from = (u64)(blockIdx.x - a.begin[low]) * UPDATED_BY_BLOCK, end = from + UPDATED_BY_BLOCK;
	if (end > a.count[low]) end = a.count[low];
	C *p = (C *)a.t[0][low], *first = (C *)a.t[2][low], *second = (C *)a.t[3][low], *third = (C *)a.t[4][low];
	const C *g = (const C *)a.t[1][low];
	for (u64 i = from + threadIdx.x; i < end; i += blockDim.x) step<C>(a, c, p[i], g[i], first + i, second + i, third + i);
}

extern "C" __global__ void step_f32(ARGUMENT update a) { step_all<float>(a); }
extern "C" __global__ void step_f64(ARGUMENT update a) { step_all<double>(a); }
