package cpu

// pause waits a fraction of a microsecond and leaves the core's power to its neighbor.
func pause()
