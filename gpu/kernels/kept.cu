// Rows that are read once and kept in registers: softmax, layer and RMS norm, and the gradients of the norms. They have
// no gaps and are made of whole packs. The type of their elements, the threads that share a row and the packs that each
// of them has are constants where a kernel is compiled.

struct kept {
	u64 out, x, g, w, b; // g: dL/dout
	u64 dw, db;          // of float32, a row of sums from each block; 0: not wanted
	i64 rows, count;     // count: elements of a row
	float eps;
	int type;
};
static_assert(sizeof(kept) == SIZE_kept, "");

#ifndef ROW_TYPE
#define ROW_TYPE float
#define ROW_THREADS 32
#define ROW_PACKS 1
#endif
// With 32 threads a row, the warps of a block have a row each and need no barrier.
#define ROW_BLOCK (ROW_THREADS == 32 ? 128 : ROW_THREADS)

typedef pack<ROW_TYPE> row_pack;
enum { row_each = row_pack::size, row_length = row_each * ROW_PACKS };

INLINE i64 row_number() { return ROW_THREADS == 32 ? (i64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32 : blockIdx.x; }
INLINE i64 rows_at_once() { return ROW_THREADS == 32 ? (i64)gridDim.x * (blockDim.x / 32) : gridDim.x; }
INLINE int row_place(int k) { return (threadIdx.x % ROW_THREADS + k * ROW_THREADS) * row_each; } // of the first element of pack k

INLINE void load_row(u64 from, i64 number, i64 count, float fill, float *v) {
	const ROW_TYPE *p = (const ROW_TYPE *)from + number * count;
	UNROLL for (int k = 0; k < ROW_PACKS; k++) {
		if (row_place(k) < count) {
			row_pack::load(p + row_place(k), v + k * row_each);
		} else {
			UNROLL for (int i = 0; i < row_each; i++) v[k * row_each + i] = fill;
		}
	}
}

INLINE void store_row(u64 to, i64 number, i64 count, const float *v) {
	ROW_TYPE *p = (ROW_TYPE *)to + number * count;
	UNROLL for (int k = 0; k < ROW_PACKS; k++)
		if (row_place(k) < count) row_pack::store(p + row_place(k), v + k * row_each);
}

// join_row joins a value of each thread of a row.
template <class How> INLINE float join_row(float v, float *scratch) { return ROW_THREADS == 32 ? join_warp<How>(v) : join_block<How>(v, scratch); }

template <bool LOGARITHM> INLINE void softmax_of_kept(const kept &a) {
	__shared__ float tops[32], sums[32];
	i64 number = row_number();
	if (number >= a.rows) return;
	float v[row_length], top = largest::nothing(), sum = 0;
	load_row(a.x, number, a.count, top, v);
	UNROLL for (int i = 0; i < row_length; i++) top = fmaxf(top, v[i]); // NaN shows in the sum
	top = join_row<largest>(top, tops);
	UNROLL for (int i = 0; i < row_length; i++) {
		v[i] -= top;
		float e = base2(v[i] * LOG2E);
		sum += e;
		if (!LOGARITHM) v[i] = e;
	}
	sum = join_row<adding>(sum, sums);
	float factor = 1 / sum, log = LOGARITHM ? logf(sum) : 0;
	UNROLL for (int i = 0; i < row_length; i++) v[i] = LOGARITHM ? v[i] - log : v[i] * factor;
	store_row(a.out, number, a.count, v);
}

extern "C" __global__ void __launch_bounds__(ROW_BLOCK) softmax_kept(ARGUMENT kept a) { softmax_of_kept<false>(a); }
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) log_softmax_kept(ARGUMENT kept a) { softmax_of_kept<true>(a); }

// dx = y·(g - Σ g·y), of the softmax y
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) softmax_gradient_kept(ARGUMENT kept a) {
	__shared__ float sums[32];
	i64 number = row_number();
	if (number >= a.rows) return;
	float g[row_length], y[row_length], sum = 0;
	load_row(a.g, number, a.count, 0, g);
	load_row(a.x, number, a.count, 0, y);
	UNROLL for (int i = 0; i < row_length; i++) sum = fmaf(g[i], y[i], sum);
	sum = join_row<adding>(sum, sums);
	UNROLL for (int i = 0; i < row_length; i++) g[i] = y[i] * (g[i] - sum);
	store_row(a.out, number, a.count, g);
}

// standardize takes the mean off a row, unless RMS is set, and returns 1/√(mean square + eps). The mean is taken off
// before anything is squared, which costs nothing here.
template <bool RMS> INLINE float standardize(const kept &a, float *v, float *sums, float *squares) {
	float mean = 0, square = 0;
	if (!RMS) {
		UNROLL for (int i = 0; i < row_length; i++) mean += v[i];
		mean = join_row<adding>(mean, sums) / (float)a.count;
	}
	UNROLL for (int k = 0; k < ROW_PACKS; k++) {
		if (row_place(k) >= a.count) break;
		UNROLL for (int i = k * row_each; i < (k + 1) * row_each; i++) {
			v[i] -= mean;
			square = fmaf(v[i], v[i], square);
		}
	}
	return 1 / sqrtf(join_row<adding>(square, squares) / (float)a.count + a.eps);
}

// out = x̂·w + b
template <bool RMS> INLINE void norm(const kept &a) {
	__shared__ float sums[32], squares[32];
	i64 number = row_number();
	if (number >= a.rows) return;
	float v[row_length];
	load_row(a.x, number, a.count, 0, v);
	float s = standardize<RMS>(a, v, sums, squares);
	UNROLL for (int k = 0; k < ROW_PACKS; k++) {
		if (row_place(k) >= a.count) break;
		float w[row_each], b[row_each], *here = v + k * row_each;
		row_pack::load((const ROW_TYPE *)a.w + row_place(k), w);
		if (!RMS) row_pack::load((const ROW_TYPE *)a.b + row_place(k), b);
		UNROLL for (int i = 0; i < row_each; i++) here[i] = RMS ? here[i] * s * w[i] : fmaf(here[i] * s, w[i], b[i]);
	}
	store_row(a.out, number, a.count, v);
}

extern "C" __global__ void __launch_bounds__(ROW_BLOCK) layer_norm(ARGUMENT kept a) { norm<false>(a); }
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) rms_norm(ARGUMENT kept a) { norm<true>(a); }

// leave_sums writes what the threads of a block have added up for each column: a row of float32 for each block. Warps
// with rows of their own add theirs in turn, so that sums are the same each time.
INLINE void leave_sums(u64 to, i64 count, const float *v) {
	__shared__ float together[ROW_THREADS == 32 ? 32 * row_length : 1];
	float *out = (float *)to + blockIdx.x * count;
	int turns = blockDim.x / ROW_THREADS;
	for (int turn = 0; turn < turns; turn++) {
		if (threadIdx.x / ROW_THREADS == turn) {
			UNROLL for (int k = 0; k < ROW_PACKS; k++) {
				if (row_place(k) >= count) break;
				UNROLL for (int i = 0; i < row_each; i++) {
					int at = row_place(k) + i;
					float sum = v[k * row_each + i];
					if (turn > 0) sum = together[at] + sum;
					if (turn < turns - 1)
						together[at] = sum;
					else
						out[at] = sum;
				}
			}
		}
		__syncthreads();
	}
}

// norm_gradient, with h = g·w: dx = s·(h - mean h - x̂·mean(h·x̂)), dw = Σ g·x̂ and db = Σ g over rows. Blocks go through
// rows; each thread adds up dw and db for the columns that it has, and a block leaves a row of its sums, which
// sum_of_blocks adds: in the same order each time.
template <bool RMS> INLINE void norm_gradient(const kept &a) {
	__shared__ float sums[32], squares[32], means[32], dots[32]; // written again two barriers later, or more
	float dw[row_length] = {}, db[RMS ? 1 : row_length] = {}, w[row_length];
	load_row(a.w, 0, a.count, 0, w);
	for (i64 number = row_number(); number < a.rows; number += rows_at_once()) {
		float g[row_length], x[row_length], sum = 0, dot = 0;
		load_row(a.g, number, a.count, 0, g);
		load_row(a.x, number, a.count, 0, x);
		float s = standardize<RMS>(a, x, sums, squares);
		UNROLL for (int i = 0; i < row_length; i++) { // behind the end g is 0, and so is w
			x[i] *= s;
			dw[i] = fmaf(g[i], x[i], dw[i]);
			if (!RMS) db[RMS ? 0 : i] += g[i];
			g[i] *= w[i];
			if (!RMS) sum += g[i];
			dot = fmaf(g[i], x[i], dot);
		}
		if (!RMS) sum = join_row<adding>(sum, means) / (float)a.count;
		dot = join_row<adding>(dot, dots) / (float)a.count;
		UNROLL for (int i = 0; i < row_length; i++) g[i] = s * fmaf(-x[i], dot, RMS ? g[i] : g[i] - sum);
		store_row(a.out, number, a.count, g);
	}
	if (a.dw) leave_sums(a.dw, a.count, dw);
	if (!RMS && a.db) leave_sums(a.db, a.count, db);
}

extern "C" __global__ void __launch_bounds__(ROW_BLOCK) layer_norm_gradient(ARGUMENT kept a) { norm_gradient<false>(a); }
extern "C" __global__ void __launch_bounds__(ROW_BLOCK) rms_norm_gradient(ARGUMENT kept a) { norm_gradient<true>(a); }

// sum_of_blocks adds up the rows of the matrix x, and of g if there is one, in order: out and b get the sums. A block
// has 32 columns, and each of its 8 warps every eighth row.
extern "C" __global__ void sum_of_blocks(ARGUMENT kept a) {
	__shared__ float sums[8][33];
	i64 column = (i64)blockIdx.x * 32 + threadIdx.x % 32;
	int y = threadIdx.x / 32;
	for (int which = 0; which < (a.g ? 2 : 1); which++) {
		const float *x = (const float *)(which ? a.g : a.x);
		float sum = 0;
		if (column < a.count) {
			_Pragma("unroll 8") for (i64 r = y; r < a.rows; r += 8) sum += x[r * a.count + column];
		}
		sums[y][threadIdx.x % 32] = sum;
		__syncthreads();
		if (y == 0 && column < a.count) {
			for (int i = 1; i < 8; i++) sum += sums[i][threadIdx.x];
			store1(which ? a.b : a.out, a.type, column, sum);
		}
		__syncthreads();
	}
}
