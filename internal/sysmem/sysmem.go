// Package sysmem tells whether an allocation can succeed. The Go runtime ends the
// process where it can't, without a panic that anybody could recover from; so
// whoever takes memory of a size that a caller, or a file, asks for has to ask
// first.
package sysmem

import (
	"fmt"

	"github.com/lectern-go/lectern/internal/humanize"
)

// askFrom is the size in bytes from which it is worth to ask: what is smaller
// always fits, or nothing does.
const askFrom = 64 << 20

// Short returns why there is no room for n bytes, as a clause such as "that takes
// 128 TiB, and this machine has 62 GiB"; "" if there is room, as far as can be told
// without taking it. It costs nothing for small n.
func Short(n int) string {
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
