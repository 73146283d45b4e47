package peak

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// pin ties the calling thread to the i-th of the processors that this process may use.
// Failing to do so only costs precision.
func pin(i int) {
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil || allowed.Count() == 0 {
		return
	}
	i %= allowed.Count()
	for processor := range 64 * len(allowed) {
		if !allowed.IsSet(processor) {
			continue
		}
		if i == 0 {
			var one unix.CPUSet
			one.Set(processor)
			// After an error, the thread stays where the system puts it.
			_ = unix.SchedSetaffinity(0, &one)
			return
		}
		i--
	}
}

// lastCaches returns how many bytes the last-level caches of all processors hold in
// all; 0 if the system doesn't tell.
func lastCaches() int {
	read := func(path string) string {
		text, _ := os.ReadFile(path) // a file that is missing tells nothing
		return strings.TrimSpace(string(text))
	}
	level, total, seen := 0, 0, map[string]bool{}
	caches, _ := filepath.Glob("/sys/devices/system/cpu/cpu*/cache/index*")
	for _, cache := range caches {
		at, _ := strconv.Atoi(read(filepath.Join(cache, "level")))
		if at > level { // only the last level counts
			level, total, seen = at, 0, map[string]bool{}
		}
		shared := read(filepath.Join(cache, "shared_cpu_list"))
		if at < level || at == 0 || seen[shared] {
			continue
		}
		seen[shared] = true
		total += cacheSize(read(filepath.Join(cache, "size")))
	}
	return total
}

// cacheSize reads "8192K".
func cacheSize(text string) int {
	unit := 1
	for suffix, bytes := range map[string]int{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = number, bytes
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n * unit
}
