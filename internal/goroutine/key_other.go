//go:build !amd64 && !arm64

package goroutine

import (
	"bytes"
	"runtime"
	"strconv"
)

// key tells goroutines apart: it is the number in the header of a stack trace,
// "goroutine 7 [running]", which takes a microsecond to write.
type key struct{ number int }

func current() key {
	var buf [64]byte
	head := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(head, []byte(" "))
	number, _ := strconv.Atoi(string(digits))
	return key{number}
}
