// What kernels for a whole operation share: elements 16 bytes at a time, and values that the threads of a warp or a
// block join.

// The element types, as templates know them.
struct bfloat16 {
	u16 code;
};
struct float16 {
	u16 code;
};

#define UNROLL _Pragma("unroll")

// Two numbers rounded to nearest even, low in the low half. The instructions do in one step what takes five with
// bits, and make every NaN 0x7fff.
INLINE u32 pack_bfloat16(float low, float high) {
#if __CUDA_ARCH__ >= 800
	u32 code;
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(code) : "f"(high), "f"(low));
	return code;
#else
	return bfloat16_code(low) | bfloat16_code(high) << 16;
#endif
}

INLINE u32 pack_float16(float low, float high) {
#if __CUDA_ARCH__ >= 800
	u32 code;
	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(code) : "f"(high), "f"(low));
	return code;
#else
	return float16_code(low) | float16_code(high) << 16;
#endif
}

INLINE float as_float(float x) { return x; }
INLINE float as_float(bfloat16 x) { return bfloat16_value(x.code); }
INLINE float as_float(float16 x) {
#ifdef __CUDA_ARCH__
	float v;
	asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(x.code));
	return v;
#else
	return float16_value(x.code);
#endif
}
INLINE void store_float(float *p, float v) { *p = v; }
INLINE void store_float(bfloat16 *p, float v) { p->code = (u16)pack_bfloat16(v, 0); }
INLINE void store_float(float16 *p, float v) { p->code = (u16)pack_float16(v, 0); }

// A pack is 16 bytes of elements: 4 of float32, 8 of the small floats.
template <class T> struct pack {
	enum { size = 8 };
	INLINE u32 code(float low, float high, bfloat16) { return pack_bfloat16(low, high); }
	INLINE u32 code(float low, float high, float16) { return pack_float16(low, high); }
	INLINE void load(const void *p, float *v) {
		uint4 x = *(const uint4 *)p;
		u32 w[4] = {x.x, x.y, x.z, x.w};
		UNROLL for (int k = 0; k < 4; k++) {
			T low = {(u16)w[k]}, high = {(u16)(w[k] >> 16)};
			v[2 * k] = as_float(low), v[2 * k + 1] = as_float(high);
		}
	}
	INLINE void store(void *p, const float *v) {
		uint4 x = {code(v[0], v[1], T()), code(v[2], v[3], T()), code(v[4], v[5], T()), code(v[6], v[7], T())};
		*(uint4 *)p = x;
	}
};
template <> struct pack<float> {
	enum { size = 4 };
	INLINE void load(const void *p, float *v) {
		float4 x = *(const float4 *)p;
		v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = x.w;
	}
	INLINE void store(void *p, const float *v) {
		float4 x = {v[0], v[1], v[2], v[3]};
		*(float4 *)p = x;
	}
};

// LAUNCHED_MEMORY is the shared memory whose size a launch says.
#ifdef __CUDA_ARCH__
#define LAUNCHED_MEMORY(name) extern __shared__ uint4 name[]
#else
#define LAUNCHED_MEMORY(name) uint4 *name = (uint4 *)fk->shared
#endif

// base2 is 2^x to 2 units in the last place; what is below 2^-126 becomes 0. It is for softmax and attention, which
// don't see that, and not for exp.
INLINE float base2(float x) {
#ifdef __CUDA_ARCH__
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
#else
	return exp2f(x);
#endif
}
#define LOG2E 1.4426950408889634f
#define LN2 0.6931471805599453f

// Joins of a value of each thread: of a warp, and of a block of up to 1024 threads. All threads get the result, which
// is the same for each.
struct adding {
	INLINE float join(float a, float b) { return a + b; }
	INLINE float nothing() { return 0; }
};
struct largest {
	INLINE float join(float a, float b) { return a != a ? a : b != b ? b : a > b ? a : b; }
	INLINE float nothing() { return bits_of<float>(0xff800000u); }
};

template <class How> INLINE float join_warp(float v, int width = 32) {
	for (int half = width / 2; half > 0; half /= 2) v = How::join(v, __shfl_xor_sync(0xffffffffu, v, half));
	return v;
}

// scratch has a place for each warp. It may be used again after the next barrier only: give each join its own.
template <class How> INLINE float join_block(float v, float *scratch) {
	v = join_warp<How>(v);
	if (blockDim.x <= 32) return v;
	int warps = blockDim.x / 32, lane = threadIdx.x % 32;
	if (lane == 0) scratch[threadIdx.x / 32] = v;
	__syncthreads();
	v = lane < warps ? scratch[lane] : How::nothing();
	return join_warp<How>(v);
}
