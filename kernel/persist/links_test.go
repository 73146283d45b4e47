package persist

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/version"
	"hash/adler32"
	"hash/crc32"
	"hash/crc64"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"testing"
)

// The expressions of links must be Go, and must lead to the types that they stand for: here they are, as Go.
func TestLinks(t *testing.T) {
	folder(t)
	list := []struct {
		name  string
		value any
	}{
		{"*compress/flate.decompressor", flate.NewReader(nil)},
		{"*sort.reverse", sort.Reverse(sort.IntSlice(nil))},
		{"*strings.genericReplacer", strings.NewReplacer("aa", "b", "c", "d")},
		{"*strings.singleStringReplacer", strings.NewReplacer("aa", "b")},
		{"*strings.byteReplacer", strings.NewReplacer("a", "b")},
		{"*strings.byteStringReplacer", strings.NewReplacer("a", "bb")},
		{"context.backgroundCtx", context.Background()},
		{"context.todoCtx", context.TODO()},
		//lint:ignore SA1029 the expression of the table is asked, letter by letter
		{"*context.valueCtx", context.WithValue(context.TODO(), 0, 0)},
		{"context.withoutCancelCtx", context.WithoutCancel(context.TODO())},
		{"*io.multiReader", io.MultiReader()},
		{"*io.multiWriter", io.MultiWriter()},
		{"*io.teeReader", io.TeeReader(nil, nil)},
		{"io.discard", io.Discard},
		{"io.nopCloser", io.NopCloser(nil)},
		{"io.nopCloserWriterTo", io.NopCloser(bytes.NewReader(nil))},
		{"*crypto/md5.digest", md5.New()},
		{"*crypto/sha1.digest", sha1.New()},
		{"*crypto/internal/fips140/sha256.Digest", sha256.New()},
		{"*crypto/internal/fips140/sha512.Digest", sha512.New()},
		{"*hash/adler32.digest", adler32.New()},
		{"*hash/crc32.digest", crc32.NewIEEE()},
		{"*hash/crc64.digest", crc64.New(nil)},
		{"*hash/fnv.sum32", fnv.New32()},
		{"*hash/fnv.sum32a", fnv.New32a()},
		{"*hash/fnv.sum64", fnv.New64()},
		{"*hash/fnv.sum64a", fnv.New64a()},
		{"*hash/fnv.sum128", fnv.New128()},
		{"*hash/fnv.sum128a", fnv.New128a()},
		{"*math/rand.rngSource", rand.NewSource(1)},
		{"*encoding/base64.decoder", base64.NewDecoder(nil, nil)},
		{"*encoding/base64.encoder", base64.NewEncoder(nil, nil)},
		{"*encoding/hex.decoder", hex.NewDecoder(nil)},
		{"*encoding/hex.encoder", hex.NewEncoder(nil)},
		{"encoding/binary.littleEndian", binary.LittleEndian},
		{"encoding/binary.bigEndian", binary.BigEndian},
		{"encoding/binary.nativeEndian", binary.NativeEndian},
		{"log/slog.discardHandler", slog.DiscardHandler},
		{"*os.fileStat", func() any { i, _ := os.Stat("."); return i }()},
		{"*os.unixDirent", func() any { l, _ := os.ReadDir("/"); return l[0] }()},
		{"*encoding/json/internal/jsonopts.Struct", json.NewDecoder(strings.NewReader(""))},
		{"*net/http.timeoutHandler", http.TimeoutHandler(nil, 0, "")},
		{"*net/http.redirectHandler", http.RedirectHandler("", 0)},
		{"*net/http.fileHandler", http.FileServer(nil)},
	}
	for _, x := range list {
		if strings.Contains(x.name, "/jsonopts.") && version.Compare(runtime.Version(), "go1.27") < 0 {
			continue // it isn't there yet
		}
		newCell(t)
		Link(x.value)
		if _, ok := registered(x.name); !ok {
			t.Errorf("%s does not make %s known", links[x.name], x.name)
		}
	}

	// The same expressions as in the table, word for word.
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "links_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		paths[path[strings.LastIndexByte(path, '/')+1:]] = path
	}
	found := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		c, ok := n.(*ast.CompositeLit)
		if !ok || c.Type != nil || len(c.Elts) != 2 {
			return true
		}
		ast.Inspect(c.Elts[1], func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if p, ok := s.X.(*ast.Ident); ok {
					p.Name = paths[p.Name]
				}
			}
			return true
		})
		var b strings.Builder
		printer.Fprint(&b, files, c.Elts[1])
		found[strings.Trim(c.Elts[0].(*ast.BasicLit).Value, `"`)] = b.String()
		return true
	})
	if !reflect.DeepEqual(found, links) {
		for name, x := range links {
			if found[name] != x {
				t.Errorf("the table has %s for %s, the test %s", x, name, found[name])
			}
		}
		for name := range found {
			if links[name] == "" {
				t.Errorf("the table lacks %s", name)
			}
		}
	}
}
