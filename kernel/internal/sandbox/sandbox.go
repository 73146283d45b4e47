// Package sandbox runs a program that is not trusted. It sees the files that it needs and can change none of them; it
// has no network, and no processes but its own; its memory, disk space and processes are limited. When it ends, nothing
// of it is left.
//
// It is made of Linux's namespaces, for which neither root nor another program is needed where the system lets users
// make them. Elsewhere [Available] names the missing part.
package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Home is the program's folder inside, which it may fill.
const Home = "/home/student"

// Config says what the program gets. Its paths are absolute: inside there is no current folder to start from, and from
// the root a path such as run/data leads to the system's own files.
type Config struct {
	Read      []string // files and folders that it may read, at their own paths; what isn't there is left out
	Given     string   // a folder that becomes its user's, to read; "" for none
	Files     int      // open files that it gets, from descriptor 3 on
	Mount     string   // an empty folder, on which its world is built; nothing is written to it
	Work      string   // the folder whose files are copied into Home, except notebooks and links; "" for none
	Memory    int64    // bytes, of all processes together, with what they write
	Disk      int64    // bytes, of what it writes; they are memory, too
	Processes int      // threads count
	CPU       int      // seconds of each process
}

// A PathError reports a path of a [Config] that isn't absolute.
type PathError struct{ Path string }

func (e *PathError) Error() string {
	return fmt.Sprintf("sandbox: %q is not an absolute path; make it one where it comes from, with filepath.Abs", e.Path)
}

// A MissingError says why programs can't be isolated here.
type MissingError struct{ Err error }

func (e *MissingError) Error() string {
	return fmt.Sprintf("programs can't be isolated here: %v", e.Err)
}

func (e *MissingError) Unwrap() error { return e.Err }

const (
	outsideArg = "lectern-sandbox"
	insideArg  = "lectern-sandbox-inside"
	configVar  = "LECTERN_SANDBOX"
)

// Command returns the arguments that run argv isolated, and a variable for its environment. They start this very
// program, whose main function has to call [Main].
func (c Config) Command(argv ...string) (args []string, variable, value string, err error) {
	for _, path := range append([]string{c.Given, c.Mount, c.Work}, c.Read...) {
		if path != "" && !filepath.IsAbs(path) {
			return nil, "", "", &PathError{path}
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, "", "", err
	}
	text, err := c.value()
	return append([]string{self, outsideArg}, argv...), configVar, text, err
}

func (c Config) value() (string, error) {
	text, err := json.Marshal(c)
	return string(text), err
}

// Main takes over where this program was started by [Config.Command]; then it doesn't return. It has to come first in
// main, and in TestMain.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != outsideArg && os.Args[1] != insideArg {
		return
	}
	var c Config
	err := json.Unmarshal([]byte(os.Getenv(configVar)), &c)
	code := 1
	if err == nil {
		os.Unsetenv(configVar)
		if os.Args[1] == outsideArg {
			code, err = outside(c, os.Args[2:])
		} else {
			err = inside(c, os.Args[2:])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
	}
	os.Exit(code)
}
