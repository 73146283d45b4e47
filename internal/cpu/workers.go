package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Workers are goroutines that wait for pieces of work. Starting a goroutine and waking its thread costs several
// microseconds, as much as a product of 100x100 matrices; so a worker that has run out of work first looks for more
// for a while, and only then goes to sleep. While it looks, it lets Go's scheduler run others in between: the
// garbage collector needs the scheduler to stop the world and to work. For the same reason a worker has no thread to
// itself; yielding would then take a thread switch.
//
// The system may wake a worker on the very core on which the caller computes, and takes tens of
// milliseconds to notice that another one is idle. So a caller whose worker did not come notes which
// core it is on, and the worker moves to another.

// spinFor is how long an idle worker looks for work before it sleeps. It must be longer than the gap between two
// operations of a training step, or each of them pays for waking a worker.
const spinFor = 200 * time.Microsecond

// job is one call to Parallel.
type job struct {
	f       func(piece int)
	taken   []atomic.Bool // by piece
	members int           // how many share the pieces; the caller is member 0
	_       [64]byte
	state   atomic.Int64 // workers in it, plus joined times those that ever were; closed once the caller has found no piece left
	_       [64]byte
}

const (
	joined = 1 << 20
	closed = 1 << 40
)

type worker struct {
	asleep atomic.Bool
	_      [64]byte
	wake   chan struct{}
}

// pool is the set of workers; one job has it at a time.
var pool struct {
	busy    sync.Mutex
	workers []*worker // grows, under busy
	_       [64]byte
	news    atomic.Uint64 // counts jobs
	_       [64]byte
	current atomic.Pointer[job]
	alone   atomic.Int64 // the core, plus 1, of a caller that no worker joined; 0 if there is none
}

var started = time.Now()

// Threads returns how many threads a job may use.
func Threads() int { return runtime.GOMAXPROCS(0) }

// Parallel calls f once for each piece in [0, n), on several threads. As far as possible, piece i goes to the same
// thread in each call, so that its data is still in that core's cache. If another job has the workers, as in a call
// from within f, all pieces run here. It returns when all calls have; f must not panic.
func Parallel(n int, f func(piece int)) {
	members := min(Threads(), n)
	if members <= 1 || !pool.busy.TryLock() {
		for i := range n {
			f(i)
		}
		return
	}
	for i := len(pool.workers); i < members-1; i++ {
		w := &worker{wake: make(chan struct{}, 1)}
		pool.workers = append(pool.workers, w)
		go w.run(i+1, pool.news.Load())
	}
	j := &job{f: f, taken: make([]atomic.Bool, n), members: members}
	pool.current.Store(j)
	pool.news.Add(1)
	for _, w := range pool.workers[:members-1] {
		if w.asleep.Load() && w.asleep.CompareAndSwap(true, false) {
			w.wake <- struct{}{}
		}
	}
	defer j.finish()
	j.work(0)
}

// finish waits for the workers that joined, and makes room for the next job.
func (j *job) finish() {
	for { // no worker may join any more
		s := j.state.Load()
		if j.state.CompareAndSwap(s, s|closed) {
			break
		}
	}
	for i := 0; j.state.Load()%joined != 0; i++ {
		pause()
		if i > 200 && i%64 == 0 { // the worker may be waiting for this very core, or the collector for this goroutine
			yield()
			runtime.Gosched()
		}
	}
	if j.state.Load() == closed {
		pool.alone.Store(int64(core()) + 1)
	}
	pool.current.Store(nil)
	pool.busy.Unlock()
}

// work does the pieces that belong to a member, and then those of others that haven't been started.
func (j *job) work(member int) {
	for turn := range j.members {
		for i := (member + turn) % j.members; i < len(j.taken); i += j.members {
			if !j.taken[i].Load() && j.taken[i].CompareAndSwap(false, true) {
				j.f(i)
			}
		}
	}
}

// join is work for a worker, unless it is too late or the job wants fewer.
func (j *job) join(member int) {
	if member >= j.members {
		return
	}
	for {
		s := j.state.Load()
		if s&closed != 0 {
			return
		}
		if j.state.CompareAndSwap(s, s+1+joined) {
			break
		}
	}
	j.work(member)
	j.state.Add(-1)
}

// run is the loop of a worker. seen is the number of jobs before it was made.
func (w *worker) run(member int, seen uint64) {
	since := time.Since(started)
	for i := 0; ; i++ {
		if n := pool.news.Load(); n != seen {
			seen = n
			if j := pool.current.Load(); j != nil {
				j.join(member)
			}
			since = time.Since(started)
			continue
		}
		pause()
		if i%32 != 31 {
			continue
		}
		if alone := pool.alone.Load(); alone > 0 && pool.alone.CompareAndSwap(alone, 0) && core() == int(alone)-1 {
			leaveCore(int(alone) - 1)
		}
		if time.Since(started)-since < spinFor {
			if i%256 == 255 {
				yield() // the caller may share this core
			}
			runtime.Gosched()
			continue
		}
		w.asleep.Store(true)
		if pool.news.Load() == seen || !w.asleep.CompareAndSwap(true, false) {
			<-w.wake
		}
		since = time.Since(started)
	}
}
