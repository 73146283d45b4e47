//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/packages"
)

// prepareArg is the argument with which setup does in advance what would otherwise be the first kernel's work.
const prepareArg = "-prepare"

// brokenExit is the exit status of a preparation that found a package that does not compile.
const brokenExit = 3

// commonPackages are those of the standard library that most cells use.
var commonPackages = []string{"fmt", "math", "os", "strings", "time", "sort", "errors", "sync", "slices", "maps", "math/rand/v2", "strconv", "bytes", "io", "bufio", "math/rand", "cmp", "context", "encoding/json"}

// packageIndex looks up and remembers packages for the cells of a kernel; with rename, also whether some have come or
// gone.
func packageIndex(ctx context.Context, c config, f *folders, rename bool) *packages.Packages {
	return packages.New(packages.Config{
		Dir: f.check(), Root: c.local(), Context: ctx, Env: toolEnv(os.Environ(), c.bin, f.tmp()), Cache: packageCache(c),
		Rename: rename,
		Warm:   warmPackages(c),
		Known:  knownPackages(c),
		Name:   namedPackages(c),
		State:  "github.com/lectern-go/lectern/internal/cellstate",
	})
}

// packageCache is the file that remembers packages: one for the lessons, and one for each other module; "" for none.
func packageCache(c config) string {
	name := "packages-" + runtime.Version()
	switch {
	case c.home != nil:
		sum := sha256.Sum256([]byte(c.home.dir))
		name += "-" + hex.EncodeToString(sum[:8])
	case c.own && len(readModule(c.get).Modules) > 0 && c.store != "":
		name += "-" + filepath.Base(c.store)
	case c.own:
		name += "-own"
	}
	if c.mine != "" {
		rel, err := filepath.Rel(c.root, c.mine)
		if err != nil || !filepath.IsLocal(rel) {
			return "" // every student in a class would leave one here
		}
		name += "-" + strings.ReplaceAll(filepath.ToSlash(rel), "/", "-")
	}
	return filepath.Join(c.root, ".lectern", name+".json")
}

// local is the folder of the module whose files are named as seen from there.
func (c config) local() string {
	if c.home != nil {
		return c.home.dir
	}
	return c.root
}

// prepare downloads the modules that cells may import from, compiles their packages as cells use them, and remembers
// where they are.
func prepare(c config) (code int) {
	f, err := newFolders() // locked, or a kernel that starts meanwhile takes them for a dead one's
	if err == nil {
		defer f.remove()
		err = makeCheckModule(c, f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lectern-kernel:", err)
		return 1
	}
	download := append([]string{"list", "-deps", "-e", "--"}, warmPackages(c)...)
	said, err := goCommand(context.Background(), f.check(), cellenv.Online(os.Environ()), func(line string) { fmt.Fprintln(os.Stderr, line) }, download...)
	if err != nil {
		fmt.Fprintf(os.Stderr, "the modules can't be listed: %v\n%s\n", err, strings.Join(said, "\n"))
		return 1
	}
	p := packageIndex(context.Background(), c, f, true)
	err = p.Prepare()
	var broken *packages.BuildError
	switch {
	case errors.As(err, &broken):
		fmt.Fprintln(os.Stderr, err)
		return brokenExit
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
