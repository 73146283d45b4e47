//go:build unix

package main

import (
	"os"
	"syscall"
	"time"
	"unicode/utf8"
)

// A tap is the kernel's end of the pipe that a cell prints into; see package stdio.
type tap struct {
	r, w *os.File // w keeps the pipe open until the cell has ended
	done chan struct{}
}

// openTap begins to hand what cells print to print, in pieces that cut no character in two.
func openTap(path string, print func(string)) (*tap, error) {
	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		r.Close()
		return nil, err
	}
	t := &tap{r, w, make(chan struct{})}
	go func() {
		defer close(t.done)
		buf := make([]byte, 64<<10)
		kept := 0 // the beginning of a character
		for {
			n, err := r.Read(buf[kept:])
			n += kept
			whole := n
			if err == nil {
				whole = wholeRunes(buf[:n])
			}
			if whole > 0 {
				print(string(buf[:whole]))
			}
			kept = copy(buf, buf[whole:n])
			if err != nil {
				return
			}
		}
	}()
	return t, nil
}

// wholeRunes returns how much of b is left if a character that has only begun is left off.
func wholeRunes(b []byte) int {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}

// close returns when everything that the cell printed has been handed on. A program that the cell left running may print on; nobody reads that.
func (t *tap) close() {
	t.w.Close()
	t.r.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	<-t.done
	t.r.Close()
}
