// Copies of elements as they are, whatever they mean.

extern "C" __global__ void move(ARGUMENT elementwise a) {
	batch b = mine(a.s.count);
	if (b.n <= 0) return;
	i64 at[4][2];
	u64 bits[4];
	places<2>(a, b, at);
	read_bits<2>(a, b, at, 1, bits);
	write_bits<2>(a, b, at, bits);
}

// move_words copies memory without gaps, 16 bytes a thread.
struct words {
	u64 to, from;
	i64 count; // of 16 bytes
};
static_assert(sizeof(words) == SIZE_words, "");

extern "C" __global__ void move_words(ARGUMENT words a) {
	i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < a.count) ((uint4 *)a.to)[i] = ((const uint4 *)a.from)[i];
}

// A transposed copy: rows of the result are columns of x. Squares of 32 elements
// go through shared memory, so that both sides are read and written in rows.
struct transposed {
	u64 to, from;
	i64 rows, columns;                 // of the result
	i64 to_row, from_column;           // strides; along the other axis both are 1
	i64 across, down;                  // squares side by side, and below each other
	space batches;
	i64 to_strides[MAX_AXES], from_strides[MAX_AXES];
};
static_assert(sizeof(transposed) == SIZE_transposed, "");

template <class T> INLINE void transpose(const transposed &a) {
	__shared__ T square[32][33];
	i64 number = blockIdx.x;
	i64 column = number % a.across * 32, row = number / a.across % a.down * 32;
	number = number / a.across / a.down;
	const T *from = (const T *)a.from + place(a.batches, a.from_strides, number);
	T *to = (T *)a.to + place(a.batches, a.to_strides, number);
	int x = threadIdx.x % 32, y = threadIdx.x / 32;
	for (int k = y; k < 32; k += 8)
		if (row + x < a.rows && column + k < a.columns) square[k][x] = from[(column + k) * a.from_column + row + x];
	__syncthreads();
	for (int k = y; k < 32; k += 8)
		if (row + k < a.rows && column + x < a.columns) to[(row + k) * a.to_row + column + x] = square[x][k];
}

extern "C" __global__ void transpose_1(ARGUMENT transposed a) { transpose<u8>(a); }
extern "C" __global__ void transpose_2(ARGUMENT transposed a) { transpose<u16>(a); }
extern "C" __global__ void transpose_4(ARGUMENT transposed a) { transpose<u32>(a); }
extern "C" __global__ void transpose_8(ARGUMENT transposed a) { transpose<u64>(a); }

// gather takes for each position the element of x whose place along one axis an
// index names. The strides of x leave that axis out.
struct gathered {
	elementwise e; // the result, x, the index
	i64 stride;    // of x along the axis
};
static_assert(sizeof(gathered) == SIZE_gathered, "");

extern "C" __global__ void gather(ARGUMENT gathered a) {
	batch b = mine(a.e.s.count);
	if (b.n <= 0) return;
	i64 at[4][3];
	u64 index[4], bits[4];
	places<3>(a.e, b, at);
	read_bits<3>(a.e, b, at, 2, index);
	_Pragma("unroll") for (int k = 0; k < 4; k++) at[k][1] += (i64)index[k] * a.stride;
	read_bits<3>(a.e, b, at, 1, bits);
	write_bits<3>(a.e, b, at, bits);
}

// scatter adds runs of elements to places of a sum. The runs of one place follow
// each other in a list and are added by one thread in their order, so that the
// sums don't depend on which thread is first.
struct scattered {
	u64 sum, x;
	u64 places, starts, sources; // of i64: each place, where its sources begin, and the number of each run
	i64 count, run;              // places, elements of a run
};
static_assert(sizeof(scattered) == SIZE_scattered, "");

template <class C> INLINE void scatter(const scattered &a) {
	i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= a.count * a.run) return;
	i64 n = i / a.run, j = i % a.run;
	const i64 *starts = (const i64 *)a.starts, *sources = (const i64 *)a.sources;
	const C *x = (const C *)a.x + j;
	C *to = (C *)a.sum + ((const i64 *)a.places)[n] * a.run + j;
	C sum = *to;
	for (i64 s = starts[n]; s < starts[n + 1]; s++) sum = plus(sum, x[sources[s] * a.run]);
	*to = sum;
}

extern "C" __global__ void scatter_f32(ARGUMENT scattered a) { scatter<float>(a); }
extern "C" __global__ void scatter_f64(ARGUMENT scattered a) { scatter<double>(a); }
extern "C" __global__ void scatter_i64(ARGUMENT scattered a) { scatter<i64>(a); }

// scatter_packs is that for runs of whole packs of float32.
extern "C" __global__ void __launch_bounds__(256) scatter_packs(ARGUMENT scattered a) {
	typedef pack<float> P;
	i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x, packs = a.run / P::size;
	if (i >= a.count * packs) return;
	i64 n = i / packs, j = i % packs * P::size;
	const i64 *starts = (const i64 *)a.starts, *sources = (const i64 *)a.sources;
	float *to = (float *)a.sum + ((const i64 *)a.places)[n] * a.run + j, sum[P::size], v[P::size];
	P::load(to, sum);
	for (i64 s = starts[n], end = starts[n + 1]; s < end; s++) {
		P::load((const float *)a.x + sources[s] * a.run + j, v);
		UNROLL for (int k = 0; k < P::size; k++) sum[k] += v[k];
	}
	P::store(to, sum);
}
