// Attention of float16 and bfloat16 on tensor cores (FlashAttention-2, Dao 2023, arXiv:2307.08691): tiles of scores
// live in registers, and memory sees only what is as long as the sequences.
//
//	forward    S = Q·Kᵀ·scale    P = exp(S - lse)    O = P·V
//	backward   dP = G·Vᵀ    dS = P∘(dP - D), D = Σ G∘O    dQ = dS·K·scale
//	           dV = Pᵀ·G    dK = dSᵀ·Q·scale
//
// Backward is two kernels: one owns queries and walks keys, the other owns keys and walks queries. Both compute S and
// dP, 7 products of matrices instead of 5, but no thread adds to what another one does, so that results are the same
// each time and no gradient is kept in float32.
//
// A warp owns 16·MT rows. What it multiplies from the left stays in its registers, and what it multiplies with comes
// from shared memory, where two tiles take turns: one is being loaded while the other is used.

struct attending {
	u64 q, k, v, out, sums;      // sums: lse of each query, float32, or 0
	u64 g, row_dots, dq, dk, dv; // backward: dL/dout, D
	i64 q_at[3], k_at[3], v_at[3], out_at[3], g_at[3], dq_at[3], dk_at[3], dv_at[3]; // strides of batches, heads, rows
	int batches, heads, key_heads;
	int queries, keys;
	int features, values; // of q and k, and of v and out: multiples of 8, at most D
	int causal;           // the last query sees all keys, the one before all but one
	float scale;
	int unused;
};
static_assert(sizeof(attending) == SIZE_attending, "");

INLINE u64 head_of(u64 address, const i64 (&at)[3], int batch, int head) { return address + 2 * (batch * at[0] + head * at[1]); }

// What a block does; D is the largest number of features, 64·MT rows are the block's, and HALF says float16.
template <int D, int MT, int KEYS, int HALF> INLINE void attend_forward(const attending &a);
template <int D, int MT, int KEYS, int HALF> INLINE void backward_queries(const attending &a);
template <int D, int MT, int QUERIES, int HALF, int KEEP> INLINE void backward_keys(const attending &a);

#if __CUDA_ARCH__ >= 800

// Products of 16 x 16 and 16 x 8 to 16 x 8 (m16n8k16). In a warp, lane 4i + j has of the result rows i and i+8 of
// columns 2j and 2j+1.
template <int HALF> INLINE void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
	if (HALF)
		asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
	else
		asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <int HALF> INLINE u32 pack2(float low, float high) { return HALF ? pack_float16(low, high) : pack_bfloat16(low, high); }

INLINE float half_value(u32 code) {
	float16 x = {(u16)code};
	return as_float(x);
}

INLINE float logarithm2(float x) {
	float y;
	asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

INLINE u32 shared_address(const void *p) {
	return (u32)__cvta_generic_to_shared(p);
}

// load4 takes 4 matrices of 8 x 8 from shared memory; each lane names a row of one. turned has them transposed.
INLINE void load4(u32 (&r)[4], u32 at) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}
INLINE void load4_turned(u32 (&r)[4], u32 at) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}

// A tile has rows of D elements in shared memory. Groups of 16 bytes are swapped in a row by its number, so that 8
// rows of one column lie in different banks.
template <int D> struct tile {
	enum { pitch = 2 * D, groups = D / 8 };

	// fetch starts copying rows of a matrix; what lies outside becomes 0.
	template <int ROWS, int THREADS> INLINE void fetch(u32 to, u64 from, i64 stride, int first, int count, int features) {
		int group = threadIdx.x % groups, row = threadIdx.x / groups;
		UNROLL for (int i = 0; i < ROWS; i += THREADS / groups) {
			int r = row + i;
			bool inside = first + r < count && group * 8 < features;
			u64 source = from + 2 * (inside ? (first + r) * stride + group * 8 : 0);
			u32 target = to + r * pitch + ((group ^ (r & 7)) << 4);
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(inside ? 16 : 0));
		}
	}

	// Where a lane begins to read. In left, and turned, matrices 0 and 1 lie below each
	// other; in right they lie side by side. step moves by 16 columns.
	INLINE u32 left(u32 base, int first) {
		int lane = threadIdx.x % 32, row = first + lane % 16;
		return base + row * pitch + ((lane / 16 ^ (row & 7)) << 4);
	}
	INLINE u32 right(u32 base, int first) {
		int lane = threadIdx.x % 32, row = first + lane % 8 + lane / 16 * 8;
		return base + row * pitch + ((lane / 8 % 2 ^ (row & 7)) << 4);
	}
	INLINE u32 step(u32 at, int columns16) { return at ^ columns16 << 5; }
};

INLINE void fetched() {
	asm volatile("cp.async.commit_group;");
}
template <int PENDING> INLINE void wait_fetched() {
	asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
	__syncthreads();
}

// store_rows writes 16·MT rows of a warp, from registers by way of shared memory, so
// that 16 bytes are written at a time.
template <int D, int MT, int HALF> INLINE void store_rows(u32 space, int warp_row, const float (&acc)[MT][D / 8][4], const float (&factor)[MT][2], u64 to, i64 stride, int first, int count, int features) {
	int lane = threadIdx.x % 32;
	__syncwarp();
	UNROLL for (int m = 0; m < MT; m++) {
		UNROLL for (int n = 0; n < D / 8; n++) {
			UNROLL for (int h = 0; h < 2; h++) {
				int row = warp_row + 16 * m + 8 * h + lane / 4;
				u32 at = space + row * tile<D>::pitch + ((n ^ (row & 7)) << 4) + lane % 4 * 4;
				u32 code = pack2<HALF>(acc[m][n][2 * h] * factor[m][h], acc[m][n][2 * h + 1] * factor[m][h]);
				asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(code) : "memory");
			}
		}
	}
	__syncwarp();
	int group = lane % tile<D>::groups;
	UNROLL for (int i = 0; i < 16 * MT; i += 32 / tile<D>::groups) {
		int row = warp_row + i + lane / tile<D>::groups;
		uint4 x = {0, 0, 0, 0};
		asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "r"(space + row * tile<D>::pitch + ((group ^ (row & 7)) << 4)) : "memory");
		if (first + row < count && group * 8 < features) *(uint4 *)(to + 2 * ((first + row) * stride + group * 8)) = x;
	}
}

extern __shared__ uint4 attention_memory[];

// forward: blocks of 4 warps, one for 64·MT queries of a head; KEYS keys at a time.
// shared memory: 128·MT·D + 8·KEYS·D bytes.
template <int D, int MT, int KEYS, int HALF> INLINE void attend_forward(const attending &a) {
	typedef tile<D> T;
	enum { ROWS = 64 * MT };
	int heads = a.batches * a.heads, blocks = (a.queries + ROWS - 1) / ROWS;
	int head = blockIdx.x % heads, block = blocks - 1 - blockIdx.x / heads; // the longest first, if causal
	int batch = head / a.heads;
	head %= a.heads;
	int key_head = head / (a.heads / a.key_heads), first = block * ROWS, shift = a.keys - a.queries;
	int end = a.causal && first + ROWS + shift < a.keys ? first + ROWS + shift : a.keys; // keys that any of the rows sees
	u64 k = head_of(a.k, a.k_at, batch, key_head), v = head_of(a.v, a.v_at, batch, key_head);
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_row = warp * 16 * MT;

	u32 q_tile = shared_address(attention_memory), tiles = q_tile + ROWS * T::pitch;
	enum { BYTES = KEYS * T::pitch };
	T::template fetch<ROWS, 128>(q_tile, head_of(a.q, a.q_at, batch, head), a.q_at[2], first, a.queries, a.features);
	T::template fetch<KEYS, 128>(tiles, k, a.k_at[2], 0, a.keys, a.features);
	T::template fetch<KEYS, 128>(tiles + BYTES, v, a.v_at[2], 0, a.keys, a.values);
	fetched();

	enum { KEEP = D * MT <= 128 }; // Q in registers, or read again for each tile
	u32 q[KEEP ? MT : 1][KEEP ? D / 16 : 1][4];
	float out[MT][D / 8][4] = {}, most[MT][2], sum[MT][2] = {};
	UNROLL for (int m = 0; m < MT; m++) most[m][0] = most[m][1] = bits_of<float>(0xff800000u);
	const float scale = a.scale * LOG2E;

	for (int from = 0, turn = 0; from < end; from += KEYS, turn ^= 1) {
		wait_fetched<0>();
		u32 k_tile = tiles + turn * 2 * BYTES, v_tile = k_tile + BYTES;
		if (from + KEYS < end) {
			u32 next = tiles + (turn ^ 1) * 2 * BYTES;
			T::template fetch<KEYS, 128>(next, k, a.k_at[2], from + KEYS, a.keys, a.features);
			T::template fetch<KEYS, 128>(next + BYTES, v, a.v_at[2], from + KEYS, a.keys, a.values);
			fetched();
		}
		if (KEEP && from == 0) {
			UNROLL for (int m = 0; m < (KEEP ? MT : 1); m++)
				UNROLL for (int d = 0; d < (KEEP ? D / 16 : 1); d++) load4(q[m][d], T::step(T::left(q_tile, warp_row + 16 * m), d));
		}
		if (a.causal && from > first + warp_row + 16 * MT - 1 + shift) continue; // hidden from all rows of the warp
		float s[MT][KEYS / 8][4] = {};
		UNROLL for (int d = 0; d < D / 16; d++) {
			u32 q_here[MT][4];
			UNROLL for (int m = 0; m < MT; m++) {
				if (KEEP) {
					UNROLL for (int i = 0; i < 4; i++) q_here[m][i] = q[KEEP ? m : 0][KEEP ? d : 0][i];
				} else
					load4(q_here[m], T::step(T::left(q_tile, warp_row + 16 * m), d));
			}
			UNROLL for (int n = 0; n < KEYS / 16; n++) {
				u32 b[4];
				load4(b, T::step(T::right(k_tile, 16 * n), d));
				UNROLL for (int m = 0; m < MT; m++) multiply<HALF>(s[m][2 * n], q_here[m], b[0], b[1]), multiply<HALF>(s[m][2 * n + 1], q_here[m], b[2], b[3]);
			}
		}
		if (from + KEYS > a.keys || a.causal && from + KEYS > first + warp_row + shift + 1) {
			UNROLL for (int m = 0; m < MT; m++)
				UNROLL for (int n = 0; n < KEYS / 8; n++)
					UNROLL for (int i = 0; i < 4; i++) {
						int key = from + 8 * n + lane % 4 * 2 + i % 2, query = first + warp_row + 16 * m + lane / 4 + i / 2 * 8;
						if (key >= a.keys || a.causal && key > query + shift) s[m][n][i] = bits_of<float>(0xff800000u);
					}
		}
		u32 p[MT][KEYS / 16][4];
		UNROLL for (int m = 0; m < MT; m++)
			UNROLL for (int h = 0; h < 2; h++) {
				float top = most[m][h];
				UNROLL for (int n = 0; n < KEYS / 8; n++) top = fmaxf(top, fmaxf(s[m][n][2 * h], s[m][n][2 * h + 1]));
				top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
				top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
				float less = top * scale, correction = base2(fmaf(most[m][h], scale, -less));
				most[m][h] = top;
				float total = 0;
				UNROLL for (int n = 0; n < KEYS / 8; n++) {
					float x = base2(fmaf(s[m][n][2 * h], scale, -less)), y = base2(fmaf(s[m][n][2 * h + 1], scale, -less));
					total += x + y;
					p[m][n / 2][n % 2 * 2 + h] = pack2<HALF>(x, y);
				}
				sum[m][h] = fmaf(sum[m][h], correction, total);
				UNROLL for (int n = 0; n < D / 8; n++) out[m][n][2 * h] *= correction, out[m][n][2 * h + 1] *= correction;
			}
		UNROLL for (int n = 0; n < KEYS / 16; n++)
			UNROLL for (int d = 0; d < D / 16; d++) {
				u32 b[4];
				load4_turned(b, T::step(T::left(v_tile, 16 * n), d));
				UNROLL for (int m = 0; m < MT; m++) multiply<HALF>(out[m][2 * d], p[m][n], b[0], b[1]), multiply<HALF>(out[m][2 * d + 1], p[m][n], b[2], b[3]);
			}
	}

	UNROLL for (int m = 0; m < MT; m++)
		UNROLL for (int h = 0; h < 2; h++) {
			float total = sum[m][h];
			total += __shfl_xor_sync(0xffffffffu, total, 1);
			total += __shfl_xor_sync(0xffffffffu, total, 2);
			int query = first + warp_row + 16 * m + 8 * h + lane / 4;
			if (a.sums && lane % 4 == 0 && query < a.queries) ((float *)a.sums)[(i64)(batch * a.heads + head) * a.queries + query] = LN2 * (most[m][h] * scale + logarithm2(total));
			sum[m][h] = 1 / total;
		}
	store_rows<D, MT, HALF>(q_tile, warp_row, out, sum, head_of(a.out, a.out_at, batch, head), a.out_at[2], first, a.queries, a.values);
}

// backward_queries: blocks of 4 warps, one for 64·MT queries. It writes dQ, and D for
// the kernel that comes next. Scores are computed 16 keys at a time.
// shared memory: 256·MT·D + 8·KEYS·D bytes and 4·64·MT for D.
template <int D, int MT, int KEYS, int HALF> INLINE void backward_queries(const attending &a) {
	typedef tile<D> T;
	enum { ROWS = 64 * MT, BYTES = KEYS * T::pitch };
	int heads = a.batches * a.heads, blocks = (a.queries + ROWS - 1) / ROWS;
	int head = blockIdx.x % heads, block = blocks - 1 - blockIdx.x / heads;
	int batch = head / a.heads;
	head %= a.heads;
	int key_head = head / (a.heads / a.key_heads), first = block * ROWS, shift = a.keys - a.queries;
	int end = a.causal && first + ROWS + shift < a.keys ? first + ROWS + shift : a.keys;
	u64 k = head_of(a.k, a.k_at, batch, key_head), v = head_of(a.v, a.v_at, batch, key_head);
	u64 g_head = head_of(a.g, a.g_at, batch, head), o_head = head_of(a.out, a.out_at, batch, head);
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_row = warp * 16 * MT;

	u32 q_tile = shared_address(attention_memory), g_tile = q_tile + ROWS * T::pitch, tiles = g_tile + ROWS * T::pitch;
	float *dots = (float *)(attention_memory + (2 * ROWS + 4 * KEYS) * T::pitch / 16);
	T::template fetch<ROWS, 128>(q_tile, head_of(a.q, a.q_at, batch, head), a.q_at[2], first, a.queries, a.features);
	T::template fetch<ROWS, 128>(g_tile, g_head, a.g_at[2], first, a.queries, a.values);
	T::template fetch<KEYS, 128>(tiles, k, a.k_at[2], 0, a.keys, a.features);
	T::template fetch<KEYS, 128>(tiles + BYTES, v, a.v_at[2], 0, a.keys, a.values);
	fetched();

	// D of each row, by D/8 neighbours that read 16 bytes each, while the tiles travel.
	i64 numbers = (i64)(batch * a.heads + head) * a.queries;
	UNROLL for (int i = 0; i < ROWS; i += 128 / T::groups) {
		int row = i + threadIdx.x / T::groups, group = threadIdx.x % T::groups;
		float dot = 0;
		if (first + row < a.queries && group * 8 < a.values) {
			uint4 x = *(const uint4 *)(g_head + 2 * ((first + row) * a.g_at[2] + group * 8)), y = *(const uint4 *)(o_head + 2 * ((first + row) * a.out_at[2] + group * 8));
			u32 xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
			UNROLL for (int j = 0; j < 4; j++) {
				if (HALF)
					dot += half_value(xs[j]) * half_value(ys[j]) + half_value(xs[j] >> 16) * half_value(ys[j] >> 16);
				else
					dot += bits_of<float>(xs[j] << 16) * bits_of<float>(ys[j] << 16) + bits_of<float>(xs[j] & 0xffff0000u) * bits_of<float>(ys[j] & 0xffff0000u);
			}
		}
		dot = join_warp<adding>(dot, T::groups);
		if (group == 0) {
			dots[row] = dot;
			if (first + row < a.queries) ((float *)a.row_dots)[numbers + first + row] = dot;
		}
	}

	u32 q[MT][D / 16][4], g[MT][D / 16][4];
	float dq[MT][D / 8][4] = {}, less[MT][2], dot[MT][2];
	const float scale = a.scale * LOG2E;
	for (int from = 0, turn = 0; from < end; from += KEYS, turn ^= 1) {
		wait_fetched<0>();
		u32 k_tile = tiles + turn * 2 * BYTES, v_tile = k_tile + BYTES;
		if (from + KEYS < end) {
			u32 next = tiles + (turn ^ 1) * 2 * BYTES;
			T::template fetch<KEYS, 128>(next, k, a.k_at[2], from + KEYS, a.keys, a.features);
			T::template fetch<KEYS, 128>(next + BYTES, v, a.v_at[2], from + KEYS, a.keys, a.values);
			fetched();
		}
		if (from == 0) {
			UNROLL for (int m = 0; m < MT; m++) {
				UNROLL for (int d = 0; d < D / 16; d++) {
					load4(q[m][d], T::step(T::left(q_tile, warp_row + 16 * m), d));
					load4(g[m][d], T::step(T::left(g_tile, warp_row + 16 * m), d));
				}
				UNROLL for (int h = 0; h < 2; h++) {
					int row = warp_row + 16 * m + 8 * h + lane / 4;
					dot[m][h] = dots[row];
					less[m][h] = first + row < a.queries ? ((const float *)a.sums)[numbers + first + row] * LOG2E : bits_of<float>(0x7f800000u);
				}
			}
		}
		bool masked = from + KEYS > a.keys || a.causal && from + KEYS > first + warp_row + shift + 1;
		UNROLL for (int n = 0; n < KEYS / 16; n++) {
			float s[MT][2][4] = {}, dp[MT][2][4] = {};
			UNROLL for (int d = 0; d < D / 16; d++) {
				u32 b[4], c[4];
				load4(b, T::step(T::right(k_tile, 16 * n), d));
				load4(c, T::step(T::right(v_tile, 16 * n), d));
				UNROLL for (int m = 0; m < MT; m++) {
					multiply<HALF>(s[m][0], q[m][d], b[0], b[1]), multiply<HALF>(s[m][1], q[m][d], b[2], b[3]);
					multiply<HALF>(dp[m][0], g[m][d], c[0], c[1]), multiply<HALF>(dp[m][1], g[m][d], c[2], c[3]);
				}
			}
			u32 ds[MT][4];
			UNROLL for (int m = 0; m < MT; m++)
				UNROLL for (int j = 0; j < 2; j++)
					UNROLL for (int h = 0; h < 2; h++) {
						float d[2];
						UNROLL for (int i = 0; i < 2; i++) {
							float p = base2(fmaf(s[m][j][2 * h + i], scale, -less[m][h]));
							int key = from + 16 * n + 8 * j + lane % 4 * 2 + i, query = first + warp_row + 16 * m + lane / 4 + 8 * h;
							if (masked && (key >= a.keys || a.causal && key > query + shift)) p = 0;
							d[i] = p * (dp[m][j][2 * h + i] - dot[m][h]);
						}
						ds[m][2 * j + h] = pack2<HALF>(d[0], d[1]);
					}
			UNROLL for (int d = 0; d < D / 16; d++) {
				u32 b[4];
				load4_turned(b, T::step(T::left(k_tile, 16 * n), d));
				UNROLL for (int m = 0; m < MT; m++) multiply<HALF>(dq[m][2 * d], ds[m], b[0], b[1]), multiply<HALF>(dq[m][2 * d + 1], ds[m], b[2], b[3]);
			}
		}
	}
	float factor[MT][2];
	UNROLL for (int m = 0; m < MT; m++) factor[m][0] = factor[m][1] = a.scale;
	store_rows<D, MT, HALF>(q_tile, warp_row, dq, factor, head_of(a.dq, a.dq_at, batch, head), a.dq_at[2], first, a.queries, a.features);
}

// backward_keys: blocks of 4 warps, one for 64·MT keys. Scores are computed transposed,
// keys by queries, so that they come out in the form in which Pᵀ·G and dSᵀ·Q take
// them from the left. Query heads that share keys are walked in turn.
// shared memory: 256·MT·D + 8·QUERIES·D bytes and 4·4·QUERIES for lse and D.
template <int D, int MT, int QUERIES, int HALF, int KEEP> INLINE void backward_keys(const attending &a) {
	typedef tile<D> T;
	enum { ROWS = 64 * MT, BYTES = QUERIES * T::pitch };
	int heads = a.batches * a.key_heads, shared_by = a.heads / a.key_heads;
	int key_head = blockIdx.x % heads, block = blockIdx.x / heads; // the first keys are seen by most queries
	int batch = key_head / a.key_heads;
	key_head %= a.key_heads;
	int first = block * ROWS, shift = a.keys - a.queries;
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_row = warp * 16 * MT;
	int begin = a.causal && first > shift ? (first - shift) / QUERIES * QUERIES : 0; // queries that any of the rows is seen by
	int per_head = (a.queries - begin + QUERIES - 1) / QUERIES, rounds = per_head * shared_by;

	u32 k_tile = shared_address(attention_memory), v_tile = k_tile + ROWS * T::pitch, tiles = v_tile + ROWS * T::pitch;
	float *numbers = (float *)(attention_memory + (2 * ROWS + 4 * QUERIES) * T::pitch / 16);
	T::template fetch<ROWS, 128>(k_tile, head_of(a.k, a.k_at, batch, key_head), a.k_at[2], first, a.keys, a.features);
	T::template fetch<ROWS, 128>(v_tile, head_of(a.v, a.v_at, batch, key_head), a.v_at[2], first, a.keys, a.values);

	float lse = 0, dot = 0; // of the next tile's queries, one for each thread
	auto fetch = [&](int round) {
		int head = key_head * shared_by + round / per_head, from = begin + round % per_head * QUERIES;
		u32 to = tiles + round % 2 * 2 * BYTES;
		T::template fetch<QUERIES, 128>(to, head_of(a.q, a.q_at, batch, head), a.q_at[2], from, a.queries, a.features);
		T::template fetch<QUERIES, 128>(to + BYTES, head_of(a.g, a.g_at, batch, head), a.g_at[2], from, a.queries, a.values);
		fetched();
		if (threadIdx.x < QUERIES) {
			int query = from + threadIdx.x;
			i64 at = (i64)(batch * a.heads + head) * a.queries + query;
			lse = query < a.queries ? ((const float *)a.sums)[at] * LOG2E : bits_of<float>(0x7f800000u);
			dot = query < a.queries ? ((const float *)a.row_dots)[at] : 0;
		}
	};
	if (rounds > 0) fetch(0);

	u32 k[KEEP ? MT : 1][KEEP ? D / 16 : 1][4], v[KEEP ? MT : 1][KEEP ? D / 16 : 1][4];
	float dk[MT][D / 8][4] = {}, dv[MT][D / 8][4] = {};
	const float scale = a.scale * LOG2E;
	for (int round = 0; round < rounds; round++) {
		int turn = round % 2, from = begin + round % per_head * QUERIES;
		float *lses = numbers + turn * 2 * QUERIES, *dots = lses + QUERIES;
		if (threadIdx.x < QUERIES) lses[threadIdx.x] = lse, dots[threadIdx.x] = dot;
		wait_fetched<0>();
		u32 q_tile = tiles + turn * 2 * BYTES, g_tile = q_tile + BYTES;
		if (round + 1 < rounds) fetch(round + 1);
		if (KEEP && round == 0) {
			UNROLL for (int m = 0; m < (KEEP ? MT : 1); m++)
				UNROLL for (int d = 0; d < (KEEP ? D / 16 : 1); d++) {
					load4(k[m][d], T::step(T::left(k_tile, warp_row + 16 * m), d));
					load4(v[m][d], T::step(T::left(v_tile, warp_row + 16 * m), d));
				}
		}
		bool masked = a.causal && first + warp_row + 16 * MT - 1 > from + shift;
		UNROLL for (int n = 0; n < QUERIES / 16; n++) {
			float s[MT][2][4] = {}, dp[MT][2][4] = {};
			UNROLL for (int d = 0; d < D / 16; d++) {
				u32 b[4], c[4];
				load4(b, T::step(T::right(q_tile, 16 * n), d));
				load4(c, T::step(T::right(g_tile, 16 * n), d));
				UNROLL for (int m = 0; m < MT; m++) {
					if (KEEP) {
						multiply<HALF>(s[m][0], k[KEEP ? m : 0][KEEP ? d : 0], b[0], b[1]), multiply<HALF>(s[m][1], k[KEEP ? m : 0][KEEP ? d : 0], b[2], b[3]);
						multiply<HALF>(dp[m][0], v[KEEP ? m : 0][KEEP ? d : 0], c[0], c[1]), multiply<HALF>(dp[m][1], v[KEEP ? m : 0][KEEP ? d : 0], c[2], c[3]);
					} else {
						u32 left[4];
						load4(left, T::step(T::left(k_tile, warp_row + 16 * m), d));
						multiply<HALF>(s[m][0], left, b[0], b[1]), multiply<HALF>(s[m][1], left, b[2], b[3]);
						load4(left, T::step(T::left(v_tile, warp_row + 16 * m), d));
						multiply<HALF>(dp[m][0], left, c[0], c[1]), multiply<HALF>(dp[m][1], left, c[2], c[3]);
					}
				}
			}
			u32 p[MT][4], ds[MT][4];
			UNROLL for (int j = 0; j < 2; j++) {
				float2 less = *(const float2 *)(lses + 16 * n + 8 * j + lane % 4 * 2), minus = *(const float2 *)(dots + 16 * n + 8 * j + lane % 4 * 2);
				UNROLL for (int m = 0; m < MT; m++)
					UNROLL for (int h = 0; h < 2; h++) {
						float x = base2(fmaf(s[m][j][2 * h], scale, -less.x)), y = base2(fmaf(s[m][j][2 * h + 1], scale, -less.y));
						if (masked) {
							int key = first + warp_row + 16 * m + lane / 4 + 8 * h, query = from + 16 * n + 8 * j + lane % 4 * 2 + shift;
							if (key > query) x = 0;
							if (key > query + 1) y = 0;
						}
						p[m][2 * j + h] = pack2<HALF>(x, y);
						ds[m][2 * j + h] = pack2<HALF>(x * (dp[m][j][2 * h] - minus.x), y * (dp[m][j][2 * h + 1] - minus.y));
					}
			}
			UNROLL for (int d = 0; d < D / 16; d++) {
				u32 b[4], c[4];
				load4_turned(b, T::step(T::left(g_tile, 16 * n), d));
				load4_turned(c, T::step(T::left(q_tile, 16 * n), d));
				UNROLL for (int m = 0; m < MT; m++) {
					multiply<HALF>(dv[m][2 * d], p[m], b[0], b[1]), multiply<HALF>(dv[m][2 * d + 1], p[m], b[2], b[3]);
					multiply<HALF>(dk[m][2 * d], ds[m], c[0], c[1]), multiply<HALF>(dk[m][2 * d + 1], ds[m], c[2], c[3]);
				}
			}
		}
	}
	float factor[MT][2], as_is[MT][2];
	UNROLL for (int m = 0; m < MT; m++) factor[m][0] = factor[m][1] = a.scale, as_is[m][0] = as_is[m][1] = 1;
	if (rounds > 0 && !KEEP) __syncthreads(); // others may still read K and V
	store_rows<D, MT, HALF>(k_tile, warp_row, dk, factor, head_of(a.dk, a.dk_at, batch, key_head), a.dk_at[2], first, a.keys, a.features);
	store_rows<D, MT, HALF>(v_tile, warp_row, dv, as_is, head_of(a.dv, a.dv_at, batch, key_head), a.dv_at[2], first, a.keys, a.values);
}

#elif defined(__CUDA_ARCH__) // without these instructions: the steps stay, and nobody launches this

template <int D, int MT, int KEYS, int HALF> INLINE void attend_forward(const attending &a) {}
template <int D, int MT, int KEYS, int HALF> INLINE void backward_queries(const attending &a) {}
template <int D, int MT, int QUERIES, int HALF, int KEEP> INLINE void backward_keys(const attending &a) {}

#endif

// The sizes that were the fastest of those tried on an H100. Go has the same rows and shared memory.
extern "C" __global__ void __launch_bounds__(128, 2) attend_bf16_64(ARGUMENT attending a) { attend_forward<64, 2, 64, 0>(a); }
extern "C" __global__ void __launch_bounds__(128, 2) attend_bf16_128(ARGUMENT attending a) { attend_forward<128, 2, 32, 0>(a); }
extern "C" __global__ void __launch_bounds__(128, 3) attend_queries_bf16_64(ARGUMENT attending a) { backward_queries<64, 1, 64, 0>(a); }
extern "C" __global__ void __launch_bounds__(128, 2) attend_queries_bf16_128(ARGUMENT attending a) { backward_queries<128, 1, 64, 0>(a); }
extern "C" __global__ void __launch_bounds__(128, 2) attend_keys_bf16_64(ARGUMENT attending a) { backward_keys<64, 2, 64, 0, 1>(a); }
extern "C" __global__ void __launch_bounds__(128, 2) attend_keys_bf16_128(ARGUMENT attending a) { backward_keys<128, 1, 64, 0, 0>(a); }
extern "C" __global__ void __launch_bounds__(128, 2) attend_f16_64(ARGUMENT attending a) { attend_forward<64, 2, 64, 1>(a); }
extern "C" __global__ void __launch_bounds__(128, 2) attend_f16_128(ARGUMENT attending a) { attend_forward<128, 2, 32, 1>(a); }
extern "C" __global__ void __launch_bounds__(128, 3) attend_queries_f16_64(ARGUMENT attending a) { backward_queries<64, 1, 64, 1>(a); }
extern "C" __global__ void __launch_bounds__(128, 2) attend_queries_f16_128(ARGUMENT attending a) { backward_queries<128, 1, 64, 1>(a); }
extern "C" __global__ void __launch_bounds__(128, 2) attend_keys_f16_64(ARGUMENT attending a) { backward_keys<64, 2, 64, 1, 1>(a); }
extern "C" __global__ void __launch_bounds__(128, 2) attend_keys_f16_128(ARGUMENT attending a) { backward_keys<128, 1, 64, 1, 0>(a); }
