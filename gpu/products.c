//go:build linux && cgo

#include "products.h"

#include <string.h>

#define try(call) \
	do { \
		int result_ = (call); \
		if (result_ != 0) return result_; \
	} while (0)

// A context that can't be made current is found by the next call of the driver;
// cuBLASLt has a word for it too.
#define enter(c) \
	if (driver.cuCtxSetCurrent((c)->context) != 0) return LT_NOT_INITIALIZED

const char *gpu_lt_error(int status) { return lt.cublasLtGetStatusString(status); }

size_t gpu_lt_version(void) { return lt.cublasLtGetVersion(); }

int gpu_lt_create(gpu_card *c, void **handle) {
	enter(c);
	return lt.cublasLtCreate(handle);
}

static int layout(void **made, int type, uint64_t rows, uint64_t columns, int64_t lead, int batch, int64_t stride) {
	try(lt.cublasLtMatrixLayoutCreate(made, type, rows, columns, lead));
	if (batch > 1) {
		int32_t count = batch;
		try(lt.cublasLtMatrixLayoutSetAttribute(*made, LT_LAYOUT_BATCH_COUNT, &count, sizeof count));
		try(lt.cublasLtMatrixLayoutSetAttribute(*made, LT_LAYOUT_BATCH_STRIDE, &stride, sizeof stride));
	}
	return 0;
}

// gpu_lt_describe fills in what a product is. The plan is to be dropped even if
// this fails.
int gpu_lt_describe(const gpu_product *p, gpu_plan *plan) {
	int32_t a = p->transpose_a, b = p->transpose_b;
	memset(plan, 0, sizeof *plan);
	plan->scale = p->scale;
	try(lt.cublasLtMatmulDescCreate(&plan->description, p->compute, p->scale));
	try(lt.cublasLtMatmulDescSetAttribute(plan->description, LT_DESC_TRANSPOSE_A, &a, sizeof a));
	try(lt.cublasLtMatmulDescSetAttribute(plan->description, LT_DESC_TRANSPOSE_B, &b, sizeof b));
	if (p->fast) {
		int8_t fast = 1;
		try(lt.cublasLtMatmulDescSetAttribute(plan->description, LT_DESC_FAST_ACCUMULATION, &fast, sizeof fast));
	}
	try(layout(&plan->a, p->type_a, a ? p->k : p->m, a ? p->m : p->k, p->lead_a, p->batch, p->stride_a));
	try(layout(&plan->b, p->type_b, b ? p->n : p->k, b ? p->k : p->n, p->lead_b, p->batch, p->stride_b));
	return layout(&plan->d, p->type_d, p->m, p->n, p->lead_d, p->batch, p->stride_d);
}

static int prefer(void *preference, const gpu_product *p, size_t workspace) {
	const uint32_t aligned[] = {p->align_a, p->align_b, p->align_d, p->align_d};
	const uint32_t schemes = LT_REDUCTION_COMPUTE_TYPE; // parts of sums are not rounded to a small type in between
	try(lt.cublasLtMatmulPreferenceSetAttribute(preference, LT_PREFERENCE_WORKSPACE, &workspace, sizeof workspace));
	try(lt.cublasLtMatmulPreferenceSetAttribute(preference, LT_PREFERENCE_REDUCTION_SCHEMES, &schemes, sizeof schemes));
	for (int i = 0; i < 4; i++)
		try(lt.cublasLtMatmulPreferenceSetAttribute(preference, LT_PREFERENCE_ALIGNMENT_A + i, &aligned[i], sizeof aligned[i]));
	return 0;
}

// gpu_lt_choose fills choices with ways to compute a product, the one that should
// be fastest first. Without a handle it only says whether all was understood.
int gpu_lt_choose(gpu_card *c, void *handle, const gpu_product *p, size_t workspace, const gpu_plan *plan, lt_choice *choices, int want, int *got) {
	void *preference = NULL;
	int result;
	*got = 0;
	memset(choices, 0, sizeof *choices * want);
	try(lt.cublasLtMatmulPreferenceCreate(&preference));
	result = prefer(preference, p, workspace);
	if (result == 0 && handle != NULL) {
		result = driver.cuCtxSetCurrent(c->context) != 0 ? LT_NOT_INITIALIZED
			: lt.cublasLtMatmulAlgoGetHeuristic(handle, plan->description, plan->a, plan->b, plan->d, plan->d, preference, want, choices, got);
	}
	lt.cublasLtMatmulPreferenceDestroy(preference);
	return result;
}

void gpu_lt_drop(gpu_plan *plan) {
	if (plan->description) lt.cublasLtMatmulDescDestroy(plan->description);
	if (plan->a) lt.cublasLtMatrixLayoutDestroy(plan->a);
	if (plan->b) lt.cublasLtMatrixLayoutDestroy(plan->b);
	if (plan->d) lt.cublasLtMatrixLayoutDestroy(plan->d);
	memset(plan, 0, sizeof *plan);
}

int gpu_lt_multiply(gpu_card *c, void *handle, const gpu_plan *plan, uint64_t a, uint64_t b, uint64_t d, uint64_t workspace) {
	float one = 1, zero = 0;
	double one64 = 1, zero64 = 0;
	int wide = plan->scale == LT_FLOAT64;
	enter(c);
	return lt.cublasLtMatmul(handle, plan->description, wide ? (void *)&one64 : &one, (void *)a, plan->a, (void *)b, plan->b,
		wide ? (void *)&zero64 : &zero, (void *)d, plan->d, (void *)d, plan->d, &plan->algorithm, (void *)workspace, plan->workspace, c->compute);
}
