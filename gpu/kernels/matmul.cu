// Products of matrices of any layout and type, for what cuBLASLt can't do or
// where it is missing. A block makes a square of 64 by 64 results from strips of
// 16 columns and rows in shared memory; each of its 256 threads makes 4 by 4.

struct product {
	space batches;
	i64 a_batch[MAX_AXES], b_batch[MAX_AXES], out_batch[MAX_AXES];
	u64 a, b, out;
	i64 m, k, n;
	i64 a_row, a_column, b_row, b_column, out_row, out_column; // strides
	i64 across, down;                                          // squares side by side, and below each other
	int a_type, b_type, out_type;
	int unused;
};
static_assert(sizeof(product) == SIZE_product, "");

INLINE float multiply_add(float a, float b, float c) {
#ifdef __CUDA_ARCH__
	return __fmaf_rn(a, b, c);
#else
	return a * b + c;
#endif
}
INLINE double multiply_add(double a, double b, double c) {
#ifdef __CUDA_ARCH__
	return __fma_rn(a, b, c);
#else
	return a * b + c;
#endif
}
INLINE i64 multiply_add(i64 a, i64 b, i64 c) { return plus(times(a, b), c); }

// strip reads 64 by 16 elements of a matrix, rows being the axis that results
// have; what lies outside is 0. Neighbouring threads read along the axis whose
// stride is smaller.
template <class C> INLINE void strip(C to[16][64 + 1], u64 from, int type, i64 row, i64 rows, i64 row_stride, i64 column, i64 columns, i64 column_stride) {
	bool along_rows = row_stride < column_stride;
	i64 at[4];
	C v[4];
	int r[4], c[4];
	_Pragma("unroll") for (int k = 0; k < 4; k++) {
		int number = threadIdx.x + 256 * k;
		r[k] = along_rows ? number % 64 : number / 16;
		c[k] = along_rows ? number / 64 : number % 16;
		bool inside = row + r[k] < rows && column + c[k] < columns;
		at[k] = inside ? (row + r[k]) * row_stride + (column + c[k]) * column_stride : row * row_stride + column * column_stride;
	}
	load<4>(from, type, at, v);
	_Pragma("unroll") for (int k = 0; k < 4; k++) to[c[k]][r[k]] = row + r[k] < rows && column + c[k] < columns ? v[k] : (C)0;
}

template <class C> INLINE void matmul(const product &p) {
	__shared__ C left[16][64 + 1], right[16][64 + 1];
	i64 number = blockIdx.x;
	i64 column = number % p.across * 64, row = number / p.across % p.down * 64;
	number = number / p.across / p.down;
	u64 a = p.a + place(p.batches, p.a_batch, number) * bytes_of(p.a_type);
	u64 b = p.b + place(p.batches, p.b_batch, number) * bytes_of(p.b_type);
	i64 out = place(p.batches, p.out_batch, number);
	int x = threadIdx.x % 16, y = threadIdx.x / 16;
	C sum[4][4];
	_Pragma("unroll") for (int i = 0; i < 4; i++)
		_Pragma("unroll") for (int j = 0; j < 4; j++) sum[i][j] = 0;
	for (i64 k = 0; k < p.k; k += 16) {
		strip(left, a, p.a_type, row, p.m, p.a_row, k, p.k, p.a_column);
		strip(right, b, p.b_type, column, p.n, p.b_column, k, p.k, p.b_row);
		__syncthreads();
		int depth = p.k - k < 16 ? (int)(p.k - k) : 16;
		for (int l = 0; l < depth; l++) {
			C u[4], v[4];
			_Pragma("unroll") for (int i = 0; i < 4; i++) u[i] = left[l][y + 16 * i], v[i] = right[l][x + 16 * i];
			_Pragma("unroll") for (int i = 0; i < 4; i++)
				_Pragma("unroll") for (int j = 0; j < 4; j++) sum[i][j] = multiply_add(u[i], v[j], sum[i][j]);
		}
		__syncthreads();
	}
	_Pragma("unroll") for (int i = 0; i < 4; i++)
		_Pragma("unroll") for (int j = 0; j < 4; j++) {
			i64 r = row + y + 16 * i, c = column + x + 16 * j;
			if (r < p.m && c < p.n) store1(p.out, p.out_type, out + r * p.out_row + c * p.out_column, sum[i][j]);
		}
}

extern "C" __global__ void matmul_f32(ARGUMENT product p) { matmul<float>(p); }
extern "C" __global__ void matmul_f64(ARGUMENT product p) { matmul<double>(p); }
extern "C" __global__ void matmul_i64(ARGUMENT product p) { matmul<i64>(p); }
