// Operations on each position by itself: of one operand, of two, and the choice
// between two. Each thread computes 4 positions that follow each other, so that
// what depends on the operation or the types alone is asked once for all 4.

struct elementwise {
	space s;
	operand o[4]; // the result, then what it is made of
	double p[2];
	i64 q[2]; // the same, as integers
	int op;
	int strided; // an operand is neither a number nor without gaps
};
static_assert(sizeof(elementwise) == SIZE_elementwise, "");

// batch of positions that a thread computes.
struct batch {
	i64 first;
	int n;
};

INLINE batch mine(i64 count) {
	batch b;
	b.first = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * 4;
	i64 n = count - b.first;
	b.n = n > 4 ? 4 : (int)n;
	return b;
}

// places finds where each of the 4 elements lies in N operands. Those behind the
// end are taken for the first, so that they may be read.
template <int N> INLINE void places(const elementwise &a, batch b, i64 at[4][N]) {
	i64 number[4];
	_Pragma("unroll") for (int k = 0; k < 4; k++) number[k] = k < b.n ? b.first + k : b.first;
	if (a.strided) {
		locate<4, N>(a.s, number, [&](int o) { return a.o[o].strides; }, at);
		return;
	}
	_Pragma("unroll") for (int k = 0; k < 4; k++)
		_Pragma("unroll") for (int o = 0; o < N; o++) at[k][o] = number[k];
}

// read_bits and write_bits move elements of an operand as they are.
template <int N> INLINE void read_bits(const elementwise &a, batch b, const i64 at[4][N], int o, u64 *bits) {
	const operand &x = a.o[o];
	if (x.mode == mode_number) {
		_Pragma("unroll") for (int k = 0; k < 4; k++) bits[k] = x.address;
	} else if (x.mode == mode_packed && b.n == 4) {
		fetch4(x.address, x.bytes, b.first, bits);
	} else {
		i64 where[4];
		_Pragma("unroll") for (int k = 0; k < 4; k++) where[k] = at[k][o];
		fetch<4>(x.address, x.bytes, where, bits);
	}
}

template <int N> INLINE void write_bits(const elementwise &a, batch b, const i64 at[4][N], const u64 *bits) {
	const operand &out = a.o[0];
	if (out.mode == mode_packed && b.n == 4) {
		put4(out.address, out.bytes, b.first, bits);
	} else {
		i64 where[4];
		_Pragma("unroll") for (int k = 0; k < 4; k++) where[k] = at[k][0];
		put(out.address, out.bytes, where, bits, b.n);
	}
}

template <class C, int N> INLINE void read(const elementwise &a, batch b, const i64 at[4][N], int o, C *v) {
	u64 bits[4];
	read_bits<N>(a, b, at, o, bits);
	decode<4>(bits, a.o[o].type, v);
}

template <class C, int N> INLINE void write(const elementwise &a, batch b, const i64 at[4][N], const C *v) {
	u64 bits[4];
	encode<4>(v, a.o[0].type, bits);
	write_bits<N>(a, b, at, bits);
}

// Arithmetic that wraps around, and the larger and smaller of two as Go has
// them: NaN wins, and -0 is less than 0.
INLINE float plus(float a, float b) { return a + b; }
INLINE double plus(double a, double b) { return a + b; }
INLINE i64 plus(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
INLINE float minus(float a, float b) { return a - b; }
INLINE double minus(double a, double b) { return a - b; }
INLINE i64 minus(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
INLINE float times(float a, float b) { return a * b; }
INLINE double times(double a, double b) { return a * b; }
INLINE float negative(float a) { return -a; }
INLINE double negative(double a) { return -a; }
INLINE i64 negative(i64 a) { return (i64)(0 - (u64)a); }
INLINE i64 times(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }

INLINE bool is_negative(float x) { return bits_of<u32>(x) >> 31; }
INLINE bool is_negative(double x) { return bits_of<u64>(x) >> 63; }
INLINE bool is_negative(i64 x) { return x < 0; }

template <class C> INLINE C larger(C a, C b) {
	if (a != a) return a;
	if (b != b) return b;
	if (a == b) return is_negative(a) ? b : a;
	return a > b ? a : b;
}

template <class C> INLINE C smaller(C a, C b) {
	if (a != a) return a;
	if (b != b) return b;
	if (a == b) return is_negative(a) ? a : b;
	return a < b ? a : b;
}

// Functions by one name for both sizes of floats.
#define FUNCTION(kind, name, single, full) \
	kind float name(float x) { return single(x); } \
	kind double name(double x) { return full(x); }
FUNCTION(CALLED, logarithm, logf, log)
INLINE float exponential(float x) { return expf(x); } // short enough
CALLED double exponential(double x) { return exp(x); }
FUNCTION(CALLED, exponential_less_1, expm1f, expm1)
FUNCTION(CALLED, logarithm_of_1_plus, log1pf, log1p)
FUNCTION(CALLED, logarithm_base_2, log2f, log2)
FUNCTION(CALLED, sine, sinf, sin)
FUNCTION(CALLED, cosine, cosf, cos)
FUNCTION(CALLED, tangent, tanf, tan)
FUNCTION(CALLED, inverse_sine, asinf, asin)
FUNCTION(CALLED, inverse_cosine, acosf, acos)
FUNCTION(CALLED, inverse_tangent, atanf, atan)
FUNCTION(CALLED, hyperbolic_sine, sinhf, sinh)
FUNCTION(CALLED, hyperbolic_cosine, coshf, cosh)
FUNCTION(CALLED, inverse_hyperbolic_sine, asinhf, asinh)
FUNCTION(CALLED, inverse_hyperbolic_cosine, acoshf, acosh)
FUNCTION(CALLED, inverse_hyperbolic_tangent, atanhf, atanh)
FUNCTION(CALLED, error_function, erff, erf)
FUNCTION(CALLED, hyperbolic_tangent, tanhf, tanh)
FUNCTION(INLINE, square_root, sqrtf, sqrt)
FUNCTION(INLINE, round_down, floorf, floor)
FUNCTION(INLINE, round_up, ceilf, ceil)
FUNCTION(INLINE, round_even, rintf, rint)
FUNCTION(INLINE, cut, truncf, trunc)
FUNCTION(INLINE, magnitude, fabsf, fabs)
#undef FUNCTION

// Both branches have an exponential that can't overflow.
template <class C> INLINE C sigmoid(C x) {
	C e = exponential(-magnitude(x));
	return is_negative(x) ? e / (1 + e) : 1 / (1 + e);
}

// silu and both forms of gelu are 0 at -∞ for floats, as the limit is; for
// doubles, as in package tensor, ∞ is multiplied by 0 there.
INLINE float silu(float x) {
	if (x < -150) return -0.0f;
	if (x < -80) { // exp(x) alone has few digits left
		float half = exponential(x / 2);
		return x * half * half;
	}
	return x * sigmoid(x);
}
INLINE double silu(double x) { return x * sigmoid(x); }

template <class C> INLINE C silu_slope(C x) {
	C s = sigmoid(x);
	return s * (1 + x * (1 - s));
}

template <class C> INLINE C softplus(C x) { return larger(x, (C)0) + logarithm_of_1_plus(exponential(-magnitude(x))); }

// gelu is x·Φ(x) = max(x, 0) - |x|·Q(|x|), in which nothing cancels, so that the negative side keeps its digits. Q, the
// tail of the normal distribution, is exp(-a²/2)·R(a), and R(a)·(a + 4) is a polynomial of (a - 4)/(a + 4) to 1e-8. The
// exponential takes along what rounding a² loses. density is exp(-a²/2); a is at most 20, where both are 0.
INLINE float normal_tail(float a, float &density) {
	float r;
#ifdef __CUDA_ARCH__
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a + 4));
#else
	r = 1 / (a + 4);
#endif
	float t = fmaf(-8, r, 1), p = -0.000134296119f;
	p = fmaf(p, t, 0.000175162902f);
	p = fmaf(p, t, 0.00156975631f);
	p = fmaf(p, t, -0.00350969867f);
	p = fmaf(p, t, -0.00752457045f);
	p = fmaf(p, t, 0.0604031831f);
	p = fmaf(p, t, -0.186523587f);
	p = fmaf(p, t, 0.387136966f);
	p = fmaf(p, t, -0.607896566f);
	p = fmaf(p, t, 0.755285144f);
	const float half = -0.72134752f, rest = -9.629815e-9f; // log2(e)/-2 and what is missing from it
	float square = a * a, lost = fmaf(a, a, -square), power = square * half;
	float low = fmaf(lost, half, fmaf(square, rest, fmaf(square, half, -power)));
	float e = base2(power);
	density = fmaf(e * LN2, low, e);
	return p * r * density;
}

INLINE float gelu(float x) {
	float density, a = fminf(fabsf(x), 20);
	return fmaf(-a, normal_tail(a, density), x < 0 ? -0.0f : x);
}
CALLED double gelu(double x) { return x * 0.5 * erfc(-x / 1.41421356237309504880); }

// gelu_slope is Φ(x) + x·φ(x).
INLINE float gelu_slope(float x) {
	float density, a = fminf(fabsf(x), 20), tail = normal_tail(a, density);
	float slope = fmaf(x < 0 ? -a : a, 0.3989422804014327f * density, x < 0 ? tail : 1 - tail);
	return x == x ? slope : x;
}
CALLED double gelu_slope(double x) { return 0.5 * erfc(-x / 1.41421356237309504880) + x * (0.39894228040143267794 * exp(-0.5 * x * x)); }

// gelu_tanh is x/2·(1 + tanh u), which is x·σ(2u) without the cancellation.
INLINE float gelu_tanh(float x) { return x < -20 ? -0.0f : x * sigmoid(2 * 0.7978845608028654f * (x + 0.044715f * x * x * x)); }
INLINE double gelu_tanh(double x) { return x * sigmoid(2 * 0.7978845608028654 * (x + 0.044715 * x * x * x)); }

// What all types have.
template <class C> INLINE bool map_any(const elementwise &args, const C *x, C *r) {
#define CASE(name, expression) \
	case map_##name: { \
		_Pragma("unroll") for (int k = 0; k < 4; k++) { \
			C a = x[k]; \
			r[k] = (C)(expression); \
		} \
		return true; \
	}
	switch (args.op) {
		CASE(copy, a)
		CASE(neg, negative(a))
		CASE(abs, larger(a, negative(a)))
		CASE(sign, a > 0 ? 1 : a < 0 ? -1 : 0)
		CASE(square, times(a, a))
		CASE(relu, larger(a, (C)0))
		CASE(isnan, a != a)
		CASE(logical_not, a == 0)
	}
	return false;
}

template <class C> INLINE bool map_values(const elementwise &args, const C *x, C *r) {
	if (map_any<C>(args, x, r)) return true;
	C p = (C)args.p[0], q = (C)args.p[1];
	switch (args.op) {
		CASE(reciprocal, 1 / a)
		CASE(sqrt, square_root(a))
		CASE(log, logarithm(a))
		CASE(exp, exponential(a))
		CASE(expm1, exponential_less_1(a))
		CASE(log1p, logarithm_of_1_plus(a))
		CASE(log2, logarithm_base_2(a))
		CASE(rsqrt, 1 / square_root(a))
		CASE(sin, sine(a))
		CASE(cos, cosine(a))
		CASE(tan, tangent(a))
		CASE(asin, inverse_sine(a))
		CASE(acos, inverse_cosine(a))
		CASE(atan, inverse_tangent(a))
		CASE(sinh, hyperbolic_sine(a))
		CASE(cosh, hyperbolic_cosine(a))
		CASE(asinh, inverse_hyperbolic_sine(a))
		CASE(acosh, inverse_hyperbolic_cosine(a))
		CASE(atanh, inverse_hyperbolic_tangent(a))
		CASE(erf, error_function(a))
		CASE(tanh, hyperbolic_tangent(a))
		CASE(sigmoid, sigmoid(a))
		CASE(silu, silu(a))
		CASE(softplus, softplus(a))
		CASE(gelu, gelu(a))
		CASE(gelu_tanh, gelu_tanh(a))
		CASE(floor, round_down(a))
		CASE(ceil, round_up(a))
		CASE(round, round_even(a))
		CASE(trunc, cut(a))
		CASE(isinf, a == a && a - a != 0)
		CASE(isfinite, a - a == 0)
		CASE(clamp, smaller(larger(a, p), q))
		CASE(saturate, a > p ? p : a < -p ? -p : a)
	}
	return false;
}

INLINE bool map_values(const elementwise &args, const i64 *x, i64 *r) {
	typedef i64 C;
	if (map_any<C>(args, x, r)) return true;
	bool is_mask = args.o[0].type == type_bool;
	switch (args.op) {
		CASE(not, is_mask ? a == 0 : ~a)
		CASE(clamp, smaller(larger(a, args.q[0]), args.q[1]))
		CASE(isinf, a != a)
		CASE(isfinite, a == a)
		CASE(floor, a)
		CASE(ceil, a)
		CASE(round, a)
		CASE(trunc, a)
	}
	return false;
}
#undef CASE

template <class C> INLINE void map(const elementwise &a) {
	batch b = mine(a.s.count);
	if (b.n <= 0) return;
	i64 at[4][2];
	C x[4], r[4];
	places<2>(a, b, at);
	read<C, 2>(a, b, at, 1, x);
	map_values(a, x, r);
	write<C, 2>(a, b, at, r);
}

extern "C" __global__ void map_f32(ARGUMENT elementwise a) { map<float>(a); }
extern "C" __global__ void map_f64(ARGUMENT elementwise a) { map<double>(a); }
extern "C" __global__ void map_i64(ARGUMENT elementwise a) { map<i64>(a); }

CALLED double c_mod(double a, double b) { return fmod(a, b); }

CALLED double python_mod(double a, double b) {
	double m = c_mod(a, b);
	return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

// floor_divide takes the remainder off first, so that the quotient is exact when
// it is rounded.
CALLED double floor_divide(double a, double b) {
	if (b == 0) return a / b;
	double m = c_mod(a, b), quotient = (a - m) / b;
	if (m != 0 && (m < 0) != (b < 0)) quotient--;
	return round(quotient);
}

// Integers: -1 is a divisor apart, since the smallest number has no negative.
CALLED i64 quotient(i64 a, i64 b) { return b == -1 ? negative(a) : a / b; }
CALLED i64 remainder(i64 a, i64 b) { return b == -1 ? 0 : a % b; }

CALLED float angle(float y, float x) { return atan2f(y, x); }
CALLED double angle(double y, double x) { return atan2(y, x); }

CALLED float power(float x, float y) { return y == 2 ? x * x : powf(x, y); }
CALLED double power(double x, double y) { return pow(x, y); }
CALLED i64 power(i64 x, i64 y) {
	i64 r = 1;
	for (; y > 0; y >>= 1) {
		if (y & 1) r = times(r, x);
		x = times(x, x);
	}
	return r;
}

#define CASE(name, expression) \
	case zip_##name: { \
		_Pragma("unroll") for (int k = 0; k < 4; k++) { \
			C a = x[k], b = y[k]; \
			r[k] = (C)(expression); \
		} \
		return true; \
	}

template <class C> INLINE bool zip_any(const elementwise &args, const C *x, const C *y, C *r) {
	switch (args.op) {
		CASE(add, plus(a, b))
		CASE(sub, minus(a, b))
		CASE(mul, times(a, b))
		CASE(pow, power(a, b))
		CASE(relu_gradient, b != 0 ? a : 0)
		CASE(eq, a == b)
		CASE(ne, a != b)
		CASE(lt, a < b)
		CASE(le, a <= b)
		CASE(gt, a > b)
		CASE(ge, a >= b)
		CASE(logical_and, a != 0 && b != 0)
		CASE(logical_or, a != 0 || b != 0)
		CASE(logical_xor, (a != 0) != (b != 0))
		CASE(maximum, larger(a, b))
		CASE(minimum, smaller(a, b))
	}
	return false;
}

template <class C> INLINE bool zip_values(const elementwise &args, const C *x, const C *y, C *r) {
	if (zip_any<C>(args, x, y, r)) return true;
	C value = (C)args.p[0];
	switch (args.op) {
		CASE(div, a / b)
		CASE(floor_divide, floor_divide(a, b))
		CASE(truncating_divide, cut(a / b))
		CASE(remainder, python_mod(a, b))
		CASE(fmod, c_mod(a, b))
		CASE(atan2, angle(a, b))
		CASE(masked_fill, b != 0 ? value : a)
		CASE(swiglu, silu(a) * b)
		CASE(silu_gradient, a * silu_slope(b))
		CASE(gelu_gradient, a * gelu_slope(b))
	}
	return false;
}

INLINE bool zip_values(const elementwise &args, const i64 *x, const i64 *y, i64 *r) {
	typedef i64 C;
	if (zip_any<C>(args, x, y, r)) return true;
	switch (args.op) {
		CASE(and, a & b)
		CASE(or, a | b)
		CASE(xor, a ^ b)
		CASE(floor_divide, quotient(a, b) - (remainder(a, b) != 0 && (a < 0) != (b < 0)))
		CASE(truncating_divide, quotient(a, b))
		CASE(remainder, remainder(a, b) + (remainder(a, b) != 0 && (a < 0) != (b < 0) ? b : 0))
		CASE(fmod, remainder(a, b))
		CASE(masked_fill, b != 0 ? args.q[0] : a)
	}
	return false;
}
#undef CASE

template <class C> INLINE void zip(const elementwise &a) {
	batch b = mine(a.s.count);
	if (b.n <= 0) return;
	i64 at[4][3];
	C x[4], y[4], r[4];
	places<3>(a, b, at);
	read<C, 3>(a, b, at, 1, x);
	read<C, 3>(a, b, at, 2, y);
	zip_values(a, x, y, r);
	write<C, 3>(a, b, at, r);
}

extern "C" __global__ void zip_f32(ARGUMENT elementwise a) { zip<float>(a); }
extern "C" __global__ void zip_f64(ARGUMENT elementwise a) { zip<double>(a); }
extern "C" __global__ void zip_i64(ARGUMENT elementwise a) { zip<i64>(a); }

// choose takes the second operand where the first is not 0, else the third.
template <class C> INLINE void choose(const elementwise &a) {
	batch b = mine(a.s.count);
	if (b.n <= 0) return;
	i64 at[4][4];
	C condition[4], x[4], y[4];
	places<4>(a, b, at);
	read<C, 4>(a, b, at, 1, condition);
	read<C, 4>(a, b, at, 2, x);
	read<C, 4>(a, b, at, 3, y);
	_Pragma("unroll") for (int k = 0; k < 4; k++) x[k] = condition[k] != 0 ? x[k] : y[k];
	write<C, 4>(a, b, at, x);
}

extern "C" __global__ void choose_f32(ARGUMENT elementwise a) { choose<float>(a); }
extern "C" __global__ void choose_f64(ARGUMENT elementwise a) { choose<double>(a); }
extern "C" __global__ void choose_i64(ARGUMENT elementwise a) { choose<i64>(a); }
