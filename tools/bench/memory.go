package bench

import (
	"bytes"
	"os"
	"strconv"
)

// peakBytes returns the most memory that this process has held, or 0 where the system does not tell. (What a parent
// learns of its children counts the parent's own memory too.)
func peakBytes() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(status, []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	if !ok || len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
