// Random numbers: those of package tensor, from the same words.

// philox is Philox 4×32-10 of Salmon and others: a cipher whose plain text is a
// counter, so that each thread can make its own block.
INLINE void philox(u64 block, u64 stream, u32 k0, u32 k1, u64 words[2]) {
	u32 c0 = (u32)block, c1 = (u32)(block >> 32), c2 = (u32)stream, c3 = (u32)(stream >> 32);
	for (int round = 0; round < 10; round++) {
		u32 high0 = __umulhi(0xd2511f53u, c0), low0 = 0xd2511f53u * c0;
		u32 high1 = __umulhi(0xcd9e8d57u, c2), low1 = 0xcd9e8d57u * c2;
		c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
		k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
	}
	words[0] = (u64)c0 << 32 | c1;
	words[1] = (u64)c2 << 32 | c3;
}

struct drawing {
	space s;
	i64 strides[MAX_AXES];
	u64 out;
	u64 stream, first;
	double p[2];
	i64 low;
	u64 span;  // of integers
	u32 key[2];
	int type, kind;
	int bits; // that a uniform number has
	int unused;
};
static_assert(sizeof(drawing) == SIZE_drawing, "");

#define TWO_TO_MINUS_53 (1.0 / 9007199254740992.0)

// Each thread makes the two numbers of a block.
extern "C" __global__ void random_numbers(ARGUMENT drawing a) {
	i64 i = ((i64)blockIdx.x * blockDim.x + threadIdx.x) * 2;
	if (i >= a.s.count) return;
	u64 words[2];
	philox(a.first + i / 2, a.stream, a.key[0], a.key[1], words);
	bool both = i + 1 < a.s.count;
	i64 at[2] = {place(a.s, a.strides, i), place(a.s, a.strides, both ? i + 1 : i)};
	if (a.kind == random_randint) {
		_Pragma("unroll") for (int k = 0; k < 2; k++)
			if (k == 0 || both) store1(a.out, a.type, at[k], (i64)((u64)a.low + __umul64hi(words[k], a.span)));
		return;
	}
	double v[2];
	if (a.kind == random_normal) { // Box and Muller: the radius of a point in the plane, and its angle
		double u = ((double)(words[0] >> 11) + 0.5) * TWO_TO_MINUS_53;
		double radius = sqrt(-2 * logarithm(u)), angle = 6.28318530717958647692 * (double)(words[1] >> 11) * TWO_TO_MINUS_53;
		v[0] = a.p[0] + a.p[1] * (radius * cosine(angle));
		v[1] = a.p[0] + a.p[1] * (radius * sine(angle));
	} else {
		_Pragma("unroll") for (int k = 0; k < 2; k++) {
			if (a.kind == random_bernoulli)
				v[k] = (double)(words[k] >> 11) * TWO_TO_MINUS_53 < a.p[0];
			else // as many bits as the type holds between 1/2 and 1, so that rounding never makes 1
				v[k] = a.p[0] + (double)(words[k] >> (64 - a.bits)) / (double)(1ull << a.bits) * (a.p[1] - a.p[0]);
		}
	}
	_Pragma("unroll") for (int k = 0; k < 2; k++)
		if (k == 0 || both) store1(a.out, a.type, at[k], v[k]);
}
