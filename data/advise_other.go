//go:build !unix

package data

func adviseRandom([]byte) {}
