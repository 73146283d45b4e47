// What CUDA C++ has and C++ lacks, for kernels that run on a processor.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

struct fk_dim {
	unsigned x, y, z;
};
struct fk_state {
	fk_dim thread, block, block_dim, grid_dim;
	void (*sync)();
	uint64_t (*shuffle)(uint64_t value, unsigned source);
	void (*sync_warp)();
	char *shared;
	size_t shared_bytes;
};
extern "C" __attribute__((visibility("default"))) fk_state *fk;
fk_state *fk;

#define threadIdx (fk->thread)
#define blockIdx (fk->block)
#define blockDim (fk->block_dim)
#define gridDim (fk->grid_dim)
#define warpSize 32
#define __global__ __attribute__((used))
#define __device__
#define __host__
#define __shared__ static
#define __constant__ static const
#define __forceinline__ inline
#undef __noinline__
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __syncthreads() fk->sync()
#define __syncwarp() fk->sync_warp()
#define __threadfence()

// fk_need stops the program if what a kernel takes for granted is not so.
static void fk_need(bool so, const char *otherwise) {
	if (so) return;
	fprintf(stderr, "fakecuda: %s\n", otherwise);
	abort();
}

static unsigned atomicAdd(unsigned *at, unsigned more) { // threads take turns
	unsigned was = *at;
	*at += more;
	return was;
}

struct alignas(16) float4 {
	float x, y, z, w;
};
struct alignas(16) uint4 {
	unsigned x, y, z, w;
};
struct alignas(8) float2 {
	float x, y;
};
struct alignas(8) uint2 {
	unsigned x, y;
};

template <class To, class From> static To fk_bits(From from) {
	static_assert(sizeof(To) == sizeof(From), "");
	To to;
	memcpy(&to, &from, sizeof to);
	return to;
}
static inline unsigned __float_as_uint(float x) { return fk_bits<unsigned>(x); }
static inline float __uint_as_float(unsigned x) { return fk_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return fk_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return fk_bits<double>(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static inline float rsqrtf(float x) { return 1 / std::sqrt(x); }

template <class T> static T fk_exchange(T value, unsigned source) {
	uint64_t bits = 0;
	memcpy(&bits, &value, sizeof value);
	bits = fk->shuffle(bits, source);
	memcpy(&value, &bits, sizeof value);
	return value;
}
template <class T> static T __shfl_sync(unsigned, T value, unsigned lane) { return fk_exchange(value, lane); }
template <class T> static T __shfl_xor_sync(unsigned, T value, unsigned mask) { return fk_exchange(value, threadIdx.x % 32 ^ mask); }
template <class T> static T __shfl_down_sync(unsigned, T value, unsigned by) {
	unsigned lane = threadIdx.x % 32;
	return fk_exchange(value, lane + by < 32 ? lane + by : lane);
}

template <class... A, size_t... I> static void fk_invoke(void (*f)(A...), void **p, std::index_sequence<I...>) { f(*(A *)p[I]...); }
template <class... A> static void fk_invoke(void (*f)(A...), void **p) { fk_invoke(f, p, std::make_index_sequence<sizeof...(A)>()); }
template <class A> static constexpr size_t fk_argument(void (*)(A)) { return sizeof(A); }
