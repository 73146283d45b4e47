// Package gpu adds NVIDIA GPUs: a program that imports it can put tensors on "cuda:0".
//
//	import _ "github.com/lectern-go/lectern/gpu"
//
// Nothing of CUDA is needed to build it. The driver, NVRTC, which compiles the kernels, and cuBLASLt, which multiplies
// matrices, are opened when they are first used, so the same program runs with and without a GPU. If there is none,
// and on systems other than Linux or without cgo, [Why] says so in one sentence.
//
// # Libraries
//
// The driver comes with the system (libcuda.so.1, CUDA 11.2 or later). NVRTC and cuBLASLt are looked for where the
// system's loader looks, in CUDA_HOME, below /usr/local/cuda, and in Python environments (VIRTUAL_ENV, CONDA_PREFIX,
// LECTERN_PYTHON, the python3 that is found first), whose wheels nvidia-cuda-nvrtc-cu12 and nvidia-cublas-cu12
// contain them. Without cuBLASLt, our own kernel multiplies matrices, slowly. [Libraries] says what was found.
// Compiled kernels are kept in the user's cache folder.
//
// # Order and failures
//
// Each device does all work in the order of the calls, after they have returned; only prefetched copies run alongside.
// A failure of a kernel therefore shows in a later call. Errors are [*Error] values; errors.Is finds [ErrOutOfMemory],
// [ErrLost], [ErrUnsupported] and [ErrNoDevice] in them. After ErrLost, no operation works until the program is
// restarted: the driver offers no other way.
//
// # Memory
//
// Freed memory is kept for reuse; [EmptyCache] gives it back. Go's collector doesn't see how much device memory a
// small object holds, so it is started whenever a quarter of the device's memory has been requested since the last
// time, and when the device is full, before one more try. Loops that can't wait for it free tensors themselves.
//
// # What was seen to work
//
// The tests run everything on a driver, an NVRTC and a cuBLASLt that stand in for the real ones: g++ compiles
// kernels from the same source, and products obey cuBLASLt's rules about what it can read and multiply. If the
// real NVRTC is found, it compiles the kernels, too. Tests whose names begin with TestRealGPU do the same on a
// device, and say why they are skipped if there is none. docs/gpu.md says on which device they last ran, and how
// fast it was.
//
// # Environment
//
//	LECTERN_CUDA=0            use no device, whatever the machine has
//	LECTERN_CUDA_LIB          the file of the driver
//	LECTERN_NVRTC_LIB         the file of NVRTC
//	LECTERN_CUBLASLT_LIB      the file of cuBLASLt
//	LECTERN_CUDA_BLOCKING=1   wait after each operation, so that the operation that fails is the one that says so
//	LECTERN_AUTOTUNE=1        measure the ways to multiply matrices of each size before the first product of that size;
//	                          another run may then choose another way, whose last digits differ
package gpu
