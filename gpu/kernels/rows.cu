// Operations on rows whose results are rows. A block works on one row.

struct rowwise {
	space rows; // the positions of rows
	i64 x_rows[MAX_AXES], out_rows[MAX_AXES];
	u64 x, out;
	i64 x_stride, out_stride; // along a row
	i64 count;                // elements of a row
	int x_type, out_type;
	int op;
	int unused;
};
static_assert(sizeof(rowwise) == SIZE_rowwise, "");

struct row {
	u64 x, out;
	i64 x_stride, out_stride, count;
	int x_type, out_type;
	template <class C> __device__ __forceinline__ C get(i64 i) const { return load1<C>(x, x_type, i * x_stride); }
	template <class C> __device__ __forceinline__ void set(i64 i, C v) const { store1(out, out_type, i * out_stride, v); }
};

INLINE row row_of(const rowwise &a, i64 number) {
	i64 at[1][2];
	locate<1, 2>(a.rows, &number, [&](int o) { return o == 0 ? a.x_rows : a.out_rows; }, at);
	row r = {a.x + at[0][0] * bytes_of(a.x_type), a.out + at[0][1] * bytes_of(a.out_type), a.x_stride, a.out_stride, a.count, a.x_type, a.out_type};
	return r;
}

// softmax keeps rows of up to 4 elements for each thread in registers. Longer ones
// are read three times: for the largest element, the sum and the result; all but
// the first time they come from a cache.
template <class C> INLINE void softmax(const rowwise &a) {
	__shared__ C most[most_warps];
	__shared__ double scratch[most_warps];
	row r = row_of(a, blockIdx.x);
	bool logarithms = a.op == rows_log_softmax, kept = r.count <= 4 * blockDim.x;
	C v[4], largest = initial<C>(reduce_max);
	i64 at[4], n = 0; // how many of v there are
	_Pragma("unroll") for (int k = 0; k < 4; k++) {
		i64 i = threadIdx.x + k * blockDim.x;
		if (i < r.count) n = k + 1;
		at[k] = i < r.count ? i * r.x_stride : 0;
	}
	if (kept) {
		load<4>(r.x, r.x_type, at, v);
		_Pragma("unroll") for (int k = 0; k < 4; k++)
			if (k < n) largest = larger(largest, v[k]);
	} else {
		for (i64 i = threadIdx.x; i < r.count; i += blockDim.x) largest = larger(largest, r.get<C>(i));
	}
	largest = block_join(largest, most, [](C a, C b) { return larger(a, b); });
	double sum = 0;
	if (kept) {
		_Pragma("unroll") for (int k = 0; k < 4; k++) {
			v[k] -= largest;
			C e = exponential(v[k]);
			if (k < n) sum += (double)e;
			if (!logarithms) v[k] = e;
		}
	} else {
		for (i64 i = threadIdx.x; i < r.count; i += blockDim.x) sum += (double)exponential(r.get<C>(i) - largest);
	}
	sum = block_sum(sum, scratch);
	C log = (C)logarithm(sum), factor = (C)(1 / sum);
	if (kept) {
		_Pragma("unroll") for (int k = 0; k < 4; k++)
			if (k < n) r.set(threadIdx.x + k * blockDim.x, logarithms ? v[k] - log : v[k] * factor);
		return;
	}
	for (i64 i = threadIdx.x; i < r.count; i += blockDim.x) {
		C x = r.get<C>(i) - largest;
		r.set(i, logarithms ? x - log : exponential(x) * factor);
	}
}

extern "C" __global__ void softmax_f32(ARGUMENT rowwise a) { softmax<float>(a); }
extern "C" __global__ void softmax_f64(ARGUMENT rowwise a) { softmax<double>(a); }

// cumulate makes running sums or products. A block takes 4 elements for each
// thread at a time: each thread runs through its own, then the totals of threads
// before it and of all that came earlier are put in front. As on the processor those
// of float are doubles on the way: a million roundings would add up.
template <class T, class C> INLINE void cumulate(const rowwise &a) {
	__shared__ C totals[2][most_threads];
	row r = row_of(a, blockIdx.x);
	bool product = a.op == rows_cumprod;
	C none = product ? 1 : 0, before = none;
	for (i64 first = 0; first < r.count; first += 4 * blockDim.x) {
		C v[4], total = none;
		i64 from = first + 4 * threadIdx.x;
		_Pragma("unroll") for (int k = 0; k < 4; k++) {
			C x = from + k < r.count ? (C)r.get<T>(from + k) : none;
			total = product ? times(total, x) : plus(total, x);
			v[k] = total;
		}
		int now = 0;
		totals[0][threadIdx.x] = total;
		for (int reach = 1; reach < blockDim.x; reach *= 2) {
			__syncthreads();
			C mine = totals[now][threadIdx.x];
			if (threadIdx.x >= reach) {
				C other = totals[now][threadIdx.x - reach];
				mine = product ? times(other, mine) : plus(other, mine);
			}
			now = 1 - now;
			totals[now][threadIdx.x] = mine;
		}
		__syncthreads();
		C front = before, all = totals[now][blockDim.x - 1];
		if (threadIdx.x > 0) {
			C other = totals[now][threadIdx.x - 1];
			front = product ? times(before, other) : plus(before, other);
		}
		_Pragma("unroll") for (int k = 0; k < 4; k++)
			if (from + k < r.count) r.set(from + k, (T)(product ? times(front, v[k]) : plus(front, v[k])));
		before = product ? times(before, all) : plus(before, all);
		__syncthreads();
	}
}

extern "C" __global__ void cumulate_f32(ARGUMENT rowwise a) { cumulate<float, double>(a); }
extern "C" __global__ void cumulate_f64(ARGUMENT rowwise a) { cumulate<double, double>(a); }
extern "C" __global__ void cumulate_i64(ARGUMENT rowwise a) { cumulate<i64, i64>(a); }

// triangle keeps what lies on one side of a diagonal of matrices in the last two
// axes, and puts zeros elsewhere. It moves bits: those of 0 are 0 in all types.
struct triangular {
	elementwise e;
	i64 rows, columns, diagonal;
	int upper;
	int unused;
};
static_assert(sizeof(triangular) == SIZE_triangular, "");

extern "C" __global__ void triangle(ARGUMENT triangular a) {
	batch b = mine(a.e.s.count);
	if (b.n <= 0) return;
	i64 at[4][2];
	u64 bits[4];
	places<2>(a.e, b, at);
	read_bits<2>(a.e, b, at, 1, bits);
	_Pragma("unroll") for (int k = 0; k < 4; k++) {
		i64 i = b.first + k, column = i % a.columns, row = i / a.columns % a.rows + a.diagonal;
		if (a.upper ? column < row : column > row) bits[k] = 0;
	}
	write_bits<2>(a.e, b, at, bits);
}

// Sorting. Elements become keys of 64 bits that sort as they do: NaN last, -0 and
// 0 as equals. Keys that are equal are told apart by their positions, so equal
// elements keep their order. Rows are padded to a power of two with keys that
// come last, and sorted by Batcher's bitonic network.
struct keyed {
	u64 key;
	i64 at;
};

struct sorting {
	rowwise r;
	u64 pairs;        // of keyed, length for each row
	i64 length;       // the power of two
	i64 first, count; // rows that are sorted now
	i64 size, step;   // of the network
	int descending;
	int unused;
};
static_assert(sizeof(sorting) == SIZE_sorting, "");

INLINE u64 sort_key(double x) {
	if (x != x) return ~0ull - 1;
	u64 bits = bits_of<u64>(x + 0.0); // -0 becomes 0
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}
INLINE u64 sort_key(float x) { return sort_key((double)x); }
INLINE u64 sort_key(i64 x) { return (u64)x ^ 1ull << 63; }

// exchange puts two pairs in order.
INLINE void exchange(keyed *p, i64 i, i64 j, bool ascending) {
	keyed a = p[i], b = p[j];
	bool after = a.key > b.key || a.key == b.key && a.at > b.at;
	if (after == ascending) p[i] = b, p[j] = a;
}

template <class C> INLINE void sort_begin(const sorting &a) {
	i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= a.count * a.length) return;
	keyed k = {~0ull, i % a.length};
	if (k.at < a.r.count) {
		k.key = sort_key(row_of(a.r, a.first + i / a.length).get<C>(k.at));
		if (a.descending) k.key = ~k.key;
	}
	((keyed *)a.pairs)[i] = k;
}

extern "C" __global__ void sort_begin_f32(ARGUMENT sorting a) { sort_begin<float>(a); }
extern "C" __global__ void sort_begin_f64(ARGUMENT sorting a) { sort_begin<double>(a); }
extern "C" __global__ void sort_begin_i64(ARGUMENT sorting a) { sort_begin<i64>(a); }

// sort_near does the steps of the network that stay within 1024 places, twice as
// many as a block has threads: all of those of small sizes if size is 0, else the
// last of one size.
extern "C" __global__ void sort_near(ARGUMENT sorting a) {
	__shared__ keyed p[1024];
	i64 places = 2 * blockDim.x, from = blockIdx.x * places, in_row = from % a.length;
	keyed *all = (keyed *)a.pairs + from;
	for (int k = threadIdx.x; k < places; k += blockDim.x) p[k] = all[k];
	for (i64 size = a.size ? a.size : 2; a.size ? size == a.size : size <= places; size *= 2)
		for (i64 step = size > places ? places / 2 : size / 2; step > 0; step /= 2) {
			__syncthreads();
			i64 i = threadIdx.x / step * 2 * step + threadIdx.x % step;
			exchange(p, i, i + step, ((in_row + i) & size) == 0);
		}
	__syncthreads();
	for (int k = threadIdx.x; k < places; k += blockDim.x) all[k] = p[k];
}

// sort_far does one step of the network.
extern "C" __global__ void sort_far(ARGUMENT sorting a) {
	i64 t = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (t >= a.count * a.length / 2) return;
	i64 i = t / a.step * 2 * a.step + t % a.step;
	exchange((keyed *)a.pairs, i, i + a.step, (i & (a.length - 1) & a.size) == 0);
}

extern "C" __global__ void sort_end(ARGUMENT sorting a) {
	i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= a.count * a.r.count) return;
	i64 n = i / a.r.count, at = i % a.r.count;
	row_of(a.r, a.first + n).set(at, ((const keyed *)a.pairs)[n * a.length + at].at);
}
