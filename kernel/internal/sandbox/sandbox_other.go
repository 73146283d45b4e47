//go:build !linux

package sandbox

import "errors"

var errNotLinux = errors.New("it needs Linux; on Windows, use WSL")

// Available returns a [MissingError] if programs can't be isolated here.
func Available() error { return &MissingError{errNotLinux} }

func outside(Config, []string) (int, error) { return 1, errNotLinux }

func inside(Config, []string) error { return errNotLinux }
