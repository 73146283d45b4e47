package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

func TestTraces(t *testing.T) {
	const report = "panic: boom\n\ngoroutine 1 [running]:\nmain.f(...)\n"
	for _, c := range []struct{ name, in, printed, held string }{
		{"plain", "a\nb", "a\nb", ""},
		{"report", "a\n" + report, "a\n", report},
		{"report in the middle of a line", "a " + report, "a " + report, ""},
		{"almost", "pan\npanic\n", "pan\npanic\n", ""},
		{"fatal", "fatal error: x\nmore", "", "fatal error: x\nmore"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, chunks := range [][]string{{c.in}, strings.Split(c.in, "")} {
				var b strings.Builder
				tr := Traces{Print: func(s string) { b.WriteString(s) }}
				for _, s := range chunks {
					tr.Write(s)
				}
				held := tr.held.String()
				if held == "" {
					tr.Flush()
				}
				if b.String() != c.printed || held != c.held {
					t.Errorf("printed %q, held %q; want %q, %q", b.String(), held, c.printed, c.held)
				}
			}
		})
	}
}

func TestParseTrace(t *testing.T) {
	msg, frames := parseTrace("panic: runtime error: index out of range [7] with length 1 [recovered, repanicked]\n\n" +
		"goroutine 1 [running]:\nmain.(*T).boom(0xc000, 0x7)\n\tcell[3]:20 +0x1d\n" +
		"tensor.Add(...)\n\t/home/u/lectern/tensor/add.go:33\n" +
		"main.main.func1()\n\t/tmp/x/cell[4]:40 +0x2\nexit status 2\n")
	if msg != "runtime error: index out of range [7] with length 1" || len(frames) != 3 {
		t.Fatalf("message %q, frames %+v", msg, frames)
	}
	if f := frames[0]; f.fn != "(*T).boom" || f.pos != (rewrite.Pos{Cell: 3, Line: 20}) {
		t.Errorf("frame %+v", f)
	}
	if f := frames[1]; f.fn != "tensor.Add" || f.file != "/home/u/lectern/tensor/add.go" || f.line != 33 {
		t.Errorf("frame %+v", f)
	}
	if f := frames[2]; f.fn != "main.func1" || f.pos != (rewrite.Pos{Cell: 4, Line: 40}) {
		t.Errorf("frame %+v", f)
	}
	msg, frames = parseTrace("runtime: goroutine stack exceeds 1000-byte limit\nruntime: sp=0xc\nfatal error: stack overflow\n\nruntime stack:\nruntime.throw()\n\t/go/src/runtime/panic.go:1\n\n" +
		"goroutine 1 [running]:\nmain.f(0x1)\n\tcell[2]:3\n...additional frames elided...\n")
	if msg != "stack overflow" || len(frames) != 1 {
		t.Errorf("message %q, frames %+v", msg, frames)
	}
}

func TestPanicHint(t *testing.T) {
	for in, want := range map[string]string{
		"index out of range [3] with length 3":                                    "the last index is 2",
		"index out of range [0] with length 0":                                    "it is empty",
		"index out of range [-1]":                                                 "the last element is xs[len(xs)-1]",
		"slice bounds out of range [:5] with capacity 3":                          "at most the capacity, 3",
		"slice bounds out of range [:5] with length 3":                            "at most the length, 3",
		"slice bounds out of range [3:2]":                                         "the lower one first",
		"interface conversion: interface {} is int, not string":                   "holds int: use v, ok := x.(string)",
		"interface conversion: interface {} is nil, not string":                   "is nil and holds no string",
		"interface conversion: main.T is not fmt.Stringer: missing method String": "main.T has no method String",
		"hash of unhashable type []int":                                           "can't be keys",
		"sync: negative WaitGroup counter":                                        "more often than Add",
		"sync: unlock of unlocked mutex":                                          "needs a Lock before it",
		"close of nil channel":                                                    "make the channel",
		"no goroutines (main called runtime.Goexit) - deadlock!":                  "runtime.Goexit ended",
		"assignment to entry in nil map":                                          "make the map",
		"my own":                                                                  "",
		"invalid memory address or nil pointer dereference then":                  "nil here",
	} {
		if got := panicHint(in); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	src := &rewrite.Source{Cell: 1, Code: "a\n\t日本 := nope"}
	got := strings.Join(excerpt(src, rewrite.Pos{Cell: 1, Line: 2, Col: 8}, 12), "\n")
	if want := "    2 |     日本 := nope\n      |             ^^^^"; ansi.ReplaceAllString(got, "") != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The compiler also complains about what the rewriter has written: about a variable's declaration, for one, which
// stands behind the cell. No line of the cell is to be blamed for that.
func TestCompilerBehindTheCell(t *testing.T) {
	src := &rewrite.Source{Cell: 3, Code: "var vast [1 << 40]byte\nlen(vast)"}
	at := Place{Cell: 3, Source: func(int) *rewrite.Source { return src }}
	for line, want := range map[int]string{2: "line 2, column 1: main.vast: too large", 3: "main.vast: too large"} {
		f := at.Compiler(fmt.Sprintf("cell[3]:%d:1: main.vast: too large\n", line))
		if f.Value != want || (len(f.Lines) > 1) != (line == 2) {
			t.Errorf("line %d: %q and %d lines, want %q", line, f.Value, len(f.Lines), want)
		}
	}
}
