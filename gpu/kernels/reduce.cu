// Reductions of runs of elements to one each.

struct reduction {
	space kept, gone; // the positions of results, and of the elements behind each
	i64 kept_strides[MAX_AXES], gone_strides[MAX_AXES];
	u64 x, out, partial;
	i64 count, blocks; // elements behind each result, and pieces that they are cut into
	i64 width;         // results side by side in memory, for reduce_columns
	double divisor;
	int x_type, out_type;
	int op;
	int unused;
};
static_assert(sizeof(reduction) == SIZE_reduction, "");

enum { piece = 1024 }; // elements that one partial sum is made of

// Sums are made as on the processor, so that they are equal to the last bit: the
// elements of a piece are dealt out to 32 lanes in turn, lanes of the upper half
// are added to those of the lower half until one is left, and the sums of pieces
// are added in a balanced tree.

// What is smaller, and larger, than everything.
INLINE void limits(float &least, float &most) { least = bits_of<float>(0xff800000u), most = -least; }
INLINE void limits(double &least, double &most) { least = bits_of<double>(0xfffull << 52), most = -least; }
INLINE void limits(i64 &least, i64 &most) { least = (i64)(1ull << 63), most = ~least; }

// initial is what joins with anything without changing it.
template <class C> INLINE C initial(int op) {
	C least, most;
	limits(least, most);
	return op == reduce_prod ? (C)1 : op == reduce_max ? least : op == reduce_min ? most : (C)0;
}

template <class C> INLINE C join(int op, C a, C b) {
	switch (op) {
	case reduce_prod: return times(a, b);
	case reduce_max: return larger(a, b);
	case reduce_min: return smaller(a, b);
	}
	return plus(a, b);
}

template <class C> INLINE C term(int op, C x) { return op == reduce_sum_of_squares ? times(x, x) : x; }

// finish stores the result of one run, or of one piece of it.
template <class C> INLINE void finish(const reduction &a, i64 run, i64 part, C v) {
	if (a.blocks == 1)
		store1(a.out, a.out_type, run, join(a.op, initial<C>(a.op), v));
	else
		((C *)a.partial)[run * a.blocks + part] = v;
}

// along turns numbers of elements of a run into their places.
INLINE void along(const reduction &a, i64 at[4]) {
	if (a.gone.rank == 1) {
		_Pragma("unroll") for (int k = 0; k < 4; k++) at[k] *= a.gone_strides[0];
		return;
	}
	i64 places[4][1];
	locate<4, 1>(a.gone, at, [&](int) { return a.gone_strides; }, places);
	_Pragma("unroll") for (int k = 0; k < 4; k++) at[k] = places[k][0];
}

// reduce_rows: a warp for each piece of a run.
template <class C> INLINE void reduce_rows(const reduction &a) {
	i64 number = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
	int lane = threadIdx.x % 32;
	if (number >= a.kept.count * a.blocks) return;
	i64 run = number / a.blocks, part = number % a.blocks, first = part * piece;
	i64 n = a.count - first;
	if (n > piece) n = piece;
	u64 x = a.x + place(a.kept, a.kept_strides, run) * bytes_of(a.x_type);
	C sum = initial<C>(a.op);
	for (i64 i = lane; i < n; i += 32 * 4) {
		i64 at[4];
		C v[4];
		_Pragma("unroll") for (int k = 0; k < 4; k++) at[k] = first + (i + 32 * k < n ? i + 32 * k : i);
		along(a, at);
		load<4>(x, a.x_type, at, v);
		_Pragma("unroll") for (int k = 0; k < 4; k++)
			if (i + 32 * k < n) sum = join(a.op, sum, term(a.op, v[k]));
	}
	for (int half = 16; half > 0; half /= 2) sum = join(a.op, sum, __shfl_down_sync(0xffffffffu, sum, half));
	if (lane == 0) finish(a, run, part, sum);
}

extern "C" __global__ void reduce_rows_f32(ARGUMENT reduction a) { reduce_rows<float>(a); }
extern "C" __global__ void reduce_rows_f64(ARGUMENT reduction a) { reduce_rows<double>(a); }
extern "C" __global__ void reduce_rows_i64(ARGUMENT reduction a) { reduce_rows<i64>(a); }

// reduce_packs: for long runs whose elements follow each other, 16 bytes at a time, bound by memory alone. The threads
// of a group share a piece: they read 32 elements that follow each other and have a pack of neighbouring lanes each, so
// that the order is that of the other kernels. The operation and the type are constants where it is compiled. Without a
// place for partial sums, the pieces of a run are all in one warp, which joins them.
#ifndef REDUCE_TYPE
#define REDUCE_TYPE float
#define REDUCE_OP reduce_sum
#endif

extern "C" __global__ void __launch_bounds__(256) reduce_packs(ARGUMENT reduction a) {
	typedef pack<REDUCE_TYPE> packs;
	enum { each = packs::size, group = 32 / each, at_once = 4, op = REDUCE_OP };
	i64 number = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / group;
	bool there = number < a.kept.count * a.blocks; // all threads of a warp exchange values
	i64 run = there ? number / a.blocks : 0, part = there ? number % a.blocks : 0, first = part * piece;
	int n = !there ? 0 : a.count - first < piece ? (int)(a.count - first) : piece;
	int mine = threadIdx.x % group * each;
	const REDUCE_TYPE *x = (const REDUCE_TYPE *)a.x + run * a.kept_strides[0] + first + mine;
	float lanes[each], v[at_once][each];
	UNROLL for (int k = 0; k < each; k++) lanes[k] = initial<float>(op);
	int i = 0;
	for (; i + 32 * at_once <= n; i += 32 * at_once) {
		UNROLL for (int l = 0; l < at_once; l++) packs::load(x + i + 32 * l, v[l]);
		UNROLL for (int l = 0; l < at_once; l++)
			UNROLL for (int k = 0; k < each; k++) lanes[k] = join(op, lanes[k], term(op, v[l][k]));
	}
	for (; i + mine < n; i += 32) {
		packs::load(x + i, v[0]);
		UNROLL for (int k = 0; k < each; k++) lanes[k] = join(op, lanes[k], term(op, v[0][k]));
	}
	UNROLL for (int half = group / 2; half > 0; half /= 2)
		UNROLL for (int k = 0; k < each; k++) lanes[k] = join(op, lanes[k], __shfl_down_sync(0xffffffffu, lanes[k], half));
	UNROLL for (int half = each / 2; half > 0; half /= 2)
		UNROLL for (int k = 0; k < half; k++) lanes[k] = join(op, lanes[k], lanes[k + half]);
	float sum = lanes[0];
	if (a.partial) {
		if (there && threadIdx.x % group == 0) ((float *)a.partial)[number] = sum;
		return;
	}
	for (int step = 1; step < a.blocks; step *= 2) sum = join(op, sum, __shfl_down_sync(0xffffffffu, sum, step * group));
	if (there && threadIdx.x % group == 0 && part == 0) store1(a.out, a.out_type, run, join(op, initial<float>(op), sum));
}

// reduce_columns: for runs side by side, whose elements are far apart. A block
// reads rows of 32 elements, each of another run. The last axis kept is that of
// the columns, of a width.
template <class C> INLINE void reduce_columns(const reduction &a) {
	__shared__ C lanes[32][33];
	i64 number = blockIdx.x, strips = (a.width + 31) / 32;
	i64 strip = number % strips, part = number / strips % a.blocks, outer = number / strips / a.blocks;
	int column = threadIdx.x % 32, y = threadIdx.x / 32;
	i64 run = outer * a.width + strip * 32 + column;
	bool inside = strip * 32 + column < a.width;
	i64 first = part * piece, n = a.count - first;
	if (n > piece) n = piece;
	u64 x = a.x + place(a.kept, a.kept_strides, inside ? run : outer * a.width) * bytes_of(a.x_type);
	C sum[4];
	_Pragma("unroll") for (int k = 0; k < 4; k++) sum[k] = initial<C>(a.op);
	for (i64 i = y; i < n; i += 32) {
		i64 at[4];
		C v[4];
		_Pragma("unroll") for (int k = 0; k < 4; k++) at[k] = first + (i + 8 * k < n ? i + 8 * k : i);
		along(a, at);
		load<4>(x, a.x_type, at, v);
		_Pragma("unroll") for (int k = 0; k < 4; k++)
			if (i + 8 * k < n) sum[k] = join(a.op, sum[k], term(a.op, v[k]));
	}
	_Pragma("unroll") for (int k = 0; k < 4; k++) lanes[y + 8 * k][column] = sum[k];
	__syncthreads();
	for (int half = 16; half > 0; half /= 2) {
		for (int lane = y; lane < half; lane += 8) lanes[lane][column] = join(a.op, lanes[lane][column], lanes[lane + half][column]);
		__syncthreads();
	}
	if (y == 0 && inside) finish(a, run, part, lanes[0][column]);
}

extern "C" __global__ void reduce_columns_f32(ARGUMENT reduction a) { reduce_columns<float>(a); }
extern "C" __global__ void reduce_columns_f64(ARGUMENT reduction a) { reduce_columns<double>(a); }
extern "C" __global__ void reduce_columns_i64(ARGUMENT reduction a) { reduce_columns<i64>(a); }

// join_pairs joins the parts of each run in a tree in which each half is joined
// first, the first half being the larger if they differ. It makes one of at most
// 1024 parts; of more, it makes 2^depth for another round.
struct pairs {
	u64 partial, out;
	i64 parts; // of each run
	int depth, out_type, op;
	int last;
};
static_assert(sizeof(pairs) == SIZE_pairs, "");

// descend follows a path from the root of a tree over n parts: one bit for each
// half that is chosen.
INLINE void descend(i64 path, int depth, i64 &first, i64 &n) {
	for (int level = depth - 1; level >= 0; level--) {
		i64 half = (n + 1) / 2;
		if (path >> level & 1)
			first += half, n -= half;
		else
			n = half;
	}
}

template <class C> INLINE void join_pairs(const pairs &a) {
	__shared__ C values[1024];
	__shared__ u8 there[1024];
	i64 run = (i64)blockIdx.x >> a.depth, first = 0, n = a.parts;
	descend(blockIdx.x & ((1ll << a.depth) - 1), a.depth, first, n);
	int depth = 0;
	while (1 << depth < n) depth++;
	for (int leaf = threadIdx.x; leaf < 1 << depth; leaf += blockDim.x) {
		i64 at = 0, size = n;
		descend(leaf, depth, at, size);
		there[leaf] = size > 0;
		if (size > 0) values[leaf] = ((const C *)a.partial)[run * a.parts + first + at];
	}
	for (int step = 1; step < 1 << depth; step *= 2) {
		__syncthreads();
		for (int i = threadIdx.x * 2 * step; i < 1 << depth; i += blockDim.x * 2 * step)
			if (there[i + step]) values[i] = join(a.op, values[i], values[i + step]);
	}
	if (threadIdx.x > 0) return;
	if (a.last)
		store1(a.out, a.out_type, run, join(a.op, initial<C>(a.op), values[0]));
	else
		((C *)a.out)[blockIdx.x] = values[0];
}

extern "C" __global__ void join_pairs_f32(ARGUMENT pairs a) { join_pairs<float>(a); }
extern "C" __global__ void join_pairs_f64(ARGUMENT pairs a) { join_pairs<double>(a); }
extern "C" __global__ void join_pairs_i64(ARGUMENT pairs a) { join_pairs<i64>(a); }

// Reductions by a block for each run.

// block_join joins a value of each thread; all get the result. A warp exchanges
// values directly, and warps do through scratch.
template <class T, class Join> INLINE T block_join(T v, T *scratch, Join join) {
	for (int half = 16; half > 0; half /= 2) v = join(v, __shfl_xor_sync(0xffffffffu, v, half));
	if (blockDim.x <= 32) return v;
	if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
	__syncthreads();
	v = scratch[0];
	for (int warp = 1; warp < blockDim.x / 32; warp++) v = join(v, scratch[warp]);
	__syncthreads(); // scratch may be used again
	return v;
}

INLINE double block_sum(double v, double *scratch) {
	return block_join(v, scratch, [](double a, double b) { return a + b; });
}

enum { most_threads = 512, most_warps = most_threads / 32 };

struct run_of { // the elements of a run
	u64 x;
	const space *s;
	const i64 *strides;
	int type;
	template <class C> __device__ __forceinline__ C get(i64 i) const { return load1<C>(x, type, place(*s, strides, i)); }
};

INLINE run_of elements_of(const reduction &a, i64 run) {
	run_of r = {a.x + place(a.kept, a.kept_strides, run) * bytes_of(a.x_type), &a.gone, a.gone_strides, a.x_type};
	return r;
}

// spread: the variance of a run in two passes, the mean first, then the squares
// of distances from it; or its root.
template <class C> INLINE void spread(const reduction &a) {
	__shared__ double scratch[most_warps];
	run_of r = elements_of(a, blockIdx.x);
	double sum = 0, squares = 0;
	for (i64 i = threadIdx.x; i < a.count; i += blockDim.x) sum += (double)r.get<C>(i);
	double mean = block_sum(sum, scratch) / (double)a.count;
	for (i64 i = threadIdx.x; i < a.count; i += blockDim.x) {
		double d = (double)r.get<C>(i) - mean;
		squares += d * d;
	}
	double v = block_sum(squares, scratch) / a.divisor;
	if (threadIdx.x == 0) store1(a.out, a.out_type, blockIdx.x, (C)(a.op == reduce_std ? sqrt(v) : v));
}

extern "C" __global__ void spread_f32(ARGUMENT reduction a) { spread<float>(a); }
extern "C" __global__ void spread_f64(ARGUMENT reduction a) { spread<double>(a); }

// largest_of is the largest element of a run for all threads; NaN if there is one.
template <class C> INLINE C largest_of(const run_of &r, i64 count, C *scratch) {
	C largest = initial<C>(reduce_max);
	for (i64 i = threadIdx.x; i < count; i += blockDim.x) largest = larger(largest, r.get<C>(i));
	return block_join(largest, scratch, [](C a, C b) { return larger(a, b); });
}

template <class C> INLINE void logsumexp(const reduction &a) {
	__shared__ C most[most_warps];
	__shared__ double scratch[most_warps];
	run_of r = elements_of(a, blockIdx.x);
	C largest = largest_of(r, a.count, most);
	double sum = 0;
	for (i64 i = threadIdx.x; i < a.count; i += blockDim.x) sum += (double)exponential(r.get<C>(i) - largest);
	sum = block_sum(sum, scratch);
	if (threadIdx.x > 0) return;
	bool infinite = largest == largest && largest - largest != 0; // nothing to add, or all of it infinite
	store1(a.out, a.out_type, blockIdx.x, infinite ? largest : (C)((double)largest + logarithm(sum)));
}

extern "C" __global__ void logsumexp_f32(ARGUMENT reduction a) { logsumexp<float>(a); }
extern "C" __global__ void logsumexp_f64(ARGUMENT reduction a) { logsumexp<double>(a); }

// extreme finds where the largest or smallest element is: the first of several,
// and the first NaN if there is one.
template <class C> struct found {
	C value;
	i64 at; // -1: none yet
};

template <class C> INLINE found<C> better(found<C> a, found<C> b, bool largest) {
	if (a.at < 0) return b;
	if (b.at < 0) return a;
	bool nan_a = a.value != a.value, nan_b = b.value != b.value;
	if (nan_a != nan_b) return nan_a ? a : b;
	if (!nan_a && a.value != b.value) return (a.value > b.value) == largest ? a : b;
	return a.at < b.at ? a : b;
}

template <class C> INLINE void extreme(const reduction &a) {
	__shared__ found<C> scratch[most_threads];
	bool largest = a.op == reduce_argmax;
	run_of r = elements_of(a, blockIdx.x);
	found<C> best = {0, -1};
	for (i64 i = threadIdx.x; i < a.count; i += blockDim.x) {
		found<C> here = {r.get<C>(i), i};
		best = better(best, here, largest);
	}
	scratch[threadIdx.x] = best;
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half) scratch[threadIdx.x] = better(scratch[threadIdx.x], scratch[threadIdx.x + half], largest);
	}
	best = scratch[0];
	if (threadIdx.x == 0) ((i64 *)a.out)[blockIdx.x] = best.at;
}

extern "C" __global__ void extreme_f32(ARGUMENT reduction a) { extreme<float>(a); }
extern "C" __global__ void extreme_f64(ARGUMENT reduction a) { extreme<double>(a); }
extern "C" __global__ void extreme_i64(ARGUMENT reduction a) { extreme<i64>(a); }
