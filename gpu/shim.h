// The C side of package gpu. A function here makes the device's context current
// first and does a whole piece of work, since goroutines change threads between
// calls. Results are those of the library that was called: 0 is success.
#ifndef LECTERN_GPU_SHIM_H
#define LECTERN_GPU_SHIM_H

#include "abi.h"

// One device.
typedef struct {
	CUdevice device;
	CUcontext context;
	CUstream compute;  // all operations, in the order of the calls
	CUstream copies;   // uploads that go on beside them
	CUmemoryPool pool; // NULL: the driver has none
	void *stage[2];    // pinned memory through which uploads from Go's memory go
	CUevent staged[2]; // when a stage may be filled again
	int next_stage;
} gpu_card;

enum { STAGE_BYTES = 4 << 20 };

// Libraries. gpu_open returns NULL and fills why with the system's words;
// gpu_bind_... return the name of an entry point that is missing, or NULL.
void *gpu_open(const char *path, char *why, size_t size);
void gpu_close(void *library);
const char *gpu_bind_driver(void *library);
const char *gpu_bind_nvrtc(void *library);
const char *gpu_bind_lt(void *library);
void gpu_path(void *library, const char *symbol, char *path, size_t size);
const char *gpu_error_name(CUresult r);
const char *gpu_error_string(CUresult r);

// The driver and its devices.
CUresult gpu_initialize(int *version, int *devices);
CUresult gpu_describe(int index, char *name, int size, size_t *memory, const int *attributes, int *values, int count);
CUresult gpu_card_open(gpu_card *c, int index);
CUresult gpu_synchronize(gpu_card *c);

// Memory. Blocks from a pool belong to the stream they were asked for on.
CUresult gpu_allocate(gpu_card *c, CUdeviceptr *address, size_t bytes, int for_copy);
CUresult gpu_free_all(gpu_card *c, const CUdeviceptr *addresses, int count);
CUresult gpu_clear(gpu_card *c, CUdeviceptr address, size_t bytes);
CUresult gpu_memory(gpu_card *c, size_t *available, size_t *total);
CUresult gpu_reserved(gpu_card *c, uint64_t *bytes);
CUresult gpu_trim(gpu_card *c);
CUresult gpu_pin(gpu_card *c, void **memory, size_t bytes);
CUresult gpu_unpin(gpu_card *c, void *memory);

// Copies.
CUresult gpu_upload(gpu_card *c, CUdeviceptr dst, const void *src, size_t bytes);
CUresult gpu_upload_pinned(gpu_card *c, CUdeviceptr dst, const void *src, size_t bytes);
CUresult gpu_prefetch(gpu_card *c, CUdeviceptr dst, const void *src, size_t bytes, CUevent done, int after_compute);
CUresult gpu_download(gpu_card *c, void *dst, CUdeviceptr src, size_t bytes);

// Events.
CUresult gpu_event(gpu_card *c, CUevent *event, int timed);
CUresult gpu_event_record(gpu_card *c, CUevent event, int on_copies);
CUresult gpu_event_wait(gpu_card *c, CUevent event);
CUresult gpu_event_done(gpu_card *c, CUevent event);
CUresult gpu_event_elapsed(gpu_card *c, float *milliseconds, CUevent from, CUevent to);
CUresult gpu_await(gpu_card *c, CUevent event);

// Kernels. options are separated by newlines; image and log are to be freed.
int gpu_nvrtc_version(int *major, int *minor);
const char *gpu_nvrtc_error(int result);
int gpu_architectures(int *list, int room);
int gpu_compile(const char *source, const char *options, int want_ptx, void **image, size_t *size, char **log);
CUresult gpu_module(gpu_card *c, const void *image, CUmodule *module);
CUresult gpu_function(gpu_card *c, CUmodule module, const char *name, CUfunction *function);
CUresult gpu_launch(gpu_card *c, CUfunction function, unsigned grid, unsigned block, unsigned shared, const void *arguments, int wait);

#endif
