package stdio

import (
	"os"
	"runtime/debug"
	"strconv"
)

// CollectVar is the environment variable that holds the user's GOGC. The kernel sets GOGC itself, so that the compiler and linker of a cell
// collect less garbage and a cell starts sooner; the cell is to run with the user's.
const CollectVar = "LECTERN_GOGC"

// Collect is the kernel's GOGC.
const Collect = "400"

func init() {
	users, ok := os.LookupEnv(CollectVar)
	if !ok {
		return
	}
	os.Unsetenv(CollectVar)
	switch percent, err := strconv.Atoi(users); {
	case users == "off":
		os.Setenv("GOGC", users)
		debug.SetGCPercent(-1)
	case err == nil:
		os.Setenv("GOGC", users)
		debug.SetGCPercent(percent)
	default:
		os.Unsetenv("GOGC")
		debug.SetGCPercent(100)
	}
}
