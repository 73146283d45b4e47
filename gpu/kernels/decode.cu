// Attention of one query for each head over a long cache, as in generation. A head has little work and much to
// read, so its keys are cut into parts for a block each (Flash-Decoding, Dao et al. 2023). The block of a head that
// comes last joins the parts in their order.

struct decoding {
	u64 q, k, v, out, partial, finished; // partial: float32, D + 2 for each part; finished: u32 for each head, 0 between
	                                     // launches
	i64 q_at[2], k_at[3], v_at[3], out_at[2]; // strides of batches, heads and keys
	int batches, heads, key_heads, keys, part, parts;
	float scale;
	int unused;
};
static_assert(sizeof(decoding) == SIZE_decoding, "");

template <class T, int D> INLINE void decode_attention(const decoding &a) {
	typedef pack<T> P;
	enum { N = P::size, LANES = D / N, AT_ONCE = 4 }; // LANES threads share a key
	__shared__ float tops[4], sums[4], outs[4][D];
	__shared__ u32 place;
	int head = blockIdx.x / a.parts, part = blockIdx.x % a.parts;
	int batch = head / a.heads, h = head % a.heads, kh = h / (a.heads / a.key_heads);
	int lane = threadIdx.x % LANES, key = threadIdx.x / LANES, warp = threadIdx.x / 32;
	const int together = 128 / LANES;
	int first = part * a.part, end = first + a.part < a.keys ? first + a.part : a.keys;
	const T *k = (const T *)a.k + batch * a.k_at[0] + kh * a.k_at[1] + lane * N, *v = (const T *)a.v + batch * a.v_at[0] + kh * a.v_at[1] + lane * N;
	float q[N], out[N] = {}, top = -1e30f, sum = 0;
	P::load((const T *)a.q + batch * a.q_at[0] + h * a.q_at[1] + lane * N, q);
	UNROLL for (int i = 0; i < N; i++) q[i] *= a.scale * LOG2E;
	for (int from = first; from < end; from += AT_ONCE * together) {
		float x[AT_ONCE][N], y[AT_ONCE][N], s[AT_ONCE], here = top;
		UNROLL for (int j = 0; j < AT_ONCE; j++) {
			int at = from + j * together + key;
			i64 safe = at < end ? at : first;
			P::load(k + safe * a.k_at[2], x[j]);
			P::load(v + safe * a.v_at[2], y[j]);
		}
		UNROLL for (int j = 0; j < AT_ONCE; j++) {
			float dot = 0;
			UNROLL for (int i = 0; i < N; i++) dot = fmaf(q[i], x[j][i], dot);
			dot = join_warp<adding>(dot, LANES);
			s[j] = from + j * together + key < end ? dot : -2e30f;
			here = fmaxf(here, s[j]);
		}
		float less = base2(top - here);
		sum *= less, top = here;
		UNROLL for (int i = 0; i < N; i++) out[i] *= less;
		UNROLL for (int j = 0; j < AT_ONCE; j++) {
			float p = base2(s[j] - top);
			sum += p;
			UNROLL for (int i = 0; i < N; i++) out[i] = fmaf(p, y[j][i], out[i]);
		}
	}
	for (int off = LANES; off < 32; off *= 2) { // keys of a warp
		float other = __shfl_xor_sync(0xffffffffu, top, off), most = fmaxf(top, other), mine = base2(top - most), its = base2(other - most);
		sum = sum * mine + __shfl_xor_sync(0xffffffffu, sum, off) * its;
		UNROLL for (int i = 0; i < N; i++) out[i] = out[i] * mine + __shfl_xor_sync(0xffffffffu, out[i], off) * its;
		top = most;
	}
	if (threadIdx.x % 32 < LANES) {
		if (lane == 0) tops[warp] = top, sums[warp] = sum;
		UNROLL for (int i = 0; i < N; i++) outs[warp][lane * N + i] = out[i];
	}
	__syncthreads();
	float most = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
	float total = 0;
	UNROLL for (int w = 0; w < 4; w++) total += sums[w] * base2(tops[w] - most);
	float *partial = (float *)a.partial + (i64)blockIdx.x * (D + 2);
	for (int d = threadIdx.x; d < D; d += 128) {
		float x = 0;
		UNROLL for (int w = 0; w < 4; w++) x += outs[w][d] * base2(tops[w] - most);
		if (a.parts == 1)
			store_float((T *)a.out + batch * a.out_at[0] + h * a.out_at[1] + d, x / total);
		else
			partial[d] = x;
	}
	if (a.parts == 1) return;
	if (threadIdx.x == 0) partial[D] = most, partial[D + 1] = total;
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0) place = atomicAdd((u32 *)a.finished + head, 1u);
	__syncthreads();
	if (place != a.parts - 1) return;
	__threadfence();
	if (threadIdx.x == 0) ((u32 *)a.finished)[head] = 0; // for the next launch
	const volatile float *all = (const float *)a.partial + (i64)head * a.parts * (D + 2);
	most = -1e30f;
	for (int i = 0; i < a.parts; i++) most = fmaxf(most, all[i * (D + 2) + D]);
	for (int d = threadIdx.x; d < D; d += 128) {
		float x = 0, total = 0;
		_Pragma("unroll 4") for (int i = 0; i < a.parts; i++) {
			float factor = base2(all[i * (D + 2) + D] - most);
			x = fmaf(all[i * (D + 2) + d], factor, x);
			total = fmaf(all[i * (D + 2) + D + 1], factor, total);
		}
		store_float((T *)a.out + batch * a.out_at[0] + h * a.out_at[1] + d, x / total);
	}
}

extern "C" __global__ void __launch_bounds__(128) decode_bf16_64(ARGUMENT decoding a) { decode_attention<bfloat16, 64>(a); }
extern "C" __global__ void __launch_bounds__(128) decode_bf16_128(ARGUMENT decoding a) { decode_attention<bfloat16, 128>(a); }
extern "C" __global__ void __launch_bounds__(128) decode_f16_64(ARGUMENT decoding a) { decode_attention<float16, 64>(a); }
extern "C" __global__ void __launch_bounds__(128) decode_f16_128(ARGUMENT decoding a) { decode_attention<float16, 128>(a); }
extern "C" __global__ void __launch_bounds__(128) decode_f32_64(ARGUMENT decoding a) { decode_attention<float, 64>(a); }
extern "C" __global__ void __launch_bounds__(128) decode_f32_128(ARGUMENT decoding a) { decode_attention<float, 128>(a); }
