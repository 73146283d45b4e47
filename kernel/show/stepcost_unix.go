//go:build unix

package show

import (
	"syscall"
	"time"
)

// stepPatience is less than anybody notices.
const stepPatience = 25 * time.Millisecond

// processorTime is how long processors have worked for this program.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // which can't fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
