//go:build cgo && unix

package main

// #include <pthread.h>
// #include <unistd.h>
//
// extern void called(void);
//
// static int seen;
//
// static void tell(void) { __atomic_store_n(&seen, 1, __ATOMIC_SEQ_CST); }
//
// static void wait_seen(void) { while (!__atomic_load_n(&seen, __ATOMIC_SEQ_CST)) usleep(1000); }
//
// static void *later(void *unused) { wait_seen(); called(); return unused; }
//
// static void start(void) { pthread_t t; pthread_create(&t, 0, later, 0); }
//
// static void wait_ms(int n) { usleep(1000 * n); }
import "C"

var callback = make(chan int)

//export called
func called() { callback <- 1 }

func init() {
	ends["C call"] = func() {
		c := make(chan int)
		whenSeen(func() { C.tell() })
		go func() { C.wait_seen(); c <- 1 }()
		<-c
	}
	ends["C thread"] = func() {
		whenSeen(func() { C.tell() })
		C.start()
		<-callback
	}
	stuck["C call that has ended"] = func() { C.wait_ms(1); select {} }
}
