//go:build unix && !linux

package jupyter_test

func dialAs(int, string) error { panic("only Linux has a user for one thread") }
