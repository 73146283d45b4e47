// The threads of a kernel: one block after the other, its threads in turn on
// stacks of their own, so that a thread that waits for others can be left and
// taken up again. A stack whose thread is done goes on with the next one, so
// kernels that never wait need only one.
#include "fake.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fake {

fk_state threads;

namespace {

enum { stack_bytes = 128 << 10, warp = 32 };

struct fiber {
	jmp_buf at;
	bool begun = false;  // it has its stack
	bool active = false; // a thread is on it
	unsigned thread = 0;
	fk_dim position{};
	const unsigned *generation = nullptr; // what it waits for
	unsigned seen = 0;
	char *stack = nullptr;
};

// barrier counts who has arrived. Threads that are done count as arrived.
struct barrier {
	unsigned arrived, generation, members;
};

struct lanes {
	barrier meet;
	uint64_t values[2][warp];
	unsigned done;
};

std::vector<fiber *> fibers;
std::vector<lanes> warps;
std::vector<unsigned> shuffles; // of each thread so far
barrier whole;
unsigned finished, next_thread, width;
void (*body)(void **);
void **arguments;
jmp_buf scheduler;
fiber *now;

void set_thread(unsigned t) {
	now->thread = t;
	threads.thread = now->position = {t % threads.block_dim.x, t / threads.block_dim.x % threads.block_dim.y, t / threads.block_dim.x / threads.block_dim.y};
}

unsigned this_thread() { return now->thread; }

void open_if_full(barrier &b, unsigned done) {
	if (b.arrived > 0 && b.arrived + done == b.members) {
		b.arrived = 0;
		b.generation++;
	}
}

void wait(barrier &b, unsigned done) {
	unsigned generation = b.generation;
	b.arrived++;
	open_if_full(b, done);
	if (b.generation != generation) return;
	fiber *me = now;
	me->generation = &b.generation;
	me->seen = generation;
	if (_setjmp(me->at) == 0) _longjmp(scheduler, 1);
}

void sync_block() { wait(whole, finished); }

void sync_warp() {
	lanes &w = warps[this_thread() / warp];
	wait(w.meet, w.done);
}

uint64_t shuffle(uint64_t value, unsigned source) {
	unsigned t = this_thread();
	lanes &w = warps[t / warp];
	unsigned turn = shuffles[t]++ & 1; // a slot is written again only after all have read it
	w.values[turn][t % warp] = value;
	wait(w.meet, w.done);
	unsigned lane = source % warp;
	return t / warp * warp + lane < width ? w.values[turn][lane] : value;
}

void work_once() {
	while (next_thread < width) {
		unsigned t = next_thread++;
		set_thread(t);
		body(arguments);
		finished++;
		open_if_full(whole, finished);
		lanes &w = warps[t / warp];
		w.done++;
		open_if_full(w.meet, w.done);
	}
}

// work runs threads that have not begun yet until none is left, and does so again
// whenever the stack is started again.
void work() {
	for (;;) {
		work_once();
		fiber *me = now;
		me->active = false;
		if (_setjmp(me->at) == 0) _longjmp(scheduler, 1);
	}
}

// start begins to work on a stack that is not in use.
void start(size_t i) {
	if (i == fibers.size()) {
		auto f = new fiber;
		f->stack = (char *)mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (f->stack == MAP_FAILED) abort();
		fibers.push_back(f);
	}
	now = fibers[i];
	now->active = true;
	if (_setjmp(scheduler) == 0) {
		if (now->begun) _longjmp(now->at, 1);
		now->begun = true;
		ucontext_t begin;
		getcontext(&begin);
		begin.uc_stack.ss_sp = now->stack;
		begin.uc_stack.ss_size = stack_bytes;
		begin.uc_link = nullptr;
		makecontext(&begin, work, 0);
		setcontext(&begin);
	}
}

void resume(fiber *f) {
	now = f;
	threads.thread = f->position;
	if (_setjmp(scheduler) == 0) _longjmp(f->at, 1);
}

// run_block returns false if threads wait for ever.
bool run_block() {
	next_thread = finished = 0;
	whole = {0, 0, width};
	warps.assign((width + warp - 1) / warp, {});
	for (size_t w = 0; w < warps.size(); w++) warps[w].meet.members = width - w * warp < warp ? width - w * warp : warp;
	shuffles.assign(width, 0);
	for (bool progress = true; finished < width; ) {
		if (!progress) return false;
		progress = false;
		for (size_t i = 0; next_thread < width; i++) {
			if (i < fibers.size() && fibers[i]->active) continue;
			start(i);
			progress = true;
		}
		for (size_t i = 0; i < width && i < fibers.size(); i++) {
			fiber *f = fibers[i];
			if (!f->active || *f->generation == f->seen) continue;
			resume(f);
			progress = true;
		}
	}
	return true;
}

} // namespace

int run(const char *name, void (*call)(void **), void *argument, fk_dim grid, fk_dim block, size_t shared) {
	static std::vector<char> memory(most_shared + 256);
	void *params[] = {argument};
	body = call;
	arguments = params;
	width = block.x * block.y * block.z;
	threads.grid_dim = grid;
	threads.block_dim = block;
	threads.sync = sync_block;
	threads.sync_warp = sync_warp;
	threads.shuffle = shuffle;
	threads.shared_bytes = shared;
	threads.shared = (char *)(((size_t)memory.data() + 255) / 256 * 256);
	for (unsigned z = 0; z < grid.z; z++)
		for (unsigned y = 0; y < grid.y; y++)
			for (unsigned x = 0; x < grid.x; x++) {
				threads.block = {x, y, z};
				memset(threads.shared, 0xcd, shared);
				if (!run_block()) {
					fprintf(stderr, "fakecuda: threads of %s wait for others that never come\n", name);
					for (fiber *f : fibers) f->active = f->begun = false;
					return 719;
				}
			}
	return 0;
}

} // namespace fake
