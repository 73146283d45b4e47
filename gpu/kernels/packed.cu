// Large operations on each position of operands without gaps, bound by memory alone: the operation and the types are
// constants where a kernel is compiled, so that nothing is left to ask for each position. A thread computes as many as
// 16 bytes of the result hold, but at least 4 and at most 8.

struct packed {
	u64 out, x, y; // aligned to 16 bytes; a number has its bits in place of the address
	i64 count;
	double p[2];
	i64 q[2];
};
static_assert(sizeof(packed) == SIZE_packed, "");

#ifndef PACKED_OP
#define PACKED_OP map_copy
#define PACKED_INPUTS 1
#define PACKED_COMPUTE float
#define PACKED_OUT type_float32
#define PACKED_X type_float32
#define PACKED_Y type_float32
#define PACKED_NUMBERS 0
#endif
// PACKED_NUMBERS says which inputs are numbers: 1 for x, 2 for y.

INLINE constexpr int size_of(int type) {
	return type == type_float64 || type == type_int64 ? 8 : type == type_float32 || type == type_int32 ? 4 : type == type_float16 || type == type_bfloat16 || type == type_int16 ? 2 : 1;
}
enum { packed_each = size_of(PACKED_OUT) <= 2 ? 8 : 4 };

// load_packed and store_packed move N elements, from element i on, with as few accesses as their bytes allow.
template <int TYPE, int N, class C> INLINE void load_packed(u64 from, i64 i, C *v) {
	enum { SIZE = size_of(TYPE), BYTES = SIZE * N };
	alignas(16) u32 w[BYTES / 4];
	u64 bits[N], at = from + i * SIZE;
	if (BYTES % 16 == 0) {
		UNROLL for (int k = 0; k < BYTES / 16; k++) *(uint4 *)(w + 4 * k) = ((const uint4 *)at)[k];
	} else if (BYTES == 8) {
		*(uint2 *)w = *(const uint2 *)at;
	} else {
		w[0] = *(const u32 *)at;
	}
	if (TYPE == type_float16 && sizeof(C) == 4) { // in one instruction
		UNROLL for (int k = 0; k < N; k++) {
			float16 h = {(u16)(w[k / 2] >> k % 2 * 16)};
			v[k] = (C)as_float(h);
		}
		return;
	}
	UNROLL for (int k = 0; k < N; k++) {
		if (SIZE == 8)
			bits[k] = w[2 * k % (BYTES / 4)] | (u64)w[(2 * k + 1) % (BYTES / 4)] << 32;
		else
			bits[k] = w[k * SIZE / 4] >> k * SIZE % 4 * 8 & (u32)((1ull << SIZE * 8) - 1);
	}
	UNROLL for (int k = 0; k < N; k += 4) decode<4>(bits + k, TYPE, v + k);
}

template <int TYPE, int N, class C> INLINE void store_packed(u64 to, i64 i, const C *v) {
	enum { SIZE = size_of(TYPE), BYTES = SIZE * N };
	alignas(16) u32 w[BYTES / 4] = {};
	u64 bits[N], at = to + i * SIZE;
	if (TYPE == type_bfloat16 && sizeof(C) == 4) {
		UNROLL for (int k = 0; k < N; k += 2) w[k / 2] = pack_bfloat16((float)v[k], (float)v[k + 1]);
	} else if (TYPE == type_float16 && sizeof(C) == 4) {
		UNROLL for (int k = 0; k < N; k += 2) w[k / 2] = pack_float16((float)v[k], (float)v[k + 1]);
	} else {
		UNROLL for (int k = 0; k < N; k += 4) encode<4>(v + k, TYPE, bits + k);
		UNROLL for (int k = 0; k < N; k++) {
			if (SIZE == 8)
				w[2 * k % (BYTES / 4)] = (u32)bits[k], w[(2 * k + 1) % (BYTES / 4)] = (u32)(bits[k] >> 32);
			else
				w[k * SIZE / 4] |= ((u32)bits[k] & (u32)((1ull << SIZE * 8) - 1)) << k * SIZE % 4 * 8;
		}
	}
	if (BYTES % 16 == 0) {
		UNROLL for (int k = 0; k < BYTES / 16; k++) ((uint4 *)at)[k] = *(uint4 *)(w + 4 * k);
	} else if (BYTES == 8) {
		*(uint2 *)at = *(uint2 *)w;
	} else {
		*(u32 *)at = w[0];
	}
}

// compute_packed computes 4 positions.
template <class C> INLINE void compute_packed(const packed &a, const C *x, const C *y, C *r) {
	elementwise e; // what the formulas ask for
	e.op = PACKED_OP;
	e.o[0].type = PACKED_OUT;
	e.p[0] = a.p[0], e.p[1] = a.p[1], e.q[0] = a.q[0], e.q[1] = a.q[1];
	if (PACKED_INPUTS == 1)
		map_values(e, x, r);
	else
		zip_values(e, x, y, r);
}

extern "C" __global__ void __launch_bounds__(256) packed_elements(ARGUMENT packed a) {
	typedef PACKED_COMPUTE C;
	enum { N = packed_each };
	i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * N;
	C x[N], y[N], r[N];
	if (PACKED_NUMBERS & 1)
		UNROLL for (int k = 0; k < N; k++) x[k] = decode_any<C>(a.x, PACKED_X);
	if (PACKED_NUMBERS & 2)
		UNROLL for (int k = 0; k < N; k++) y[k] = decode_any<C>(a.y, PACKED_Y);
	if (i + N <= a.count) {
		if (!(PACKED_NUMBERS & 1)) load_packed<PACKED_X, N>(a.x, i, x);
		if (PACKED_INPUTS == 2 && !(PACKED_NUMBERS & 2)) load_packed<PACKED_Y, N>(a.y, i, y);
		UNROLL for (int k = 0; k < N; k += 4) compute_packed<C>(a, x + k, y + k, r + k);
		store_packed<PACKED_OUT, N>(a.out, i, r);
		return;
	}
	for (; i < a.count; i++) { // the last few
		if (!(PACKED_NUMBERS & 1)) UNROLL for (int k = 0; k < 4; k++) x[k] = load_converted<C>(a.x, PACKED_X, i);
		if (PACKED_INPUTS == 2 && !(PACKED_NUMBERS & 2)) UNROLL for (int k = 0; k < 4; k++) y[k] = load_converted<C>(a.y, PACKED_Y, i);
		compute_packed<C>(a, x, y, r);
		store_converted<C>(a.out, PACKED_OUT, i, r[0]);
	}
}

// Both gradients of x·σ(x)·gate: dL/dx = g·gate·(slope of silu at x), dL/dgate = g·silu(x). All are of one type.
struct gates {
	u64 dx, dgate, g, x, gate; // aligned to 16 bytes
	i64 count;
};
static_assert(sizeof(gates) == SIZE_gates, "");

INLINE void swiglu_slopes(float g, float x, float gate, float &dx, float &dgate) {
	float s = silu_slope(x), y = silu(x);
	dx = g * gate * s;
	dgate = g * y;
}

template <class T> INLINE void swiglu_gradients(const gates &a) {
	enum { N = pack<T>::size };
	i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * N;
	const T *g = (const T *)a.g, *x = (const T *)a.x, *gate = (const T *)a.gate;
	T *dx = (T *)a.dx, *dgate = (T *)a.dgate;
	if (i + N <= a.count) {
		float u[N], v[N], w[N];
		pack<T>::load(g + i, u), pack<T>::load(x + i, v), pack<T>::load(gate + i, w);
		UNROLL for (int k = 0; k < N; k++) swiglu_slopes(u[k], v[k], w[k], v[k], w[k]);
		pack<T>::store(dx + i, v), pack<T>::store(dgate + i, w);
		return;
	}
	for (; i < a.count; i++) { // the last few
		float v, w;
		swiglu_slopes(as_float(g[i]), as_float(x[i]), as_float(gate[i]), v, w);
		store_float(dx + i, v), store_float(dgate + i, w);
	}
}

extern "C" __global__ void __launch_bounds__(256) swiglu_gradients_f32(ARGUMENT gates a) { swiglu_gradients<float>(a); }
extern "C" __global__ void __launch_bounds__(256) swiglu_gradients_bf16(ARGUMENT gates a) { swiglu_gradients<bfloat16>(a); }
extern "C" __global__ void __launch_bounds__(256) swiglu_gradients_f16(ARGUMENT gates a) { swiglu_gradients<float16>(a); }
