// What the kernels of attention.cu do, on the processor that stands in for a device: their instructions for tensor
// cores mean nothing to it. Formulas are naive, but which block writes what, from where it reads and what it takes
// for granted are the same. A thread has one row.

#ifndef __CUDA_ARCH__

template <int HALF> struct small {
	typedef bfloat16 type;
};
template <> struct small<1> {
	typedef float16 type;
};

// aligned stops the program if a matrix can't be read 16 bytes at a time.
static void aligned(u64 address, const i64 (&at)[3]) {
	fk_need(address && address % 16 == 0 && at[0] % 8 == 0 && at[1] % 8 == 0 && at[2] % 8 == 0, "a matrix of attention doesn't lie as kernels read it");
}

static void check_attention(const attending &a, int most, unsigned rows_of_blocks, u64 shared) {
	fk_need(blockDim.x == 128 && gridDim.x == rows_of_blocks, "attention was launched with other blocks");
	fk_need(shared <= fk->shared_bytes, "attention was given too little shared memory");
	fk_need(a.features % 8 == 0 && a.values % 8 == 0 && a.features <= most && a.values <= most && a.features > 0 && a.values > 0, "attention of other features");
	fk_need(a.heads % a.key_heads == 0 && a.scale > 0, "attention of other heads");
	aligned(a.q, a.q_at), aligned(a.k, a.k_at), aligned(a.v, a.v_at), aligned(a.out, a.out_at);
}

// numbers are those of a row.
template <class T> struct numbers {
	const T *from;
	float operator[](int d) const { return as_float(from[d]); }
};

template <class T> static numbers<T> row_in(u64 address, const i64 (&at)[3], int batch, int head, int row) {
	return {(const T *)head_of(address, at, batch, head) + row * at[2]};
}

template <class T> static float dot_of(numbers<T> x, numbers<T> y, int n) {
	float sum = 0;
	for (int d = 0; d < n; d++) sum = fmaf(x[d], y[d], sum);
	return sum;
}

template <int D, int MT, int KEYS, int HALF> INLINE void attend_forward(const attending &a) {
	typedef typename small<HALF>::type T;
	int heads = a.batches * a.heads, blocks = (a.queries + 64 * MT - 1) / (64 * MT);
	check_attention(a, D, heads * blocks, 128 * MT * D + 8 * KEYS * D);
	int head = blockIdx.x % heads, batch = head / a.heads, first = (blocks - 1 - blockIdx.x / heads) * 64 * MT;
	head %= a.heads;
	int key_head = head / (a.heads / a.key_heads);
	for (int query = first + threadIdx.x; query < first + 64 * MT && query < a.queries; query += 128) {
		int end = a.causal ? query + a.keys - a.queries + 1 : a.keys;
		numbers<T> q = row_in<T>(a.q, a.q_at, batch, head, query);
		float most = -INFINITY, sum = 0, out[D] = {};
		for (int key = 0; key < end; key++) most = fmaxf(most, a.scale * dot_of(q, row_in<T>(a.k, a.k_at, batch, key_head, key), a.features));
		for (int key = 0; key < end; key++) {
			float p = expf(a.scale * dot_of(q, row_in<T>(a.k, a.k_at, batch, key_head, key), a.features) - most);
			numbers<T> v = row_in<T>(a.v, a.v_at, batch, key_head, key);
			sum += p;
			for (int d = 0; d < a.values; d++) out[d] = fmaf(p, v[d], out[d]);
		}
		T *to = (T *)head_of(a.out, a.out_at, batch, head) + query * a.out_at[2];
		for (int d = 0; d < a.values; d++) store_float(to + d, out[d] / sum);
		if (a.sums) ((float *)a.sums)[(i64)(batch * a.heads + head) * a.queries + query] = most + logf(sum);
	}
}

template <int D, int MT, int KEYS, int HALF> INLINE void backward_queries(const attending &a) {
	typedef typename small<HALF>::type T;
	int heads = a.batches * a.heads, blocks = (a.queries + 64 * MT - 1) / (64 * MT);
	check_attention(a, D, heads * blocks, 256 * MT * D + 8 * KEYS * D + 256 * MT);
	aligned(a.g, a.g_at), aligned(a.dq, a.dq_at);
	int head = blockIdx.x % heads, batch = head / a.heads, first = (blocks - 1 - blockIdx.x / heads) * 64 * MT;
	head %= a.heads;
	int key_head = head / (a.heads / a.key_heads);
	for (int query = first + threadIdx.x; query < first + 64 * MT && query < a.queries; query += 128) {
		int end = a.causal ? query + a.keys - a.queries + 1 : a.keys;
		i64 at = (i64)(batch * a.heads + head) * a.queries + query;
		numbers<T> q = row_in<T>(a.q, a.q_at, batch, head, query), g = row_in<T>(a.g, a.g_at, batch, head, query);
		float lse = ((const float *)a.sums)[at], dot = dot_of(g, row_in<T>(a.out, a.out_at, batch, head, query), a.values), dq[D] = {};
		((float *)a.row_dots)[at] = dot;
		for (int key = 0; key < end; key++) {
			numbers<T> k = row_in<T>(a.k, a.k_at, batch, key_head, key);
			float p = expf(a.scale * dot_of(q, k, a.features) - lse);
			float ds = p * (dot_of(g, row_in<T>(a.v, a.v_at, batch, key_head, key), a.values) - dot) * a.scale;
			for (int d = 0; d < a.features; d++) dq[d] = fmaf(ds, k[d], dq[d]);
		}
		T *to = (T *)head_of(a.dq, a.dq_at, batch, head) + query * a.dq_at[2];
		for (int d = 0; d < a.features; d++) store_float(to + d, dq[d]);
	}
}

template <int D, int MT, int QUERIES, int HALF, int KEEP> INLINE void backward_keys(const attending &a) {
	typedef typename small<HALF>::type T;
	int heads = a.batches * a.key_heads, blocks = (a.keys + 64 * MT - 1) / (64 * MT), shared_by = a.heads / a.key_heads;
	check_attention(a, D, heads * blocks, 256 * MT * D + 8 * QUERIES * D + 16 * QUERIES);
	aligned(a.g, a.g_at), aligned(a.dk, a.dk_at), aligned(a.dv, a.dv_at);
	int key_head = blockIdx.x % heads, batch = key_head / a.key_heads, first = blockIdx.x / heads * 64 * MT;
	key_head %= a.key_heads;
	for (int key = first + threadIdx.x; key < first + 64 * MT && key < a.keys; key += 128) {
		numbers<T> k = row_in<T>(a.k, a.k_at, batch, key_head, key), v = row_in<T>(a.v, a.v_at, batch, key_head, key);
		float dk[D] = {}, dv[D] = {};
		for (int head = key_head * shared_by; head < (key_head + 1) * shared_by; head++)
			for (int query = a.causal && key > a.keys - a.queries ? key - (a.keys - a.queries) : 0; query < a.queries; query++) {
				i64 at = (i64)(batch * a.heads + head) * a.queries + query;
				numbers<T> q = row_in<T>(a.q, a.q_at, batch, head, query), g = row_in<T>(a.g, a.g_at, batch, head, query);
				float p = expf(a.scale * dot_of(q, k, a.features) - ((const float *)a.sums)[at]);
				float ds = p * (dot_of(g, v, a.values) - ((const float *)a.row_dots)[at]) * a.scale;
				for (int d = 0; d < a.values; d++) dv[d] = fmaf(p, g[d], dv[d]);
				for (int d = 0; d < a.features; d++) dk[d] = fmaf(ds, q[d], dk[d]);
			}
		T *to_k = (T *)head_of(a.dk, a.dk_at, batch, key_head) + key * a.dk_at[2], *to_v = (T *)head_of(a.dv, a.dv_at, batch, key_head) + key * a.dv_at[2];
		for (int d = 0; d < a.features; d++) store_float(to_k + d, dk[d]);
		for (int d = 0; d < a.values; d++) store_float(to_v + d, dv[d]);
	}
}

#endif // no device
