// Program waits is a cell that waits: for something that will come, or for ever. Its argument names what for. It counts
// the looks that are taken at it: what is to come, comes after enough of them, and it says at the end what they found.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/lectern-go/lectern/kernel/persist"
)

//go:linkname looked github.com/lectern-go/lectern/kernel/persist.looked
var looked func(found string)

const (
	enough  = 4   // looks: one more than it takes to call something a deadlock
	tooMany = 400 // for anything
	// long is the time in which there should be enough of them. Where the machine is too busy for that, a program with a
	// timer waits again.
	long = 1500 * time.Millisecond
)

var looks struct {
	sync.Mutex
	found []string
	then  func()
	from  int
}

func look(found string) {
	looks.Lock()
	defer looks.Unlock()
	looks.found = append(looks.found, found)
	n := len(looks.found)
	if looks.then != nil && n >= looks.from+enough {
		looks.then()
		looks.then = nil
	}
	if n == tooMany || found == "a deadlock" {
		fmt.Println("looks:", strings.Join(looks.found, "; "))
	}
	if n == tooMany {
		os.Exit(3)
	}
}

func lookedAt() int {
	looks.Lock()
	defer looks.Unlock()
	return len(looks.found)
}

// whenSeen calls f, in the goroutine that looks, after enough further looks.
func whenSeen(f func()) {
	looks.Lock()
	defer looks.Unlock()
	looks.then, looks.from = f, len(looks.found)
}

// untilSeen calls f again and again, until enough looks have been taken at one of its calls.
func untilSeen(f func()) func() {
	return func() {
		for {
			before := lookedAt()
			f()
			if lookedAt() >= before+enough {
				return
			}
		}
	}
}

// ends are programs that finish.
var ends = map[string]func(){
	"AfterFunc and WaitGroup": untilSeen(func() {
		var wg sync.WaitGroup
		wg.Add(1)
		time.AfterFunc(long, wg.Done)
		wg.Wait()
	}),
	"time.After":  untilSeen(func() { <-time.After(long) }),
	"time.Sleep":  untilSeen(func() { time.Sleep(long) }),
	"timer reset": untilSeen(func() { t := time.NewTimer(time.Hour); t.Reset(long); <-t.C }),
	"timer stopped beside another": untilSeen(func() {
		t := time.AfterFunc(time.Hour, func() {})
		t.Stop()
		<-time.After(long)
	}),
	"Ticker": untilSeen(func() {
		t := time.NewTicker(long / 3)
		defer t.Stop()
		for range 3 {
			<-t.C
		}
	}),
	"context.WithTimeout": untilSeen(func() {
		ctx, cancel := context.WithTimeout(context.Background(), long)
		defer cancel()
		<-ctx.Done()
	}),
	"context.AfterFunc": untilSeen(func() {
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(long))
		defer cancel()
		done := make(chan bool)
		context.AfterFunc(ctx, func() { close(done) })
		<-done
	}),
	"select with a timer": untilSeen(func() {
		select {
		case <-make(chan int):
		case <-time.After(long):
		}
	}),
	"Sleep in another goroutine": untilSeen(func() {
		c := make(chan int)
		go func() { time.Sleep(long); c <- 1 }()
		<-c
	}),
	"Cond and AfterFunc": untilSeen(func() {
		c := sync.NewCond(&sync.Mutex{})
		c.L.Lock()
		time.AfterFunc(long, func() { c.L.Lock(); c.Broadcast(); c.L.Unlock() })
		c.Wait()
	}),
	"Mutex and AfterFunc": untilSeen(func() {
		var m sync.Mutex
		m.Lock()
		time.AfterFunc(long, m.Unlock)
		m.Lock()
	}),
	"work while others wait": func() {
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			for lookedAt() < enough {
			}
		}()
		wg.Wait()
	},
	"a goroutine that ends later than it says": func() {
		for lookedAt() < enough {
			var wg sync.WaitGroup
			wg.Add(1)
			go func() {
				wg.Done()
				for begun := time.Now(); time.Since(begun) < 30*time.Millisecond; {
				}
			}()
			wg.Wait()
		}
	},
	"many short waits": func() {
		c := make(chan int)
		go func() {
			for lookedAt() < enough {
				time.Sleep(10 * time.Millisecond)
				c <- 1
			}
			close(c)
		}()
		for range c {
		}
	},
	"listener": func() {
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		other(nil, "to dial", l.Addr().String())
		must(l.Accept()).Close()
	},
	"read with a deadline": untilSeen(func() {
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		c := must(net.Dial("tcp", l.Addr().String()))
		c.SetReadDeadline(time.Now().Add(long))
		if _, err := c.Read(make([]byte, 1)); err == nil {
			panic("read something")
		}
	}),
	"pipe": func() {
		r, w, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		c := make(chan int)
		go func() { r.Read(make([]byte, 1)); c <- 1 }()
		other(w, "to echo")
		<-c
	},
	"exec.Cmd.Wait": func() { other(nil, "to echo").Wait() },
	"standard input": func() {
		whenSeen(func() { fmt.Println("wants a line") })
		must(bufio.NewReader(os.Stdin).ReadString('\n'))
	},
}

// stuck are programs that wait for ever.
var stuck = map[string]func(){
	"send":    func() { make(chan int) <- 1 },
	"receive": func() { <-make(chan int) },
	"range": func() {
		c := make(chan int, 1)
		c <- 1
		for range c {
		}
	},
	"nil channel":      func() { var c chan int; <-c },
	"send to nil":      func() { var c chan int; c <- 1 },
	"select, no cases": func() { select {} },
	"select": func() {
		select {
		case <-make(chan int):
		case make(chan int) <- 1:
		}
	},
	"Mutex twice":   func() { var m sync.Mutex; m.Lock(); m.Lock() },
	"RWMutex":       func() { var m sync.RWMutex; m.RLock(); m.Lock() },
	"WaitGroup":     func() { var wg sync.WaitGroup; wg.Add(1); wg.Wait() },
	"Cond":          func() { c := sync.NewCond(&sync.Mutex{}); c.L.Lock(); c.Wait() },
	"Once in Once":  func() { var o sync.Once; var f func(); f = func() { o.Do(f) }; f() },
	"Goexit":        func() { runtime.Goexit() },
	"stopped timer": func() { t := time.NewTimer(time.Hour); t.Stop(); <-t.C },
	"cancelled timeout": func() {
		_, cancel := context.WithTimeout(context.Background(), time.Hour)
		cancel()
		select {}
	},
	"timers stopped by all": func() {
		var wg sync.WaitGroup
		for range 4 * runtime.GOMAXPROCS(0) {
			wg.Add(1)
			go func() {
				t := time.AfterFunc(time.Hour, func() {})
				for begun := time.Now(); time.Since(begun) < time.Millisecond; {
				}
				t.Stop()
				wg.Done()
			}()
		}
		wg.Wait()
		select {}
	},
	"ring": func() {
		var cs [5]chan int
		for i := range cs {
			cs[i] = make(chan int)
		}
		for i := range cs {
			go func() { cs[(i+1)%5] <- <-cs[i] }()
		}
		<-make(chan int)
	},
	"two locks": func() {
		var a, b sync.Mutex
		var both sync.WaitGroup
		both.Add(2)
		f := func(x, y *sync.Mutex) { x.Lock(); both.Done(); both.Wait(); y.Lock() }
		go f(&a, &b)
		f(&b, &a)
	},
	"3000 goroutines": func() {
		c := make(chan int)
		for range 3000 {
			go func() { <-c }()
		}
		<-c
	},
	"after a timer": func() { <-time.After(300 * time.Millisecond); <-make(chan int) },
	"a lock that saving wants": func() {
		l := &locked{}
		persist.Def("l", &l)
		l.m.Lock()
		l.m.Lock()
	},
}

// locked can't be kept while it is locked.
type locked struct{ m sync.Mutex }

func (l *locked) KeepState() any { l.m.Lock(); defer l.m.Unlock(); return &struct{ X int }{} }

func (l *locked) RestoreState(any) {}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// other starts this program a second time, to do something when this one has been seen waiting.
func other(stdout io.Writer, what ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], what...)
	cmd.Stdout = stdout
	told := must(cmd.StdinPipe())
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	whenSeen(func() { told.Close() })
	return cmd
}

func main() {
	looked = look
	switch os.Args[1] {
	case "list":
		for _, m := range []map[string]func(){ends, stuck} {
			var names []string
			for n := range m {
				names = append(names, n)
			}
			sort.Strings(names)
			for _, n := range names {
				fmt.Println(n)
			}
			fmt.Println()
		}
		return
	case "to dial":
		told()
		must(net.Dial("tcp", os.Args[2])).Close()
		return
	case "to signal":
		told()
		poke(os.Args[2])
		return
	case "to echo":
		told()
		io.WriteString(os.Stdout, "x")
		return
	}
	defer persist.Begin(1)()
	x := 42
	persist.Def("x", &x)
	f := ends[os.Args[1]]
	if f == nil {
		f = stuck[os.Args[1]]
	}
	if os.Args[1] == "two that go on" {
		f = func() {
			go func() { select {} }()
			go func() { <-make(chan int) }()
		}
	}
	fmt.Println("waits")
	f()
	fmt.Println("ends")
}

// told returns when the program that has started this one says so.
func told() { io.Copy(io.Discard, os.Stdin) }
