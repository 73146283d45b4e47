// Two programs that stand for two cells: define.go gives the variables their values, and use.go, another program, looks at what it gets back.
package main

import (
	"bufio"
	"bytes"
	"container/list"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash"
	"io"
	"log"
	"math/big"
	"math/rand"
	randv2 "math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"text/template"
	"time"

	"github.com/lectern-go/lectern/kernel/persist"
)

type Lin struct{ W, B float64 }

func (l *Lin) Forward(x float64) float64 { return l.W*x + l.B }

type Layer interface{ Forward(float64) float64 }

type Box[T any] struct{ v T }

func (b Box[T]) Get() T { return b.v }

type Pair[A, B any] struct {
	a A
	b B
}

type MyError struct{ code int }

func (e *MyError) Error() string { return "my error" }

type Node struct {
	left, right *Node
	v           int
}

var (
	net    []Layer
	boxes  []any
	pair   Pair[string, *Lin]
	oneBox Box[int]
	tree   *Node
	left   **Node

	errMine                                                       error
	wrapped, joined, double, eof, noRows, notExist, number, typed error
	canceled, deadline, plain                                     error

	when, local, zoned, utc time.Time
	berlin, utcLoc, here    *time.Location

	hashes            map[string]hash.Hash
	crc               hash.Hash32
	replacers         []*strings.Replacer
	reversed          sort.Interface
	ints              sort.IntSlice
	scanner           *bufio.Scanner
	reader            *bufio.Reader
	decoder           *json.Decoder
	ctx, bg           context.Context
	generator, second *rand.Rand
	pcg               *randv2.Rand
	chacha            *randv2.ChaCha8
	huge              *big.Int
	ratio             *big.Rat
	re                *regexp.Regexp
	items             *list.List
	address           *url.URL
	ip                netip.Addr
	tmpl              *template.Template
	multi             io.Reader
	order             binary.ByteOrder
	stdout            io.Writer
	buffered          *bufio.Writer
	builder           *strings.Builder
	buffer            *bytes.Buffer
	mux               *http.ServeMux
	once              sync.Once
	split             bufio.SplitFunc
	count, reset      func() int
	n                 int
	handlers          map[string]func(string) string
	middleware        func(func(string) string) func(string) string
	wrappedHello      func(string) string
	fib               func(int) int
	method            func(float64) float64
	reflected         any
	logger            *log.Logger
	counts            sync.Map
	current           atomic.Pointer[Lin]
	settings          atomic.Value
	deflated          io.ReadCloser
)

// all is what the cells know, as pairs for Def and Begin.
var all = []any{
	"net", &net, "boxes", &boxes, "pair", &pair, "oneBox", &oneBox, "tree", &tree, "left", &left,
	"errMine", &errMine, "wrapped", &wrapped, "joined", &joined, "double", &double, "eof", &eof, "noRows", &noRows, "notExist", &notExist,
	"number", &number, "typed", &typed, "canceled", &canceled, "deadline", &deadline, "plain", &plain,
	"when", &when, "local", &local, "zoned", &zoned, "utc", &utc, "berlin", &berlin, "utcLoc", &utcLoc, "here", &here,
	"hashes", &hashes, "crc", &crc, "replacers", &replacers, "reversed", &reversed, "ints", &ints, "scanner", &scanner, "reader", &reader,
	"decoder", &decoder, "ctx", &ctx, "bg", &bg, "generator", &generator, "second", &second, "pcg", &pcg, "chacha", &chacha, "huge", &huge,
	"ratio", &ratio, "re", &re, "items", &items, "address", &address, "ip", &ip, "tmpl", &tmpl, "multi", &multi, "order", &order,
	"stdout", &stdout, "buffered", &buffered, "builder", &builder, "buffer", &buffer, "mux", &mux, "once", &once, "split", &split,
	"count", &count, "reset", &reset, "n", &n, "handlers", &handlers, "middleware", &middleware, "wrappedHello", &wrappedHello, "fib", &fib,
	"method", &method, "reflected", &reflected, "logger", &logger, "counts", &counts, "current", &current, "settings", &settings, "deflated", &deflated,
}

func hello(s string) string { return "hello " + s }

//go:noinline
func litCount(c *struct{ n *int }) func() int { return func() int { *c.n++; return *c.n } }

//go:noinline
func litReset(c *struct{ n *int }) func() int { return func() int { *c.n = 0; return 0 } }

//go:noinline
func litMiddleware() func(func(string) string) func(string) string {
	return func(next func(string) string) func(string) string {
		return litInner(&struct{ next *func(string) string }{&next})
	}
}

//go:noinline
func litInner(c *struct{ next *func(string) string }) func(string) string {
	return func(s string) string { return "<" + (*c.next)(s) + ">" }
}

//go:noinline
func litFib(c *struct{ fib *func(int) int }) func(int) int {
	return func(n int) int {
		if n < 2 {
			return n
		}
		return (*c.fib)(n-1) + (*c.fib)(n-2)
	}
}

//go:noinline
func litMethod(c *struct{ recv **Lin }) func(float64) float64 {
	return func(x float64) float64 { return (*c.recv).Forward(x) }
}

//go:noinline
func litHandler(c *struct{ n *int }) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { *c.n++; io.WriteString(w, r.URL.Path) }
}

// know is what the kernel writes into every program that contains these declarations.
func know() {
	persist.Reg[Lin]()
	persist.Reg[Layer]()
	persist.Reg[MyError]()
	persist.Reg[Node]()
	persist.Lit("count", litCount)
	persist.Lit("reset", litReset)
	persist.Lit("middleware", litMiddleware)
	persist.Lit("inner", litInner)
	persist.Lit("fib", litFib)
	persist.Lit("method", litMethod)
	persist.Lit("handler", litHandler)
	persist.Fn("main.hello", hello)
}

func check(what string, ok bool) {
	if !ok {
		os.Stdout.WriteString("wrong: " + what + "\n")
	}
}
