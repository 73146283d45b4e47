// Package sysmem tells whether an allocation can succeed. If it can't, the Go runtime
// ends the process without a recoverable panic, so code that allocates memory of a
// size chosen by a caller or a file has to ask first.
package sysmem

import (
	"fmt"

	"github.com/lectern-go/lectern/internal/humanize"
)

// askFrom is the size in bytes from which asking is worth it: less than that always
// fits, or nothing does.
const askFrom = 64 << 20

// Refusal returns why there is no room for n bytes, as a clause such as "that takes
// 128 TiB, and this machine has 62 GiB"; "" if there is room, as far as can be told
// without allocating it. It costs nothing for small n.
func Refusal(n int) string {
	switch {
	case n < 0:
		return "that takes more bytes than can be counted"
	case n < askFrom:
		return ""
	case n > total():
		return fmt.Sprintf("that takes %s, and this machine has %s", humanize.Bytes(n), humanize.Bytes(total()))
	case !granted(n):
		return fmt.Sprintf("that takes %s, which the operating system refuses", humanize.Bytes(n))
	}
	return ""
}
