// Cross-entropy of long rows of logits: they are read once forward, and once backward, which needs nothing of forward
// but the logarithm of each row's sum of exponentials.

struct losing {
	u64 x, out, lse, targets, g; // out: the loss of each row, or dL/dx; targets of i64; g: dL/dy
	i64 count;                   // elements of a row
	int loss_type, g_type;
};
static_assert(sizeof(losing) == SIZE_losing, "");

// stretch is a row without gaps. Its packs begin where 16 bytes do; the few elements in front of them and behind them
// are singles.
template <class T> struct stretch {
	enum { N = pack<T>::size };
	T *first;
	i64 head, packs, singles;
	__device__ __forceinline__ stretch(u64 x, i64 row, i64 count) {
		first = (T *)x + row * count;
		head = (16 - ((u64)first & 15)) % 16 / sizeof(T);
		if (head > count) head = count;
		packs = (count - head) / N;
		singles = count - packs * N;
	}
	__device__ __forceinline__ T *pack_at(i64 i) const { return first + head + i * N; }
	__device__ __forceinline__ i64 single(i64 i) const { return i < head ? i : i + packs * N; }
};

// A block has a row. Each thread keeps the largest of what it has seen and the sum of exponentials relative to it
// (Milakov and Gimelshein 2018, arXiv:1805.02867); it looks at 4 packs at once, so that the sum is corrected once for
// all of them.
template <class T> INLINE void cross_entropy(const losing &a) {
	enum { N = pack<T>::size, LOADS = 4 };
	const float least = -1e30f; // not infinity, whose difference from itself is NaN
	__shared__ float tops[32], sums[32];
	i64 row = blockIdx.x, target = ((const i64 *)a.targets)[row];
	if (target < 0) { // does not count
		if (threadIdx.x == 0) store1(a.out, a.loss_type, row, 0.0f), ((float *)a.lse)[row] = 0;
		return;
	}
	stretch<T> x(a.x, row, a.count);
	float top = least, sum = 0;
	for (i64 i = threadIdx.x; i < x.packs; i += LOADS * blockDim.x) {
		float v[LOADS][N], here = top, more = 0;
		UNROLL for (int l = 0; l < LOADS; l++) {
			i64 at = i + l * blockDim.x;
			if (at < x.packs) {
				pack<T>::load(x.pack_at(at), v[l]);
			} else {
				UNROLL for (int k = 0; k < N; k++) v[l][k] = 2 * least;
			}
		}
		UNROLL for (int l = 0; l < LOADS; l++)
			UNROLL for (int k = 0; k < N; k++) here = fmaxf(here, v[l][k]); // NaN shows in the sum
		UNROLL for (int l = 0; l < LOADS; l++)
			UNROLL for (int k = 0; k < N; k++) more += base2((v[l][k] - here) * LOG2E); // a fused product would be wrong for large ones
		sum = fmaf(sum, base2((top - here) * LOG2E), more);
		top = here;
	}
	for (i64 i = threadIdx.x; i < x.singles; i += blockDim.x) {
		float v = as_float(x.first[x.single(i)]), here = fmaxf(top, v);
		sum = fmaf(sum, base2((top - here) * LOG2E), base2((v - here) * LOG2E));
		top = here;
	}
	float most = join_block<largest>(top, tops);
	sum = join_block<adding>(sum * base2((top - most) * LOG2E), sums);
	if (threadIdx.x > 0) return;
	float lse = most + logf(sum);
	((float *)a.lse)[row] = lse;
	store1(a.out, a.loss_type, row, lse - as_float(x.first[target]));
}

extern "C" __global__ void __launch_bounds__(512) cross_entropy_f32(ARGUMENT losing a) { cross_entropy<float>(a); }
extern "C" __global__ void __launch_bounds__(512) cross_entropy_bf16(ARGUMENT losing a) { cross_entropy<bfloat16>(a); }
extern "C" __global__ void __launch_bounds__(512) cross_entropy_f16(ARGUMENT losing a) { cross_entropy<float16>(a); }

// dL/dx = (exp(x - lse) - [1 at the target])·g. A block has part_packs packs for each of its threads, and the parts of
// a row follow each other.
enum { part_packs = 4 };

template <class T> INLINE void cross_entropy_gradient(const losing &a) {
	enum { N = pack<T>::size };
	i64 parts = a.count / N / (part_packs * blockDim.x) + 1;
	i64 row = blockIdx.x / parts, part = blockIdx.x % parts, target = ((const i64 *)a.targets)[row];
	bool counts = target >= 0;
	float g = counts ? load1<float>(a.g, a.g_type, row) : 0, lse = ((const float *)a.lse)[row];
	stretch<T> x(a.x, row, a.count);
	stretch<T> out(a.out, row, a.count);
	i64 first = part * part_packs * blockDim.x + threadIdx.x;
	float v[part_packs][N];
	UNROLL for (int l = 0; l < part_packs; l++) {
		i64 at = first + l * blockDim.x;
		if (at < x.packs && counts) pack<T>::load(x.pack_at(at), v[l]);
	}
	UNROLL for (int l = 0; l < part_packs; l++) {
		i64 at = first + l * blockDim.x;
		if (at >= x.packs) break;
		i64 here = target - x.head - at * N;
		UNROLL for (int k = 0; k < N; k++) {
			float p = base2((v[l][k] - lse) * LOG2E);
			if (k == here) p -= 1;
			v[l][k] = counts ? p * g : 0;
		}
		pack<T>::store(out.pack_at(at), v[l]);
	}
	if (part > 0) return;
	for (i64 i = threadIdx.x; i < x.singles; i += blockDim.x) {
		i64 at = x.single(i);
		float p = base2((as_float(x.first[at]) - lse) * LOG2E);
		store_float(out.first + at, counts ? (at == target ? p - 1 : p) * g : 0);
	}
}

extern "C" __global__ void __launch_bounds__(256) cross_entropy_gradient_f32(ARGUMENT losing a) { cross_entropy_gradient<float>(a); }
extern "C" __global__ void __launch_bounds__(256) cross_entropy_gradient_bf16(ARGUMENT losing a) { cross_entropy_gradient<bfloat16>(a); }
extern "C" __global__ void __launch_bounds__(256) cross_entropy_gradient_f16(ARGUMENT losing a) { cross_entropy_gradient<float16>(a); }
