// Attention in float32, without tensor cores: for float32 operands, masks, and heads of any size up to 128. Slower
// than attention.cu, and easier to read; it never keeps scores either. Blocks of 256 threads work on tiles of 64
// rows; a thread has 4 x 4 of 64 x 64 scores, and 4 x D/16 of a result.

struct attending_any {
	u64 q, k, v, out, sums, mask; // mask: u8, or 0
	u64 g, row_dots, dq, dk, dv;
	i64 q_at[4], k_at[4], v_at[4], out_at[4], g_at[4], dq_at[4], dk_at[4], dv_at[4]; // strides of batches, heads, rows
	i64 mask_at[4];                                                                  // and along rows
	int batches, heads, key_heads;
	int queries, keys;
	int features, values; // of q and k, and of v and out: at most D
	int causal;
	float scale;
	int unused;
};
static_assert(sizeof(attending_any) == SIZE_attending_any, "");

enum { SIDE = 64, SCORES = SIDE + 4 }; // SCORES: the pitch of a tile of scores

// fill reads rows of a matrix into a tile of pitch D + 4; what lies outside becomes 0.
template <int D> INLINE void fill(float *tile, const float *from, i64 stride, i64 step, int first, int count, int features) {
	if (step == 1 && stride % 4 == 0 && features == D && (u64)from % 16 == 0) {
		float4 v[SIDE * D / 1024];
		UNROLL for (int i = 0; i < SIDE * D / 1024; i++) {
			int at = (i * 256 + threadIdx.x) * 4, row = at / D, d = at % D;
			float4 zero = {0, 0, 0, 0};
			v[i] = first + row < count ? *(const float4 *)(from + (first + row) * stride + d) : zero;
		}
		UNROLL for (int i = 0; i < SIDE * D / 1024; i++) {
			int at = (i * 256 + threadIdx.x) * 4, row = at / D, d = at % D;
			*(float4 *)(tile + row * (D + 4) + d) = v[i];
		}
		return;
	}
	for (int i = threadIdx.x; i < SIDE * D; i += 256) {
		int row = i / D, d = i % D;
		tile[row * (D + 4) + d] = first + row < count && d < features ? from[(first + row) * stride + d * step] : 0;
	}
}

// A·Bᵀ of two tiles: rows y + 16i of A, and x + 16j of B.
template <int D> INLINE void product_of_rows(const float *a, const float *b, float (&c)[4][4]) {
	int y = threadIdx.x / 16, x = threadIdx.x % 16;
	_Pragma("unroll 4") for (int d = 0; d < D; d += 4) {
		float4 u[4], v[4];
		UNROLL for (int i = 0; i < 4; i++) u[i] = *(const float4 *)(a + (y + 16 * i) * (D + 4) + d), v[i] = *(const float4 *)(b + (x + 16 * i) * (D + 4) + d);
		UNROLL for (int i = 0; i < 4; i++)
			UNROLL for (int j = 0; j < 4; j++) c[i][j] = fmaf(u[i].w, v[j].w, fmaf(u[i].z, v[j].z, fmaf(u[i].y, v[j].y, fmaf(u[i].x, v[j].x, c[i][j]))));
	}
}

// S·B for a tile of scores: rows y + 16i of S, columns 4x + 64j of B.
template <int D> INLINE void product_with(const float *s, const float *b, float (&c)[4][D / 64][4]) {
	int y = threadIdx.x / 16, x = threadIdx.x % 16;
	_Pragma("unroll 2") for (int k = 0; k < SIDE; k += 4) {
		float4 u[4];
		UNROLL for (int i = 0; i < 4; i++) u[i] = *(const float4 *)(s + (y + 16 * i) * SCORES + k);
		UNROLL for (int l = 0; l < 4; l++)
			UNROLL for (int j = 0; j < D / 64; j++) {
				float4 v = *(const float4 *)(b + (k + l) * (D + 4) + 64 * j + 4 * x);
				UNROLL for (int i = 0; i < 4; i++) {
					float f = l == 0 ? u[i].x : l == 1 ? u[i].y : l == 2 ? u[i].z : u[i].w;
					c[i][j][0] = fmaf(f, v.x, c[i][j][0]), c[i][j][1] = fmaf(f, v.y, c[i][j][1]);
					c[i][j][2] = fmaf(f, v.z, c[i][j][2]), c[i][j][3] = fmaf(f, v.w, c[i][j][3]);
				}
			}
	}
}

template <int D> INLINE void write_rows(const float (&c)[4][D / 64][4], const float (&factor)[4], float *to, i64 stride, i64 step, int first, int count, int features) {
	int y = threadIdx.x / 16, x = threadIdx.x % 16;
	UNROLL for (int i = 0; i < 4; i++)
		UNROLL for (int j = 0; j < D / 64; j++)
			UNROLL for (int e = 0; e < 4; e++) {
				int row = first + y + 16 * i, d = 64 * j + 4 * x + e;
				if (row < count && d < features) to[row * stride + d * step] = c[i][j][e] * factor[i];
			}
}

INLINE float *head_at(u64 address, const i64 (&at)[4], int batch, int head) { return (float *)address + batch * at[0] + head * at[1]; }

// hidden reports whether a query may not see a key.
INLINE bool hidden(const attending_any &a, int batch, int head, int query, int key) {
	if (key >= a.keys || query >= a.queries || a.causal && key > query + a.keys - a.queries) return true;
	return a.mask && !((const u8 *)a.mask)[batch * a.mask_at[0] + head * a.mask_at[1] + query * a.mask_at[2] + key * a.mask_at[3]];
}

// shared memory: (2·(D + 4) + SCORES)·64 floats
template <int D> INLINE void forward_any(const attending_any &a) {
	LAUNCHED_MEMORY(attention_memory);
	float *q = (float *)attention_memory, *kv = q + SIDE * (D + 4), *p = kv + SIDE * (D + 4);
	int heads = a.batches * a.heads, blocks = (a.queries + SIDE - 1) / SIDE;
	int head = blockIdx.x % heads, first = (blocks - 1 - blockIdx.x / heads) * SIDE, batch = head / a.heads;
	head %= a.heads;
	int kh = head / (a.heads / a.key_heads), shift = a.keys - a.queries, y = threadIdx.x / 16, x = threadIdx.x % 16;
	int end = a.causal && first + SIDE + shift < a.keys ? first + SIDE + shift : a.keys;
	const float *k = head_at(a.k, a.k_at, batch, kh), *v = head_at(a.v, a.v_at, batch, kh);
	float out[4][D / 64][4] = {}, top[4], sum[4] = {}, scale = a.scale * LOG2E;
	UNROLL for (int i = 0; i < 4; i++) top[i] = -1e30f;
	fill<D>(q, head_at(a.q, a.q_at, batch, head), a.q_at[2], a.q_at[3], first, a.queries, a.features);
	for (int from = 0; from < end; from += SIDE) {
		float s[4][4] = {};
		__syncthreads();
		fill<D>(kv, k, a.k_at[2], a.k_at[3], from, a.keys, a.features);
		__syncthreads();
		product_of_rows<D>(q, kv, s);
		bool some = a.mask || from + SIDE > a.keys || a.causal && from + SIDE > first + shift + 1;
		UNROLL for (int i = 0; i < 4; i++) {
			float here = top[i];
			UNROLL for (int j = 0; j < 4; j++) {
				s[i][j] *= scale;
				if (some && hidden(a, batch, head, first + y + 16 * i, from + x + 16 * j)) s[i][j] = -2e30f;
				here = fmaxf(here, s[i][j]);
			}
			here = join_warp<largest>(here, 16);
			float less = base2(top[i] - here), more = 0;
			top[i] = here;
			UNROLL for (int j = 0; j < 4; j++) {
				float e = base2(s[i][j] - here);
				more += e;
				p[(y + 16 * i) * SCORES + x + 16 * j] = e;
			}
			sum[i] = fmaf(sum[i], less, more);
			UNROLL for (int j = 0; j < D / 64; j++)
				UNROLL for (int e = 0; e < 4; e++) out[i][j][e] *= less;
		}
		__syncthreads(); // K is no longer needed
		fill<D>(kv, v, a.v_at[2], a.v_at[3], from, a.keys, a.values);
		__syncthreads();
		product_with<D>(p, kv, out);
	}
	UNROLL for (int i = 0; i < 4; i++) {
		sum[i] = join_warp<adding>(sum[i], 16);
		int query = first + y + 16 * i;
		bool any = sum[i] != 0; // a query that sees no key has the result 0
		if (a.sums && x == 0 && query < a.queries) ((float *)a.sums)[(i64)(batch * a.heads + head) * a.queries + query] = any ? LN2 * (top[i] + log2f(sum[i])) : bits_of<float>(0x7f800000u);
		sum[i] = any ? 1 / sum[i] : 0;
	}
	write_rows<D>(out, sum, head_at(a.out, a.out_at, batch, head), a.out_at[2], a.out_at[3], first, a.queries, a.values);
}

// dots_any: D of each row, a warp for each.
INLINE void dots_any(const attending_any &a) {
	i64 row = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
	if (row >= (i64)a.batches * a.heads * a.queries) return;
	int query = (int)(row % a.queries), head = (int)(row / a.queries % a.heads), batch = (int)(row / a.queries / a.heads);
	const float *g = head_at(a.g, a.g_at, batch, head) + query * a.g_at[2], *o = head_at(a.out, a.out_at, batch, head) + query * a.out_at[2];
	float dot = 0;
	for (int d = threadIdx.x % 32; d < a.values; d += 32) dot = fmaf(g[d * a.g_at[3]], o[d * a.out_at[3]], dot);
	dot = join_warp<adding>(dot);
	if (threadIdx.x % 32 == 0) ((float *)a.row_dots)[row] = dot;
}

// shared memory: (4·(D + 4) + SCORES)·64 floats, for both.
template <int D> INLINE void queries_any(const attending_any &a) {
	LAUNCHED_MEMORY(attention_memory);
	float *q = (float *)attention_memory, *g = q + SIDE * (D + 4), *k = g + SIDE * (D + 4), *v = k + SIDE * (D + 4), *ds = v + SIDE * (D + 4);
	int heads = a.batches * a.heads, blocks = (a.queries + SIDE - 1) / SIDE;
	int head = blockIdx.x % heads, first = (blocks - 1 - blockIdx.x / heads) * SIDE, batch = head / a.heads;
	head %= a.heads;
	int kh = head / (a.heads / a.key_heads), shift = a.keys - a.queries, y = threadIdx.x / 16, x = threadIdx.x % 16;
	int end = a.causal && first + SIDE + shift < a.keys ? first + SIDE + shift : a.keys;
	float dq[4][D / 64][4] = {}, lse[4], dot[4], scale = a.scale * LOG2E;
	UNROLL for (int i = 0; i < 4; i++) {
		int query = first + y + 16 * i;
		i64 at = (i64)(batch * a.heads + head) * a.queries + query;
		lse[i] = query < a.queries ? ((const float *)a.sums)[at] * LOG2E : bits_of<float>(0x7f800000u);
		dot[i] = query < a.queries ? ((const float *)a.row_dots)[at] : 0;
	}
	fill<D>(q, head_at(a.q, a.q_at, batch, head), a.q_at[2], a.q_at[3], first, a.queries, a.features);
	fill<D>(g, head_at(a.g, a.g_at, batch, head), a.g_at[2], a.g_at[3], first, a.queries, a.values);
	for (int from = 0; from < end; from += SIDE) {
		float s[4][4] = {}, dp[4][4] = {};
		__syncthreads();
		fill<D>(k, head_at(a.k, a.k_at, batch, kh), a.k_at[2], a.k_at[3], from, a.keys, a.features);
		fill<D>(v, head_at(a.v, a.v_at, batch, kh), a.v_at[2], a.v_at[3], from, a.keys, a.values);
		__syncthreads();
		product_of_rows<D>(q, k, s);
		product_of_rows<D>(g, v, dp);
		bool some = a.mask || from + SIDE > a.keys || a.causal && from + SIDE > first + shift + 1;
		UNROLL for (int i = 0; i < 4; i++)
			UNROLL for (int j = 0; j < 4; j++) {
				float p = some && hidden(a, batch, head, first + y + 16 * i, from + x + 16 * j) ? 0 : base2(fmaf(s[i][j], scale, -lse[i]));
				ds[(y + 16 * i) * SCORES + x + 16 * j] = p * (dp[i][j] - dot[i]);
			}
		__syncthreads();
		product_with<D>(ds, k, dq);
	}
	float factor[4] = {a.scale, a.scale, a.scale, a.scale};
	write_rows<D>(dq, factor, head_at(a.dq, a.dq_at, batch, head), a.dq_at[2], a.dq_at[3], first, a.queries, a.features);
}

template <int D> INLINE void keys_any(const attending_any &a) {
	LAUNCHED_MEMORY(attention_memory);
	float *q = (float *)attention_memory, *g = q + SIDE * (D + 4), *k = g + SIDE * (D + 4), *v = k + SIDE * (D + 4), *scores = v + SIDE * (D + 4);
	int heads = a.batches * a.key_heads, shared_by = a.heads / a.key_heads;
	int kh = blockIdx.x % heads, first = blockIdx.x / heads * SIDE, batch = kh / a.key_heads;
	kh %= a.key_heads;
	int shift = a.keys - a.queries, y = threadIdx.x / 16, x = threadIdx.x % 16;
	float dk[4][D / 64][4] = {}, dv[4][D / 64][4] = {}, scale = a.scale * LOG2E;
	fill<D>(k, head_at(a.k, a.k_at, batch, kh), a.k_at[2], a.k_at[3], first, a.keys, a.features);
	fill<D>(v, head_at(a.v, a.v_at, batch, kh), a.v_at[2], a.v_at[3], first, a.keys, a.values);
	for (int head = kh * shared_by; head < (kh + 1) * shared_by; head++)
		for (int from = a.causal && first > shift ? (first - shift) / SIDE * SIDE : 0; from < a.queries; from += SIDE) {
			float s[4][4] = {}, dp[4][4] = {};
			__syncthreads();
			fill<D>(q, head_at(a.q, a.q_at, batch, head), a.q_at[2], a.q_at[3], from, a.queries, a.features);
			fill<D>(g, head_at(a.g, a.g_at, batch, head), a.g_at[2], a.g_at[3], from, a.queries, a.values);
			__syncthreads();
			product_of_rows<D>(k, q, s); // transposed: keys by queries
			product_of_rows<D>(v, g, dp);
			bool some = a.mask || first + SIDE > a.keys || from + SIDE > a.queries || a.causal && first + SIDE > from + shift + 1;
			UNROLL for (int j = 0; j < 4; j++) {
				int query = from + x + 16 * j;
				i64 at = (i64)(batch * a.heads + head) * a.queries + query;
				float lse = query < a.queries ? ((const float *)a.sums)[at] * LOG2E : 0, dot = query < a.queries ? ((const float *)a.row_dots)[at] : 0;
				UNROLL for (int i = 0; i < 4; i++) {
					float p = some && hidden(a, batch, head, query, first + y + 16 * i) ? 0 : base2(fmaf(s[i][j], scale, -lse));
					s[i][j] = p;
					dp[i][j] = p * (dp[i][j] - dot);
					scores[(y + 16 * i) * SCORES + x + 16 * j] = p;
				}
			}
			__syncthreads();
			product_with<D>(scores, g, dv);
			__syncthreads();
			UNROLL for (int i = 0; i < 4; i++)
				UNROLL for (int j = 0; j < 4; j++) scores[(y + 16 * i) * SCORES + x + 16 * j] = dp[i][j];
			__syncthreads();
			product_with<D>(scores, q, dk);
		}
	float factor[4] = {a.scale, a.scale, a.scale, a.scale}, as_is[4] = {1, 1, 1, 1};
	write_rows<D>(dk, factor, head_at(a.dk, a.dk_at, batch, kh), a.dk_at[2], a.dk_at[3], first, a.keys, a.features);
	write_rows<D>(dv, as_is, head_at(a.dv, a.dv_at, batch, kh), a.dv_at[2], a.dv_at[3], first, a.keys, a.values);
}

extern "C" __global__ void __launch_bounds__(256, 2) attend_any_64(ARGUMENT attending_any a) { forward_any<64>(a); }
extern "C" __global__ void __launch_bounds__(256, 2) attend_any_queries_64(ARGUMENT attending_any a) { queries_any<64>(a); }
extern "C" __global__ void __launch_bounds__(256, 2) attend_any_keys_64(ARGUMENT attending_any a) { keys_any<64>(a); }
extern "C" __global__ void __launch_bounds__(256, 2) attend_any_128(ARGUMENT attending_any a) { forward_any<128>(a); }
extern "C" __global__ void __launch_bounds__(256, 1) attend_any_queries_128(ARGUMENT attending_any a) { queries_any<128>(a); }
extern "C" __global__ void __launch_bounds__(256, 1) attend_any_keys_128(ARGUMENT attending_any a) { keys_any<128>(a); }
extern "C" __global__ void attend_any_dots(ARGUMENT attending_any a) { dots_any(a); }
