// The part of cuBLASLt that multiplies matrices, with the plainest loops. What
// the real one refuses is refused here.
#include "fake.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

using std::map;
using std::vector;

#define API(result, name) extern "C" __attribute__((visibility("default"))) result name
#define GUARD std::lock_guard<std::recursive_mutex> guard(fake::lock)

namespace {

enum { INVALID = 7, NOT_SUPPORTED = 15 };
enum { F32 = 0, F64 = 1, F16 = 2, BF16 = 14, E4M3 = 28, E5M2 = 29 };

struct description {
	int compute, scale;
	map<int, vector<char>> attributes;

	template <class T> T get(int key, T otherwise) const {
		auto a = attributes.find(key);
		if (a == attributes.end()) return otherwise;
		T value;
		memcpy(&value, a->second.data(), sizeof value);
		return value;
	}
};

struct layout {
	int type;
	int64_t rows, columns, lead;
	int order = 0, batch = 1;
	int64_t stride = 0;

	int64_t at(int64_t i, int64_t j) const { return order == 0 ? j * lead + i : i * lead + j; }
	int64_t bytes() const;
};

struct preference {
	size_t workspace = 0;
	uint32_t align[4] = {256, 256, 256, 256};
};

struct algorithm {
	uint64_t magic, number, align[4], workspace, rest;
};
constexpr uint64_t magic = 0x6c74616c676f;

struct choice {
	algorithm algo;
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};
static_assert(sizeof(choice) == 96, "");

int size_of(int type) {
	switch (type) {
	case F32: return 4;
	case F64: return 8;
	case F16: case BF16: return 2;
	case E4M3: case E5M2: return 1;
	}
	return 0;
}

int64_t layout::bytes() const {
	if (rows == 0 || columns == 0) return 0;
	return (at(rows - 1, columns - 1) + 1 + (batch - 1) * stride) * size_of(type);
}

// Formats with an exponent of e bits and a mantissa of m bits below its 1.
double decode(unsigned code, int e, int m, bool infinite) {
	int exponent = code >> m & ((1 << e) - 1), fraction = code & ((1 << m) - 1), bias = (1 << (e - 1)) - 1, top = (1 << e) - 1;
	double sign = code >> (e + m) & 1 ? -1 : 1;
	if (infinite && exponent == top) return fraction ? NAN : sign * INFINITY;
	if (!infinite && exponent == top && fraction == (1 << m) - 1) return NAN;
	return sign * (exponent ? ldexp(1 + ldexp(fraction, -m), exponent - bias) : ldexp(fraction, 1 - bias - m));
}

unsigned encode(double x, int e, int m, bool infinite) {
	int bias = (1 << (e - 1)) - 1, top = (1 << e) - 1;
	unsigned sign = std::signbit(x) ? 1u << (e + m) : 0, nan = infinite ? (top << m) | 1 << (m - 1) : (top << m) | ((1 << m) - 1);
	if (std::isnan(x)) return sign | nan;
	x = fabs(x);
	int exponent;
	frexp(x, &exponent);
	exponent = x == 0 || std::isinf(x) ? 1 - bias : exponent - 1;
	if (exponent < 1 - bias) exponent = 1 - bias;
	double unit = ldexp(1, exponent - m), n = std::isinf(x) ? x : nearbyint(x / unit);
	if (n >= 2 << m) n /= 2, exponent++;
	unsigned code = n >= 1 << m ? ((exponent + bias) << m) + (unsigned)(n - (1 << m)) : (unsigned)n;
	unsigned largest = infinite ? (top << m) - 1 : (top << m) + (1 << m) - 2;
	if (std::isinf(x) || exponent > bias + 1 || code > largest) return sign | (infinite ? largest + 1 : largest); // E4M3 saturates
	return sign | code;
}

double load(const void *p, int64_t i, int type, bool tf32) {
	switch (type) {
	case F32: {
		float x = ((const float *)p)[i];
		if (tf32 && std::isfinite(x)) {
			uint32_t u;
			memcpy(&u, &x, 4);
			u = (u + 0xfff + (u >> 13 & 1)) & ~0x1fffu;
			memcpy(&x, &u, 4);
		}
		return x;
	}
	case F64: return ((const double *)p)[i];
	case F16: return decode(((const uint16_t *)p)[i], 5, 10, true);
	case BF16: return decode(((const uint16_t *)p)[i], 8, 7, true);
	case E4M3: return decode(((const uint8_t *)p)[i], 4, 3, false);
	}
	return decode(((const uint8_t *)p)[i], 5, 2, true);
}

void store(void *p, int64_t i, int type, double x) {
	switch (type) {
	case F32: ((float *)p)[i] = (float)x; break;
	case F64: ((double *)p)[i] = x; break;
	case F16: ((uint16_t *)p)[i] = encode((float)x, 5, 10, true); break;
	case BF16: ((uint16_t *)p)[i] = encode((float)x, 8, 7, true); break;
	case E4M3: ((uint8_t *)p)[i] = encode((float)x, 4, 3, false); break;
	case E5M2: ((uint8_t *)p)[i] = encode((float)x, 5, 2, true); break;
	}
}

bool is_fp8(int type) { return type == E4M3 || type == E5M2; }

// check says whether there is a kernel for a product.
int check(const description *d, const layout *a, const layout *b, const layout *c, const layout *out) {
	bool ta = d->get(3, 0), tb = d->get(4, 0);
	int64_t m = ta ? a->columns : a->rows, k = ta ? a->rows : a->columns, n = tb ? b->rows : b->columns;
	if ((tb ? b->columns : b->rows) != k || out->rows != m || out->columns != n || c->rows != m || c->columns != n) return INVALID;
	if (m == 0 || n == 0 || k == 0) return INVALID;
	for (const layout *l : {a, b, c, out}) {
		if (l->lead < (l->order == 0 ? l->rows : l->columns)) return INVALID;
		if (l->batch != out->batch || !size_of(l->type)) return NOT_SUPPORTED;
	}
	if (out->batch > 1 && out->stride < (out->order == 0 ? out->lead * out->columns : out->lead * out->rows) - out->lead + 1) return INVALID; // batches overlap
	bool ok = false;
	switch (d->compute) {
	case 70: ok = a->type == F64 && b->type == F64 && out->type == F64 && d->scale == F64; break;
	case 77: case 75: case 74: ok = a->type == F32 && b->type == F32 && out->type == F32 && d->scale == F32; break;
	case 68: case 69:
		ok = d->scale == F32 && (a->type == b->type && (a->type == F32 || a->type == F16 || a->type == BF16) && (out->type == a->type || out->type == F32) ||
			is_fp8(a->type) && is_fp8(b->type));
		break;
	}
	if (!ok || c->type != out->type && !is_fp8(out->type)) return NOT_SUPPORTED;
	if (is_fp8(a->type)) {
		int capability = (int)fake::number("FAKECUDA_CAPABILITY", 90);
		if (capability < 89 || a->type == E5M2 && b->type == E5M2) return NOT_SUPPORTED;
		if (capability / 10 != 10 && (!ta || tb)) return NOT_SUPPORTED;
		if (a->rows % 16 || a->columns % 16 || b->rows % 16 || a->lead % 16 || b->lead % 16) return NOT_SUPPORTED;
		if (a->stride % 16 || b->stride % 16) return NOT_SUPPORTED;
		if (out->type == E5M2 && a->type == E4M3 && b->type == E4M3) return NOT_SUPPORTED;
		if (out->lead * size_of(out->type) % 16) return NOT_SUPPORTED;
	} else if (d->attributes.count(17) || d->attributes.count(18)) {
		return NOT_SUPPORTED;
	}
	return 0;
}

} // namespace

API(int, cublasLtCreate)(void **handle) {
	GUARD;
	if (!fake::context_of_thread()) return 1;
	if (int code = fake::fault("cublasLtCreate")) return code;
	*handle = malloc(1);
	return 0;
}

API(int, cublasLtDestroy)(void *handle) {
	free(handle);
	return 0;
}

API(size_t, cublasLtGetVersion)(void) { return 120804; }

API(const char *, cublasLtGetStatusString)(int status) {
	switch (status) {
	case 0: return "CUBLAS_STATUS_SUCCESS";
	case 1: return "CUBLAS_STATUS_NOT_INITIALIZED";
	case 3: return "CUBLAS_STATUS_ALLOC_FAILED";
	case 7: return "CUBLAS_STATUS_INVALID_VALUE";
	case 13: return "CUBLAS_STATUS_EXECUTION_FAILED";
	case 15: return "CUBLAS_STATUS_NOT_SUPPORTED";
	}
	return "CUBLAS_STATUS unknown";
}

API(int, cublasLtMatmulDescCreate)(void **made, int compute, int scale) {
	if (compute < 64 || compute > 78) return INVALID;
	*made = new description{compute, scale, {}};
	return 0;
}

API(int, cublasLtMatmulDescDestroy)(void *d) {
	delete (description *)d;
	return 0;
}

API(int, cublasLtMatmulDescSetAttribute)(void *d, int key, const void *value, size_t size) {
	static const map<int, size_t> sizes = {{2, 4}, {3, 4}, {4, 4}, {7, 4}, {8, 8}, {15, 4}, {17, 8}, {18, 8}, {19, 8}, {20, 8}, {21, 8}, {25, 1}, {26, 4}};
	auto s = sizes.find(key);
	if (s == sizes.end() || s->second != size) return INVALID;
	((description *)d)->attributes[key].assign((const char *)value, (const char *)value + size);
	return 0;
}

API(int, cublasLtMatrixLayoutCreate)(void **made, int type, uint64_t rows, uint64_t columns, int64_t lead) {
	*made = new layout{type, (int64_t)rows, (int64_t)columns, lead};
	return 0;
}

API(int, cublasLtMatrixLayoutDestroy)(void *l) {
	delete (layout *)l;
	return 0;
}

API(int, cublasLtMatrixLayoutSetAttribute)(void *handle, int key, const void *value, size_t size) {
	auto l = (layout *)handle;
	int64_t n = 0;
	if (size != (key == 1 || key == 5 ? 4 : 8) || key < 1 || key > 6) return INVALID;
	memcpy(&n, value, size);
	if (key == 1) l->order = (int)n;
	if (key == 2) l->rows = n;
	if (key == 3) l->columns = n;
	if (key == 4) l->lead = n;
	if (key == 5) l->batch = (int)n;
	if (key == 6) l->stride = n;
	return l->order > 1 || l->batch < 1 ? INVALID : 0;
}

API(int, cublasLtMatmulPreferenceCreate)(void **made) {
	*made = new preference;
	return 0;
}

API(int, cublasLtMatmulPreferenceDestroy)(void *p) {
	delete (preference *)p;
	return 0;
}

API(int, cublasLtMatmulPreferenceSetAttribute)(void *handle, int key, const void *value, size_t size) {
	auto p = (preference *)handle;
	if (key == 1 && size == sizeof p->workspace) {
		memcpy(&p->workspace, value, size);
	} else if (key >= 5 && key <= 8 && size == 4) {
		memcpy(&p->align[key - 5], value, size);
	} else if (key != 0 && key != 3 && key != 9 && key != 12) {
		return INVALID;
	}
	return 0;
}

API(int, cublasLtMatmulAlgoGetHeuristic)
(void *handle, void *d, void *a, void *b, void *c, void *out, void *wish, int want, choice *choices, int *got) {
	GUARD;
	*got = 0;
	if (!handle || !fake::context_of_thread()) return 1;
	if (want < 1) return INVALID;
	if (int code = fake::fault("cublasLtMatmulAlgoGetHeuristic")) return code;
	if (int code = check((description *)d, (layout *)a, (layout *)b, (layout *)c, (layout *)out)) return code;
	auto p = (preference *)wish;
	layout *all[4] = {(layout *)a, (layout *)b, (layout *)c, (layout *)out};
	for (int i = 0; i < 4; i++)
		if (p->align[i] < (is_fp8(((layout *)a)->type) ? 16 : size_of(all[i]->type))) return NOT_SUPPORTED;
	// With a workspace there are more ways to multiply.
	for (size_t need : {size_t(1) << 20, size_t(0), size_t(4096)}) {
		if (need > p->workspace || *got == want) continue;
		choice &made = choices[*got];
		made = {};
		made.algo.magic = magic;
		made.algo.number = *got;
		for (int i = 0; i < 4; i++) made.algo.align[i] = p->align[i];
		made.algo.workspace = made.workspace = need;
		made.waves = 1;
		++*got;
	}
	return 0;
}

API(int, cublasLtMatmulAlgoCheck)(void *, void *d, void *a, void *b, void *c, void *out, const algorithm *algo, choice *result) {
	if (algo->magic != magic) return INVALID;
	if (int code = check((description *)d, (layout *)a, (layout *)b, (layout *)c, (layout *)out)) return code;
	*result = {*algo, algo->workspace};
	return 0;
}

API(int, cublasLtMatmul)
(void *handle, void *dd, const void *alpha, const void *pa, void *la, const void *pb, void *lb, const void *beta, const void *pc, void *lc, void *pd, void *ld,
	const algorithm *algo, void *workspace, size_t workspace_bytes, CUstream on) {
	GUARD;
	if (!handle || !fake::context_of_thread()) return 1;
	if (fake::fault("cublasLtMatmul")) return 13;
	if (fake::enter("cublasLtMatmul in its context", true)) return 13;
	description d = *(description *)dd;
	layout a = *(layout *)la, b = *(layout *)lb, c = *(layout *)lc, out = *(layout *)ld;
	if (int code = check(&d, &a, &b, &c, &out)) return code;
	if (!algo || algo->magic != magic || workspace_bytes < algo->workspace || (size_t)workspace % 256) return INVALID;
	const void *pointers[4] = {pa, pb, pc, pd};
	const layout *layouts[4] = {&a, &b, &c, &out};
	for (int i = 0; i < 4; i++) {
		if ((size_t)pointers[i] % algo->align[i]) return INVALID; // the real one may read beside it
		if (fake::check_copy((CUdeviceptr)pointers[i], layouts[i]->bytes())) return 13;
	}
	if (algo->workspace && fake::check_copy((CUdeviceptr)workspace, algo->workspace)) return 13;
	double times = d.scale == F64 ? *(const double *)alpha : *(const float *)alpha, plus = d.scale == F64 ? *(const double *)beta : *(const float *)beta;
	bool tf32 = d.compute == 77;
	size_t scratch = algo->workspace;
	return fake::later(on, [=] {
		bool ta = d.get(3, 0), tb = d.get(4, 0);
		int64_t m = out.rows, n = out.columns, k = ta ? a.rows : a.columns;
		auto sa = d.get<const float *>(17, nullptr), sb = d.get<const float *>(18, nullptr), sd = d.get<const float *>(20, nullptr);
		double scale = times * (sa ? *sa : 1) * (sb ? *sb : 1);
		if (scratch) memset(workspace, 0xee, scratch);
		vector<double> left(m * k), right(k * n); // in rows of k
		for (int64_t batch = 0; batch < out.batch; batch++) {
			for (int64_t i = 0; i < m; i++)
				for (int64_t x = 0; x < k; x++) left[i * k + x] = load(pa, batch * a.stride + (ta ? a.at(x, i) : a.at(i, x)), a.type, tf32);
			for (int64_t j = 0; j < n; j++)
				for (int64_t x = 0; x < k; x++) right[j * k + x] = load(pb, batch * b.stride + (tb ? b.at(j, x) : b.at(x, j)), b.type, tf32);
			for (int64_t j = 0; j < n; j++)
				for (int64_t i = 0; i < m; i++) {
					const double *l = &left[i * k], *r = &right[j * k];
					double sum = 0;
					if (d.scale == F64) {
						for (int64_t x = 0; x < k; x++) sum += l[x] * r[x];
					} else {
						float s = 0;
						for (int64_t x = 0; x < k; x++) s += (float)l[x] * (float)r[x];
						sum = s;
					}
					double value = scale * sum;
					if (plus != 0) value += plus * load(pc, batch * c.stride + c.at(i, j), c.type, false);
					if (sd) value *= *sd;
					store(pd, batch * out.stride + out.at(i, j), out.type, value);
				}
		}
		return 0;
	});
}
