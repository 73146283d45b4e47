//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/layered"
	"github.com/lectern-go/lectern/kernel/internal/packages"
)

// cacheArg makes this program the one that the go command asks for compiled packages: cacheArg SHARED PRIVATE.
const cacheArg = "-build-cache"

// layerCache lets the go command, for the kernel and for what cells start, work with a build cache that a class shares
// and that we can only read: what it does not have is kept in the user's own.
func layerCache() error {
	shared, _ := packages.Caches(os.Environ())
	if os.Getenv("GOCACHEPROG") != "" || shared == "" || layered.Writable(shared) {
		return nil
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	private, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	words := []string{exe, cacheArg, shared, filepath.Join(private, "lectern-go-build")}
	for i, w := range words { // the go command knows quotes, but no way to escape one
		if q := "'"; strings.ContainsAny(w, " \t\"") {
			words[i] = q + w + q
		}
	}
	return os.Setenv("GOCACHEPROG", strings.Join(words, " "))
}
