// Package live builds what a web page needs to run cells of Go by itself: Go's own compiler and linker, the cell
// rewriter and the archives of packages, all for WebAssembly, from the Go installation and the checkout at hand.
//
// None of it is in the repository. The go command keeps what it has built in its cache, so a second build is quick.
package live
