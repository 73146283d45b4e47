// Package live builds what a web page needs to run cells of Go by itself: Go's own compiler and linker, the cell
// rewriter and the archives of packages, all for WebAssembly, from the Go installation and the checkout at hand.
//
// Nothing of it is in the repository. The go command keeps what it has built in its cache, so that a second build is
// quick.
package live
