package main

import (
	"bufio"
	"bytes"
	"compress/flate"
	"container/list"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"hash/crc64"
	"hash/fnv"
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
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/lectern-go/lectern/kernel/persist"
)

func main() {
	know()
	persist.Same("database/sql.ErrNoRows", sql.ErrNoRows)
	defer persist.Begin(1)()

	lin := &Lin{2, 1}
	net = []Layer{lin, lin}
	boxes = []any{Box[int]{3}, Box[*Lin]{lin}, map[string]Lin{"a": *lin}, &Pair[int, string]{1, "x"}, time.Second, []Layer{lin}}
	pair = Pair[string, *Lin]{"p", lin}
	oneBox = Box[int]{4}
	tree = &Node{left: &Node{v: 1}, v: 2}
	left = &tree.left

	errMine = errors.New("mine")
	wrapped = fmt.Errorf("around: %w", errMine)
	joined = errors.Join(errMine, io.EOF)
	double = fmt.Errorf("%w and %w", wrapped, &MyError{3})
	eof, noRows = io.EOF, fmt.Errorf("query: %w", sql.ErrNoRows)
	_, notExist = os.Open("/does/not/exist")
	_, number = strconv.Atoi("x")
	typed = &MyError{7}
	canceled, deadline, plain = context.Canceled, context.DeadlineExceeded, errors.New("EOF")

	var err error
	berlin, err = time.LoadLocation("Europe/Berlin")
	if err != nil {
		berlin = time.FixedZone("Europe/Berlin", 3600)
	}
	utcLoc, here = time.UTC, time.Local
	when = time.Date(2024, 7, 1, 12, 0, 0, 5, berlin)
	local, zoned, utc = time.Now(), time.Date(2024, 1, 1, 0, 0, 0, 0, time.FixedZone("XYZ", 5400)), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

	hashes = map[string]hash.Hash{"md5": md5.New(), "sha1": sha1.New(), "sha224": sha256.New224(), "sha256": sha256.New(), "sha512": sha512.New(), "adler": adler32.New(),
		"crc64": crc64.New(crc64.MakeTable(crc64.ECMA)), "fnv32": fnv.New32(), "fnv32a": fnv.New32a(), "fnv64": fnv.New64(), "fnv64a": fnv.New64a(), "fnv128": fnv.New128(),
		"fnv128a": fnv.New128a(), "castagnoli": crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	for _, h := range hashes {
		io.WriteString(h, "one ")
	}
	crc = crc32.NewIEEE()
	io.WriteString(crc, "one ")
	replacers = []*strings.Replacer{strings.NewReplacer("a", "b"), strings.NewReplacer("a", "bb"), strings.NewReplacer("aa", "b"), strings.NewReplacer("aa", "b", "c", "d"),
		strings.NewReplacer("x", "y")}
	for _, r := range replacers[:4] {
		r.Replace("aac")
	}
	ints = sort.IntSlice{1, 3, 2}
	reversed = sort.Reverse(ints)
	scanner = bufio.NewScanner(strings.NewReader("one\ntwo\nthree\n"))
	scanner.Scan()
	reader = bufio.NewReader(strings.NewReader("one\ntwo\n"))
	reader.ReadString('\n')
	decoder = json.NewDecoder(strings.NewReader(`{"a": 1} {"a": 2}`))
	var v map[string]int
	decoder.Decode(&v)
	bg = context.Background()
	ctx = context.WithValue(bg, "user", lin)
	generator, second = rand.New(rand.NewSource(5)), rand.New(rand.NewSource(5))
	for range 10 {
		generator.Int63()
		second.Int63()
	}
	pcg, chacha = randv2.New(randv2.NewPCG(1, 2)), randv2.NewChaCha8([32]byte{1})
	pcg.Uint64()
	chacha.Uint64()
	huge, ratio = new(big.Int).Lsh(big.NewInt(3), 100), big.NewRat(2, 3)
	re = regexp.MustCompile(`(\w+)@(\w+)\.com`)
	items = list.New()
	items.PushBack("a")
	items.PushBack(lin)
	address, _ = url.Parse("https://me:secret@example.com/a%2Fb?q=1#f")
	ip = netip.MustParseAddr("fe80::1%eth0")
	tmpl = template.Must(template.New("t").Parse(`{{range $i, $x := .}}{{if $i}}, {{end}}{{printf "%03d" $x}}{{end}}`))
	multi = io.MultiReader(strings.NewReader("ab"), io.LimitReader(strings.NewReader("cdef"), 2))
	order = binary.BigEndian
	stdout = os.Stdout
	buffered = bufio.NewWriter(os.Stdout)
	buffered.WriteString("buffered by an earlier cell\n")
	builder, buffer = &strings.Builder{}, bytes.NewBufferString("ab")
	builder.WriteString("ab")
	mux = http.NewServeMux()
	mux.Handle("/x/", litHandler(&struct{ n *int }{&n}))
	mux.Handle("/old", http.RedirectHandler("/x/", http.StatusFound))
	once.Do(func() {})
	split = bufio.ScanWords
	n = 10
	count, reset = litCount(&struct{ n *int }{&n}), litReset(&struct{ n *int }{&n})
	middleware = litMiddleware()
	handlers = map[string]func(string) string{"hello": hello, "twice": middleware(middleware(hello)), "upper": strings.ToUpper}
	wrappedHello = middleware(hello)
	fib = litFib(&struct{ fib *func(int) int }{&fib})
	method = litMethod(&struct{ recv **Lin }{&lin})
	reflected = struct{ X, Y int }{1, 2}
	logger = log.New(os.Stdout, "logged by ", 0)
	counts.Store("a", 1)
	counts.Store(lin, []int{2})
	current.Store(lin)
	settings.Store(Lin{5, 6})
	deflated = deflate("some text")
	persist.Def(all...)

	// What a function declares for itself can't be told from another type of its name.
	type Hidden struct{ v int }
	var hidden any = &Hidden{1}
	persist.Def("hidden", &hidden)
}

func deflate(s string) io.ReadCloser {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 9)
	io.WriteString(w, s)
	w.Close()
	return flate.NewReader(bufio.NewReader(&b))
}
