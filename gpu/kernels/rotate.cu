// Rotary positions: pairs (a, b) of neighbours become (a·cos - b·sin, a·sin + b·cos).

struct rotating {
	u64 out, x, cosines, sines;                     // cosines and sines: float32, half as many in a row
	i64 out_at[3], x_at[3], cosines_at[3], sines_at[3]; // strides of three axes before that of features; those of the last are 1
	int shape[3], features;
	float way;
	int unused;
};
static_assert(sizeof(rotating) == SIZE_rotating, "");

// A thread has 16 bytes of a row. The last of the three axes is the fast one.
template <class T> INLINE void rotate(const rotating &a) {
	enum { N = pack<T>::size };
	int packs = a.features / N;
	i64 left = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	int at = (int)(left % packs) * N;
	left /= packs;
	i64 out = at, x = at, cosines = at / 2, sines = at / 2;
	UNROLL for (int axis = 2; axis >= 0; axis--) {
		i64 i = left % a.shape[axis];
		left /= a.shape[axis];
		out += i * a.out_at[axis], x += i * a.x_at[axis], cosines += i * a.cosines_at[axis], sines += i * a.sines_at[axis];
	}
	if (left > 0) return;
	float v[N];
	pack<T>::load((const T *)a.x + x, v);
	UNROLL for (int k = 0; k < N; k += 2) {
		float c = ((const float *)a.cosines)[cosines + k / 2], s = ((const float *)a.sines)[sines + k / 2] * a.way, p = v[k], q = v[k + 1];
		v[k] = p * c - q * s, v[k + 1] = p * s + q * c;
	}
	pack<T>::store((T *)a.out + out, v);
}

extern "C" __global__ void rotate_f32(ARGUMENT rotating a) { rotate<float>(a); }
extern "C" __global__ void rotate_bf16(ARGUMENT rotating a) { rotate<bfloat16>(a); }
extern "C" __global__ void rotate_f16(ARGUMENT rotating a) { rotate<float16>(a); }
