package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"database/sql"
	"errors"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"hash/crc64"
	"hash/fnv"
	"io"
	"io/fs"
	"math/big"
	"math/rand"
	randv2 "math/rand/v2"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/persist"
)

func main() {
	know()
	restoring()
	defer persist.Begin(2, all...)()
	if len(os.Args) > 1 {
		return
	}

	lin := net[0].(*Lin)
	check("net", len(net) == 2 && net[1] == Layer(lin) && lin.Forward(3) == 7)
	check("boxes", len(boxes) == 6 && boxes[0].(interface{ Get() int }).Get() == 3 && boxes[1].(Box[*Lin]).v == lin && boxes[2].(map[string]Lin)["a"] == *lin &&
		*boxes[3].(*Pair[int, string]) == Pair[int, string]{1, "x"} && boxes[4] == time.Second && boxes[5].([]Layer)[0] == Layer(lin))
	check("generics", pair == Pair[string, *Lin]{"p", lin} && oneBox.Get() == 4)
	check("pointer to a field", left == &tree.left && (*left).v == 1)

	check("sentinel of the user", errors.Is(wrapped, errMine) && errors.Unwrap(wrapped) == errMine && wrapped.Error() == "around: mine")
	check("joined", errors.Is(joined, errMine) && errors.Is(joined, io.EOF) && joined.Error() == "mine\nEOF")
	var mine *MyError
	check("two wrapped", errors.Is(double, errMine) && errors.As(double, &mine) && mine.code == 3)
	check("io.EOF", eof == io.EOF && plain != io.EOF && plain.Error() == "EOF")
	check("sql.ErrNoRows", errors.Is(noRows, sql.ErrNoRows))
	var path *fs.PathError
	check("fs.ErrNotExist", errors.Is(notExist, fs.ErrNotExist) && errors.As(notExist, &path) && path.Path == "/does/not/exist")
	var num *strconv.NumError
	check("strconv.ErrSyntax", errors.Is(number, strconv.ErrSyntax) && errors.As(number, &num) && num.Num == "x")
	check("typed error", errors.As(typed, &mine) && mine.code == 7)
	check("context errors", canceled == context.Canceled && deadline == context.DeadlineExceeded)

	name, offset := zoned.Zone()
	check("zone", name == "XYZ" && offset == 5400)
	check("location", when.Location() == berlin && berlin.String() == "Europe/Berlin" && when.Equal(time.Date(2024, 7, 1, 12, 0, 0, 5, berlin)) && when.Hour() == 12)
	check("UTC and Local", utcLoc == time.UTC && here == time.Local && utc.Location() == time.UTC && local.Location() == time.Local)
	check("local time", time.Since(local) >= 0 && time.Since(local) < time.Hour)

	fresh := map[string]hash.Hash{"md5": md5.New(), "sha1": sha1.New(), "sha224": sha256.New224(), "sha256": sha256.New(), "sha512": sha512.New(), "adler": adler32.New(),
		"crc64": crc64.New(crc64.MakeTable(crc64.ECMA)), "fnv32": fnv.New32(), "fnv32a": fnv.New32a(), "fnv64": fnv.New64(), "fnv64a": fnv.New64a(), "fnv128": fnv.New128(),
		"fnv128a": fnv.New128a(), "castagnoli": crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	for name, h := range fresh {
		io.WriteString(h, "one two")
		io.WriteString(hashes[name], "two")
		check(name, bytes.Equal(h.Sum(nil), hashes[name].Sum(nil)))
	}
	io.WriteString(crc, "two")
	check("crc32", crc.Sum32() == crc32.ChecksumIEEE([]byte("one two")))
	for i, want := range []string{"bbc", "bbbbc", "bc", "bd", "aac"} {
		check("replacer "+strconv.Itoa(i), replacers[i].Replace("aac") == want)
	}
	sort.Sort(reversed)
	check("sort.Reverse", reflect.DeepEqual([]int(ints), []int{3, 2, 1}))
	check("scanner", scanner.Text() == "one" && scanner.Scan() && scanner.Text() == "two" && scanner.Scan() && scanner.Text() == "three" && !scanner.Scan())
	line, _ := reader.ReadString('\n')
	check("reader", line == "two\n")
	var v map[string]int
	check("json.Decoder", decoder.Decode(&v) == nil && v["a"] == 2 && decoder.Decode(&v) == io.EOF)
	check("context", bg == context.Background() && ctx.Value("user") == lin)
	fresh1 := rand.New(rand.NewSource(5))
	for range 10 {
		fresh1.Int63()
	}
	check("math/rand", generator.Int63() == fresh1.Int63() && generator.Perm(5)[0] == fresh1.Perm(5)[0])
	fresh2, fresh3 := randv2.New(randv2.NewPCG(1, 2)), randv2.NewChaCha8([32]byte{1})
	fresh2.Uint64()
	fresh3.Uint64()
	check("math/rand/v2", pcg.Uint64() == fresh2.Uint64() && chacha.Uint64() == fresh3.Uint64())
	check("big", huge.Cmp(new(big.Int).Lsh(big.NewInt(3), 100)) == 0 && ratio.String() == "2/3")
	check("regexp", re.ReplaceAllString("ann@example.com", "$2 $1") == "example ann" && re.MatchString("a@b.com"))
	check("list", items.Len() == 2 && items.Front().Value == "a" && items.Back().Value == lin && items.PushBack(1).Prev().Value == lin)
	secret, _ := address.User.Password()
	check("url", address.String() == "https://me:secret@example.com/a%2Fb?q=1#f" && secret == "secret")
	check("netip", ip == netip.MustParseAddr("fe80::1%eth0"))
	var text strings.Builder
	check("template", tmpl.Execute(&text, []int{7, 12}) == nil && text.String() == "007, 012")
	b, _ := io.ReadAll(multi)
	check("io.MultiReader", string(b) == "abcd")
	check("byte order", order.Uint16([]byte{1, 2}) == 0x102)
	check("os.Stdout", stdout == os.Stdout)
	buffered.Flush()
	builder.WriteString("c")
	check("builder, buffer", builder.String() == "abc" && buffer.String() == "ab")
	once.Do(func() { check("sync.Once", false) })
	advance, token, _ := split([]byte("a b"), true)
	check("split", advance == 2 && string(token) == "a")

	check("counter", n == 10 && count() == 11 && n == 11 && reset() == 0 && n == 0)
	record := httptest.NewRecorder()
	mux.ServeHTTP(record, httptest.NewRequest("GET", "/x/y", nil))
	check("handler", record.Body.String() == "/x/y" && n == 1)
	record = httptest.NewRecorder()
	mux.ServeHTTP(record, httptest.NewRequest("GET", "/old", nil))
	check("redirect", record.Code == 302)
	check("handlers", handlers["hello"]("x") == "hello x" && handlers["twice"]("x") == "<<hello x>>" && handlers["upper"]("x") == "X")
	check("middleware", middleware(strings.ToLower)("X") == "<x>" && wrappedHello("y") == "<hello y>")
	check("recursion", fib(10) == 55)
	lin.W = 100
	check("method value", method(1) == 101)
	logger.Print("an earlier cell")
	one, _ := counts.Load("a")
	two, _ := counts.Load(lin)
	check("sync.Map", one == 1 && two.([]int)[0] == 2)
	check("atomics", current.Load() == lin && settings.Load() == Lin{5, 6})
	b, _ = io.ReadAll(deflated)
	check("flate", string(b) == "some text")
	check("unnamed struct", reflected == struct{ X, Y int }{1, 2})
}
