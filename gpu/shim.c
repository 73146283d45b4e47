//go:build linux && cgo

#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct driver_api driver;
struct nvrtc_api nvrtc;
struct lt_api lt;

// try returns from the calling function if a call fails.
#define try(call) \
	do { \
		int result_ = (call); \
		if (result_ != 0) return result_; \
	} while (0)

#define enter(c) try(driver.cuCtxSetCurrent((c)->context))

// dlerror belongs to the thread, so it is asked here and not by another call.
void *gpu_open(const char *path, char *why, size_t size) {
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		const char *text = dlerror();
		snprintf(why, size, "%s", text ? text : "can't be opened");
	}
	return library;
}

void gpu_close(void *library) { dlclose(library); }

#define BIND_REQUIRED(api, result, name, arguments) \
	if ((*(void **)&api.name = dlsym(library, #name)) == NULL) return #name;
#define BIND_DRIVER(r, n, a) BIND_REQUIRED(driver, r, n, a)
#define BIND_OPTIONAL(r, n, a) *(void **)&driver.n = dlsym(library, #n);
#define BIND_NVRTC(r, n, a) BIND_REQUIRED(nvrtc, r, n, a)
#define BIND_LT(r, n, a) BIND_REQUIRED(lt, r, n, a)

const char *gpu_bind_driver(void *library) {
	DRIVER_REQUIRED(BIND_DRIVER)
	DRIVER_OPTIONAL(BIND_OPTIONAL)
	return NULL;
}

const char *gpu_bind_nvrtc(void *library) {
	NVRTC_REQUIRED(BIND_NVRTC)
	return NULL;
}

const char *gpu_bind_lt(void *library) {
	LT_REQUIRED(BIND_LT)
	return NULL;
}

// gpu_path finds the file that a library was loaded from.
void gpu_path(void *library, const char *symbol, char *path, size_t size) {
	Dl_info info;
	void *address = dlsym(library, symbol);
	path[0] = 0;
	if (address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL) snprintf(path, size, "%s", info.dli_fname);
}

const char *gpu_error_name(CUresult r) {
	const char *text = NULL;
	if (driver.cuGetErrorName) driver.cuGetErrorName(r, &text);
	return text ? text : "CUDA_ERROR";
}

const char *gpu_error_string(CUresult r) {
	const char *text = NULL;
	if (driver.cuGetErrorString) driver.cuGetErrorString(r, &text);
	return text ? text : "";
}

CUresult gpu_initialize(int *version, int *devices) {
	try(driver.cuInit(0));
	try(driver.cuDriverGetVersion(version));
	return driver.cuDeviceGetCount(devices);
}

CUresult gpu_describe(int index, char *name, int size, size_t *memory, const int *attributes, int *values, int count) {
	CUdevice device;
	try(driver.cuDeviceGet(&device, index));
	try(driver.cuDeviceGetName(name, size, device));
	try(driver.cuDeviceTotalMem_v2(memory, device));
	for (int i = 0; i < count; i++) {
		values[i] = 0; // an older driver doesn't know the newer ones
		driver.cuDeviceGetAttribute(&values[i], attributes[i], device);
	}
	return 0;
}

CUresult gpu_card_open(gpu_card *c, int index) {
	int pools = 0;
	try(driver.cuDeviceGet(&c->device, index));
	try(driver.cuDevicePrimaryCtxRetain(&c->context, c->device));
	enter(c);
	try(driver.cuStreamCreate(&c->compute, STREAM_NON_BLOCKING));
	try(driver.cuStreamCreate(&c->copies, STREAM_NON_BLOCKING));
	for (int i = 0; i < 2; i++) {
		try(driver.cuMemHostAlloc(&c->stage[i], STAGE_BYTES, HOST_PORTABLE));
		try(driver.cuEventCreate(&c->staged[i], EVENT_DISABLE_TIMING));
	}
	driver.cuDeviceGetAttribute(&pools, ATTRIBUTE_MEMORY_POOLS, c->device);
	if (pools && driver.cuMemAllocAsync && driver.cuMemFreeAsync && driver.cuDeviceGetDefaultMemPool &&
		driver.cuMemPoolSetAttribute && driver.cuMemPoolGetAttribute && driver.cuMemPoolTrimTo) {
		uint64_t keep = UINT64_MAX; // the pool is our cache: it gives nothing back until it is trimmed
		try(driver.cuDeviceGetDefaultMemPool(&c->pool, c->device));
		try(driver.cuMemPoolSetAttribute(c->pool, POOL_RELEASE_THRESHOLD, &keep));
		// A copy that should go on beside the computations must not be given memory
		// that it would have to wait for. Older drivers don't know this.
		int never = 0;
		driver.cuMemPoolSetAttribute(c->pool, POOL_REUSE_WITH_DEPENDENCIES, &never);
	}
	return 0;
}

CUresult gpu_synchronize(gpu_card *c) {
	enter(c);
	try(driver.cuStreamSynchronize(c->copies));
	return driver.cuStreamSynchronize(c->compute);
}

CUresult gpu_allocate(gpu_card *c, CUdeviceptr *address, size_t bytes, int for_copy) {
	enter(c);
	if (c->pool) return driver.cuMemAllocAsync(address, bytes, for_copy ? c->copies : c->compute);
	return driver.cuMemAlloc_v2(address, bytes);
}

CUresult gpu_free_all(gpu_card *c, const CUdeviceptr *addresses, int count) {
	CUresult first = 0;
	enter(c);
	for (int i = 0; i < count; i++) {
		CUresult r = c->pool ? driver.cuMemFreeAsync(addresses[i], c->compute) : driver.cuMemFree_v2(addresses[i]);
		if (first == 0) first = r;
	}
	return first;
}

CUresult gpu_clear(gpu_card *c, CUdeviceptr address, size_t bytes) {
	enter(c);
	return driver.cuMemsetD8Async(address, 0, bytes, c->compute);
}

CUresult gpu_memory(gpu_card *c, size_t *available, size_t *total) {
	enter(c);
	return driver.cuMemGetInfo_v2(available, total);
}

CUresult gpu_reserved(gpu_card *c, uint64_t *bytes) {
	enter(c);
	return driver.cuMemPoolGetAttribute(c->pool, POOL_RESERVED_CURRENT, bytes);
}

CUresult gpu_trim(gpu_card *c) {
	try(gpu_synchronize(c));
	if (c->pool) try(driver.cuMemPoolTrimTo(c->pool, 0));
	return 0;
}

CUresult gpu_pin(gpu_card *c, void **memory, size_t bytes) {
	enter(c);
	return driver.cuMemHostAlloc(memory, bytes, HOST_PORTABLE);
}

CUresult gpu_unpin(gpu_card *c, void *memory) {
	CUresult r = gpu_synchronize(c); // a copy may still read it
	CUresult freed = driver.cuMemFreeHost(memory);
	return r ? r : freed;
}

// gpu_upload copies through two stages in turn, so that one is filled while the
// other is read, and src is free when it returns.
CUresult gpu_upload(gpu_card *c, CUdeviceptr dst, const void *src, size_t bytes) {
	enter(c);
	while (bytes > 0) {
		size_t part = bytes < STAGE_BYTES ? bytes : STAGE_BYTES;
		int i = c->next_stage;
		c->next_stage = 1 - i;
		try(driver.cuEventSynchronize(c->staged[i]));
		memcpy(c->stage[i], src, part);
		try(driver.cuMemcpyHtoDAsync_v2(dst, c->stage[i], part, c->compute));
		try(driver.cuEventRecord(c->staged[i], c->compute));
		dst += part;
		src = (const char *)src + part;
		bytes -= part;
	}
	return 0;
}

CUresult gpu_upload_pinned(gpu_card *c, CUdeviceptr dst, const void *src, size_t bytes) {
	enter(c);
	try(driver.cuMemcpyHtoDAsync_v2(dst, src, bytes, c->compute));
	return driver.cuStreamSynchronize(c->compute);
}

// gpu_prefetch copies beside the computation. Memory that was used before is
// written only after the work that used it.
CUresult gpu_prefetch(gpu_card *c, CUdeviceptr dst, const void *src, size_t bytes, CUevent done, int after_compute) {
	enter(c);
	if (after_compute) {
		try(driver.cuEventRecord(done, c->compute));
		try(driver.cuStreamWaitEvent(c->copies, done, 0));
	}
	try(driver.cuMemcpyHtoDAsync_v2(dst, src, bytes, c->copies));
	return driver.cuEventRecord(done, c->copies);
}

CUresult gpu_download(gpu_card *c, void *dst, CUdeviceptr src, size_t bytes) {
	enter(c);
	try(driver.cuMemcpyDtoHAsync_v2(dst, src, bytes, c->compute));
	return driver.cuStreamSynchronize(c->compute);
}

CUresult gpu_event(gpu_card *c, CUevent *event, int timed) {
	enter(c);
	return driver.cuEventCreate(event, timed ? 0 : EVENT_DISABLE_TIMING);
}

CUresult gpu_event_record(gpu_card *c, CUevent event, int on_copies) {
	enter(c);
	return driver.cuEventRecord(event, on_copies ? c->copies : c->compute);
}

CUresult gpu_event_wait(gpu_card *c, CUevent event) {
	enter(c);
	return driver.cuEventSynchronize(event);
}

CUresult gpu_event_done(gpu_card *c, CUevent event) {
	enter(c);
	return driver.cuEventQuery(event);
}

CUresult gpu_event_elapsed(gpu_card *c, float *milliseconds, CUevent from, CUevent to) {
	enter(c);
	try(driver.cuEventSynchronize(to));
	return driver.cuEventElapsedTime(milliseconds, from, to);
}

// gpu_await lets later computations wait for an event.
CUresult gpu_await(gpu_card *c, CUevent event) {
	enter(c);
	return driver.cuStreamWaitEvent(c->compute, event, 0);
}

int gpu_nvrtc_version(int *major, int *minor) { return nvrtc.nvrtcVersion(major, minor); }

const char *gpu_nvrtc_error(int result) { return nvrtc.nvrtcGetErrorString(result); }

// gpu_architectures fills list with what NVRTC compiles for, such as 90, and
// returns how many there are.
int gpu_architectures(int *list, int room) {
	int count = 0;
	if (nvrtc.nvrtcGetNumSupportedArchs(&count) != 0 || count > room || nvrtc.nvrtcGetSupportedArchs(list) != 0) return 0;
	return count;
}

int gpu_compile(const char *source, const char *options, int want_ptx, void **image, size_t *size, char **log) {
	void *program = NULL;
	const char *list[16];
	int count = 0, result;
	size_t logged = 0;
	char *text = strdup(options);
	*image = NULL, *log = NULL;
	if (text == NULL) return 1;
	for (char *rest = text, *option; count < 16 && (option = strsep(&rest, "\n")) != NULL;) list[count++] = option;
	result = nvrtc.nvrtcCreateProgram(&program, source, "lectern.cu", 0, NULL, NULL);
	if (result == 0) result = nvrtc.nvrtcCompileProgram(program, count, list);
	if (program && nvrtc.nvrtcGetProgramLogSize(program, &logged) == 0 && (*log = calloc(1, logged + 1)) != NULL)
		nvrtc.nvrtcGetProgramLog(program, *log);
	if (result == 0) result = want_ptx ? nvrtc.nvrtcGetPTXSize(program, size) : nvrtc.nvrtcGetCUBINSize(program, size);
	if (result == 0 && (*image = malloc(*size)) == NULL) result = 1;
	if (result == 0) result = want_ptx ? nvrtc.nvrtcGetPTX(program, *image) : nvrtc.nvrtcGetCUBIN(program, *image);
	if (program) nvrtc.nvrtcDestroyProgram(&program);
	free(text);
	return result;
}

CUresult gpu_module(gpu_card *c, const void *image, CUmodule *module) {
	enter(c);
	return driver.cuModuleLoadData(module, image);
}

CUresult gpu_function(gpu_card *c, CUmodule module, const char *name, CUfunction *function) {
	enter(c);
	return driver.cuModuleGetFunction(function, module, name);
}

CUresult gpu_launch(gpu_card *c, CUfunction function, unsigned grid, unsigned block, unsigned shared, const void *arguments, int wait) {
	void *parameters[] = {(void *)arguments};
	enter(c);
	if (shared > 48 << 10 && driver.cuFuncSetAttribute) try(driver.cuFuncSetAttribute(function, FUNCTION_DYNAMIC_SHARED_MEMORY, (int)shared));
	try(driver.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, c->compute, parameters, NULL));
	return wait ? driver.cuStreamSynchronize(c->compute) : 0;
}
