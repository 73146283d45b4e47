// A CUDA driver without a device: memory is the host's, and kernels are loops
// over the threads of their blocks. It is as strict as the real one about what
// programs get wrong (contexts of threads, freed memory, copies that are not
// waited for), since work on a stream is done only when somebody waits for it.
//
// The environment chooses what it pretends and what goes wrong; see fakecuda.go.
#include "fake.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

using std::function;
using std::map;
using std::string;
using std::vector;

namespace fake {

std::recursive_mutex lock;
static int sticky;                 // the error of a lost context
static thread_local void *current; // the context of this thread
static bool initialized;
static int running; // the stream whose work is being done, for messages

size_t number(const char *name, size_t otherwise) {
	const char *text = getenv(name);
	return text && *text ? strtoull(text, nullptr, 0) : otherwise;
}

// fault returns the error that FAKECUDA_FAULT wants from the nth call of a name.
// Calls are counted from when the variable was last changed.
int fault(const char *name) {
	static string now;
	static map<string, int> calls;
	const char *text = getenv("FAKECUDA_FAULT");
	if (now != (text ? text : "")) {
		now = text ? text : "";
		calls.clear();
	}
	if (now.empty()) return 0;
	int n = ++calls[name];
	for (const char *p = now.c_str(); p; p = strchr(p, ',')) {
		if (*p == ',') p++;
		char wanted[64];
		int nth, code;
		if (sscanf(p, "%63[^:]:%d:%d", wanted, &nth, &code) == 3 && !strcmp(wanted, name) && n == nth) return code;
	}
	return 0;
}

static bool loses(int code) { return code == 214 || code >= 700 && code < 720 && code != 701; }

// enter is what every call begins with.
int enter(const char *name, bool in_context) {
	if (!initialized && strcmp(name, "cuInit")) return 3;
	if (sticky) return sticky;
	if (in_context && !current) return 201;
	int code = fault(name);
	if (loses(code)) sticky = code;
	return code;
}

[[noreturn]] static void stop(const string &why) {
	fprintf(stderr, "fakecuda: %s\n", why.c_str());
	abort();
}

// Memory of the device. Each block has a margin on both sides that nobody may
// write to; fresh and freed blocks hold rubbish.
struct block {
	size_t size;
	bool pooled, freed;
};
static map<CUdeviceptr, block> blocks;
static size_t used, reserved;
enum { margin = 256 };

static size_t total() { return number("FAKECUDA_MEMORY", 1u << 30); }

static void check_margins(CUdeviceptr at, size_t size) {
	const unsigned char *p = (const unsigned char *)at;
	for (int i = 0; i < margin; i++)
		if (p[-1 - i] != 0xa5 || p[size + i] != 0xa5)
			stop("memory beside a block of " + std::to_string(size) + " bytes was written to, " + std::to_string(i) + " bytes away from it");
}

static int allocate(CUdeviceptr *at, size_t size, bool pooled) {
	if (size == 0) return 1;
	if (size > total() || used + size > total()) return 2;
	char *base = (char *)aligned_alloc(256, (size + 2 * margin + 255) / 256 * 256);
	if (!base) return 2;
	memset(base, 0xa5, margin);
	memset(base + margin + size, 0xa5, margin);
	memset(base + margin, 0xcd, size < 1 << 20 ? size : 1 << 20);
	*at = (CUdeviceptr)(base + margin);
	blocks[*at] = {size, pooled, false};
	used += size;
	if (pooled && used > reserved) reserved = used;
	return 0;
}

static int release(CUdeviceptr at) {
	auto b = blocks.find(at);
	if (b == blocks.end()) return 1;
	check_margins(at, b->second.size);
	memset((void *)at, 0xdd, b->second.size < 1 << 20 ? b->second.size : 1 << 20);
	free((char *)at - margin);
	blocks.erase(b);
	return 0;
}

// owns reports whether memory lies within one live block.
static bool owns(CUdeviceptr at, size_t size) {
	auto b = blocks.upper_bound(at);
	if (b == blocks.begin()) return false;
	--b;
	return !b->second.freed && at + size <= b->first + b->second.size;
}

// Pinned memory of the host.
static map<char *, size_t> pinned;

static bool is_pinned(const void *at, size_t size) {
	auto p = pinned.upper_bound((char *)at);
	if (p == pinned.begin()) return false;
	--p;
	return (char *)at + size <= p->first + p->second;
}

// Streams and events.
struct stream {
	std::deque<function<int()>> work;
	uint64_t asked = 0, done = 0; // pieces of work
};
struct event {
	stream *on = nullptr;
	uint64_t after = 0; // done when its stream has done so many pieces
	bool timed = true, dead = false;
	std::shared_ptr<double> when = std::make_shared<double>(-1); // milliseconds
};
static vector<stream *> streams;

static double now() {
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

// advance does a stream's work until so many pieces are done.
static int advance(stream *s, uint64_t until) {
	while (s->done < until) {
		if (s->work.empty()) stop("a stream waits for work that nobody asked for");
		auto work = std::move(s->work.front());
		s->work.pop_front();
		int code = sticky ? sticky : work();
		s->done++;
		if (loses(code)) sticky = code;
		if (code) return code;
	}
	return 0;
}

static int finish(stream *s) { return advance(s, s->asked); }

static int finish_all() {
	for (stream *s : streams)
		if (int code = finish(s)) return code;
	return 0;
}

static stream *main_stream() {
	static stream *s = [] {
		auto s = new stream;
		streams.push_back(s);
		return s;
	}();
	return s;
}

static stream *of(CUstream s) { return (size_t)s <= 2 ? main_stream() : (stream *)s; }

int later(CUstream on, function<int()> work) {
	stream *s = of(on);
	s->work.push_back(std::move(work));
	s->asked++;
	bool at_once = number("FAKECUDA_EAGER", 0);
	return s->work.size() > 256 || at_once ? finish(s) : 0;
}

int check_copy(CUdeviceptr device, size_t size) { return owns(device, size) ? 0 : 700; }

int lose(int code) { return sticky = code; }

void *context_of_thread() { return current; }

} // namespace fake

using namespace fake;

#define API(name) extern "C" __attribute__((visibility("default"))) int name
#define ENTER(in_context) \
	std::lock_guard<std::recursive_mutex> guard(fake::lock); \
	if (int code = enter(__func__, in_context)) return code

// Devices.

API(cuInit)(unsigned) {
	std::lock_guard<std::recursive_mutex> guard(fake::lock);
	initialized = true;
	if (int code = enter("cuInit", false)) return code;
	return number("FAKECUDA_DEVICES", 1) == 0 ? 100 : 0;
}

API(cuDriverGetVersion)(int *version) {
	*version = (int)number("FAKECUDA_DRIVER", 12080);
	return 0;
}

static const map<int, std::pair<const char *, const char *>> names = {
	{0, {"CUDA_SUCCESS", "no error"}},
	{1, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
	{2, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
	{3, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
	{34, {"CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"}},
	{100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
	{101, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
	{200, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
	{201, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
	{209, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"}},
	{214, {"CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"}},
	{400, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
	{500, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
	{600, {"CUDA_ERROR_NOT_READY", "device not ready"}},
	{700, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
	{701, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
	{716, {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"}},
	{719, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
	{801, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
	{803, {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"}},
	{999, {"CUDA_ERROR_UNKNOWN", "unknown error"}},
};

API(cuGetErrorName)(int code, const char **text) {
	auto n = names.find(code);
	*text = n == names.end() ? nullptr : n->second.first;
	return n == names.end() ? 1 : 0;
}

API(cuGetErrorString)(int code, const char **text) {
	auto n = names.find(code);
	*text = n == names.end() ? nullptr : n->second.second;
	return n == names.end() ? 1 : 0;
}

API(cuDeviceGetCount)(int *count) {
	ENTER(false);
	*count = (int)number("FAKECUDA_DEVICES", 1);
	return 0;
}

API(cuDeviceGet)(CUdevice *device, int ordinal) {
	ENTER(false);
	if (ordinal < 0 || ordinal >= (int)number("FAKECUDA_DEVICES", 1)) return 101;
	*device = ordinal;
	return 0;
}

API(cuDeviceGetName)(char *name, int size, CUdevice) {
	ENTER(false);
	const char *text = getenv("FAKECUDA_NAME");
	snprintf(name, size, "%s", text ? text : "Fake H200");
	return 0;
}

API(cuDeviceTotalMem_v2)(size_t *size, CUdevice) {
	ENTER(false);
	*size = total();
	return 0;
}

API(cuDeviceGetUuid_v2)(unsigned char *uuid, CUdevice device) {
	ENTER(false);
	memset(uuid, device + 1, 16);
	return 0;
}

API(cuDeviceGetAttribute)(int *value, int attribute, CUdevice) {
	ENTER(false);
	int capability = (int)number("FAKECUDA_CAPABILITY", 90);
	static const map<int, int> values = {{1, 1024}, {8, 49152}, {10, 32}, {13, 1980000}, {16, 132}, {33, 1}, {36, 3201000},
		{37, 6144}, {38, 60 << 20}, {39, 2048}, {41, 1}};
	if (attribute == 75) {
		*value = capability / 10;
	} else if (attribute == 76) {
		*value = capability % 10;
	} else if (attribute == 97) {
		*value = (int)number("FAKECUDA_SHARED", most_shared);
	} else if (attribute == 115) {
		*value = number("FAKECUDA_NO_POOL", 0) == 0;
	} else {
		auto v = values.find(attribute);
		if (v == values.end()) return 1;
		*value = v->second;
	}
	return 0;
}

API(cuDevicePrimaryCtxRetain)(CUcontext *context, CUdevice device) {
	ENTER(false);
	*context = (CUcontext)(size_t)(device + 1);
	return 0;
}

API(cuDevicePrimaryCtxRelease_v2)(CUdevice) {
	ENTER(false);
	return 0;
}

API(cuDevicePrimaryCtxSetFlags_v2)(CUdevice, unsigned) {
	ENTER(false);
	return 0;
}

API(cuCtxSetCurrent)(CUcontext context) {
	std::lock_guard<std::recursive_mutex> guard(fake::lock);
	current = context;
	return sticky; // a lost context can't be made current either
}

API(cuCtxSynchronize)(void) {
	ENTER(true);
	return finish_all();
}

// Memory.

API(cuMemGetInfo_v2)(size_t *available, size_t *all) {
	ENTER(true);
	*all = total();
	*available = *all > reserved ? *all - (reserved > used ? reserved : used) : 0;
	return 0;
}

API(cuMemAlloc_v2)(CUdeviceptr *at, size_t size) {
	ENTER(true);
	return allocate(at, size, false);
}

API(cuMemFree_v2)(CUdeviceptr at) {
	ENTER(true);
	if (int code = finish_all()) return code;
	auto b = blocks.find(at);
	if (b == blocks.end() || b->second.freed) return 1;
	used -= b->second.size;
	return release(at);
}

API(cuMemAllocAsync)(CUdeviceptr *at, size_t size, CUstream) {
	ENTER(true);
	if (number("FAKECUDA_NO_POOL", 0)) return 801;
	return allocate(at, size, true);
}

API(cuMemFreeAsync)(CUdeviceptr at, CUstream on) {
	ENTER(true);
	auto b = blocks.find(at);
	if (b == blocks.end() || b->second.freed || !b->second.pooled) return 1;
	b->second.freed = true; // for whatever is asked for later
	used -= b->second.size;
	return later(on, [at] { return release(at); });
}

API(cuDeviceGetDefaultMemPool)(CUmemoryPool *pool, CUdevice) {
	ENTER(false);
	*pool = (CUmemoryPool)1;
	return 0;
}

API(cuMemPoolSetAttribute)(CUmemoryPool, int, void *) {
	ENTER(false);
	return 0;
}

API(cuMemPoolGetAttribute)(CUmemoryPool, int attribute, void *value) {
	ENTER(false);
	if (attribute == 5 || attribute == 6)
		*(uint64_t *)value = reserved;
	else if (attribute == 7 || attribute == 8)
		*(uint64_t *)value = used;
	else
		return 1;
	return 0;
}

API(cuMemPoolTrimTo)(CUmemoryPool, size_t keep) {
	ENTER(false);
	reserved = used > keep ? used : keep;
	return 0;
}

API(cuMemHostAlloc)(void **at, size_t size, unsigned) {
	ENTER(true);
	if (size == 0) return 1;
	*at = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
	if (!*at) return 2;
	memset(*at, 0xcd, size < 1 << 20 ? size : 1 << 20);
	pinned[(char *)*at] = size;
	return 0;
}

API(cuMemFreeHost)(void *at) {
	ENTER(true);
	if (int code = finish_all()) return code;
	if (!pinned.erase((char *)at)) return 1;
	free(at);
	return 0;
}

API(cuMemHostRegister_v2)(void *at, size_t size, unsigned) {
	ENTER(true);
	pinned[(char *)at] = size;
	return 0;
}

API(cuMemHostUnregister)(void *at) {
	ENTER(true);
	if (int code = finish_all()) return code;
	return pinned.erase((char *)at) ? 0 : 1;
}

// Copies. Of memory that is not pinned the driver takes a copy at once; pinned
// memory is read when its turn comes.

API(cuMemcpyHtoDAsync_v2)(CUdeviceptr dst, const void *src, size_t size, CUstream on) {
	ENTER(true);
	if (int code = check_copy(dst, size)) return code == 700 ? 1 : code;
	if (is_pinned(src, size))
		return later(on, [=] {
			memcpy((void *)dst, src, size);
			return 0;
		});
	auto copy = std::make_shared<vector<char>>((const char *)src, (const char *)src + size);
	return later(on, [=] {
		memcpy((void *)dst, copy->data(), size);
		return 0;
	});
}

API(cuMemcpyDtoHAsync_v2)(void *dst, CUdeviceptr src, size_t size, CUstream on) {
	ENTER(true);
	if (int code = check_copy(src, size)) return code == 700 ? 1 : code;
	int code = later(on, [=] {
		memcpy(dst, (const void *)src, size);
		return 0;
	});
	return code || is_pinned(dst, size) ? code : finish(of(on));
}

API(cuMemcpyDtoDAsync_v2)(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream on) {
	ENTER(true);
	if (check_copy(src, size) || check_copy(dst, size)) return 1;
	return later(on, [=] {
		memmove((void *)dst, (const void *)src, size);
		return 0;
	});
}

template <class T> static int fill(CUdeviceptr at, T value, size_t count, CUstream on) {
	if (check_copy(at, count * sizeof(T))) return 1;
	return later(on, [=] {
		for (size_t i = 0; i < count; i++) ((T *)at)[i] = value;
		return 0;
	});
}

API(cuMemsetD8Async)(CUdeviceptr at, unsigned char value, size_t count, CUstream on) {
	ENTER(true);
	return fill(at, value, count, on);
}

API(cuMemsetD16Async)(CUdeviceptr at, unsigned short value, size_t count, CUstream on) {
	ENTER(true);
	return fill(at, value, count, on);
}

API(cuMemsetD32Async)(CUdeviceptr at, unsigned value, size_t count, CUstream on) {
	ENTER(true);
	return fill(at, value, count, on);
}

// Streams and events.

API(cuStreamCreate)(CUstream *s, unsigned) {
	ENTER(true);
	streams.push_back(new stream);
	*s = (CUstream)streams.back();
	return 0;
}

API(cuStreamDestroy_v2)(CUstream s) {
	ENTER(true);
	return finish(of(s)); // events may still point to it
}

API(cuStreamSynchronize)(CUstream s) {
	ENTER(true);
	return finish(of(s));
}

API(cuStreamQuery)(CUstream s) {
	ENTER(true);
	stream *on = of(s);
	if (on->done == on->asked) return 0;
	int code = advance(on, on->done + 1);
	return code ? code : on->done == on->asked ? 0 : 600;
}

API(cuEventCreate)(CUevent *e, unsigned flags) {
	ENTER(true);
	auto made = new event;
	made->timed = !(flags & 2);
	*e = (CUevent)made;
	return 0;
}

API(cuEventDestroy_v2)(CUevent e) {
	ENTER(true);
	if (((event *)e)->dead) return 400;
	((event *)e)->dead = true;
	return 0;
}

API(cuEventRecord)(CUevent handle, CUstream s) {
	ENTER(true);
	auto e = (event *)handle;
	if (e->dead) return 400;
	e->on = of(s);
	e->when = std::make_shared<double>(-1);
	e->after = e->on->asked + 1;
	auto when = e->when;
	return later(s, [when] {
		*when = now();
		return 0;
	});
}

API(cuEventSynchronize)(CUevent handle) {
	ENTER(true);
	auto e = (event *)handle;
	if (e->dead) return 400;
	return e->on ? advance(e->on, e->after) : 0;
}

API(cuEventQuery)(CUevent handle) {
	ENTER(true);
	auto e = (event *)handle;
	if (e->dead) return 400;
	if (!e->on || e->on->done >= e->after) return 0;
	int code = advance(e->on, e->on->done + 1);
	return code ? code : e->on->done >= e->after ? 0 : 600;
}

API(cuEventElapsedTime)(float *milliseconds, CUevent from, CUevent to) {
	ENTER(true);
	auto a = (event *)from, b = (event *)to;
	if (!a->timed || !b->timed || !a->on || !b->on || a->dead || b->dead) return 400;
	if (a->on->done < a->after || b->on->done < b->after) return 600;
	*milliseconds = (float)(*b->when - *a->when);
	return 0;
}

API(cuStreamWaitEvent)(CUstream s, CUevent handle, unsigned) {
	ENTER(true);
	auto e = (event *)handle;
	if (e->dead) return 400;
	stream *on = e->on;
	uint64_t after = e->after;
	return later(s, [=] { return on ? advance(on, after) : 0; });
}

// Kernels. A module is the shared library that nvrtc.cc has made of them.

struct module {
	void *library;
	fk_state **state;
};
struct kernel {
	string name;
	module *of;
	void (*call)(void **);
	size_t size; // of its argument
	size_t shared = 49152; // bytes of shared memory that a launch may have
};

API(cuModuleLoadData)(CUmodule *m, const void *image) {
	ENTER(true);
	if (memcmp(image, image_magic, sizeof image_magic)) return 200;
	uint64_t size;
	memcpy(&size, (const char *)image + 8, 8);
	int file = memfd_create("kernels", 0);
	if (file < 0 || write(file, (const char *)image + 16, size) != (ssize_t)size) return 200;
	string path = "/proc/self/fd/" + std::to_string(file);
	void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
	if (!library) return 200;
	auto state = (fk_state **)dlsym(library, "fk");
	if (!state) return 200;
	*state = &threads;
	*m = (CUmodule) new module{library, state};
	return 0; // the file stays open: the loader takes libraries of one path for the same
}

API(cuModuleLoadDataEx)(CUmodule *m, const void *image, unsigned, int *, void **) { return cuModuleLoadData(m, image); }

API(cuModuleUnload)(CUmodule) {
	ENTER(true);
	return finish_all();
}

API(cuModuleGetFunction)(CUfunction *f, CUmodule m, const char *name) {
	ENTER(true);
	auto of = (module *)m;
	auto call = (void (*)(void **))dlsym(of->library, (string("fk_call_") + name).c_str());
	auto size = (size_t *)dlsym(of->library, (string("fk_size_") + name).c_str());
	if (!call || !size) return 500;
	*f = (CUfunction) new kernel{name, of, call, *size};
	return 0;
}

API(cuFuncSetAttribute)(CUfunction f, int attribute, int value) {
	ENTER(true);
	if (attribute != 8) return 0;
	if (value < 0 || (size_t)value > number("FAKECUDA_SHARED", most_shared)) return 1;
	((kernel *)f)->shared = value;
	return 0;
}

API(cuOccupancyMaxPotentialBlockSize)(int *grid, int *block, CUfunction, void *, size_t, int) {
	ENTER(true);
	*grid = 132;
	*block = 256;
	return 0;
}

API(cuLaunchKernel)
(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream on, void **params, void **extra) {
	ENTER(true);
	auto k = (kernel *)f;
	uint64_t width = (uint64_t)bx * by * bz;
	if (!gx || !gy || !gz || !width || width > 1024 || bz > 64 || gx > 0x7fffffff || gy > 65535 || gz > 65535) return 1;
	if (shared > k->shared || extra || !params) return 1;
	auto arguments = std::make_shared<vector<uint64_t>>((k->size + 7) / 8); // the driver copies them before it returns
	memcpy(arguments->data(), params[0], k->size);
	return later(on, [=] {
		if (int code = fault("kernel")) return code;
		return run(k->name.c_str(), k->call, arguments->data(), {gx, gy, gz}, {bx, by, bz}, shared);
	});
}
