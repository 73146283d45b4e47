package peak

import "golang.org/x/sys/unix"

// pin ties the calling thread to the i-th of the processors that this process
// may use. Failing to do so costs precision only.
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
			// An error leaves the thread where the system puts it.
			_ = unix.SchedSetaffinity(0, &one)
			return
		}
		i--
	}
}
