package cpu

import "os"

// allFloats asks for tests over every float32.
var allFloats = os.Getenv("LECTERN_TEST_ALL_FLOATS") == "1"
