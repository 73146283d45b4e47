package parallel

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// ErrOrder is the kind of mistake that ranks make together: they are not in the same
// collective, or one waits for a rank that is done.
var ErrOrder = errors.New("ranks out of step")

func fail(kind error, op, reason, hint string) {
	(&tensor.Error{Package: "parallel", Kind: kind, Op: op, Reason: reason, Hint: hint}).Panic()
}

// A Rank is one of the machines. It belongs to the goroutine that [Run] started with it.
type Rank struct {
	ID   int // from 0
	Size int // how many there are

	world   *world
	account Account
}

// An Account is what a rank did while [Run] ran.
type Account struct {
	Sent, Received int // bytes

	// Busy is how long the rank worked and Clock when it was done, in the units of
	// [Rank.Work]. The difference is waiting.
	Busy, Clock float64
	Tasks       []Task
}

// A Task is one piece of [Rank.Work], with its beginning and end.
type Task struct {
	Name     string
	From, To float64
}

// world is what ranks share: a channel from each to each, and who is done.
type world struct {
	from    [][]chan message // from[a][b] is from a to b
	done    []chan struct{}
	broken  chan struct{} // a rank panicked
	once    sync.Once
	failure any // with what
}

// message is what one rank sends to another: elements, and the time on its clock.
type message struct {
	op    string
	x     *tensor.Tensor
	clock float64
}

// Run starts one goroutine for each rank, waits until all are done, and returns what each
// of them did. If one panics, the others stop waiting for it, and Run panics with the
// same value. It panics with a [*tensor.Error] unless there are from 1 to 1024 ranks.
func Run(ranks int, f func(r *Rank)) []Account {
	if ranks < 1 || ranks > 1024 { // each has a channel to each
		fail(tensor.ErrValue, "run", humanize.Count(ranks, "rank"), "give from 1 to 1024")
	}
	w := &world{broken: make(chan struct{})}
	for range ranks {
		row := make([]chan message, ranks)
		for b := range row {
			row[b] = make(chan message, 1) // so that all may send first, then receive
		}
		w.from = append(w.from, row)
		w.done = append(w.done, make(chan struct{}))
	}
	all := make([]*Rank, ranks)
	var wait sync.WaitGroup
	for id := range all {
		all[id] = &Rank{ID: id, Size: ranks, world: w}
		wait.Go(func() {
			defer close(w.done[id])
			finished := false
			defer func() {
				if v := recover(); v != nil {
					w.stop(v)
				} else if !finished { // by runtime.Goexit, if not by another rank's panic
					w.stop(fmt.Sprintf("parallel: rank %d ended its goroutine", id))
				}
			}()
			f(all[id])
			finished = true
		})
	}
	wait.Wait()
	if w.failure != nil {
		panic(w.failure)
	}
	accounts := make([]Account, ranks)
	for i, r := range all {
		accounts[i] = r.account
	}
	return accounts
}

// stop makes all ranks give up; the first failure counts.
func (w *world) stop(failure any) {
	w.once.Do(func() {
		w.failure = failure
		close(w.broken)
	})
}

// Account returns what the rank has done so far.
func (r *Rank) Account() Account { return r.account }

// Work says that the rank is busy for some time, in any unit: the clock in its account
// moves on by that. Clocks have nothing to do with real time, which all ranks share on a
// laptop: a message arrives at the time that the sender's clock showed when it was sent,
// and a rank whose clock is ahead of that has not waited.
func (r *Rank) Work(name string, time float64) {
	a := &r.account
	a.Tasks = append(a.Tasks, Task{name, a.Clock, a.Clock + time})
	a.Busy += time
	a.Clock += time
}

// Send sends a copy of x to another rank, and returns as soon as the previous message
// has been fetched. It panics if there is no such rank, or if that rank is done.
func (r *Rank) Send(to int, x *tensor.Tensor) { r.send("send", to, x) }

// Receive waits for what another rank sends to this one. It panics if there is no such
// rank, or if that rank is done and has sent nothing.
func (r *Rank) Receive(from int) *tensor.Tensor { return r.receive("send", from) }

func (r *Rank) send(op string, to int, x *tensor.Tensor) {
	r.check(op, to)
	m := message{op, x.Detach().Clone(), r.account.Clock}
	late := func() {
		fail(ErrOrder, op, fmt.Sprintf("rank %d sends to rank %d, which is done", r.ID, to), "each Send needs its Receive, and all ranks the same collectives")
	}
	select { // first of all, as a select takes any of what is ready, and there may be room for the message
	case <-r.world.done[to]:
		late()
	default:
	}
	select {
	case r.world.from[r.ID][to] <- m:
	case <-r.world.broken:
		runtime.Goexit()
	case <-r.world.done[to]:
		late()
	}
	r.account.Sent += x.Bytes()
}

func (r *Rank) receive(op string, from int) *tensor.Tensor {
	r.check(op, from)
	in := r.world.from[from][r.ID]
	var m message
	select {
	case m = <-in:
	case <-r.world.broken:
		runtime.Goexit()
	case <-r.world.done[from]:
		select {
		case m = <-in: // sent before it was done
		default:
			fail(ErrOrder, op, fmt.Sprintf("rank %d waits for rank %d, which is done", r.ID, from), "each Receive needs its Send, and all ranks the same collectives")
		}
	}
	if m.op != op {
		fail(ErrOrder, op, fmt.Sprintf("rank %d is in %s, rank %d in %s", r.ID, op, from, m.op), "all ranks must call the same collectives in the same order")
	}
	r.account.Received += m.x.Bytes()
	r.account.Clock = max(r.account.Clock, m.clock)
	return m.x
}

func (r *Rank) check(op string, other int) {
	if other < 0 || other >= r.Size || other == r.ID {
		fail(tensor.ErrValue, op, fmt.Sprintf("rank %d can't talk to rank %d of %d", r.ID, other, r.Size), "")
	}
}
