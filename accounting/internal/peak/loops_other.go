//go:build !amd64 && !arm64

package peak

func nativeLoops() []Loop { return nil }

func clockChain() (chain func(n int), cycles int) { return nil, 0 }
