// What the parts of the fake driver share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmemPoolHandle_st *CUmemoryPool;

// fk_state is what the threads of a kernel see of their block; prelude.h has the
// same.
struct fk_dim {
	unsigned x, y, z;
};
struct fk_state {
	fk_dim thread, block, block_dim, grid_dim;
	void (*sync)();                                       // wait for the block
	uint64_t (*shuffle)(uint64_t value, unsigned source); // the value of another lane of the warp
	void (*sync_warp)();
	char *shared;
	size_t shared_bytes;
};

namespace fake {

constexpr size_t most_shared = 232448; // bytes of shared memory that a launch may have, if it was asked for

extern std::recursive_mutex lock;
extern fk_state threads;

constexpr char image_magic[8] = {'F', 'A', 'K', 'E', 'C', 'U', 'B', 1};

size_t number(const char *variable, size_t otherwise);
int fault(const char *name);
int enter(const char *name, bool in_context);
void *context_of_thread();

// later puts work on a stream.
int later(CUstream on, std::function<int()> work);

// check_copy returns an error unless memory lies within one block of the device.
int check_copy(CUdeviceptr device, size_t size);

// run runs all threads of a kernel.
int run(const char *name, void (*call)(void **), void *argument, fk_dim grid, fk_dim block, size_t shared);

} // namespace fake
