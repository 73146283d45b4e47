// The part of the binary interfaces of the CUDA driver, NVRTC and cuBLASLt that
// is used here, declared by ourselves, so that no toolkit is needed to build.
// The libraries are opened while the program runs.
#ifndef LECTERN_GPU_ABI_H
#define LECTERN_GPU_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmemPoolHandle_st *CUmemoryPool;

// Values of the driver.
enum {
	CUDA_OUT_OF_MEMORY = 2,
	CUDA_NOT_READY = 600,

	ATTRIBUTE_CLOCK_RATE = 13,
	ATTRIBUTE_MULTIPROCESSORS = 16,
	ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
	ATTRIBUTE_MEMORY_BUS_WIDTH = 37,
	ATTRIBUTE_L2_CACHE_SIZE = 38,
	ATTRIBUTE_THREADS_PER_MULTIPROCESSOR = 39,
	ATTRIBUTE_CAPABILITY_MAJOR = 75,
	ATTRIBUTE_CAPABILITY_MINOR = 76,
	ATTRIBUTE_SHARED_MEMORY = 97, // of a block, if it was asked for
	ATTRIBUTE_MEMORY_POOLS = 115,

	STREAM_NON_BLOCKING = 1,
	EVENT_DISABLE_TIMING = 2,
	HOST_PORTABLE = 1,
	FUNCTION_DYNAMIC_SHARED_MEMORY = 8,
	POOL_REUSE_WITH_DEPENDENCIES = 3,
	POOL_RELEASE_THRESHOLD = 4,
	POOL_RESERVED_CURRENT = 5,
};

// Values of cuBLASLt.
enum {
	LT_NOT_INITIALIZED = 1,
	LT_INVALID_VALUE = 7,
	LT_ARCH_MISMATCH = 8,
	LT_EXECUTION_FAILED = 13,
	LT_INTERNAL_ERROR = 14,
	LT_NOT_SUPPORTED = 15,

	LT_FLOAT32 = 0,
	LT_FLOAT64 = 1,
	LT_FLOAT16 = 2,
	LT_BFLOAT16 = 14,
	LT_FLOAT8_E4M3 = 28,
	LT_FLOAT8_E5M2 = 29,

	LT_COMPUTE_FLOAT32 = 68,
	LT_COMPUTE_FLOAT64 = 70,
	LT_COMPUTE_TF32 = 77,

	LT_REDUCTION_COMPUTE_TYPE = 2,

	LT_DESC_TRANSPOSE_A = 3,
	LT_DESC_TRANSPOSE_B = 4,
	LT_DESC_FAST_ACCUMULATION = 25,

	LT_LAYOUT_BATCH_COUNT = 5,
	LT_LAYOUT_BATCH_STRIDE = 6,

	LT_PREFERENCE_WORKSPACE = 1,
	LT_PREFERENCE_REDUCTION_SCHEMES = 3,
	LT_PREFERENCE_ALIGNMENT_A = 5, // then B, C, D
};

typedef struct {
	uint64_t data[8];
} lt_algorithm;

typedef struct {
	lt_algorithm algorithm;
	size_t workspace;
	int state; // 0: usable
	float waves;
	int reserved[4];
} lt_choice;

// Entry points: X(result, name, arguments). A driver that lacks a required one
// is too old; the others are asked for before they are called.
#define DRIVER_REQUIRED(X) \
	X(CUresult, cuInit, (unsigned)) \
	X(CUresult, cuDriverGetVersion, (int *)) \
	X(CUresult, cuGetErrorName, (CUresult, const char **)) \
	X(CUresult, cuGetErrorString, (CUresult, const char **)) \
	X(CUresult, cuDeviceGetCount, (int *)) \
	X(CUresult, cuDeviceGet, (CUdevice *, int)) \
	X(CUresult, cuDeviceGetName, (char *, int, CUdevice)) \
	X(CUresult, cuDeviceTotalMem_v2, (size_t *, CUdevice)) \
	X(CUresult, cuDeviceGetAttribute, (int *, int, CUdevice)) \
	X(CUresult, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice)) \
	X(CUresult, cuCtxSetCurrent, (CUcontext)) \
	X(CUresult, cuMemGetInfo_v2, (size_t *, size_t *)) \
	X(CUresult, cuMemAlloc_v2, (CUdeviceptr *, size_t)) \
	X(CUresult, cuMemFree_v2, (CUdeviceptr)) \
	X(CUresult, cuMemHostAlloc, (void **, size_t, unsigned)) \
	X(CUresult, cuMemFreeHost, (void *)) \
	X(CUresult, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream)) \
	X(CUresult, cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream)) \
	X(CUresult, cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream)) \
	X(CUresult, cuStreamCreate, (CUstream *, unsigned)) \
	X(CUresult, cuStreamSynchronize, (CUstream)) \
	X(CUresult, cuStreamWaitEvent, (CUstream, CUevent, unsigned)) \
	X(CUresult, cuEventCreate, (CUevent *, unsigned)) \
	X(CUresult, cuEventRecord, (CUevent, CUstream)) \
	X(CUresult, cuEventSynchronize, (CUevent)) \
	X(CUresult, cuEventQuery, (CUevent)) \
	X(CUresult, cuEventElapsedTime, (float *, CUevent, CUevent)) \
	X(CUresult, cuModuleLoadData, (CUmodule *, const void *)) \
	X(CUresult, cuModuleGetFunction, (CUfunction *, CUmodule, const char *)) \
	X(CUresult, cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **))

#define DRIVER_OPTIONAL(X) \
	X(CUresult, cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream)) \
	X(CUresult, cuMemFreeAsync, (CUdeviceptr, CUstream)) \
	X(CUresult, cuDeviceGetDefaultMemPool, (CUmemoryPool *, CUdevice)) \
	X(CUresult, cuMemPoolSetAttribute, (CUmemoryPool, int, void *)) \
	X(CUresult, cuMemPoolGetAttribute, (CUmemoryPool, int, void *)) \
	X(CUresult, cuMemPoolTrimTo, (CUmemoryPool, size_t)) \
	X(CUresult, cuFuncSetAttribute, (CUfunction, int, int))

#define NVRTC_REQUIRED(X) \
	X(int, nvrtcVersion, (int *, int *)) \
	X(int, nvrtcCreateProgram, (void **, const char *, const char *, int, const char *const *, const char *const *)) \
	X(int, nvrtcDestroyProgram, (void **)) \
	X(int, nvrtcCompileProgram, (void *, int, const char *const *)) \
	X(int, nvrtcGetProgramLogSize, (void *, size_t *)) \
	X(int, nvrtcGetProgramLog, (void *, char *)) \
	X(int, nvrtcGetCUBINSize, (void *, size_t *)) \
	X(int, nvrtcGetCUBIN, (void *, char *)) \
	X(int, nvrtcGetPTXSize, (void *, size_t *)) \
	X(int, nvrtcGetPTX, (void *, char *)) \
	X(int, nvrtcGetNumSupportedArchs, (int *)) \
	X(int, nvrtcGetSupportedArchs, (int *)) \
	X(const char *, nvrtcGetErrorString, (int))

#define LT_REQUIRED(X) \
	X(int, cublasLtCreate, (void **)) \
	X(size_t, cublasLtGetVersion, (void)) \
	X(int, cublasLtMatmulDescCreate, (void **, int, int)) \
	X(int, cublasLtMatmulDescDestroy, (void *)) \
	X(int, cublasLtMatmulDescSetAttribute, (void *, int, const void *, size_t)) \
	X(int, cublasLtMatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t)) \
	X(int, cublasLtMatrixLayoutDestroy, (void *)) \
	X(int, cublasLtMatrixLayoutSetAttribute, (void *, int, const void *, size_t)) \
	X(int, cublasLtMatmulPreferenceCreate, (void **)) \
	X(int, cublasLtMatmulPreferenceDestroy, (void *)) \
	X(int, cublasLtMatmulPreferenceSetAttribute, (void *, int, const void *, size_t)) \
	X(int, cublasLtMatmulAlgoGetHeuristic, (void *, void *, void *, void *, void *, void *, void *, int, lt_choice *, int *)) \
	X(const char *, cublasLtGetStatusString, (int)) \
	X(int, cublasLtMatmul, (void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *, void *, void *, void *, const lt_algorithm *, void *, size_t, CUstream))

#define FIELD(result, name, arguments) result(*name) arguments;
extern struct driver_api { DRIVER_REQUIRED(FIELD) DRIVER_OPTIONAL(FIELD) } driver;
extern struct nvrtc_api { NVRTC_REQUIRED(FIELD) } nvrtc;
extern struct lt_api { LT_REQUIRED(FIELD) } lt;
#undef FIELD

#endif
