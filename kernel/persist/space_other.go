//go:build !unix && !js

package persist

// shared says that mapped memory and file are one. Here the file is read, and when its array is saved the two are
// compared.
const shared = false

func free(dir string) int64 { return 1 << 62 }
