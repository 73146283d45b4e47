//go:build cgo && unix

package main

// #include <pthread.h>
// #include <unistd.h>
//
// extern void called(void);
//
// static void *later(void *ms) { usleep(1000 * *(int *)ms); called(); return 0; }
//
// static int ms;
//
// static void start(int n) { pthread_t t; ms = n; pthread_create(&t, 0, later, &ms); }
//
// static void wait_ms(int n) { usleep(1000 * n); }
import "C"

var callback = make(chan int)

//export called
func called() { callback <- 1 }

func init() {
	ends["C call"] = func() {
		c := make(chan int)
		go func() { C.wait_ms(C.int(long.Milliseconds())); c <- 1 }()
		<-c
	}
	ends["C thread"] = func() { C.start(C.int(long.Milliseconds())); <-callback }
	stuck["C call that has ended"] = func() { C.wait_ms(1); select {} }
}
