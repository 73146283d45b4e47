package cpu

import (
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns n bytes that end where memory ends, or begin where it begins: to touch a byte beyond them is a fault.
func guarded(t testing.TB, n int, atEnd bool) unsafe.Pointer {
	t.Helper()
	page := syscall.Getpagesize()
	size := roundUp(max(n, 1), page)
	m, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no guard pages: %v", err)
	}
	for _, fence := range [][]byte{m[:page], m[page+size:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	at := page
	if atEnd {
		at = page + size - n
	}
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(m)), at)
}
