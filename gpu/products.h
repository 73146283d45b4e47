// Matrix products with cuBLASLt, in its own terms: column-major matrices.
#ifndef LECTERN_GPU_PRODUCTS_H
#define LECTERN_GPU_PRODUCTS_H

#include "shim.h"

// D = op(A)·op(B), where op(A) is m×k and op(B) is k×n.
typedef struct {
	int type_a, type_b, type_d, compute, scale;
	int transpose_a, transpose_b;
	uint64_t m, n, k;
	int64_t lead_a, lead_b, lead_d;
	int batch;
	int64_t stride_a, stride_b, stride_d;  // from one product of a batch to the next, in elements
	uint32_t align_a, align_b, align_d;    // bytes that all addresses are multiples of
	int fast;                              // float8 alone: sums of less precision
} gpu_product;

// A product that was prepared: what stays the same from call to call.
typedef struct {
	void *description, *a, *b, *d;
	int scale;
	lt_algorithm algorithm;
	size_t workspace;
} gpu_plan;

const char *gpu_lt_error(int status);
size_t gpu_lt_version(void);
int gpu_lt_create(gpu_card *c, void **handle);
int gpu_lt_describe(const gpu_product *p, gpu_plan *plan);
int gpu_lt_choose(gpu_card *c, void *handle, const gpu_product *p, size_t workspace, const gpu_plan *plan, lt_choice *choices, int want, int *got);
void gpu_lt_drop(gpu_plan *plan);
int gpu_lt_multiply(gpu_card *c, void *handle, const gpu_plan *plan, uint64_t a, uint64_t b, uint64_t d, uint64_t workspace);

#endif
