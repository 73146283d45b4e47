//go:build !unix

package show

import "time"

// stepPatience is more in a page, where everything takes several times as long and a cell most of a second to build.
const stepPatience = 300 * time.Millisecond

var programBegan = time.Now()

// processorTime is how long a processor may have worked for this program.
func processorTime() time.Duration { return time.Since(programBegan) }
