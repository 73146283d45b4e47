//go:build unix

package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/lectern-go/lectern/kernel/internal/display"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

var leftOut = regexp.MustCompile(`… and more; %output 0 shows all \((?:([\d,]+) more lines?, )?[\d.,]+ \w+\)\n`)

// TestOutputLimit writes texts in pieces of every size: it shows their beginning and their end, no character is
// cut, and the lines between are counted.
func TestOutputLimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		const lines = 40
		var text strings.Builder
		for range rnd.IntN(3 * lines) {
			text.WriteString(strings.Repeat("ü€x"[:[]int{2, 5, 6}[rnd.IntN(3)]], rnd.IntN(1<<rnd.IntN(12))) + "\n")
		}
		text.WriteString(strings.Repeat("→", rnd.IntN(2)*rnd.IntN(9000)))
		whole := text.String()
		var got string
		l := &outputLimit{lines: lines, show: func(s string) { got += s }}
		for rest := whole; rest != ""; {
			n := wholeRunes([]byte(rest[:1+rnd.IntN(min(len(rest), 1<<rnd.IntN(14)))]))
			if n == 0 {
				_, n = utf8.DecodeRuneInString(rest)
			}
			l.write(rest[:n])
			rest = rest[n:]
		}
		l.end()
		if !utf8.ValidString(got) {
			t.Fatalf("a character was cut: %q", got)
		}
		at := leftOut.FindStringSubmatchIndex(got)
		if at == nil {
			if got != whole {
				t.Fatalf("%d bytes of %d are shown, without a word", len(got), len(whole))
			}
			continue
		}
		head, tail := got[:at[0]], got[at[1]:]
		left := 0
		if at[2] >= 0 {
			left, _ = strconv.Atoi(strings.ReplaceAll(got[at[2]:at[3]], ",", ""))
		}
		if !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || len(head)+len(tail) >= len(whole) {
			t.Fatalf("of %q\nthis is shown: %q", whole, got)
		}
		if n := strings.Count(head, "\n"); n > lines || len(head) > lines*lineBytes || n < lines && len(head) < lines*lineBytes-utf8.UTFMax {
			t.Errorf("the beginning has %d lines and %d bytes", n, len(head))
		}
		if n := strings.Count(tail, "\n"); n > lastLines || len(tail) > lastBytes {
			t.Errorf("the end has %d lines and %d bytes", n, len(tail))
		}
		if want := strings.Count(whole[len(head):len(whole)-len(tail)], "\n"); left != want {
			t.Errorf("%d lines are left out, it says %d", want, left)
		}
	}
}

// TestChangedLimit changes the limit in the middle of a cell's output, which the cell may have exceeded by then.
func TestChangedLimit(t *testing.T) {
	for _, c := range []struct {
		arg   string
		lines int // 0: it is refused
	}{
		{"3", 3}, {"1000000", 1_000_000}, {strconv.Itoa(mostLines), mostLines}, {strconv.Itoa(mostLines + 1), 0}, {strconv.Itoa(math.MaxInt), 0}, {"-1", 0},
	} {
		e := newExecution(&kernel{lines: 1000}, &jupyter.Message{}, executeRequest{Silent: true}, 1)
		l := e.limits["stdout"]
		var got string
		l.show = func(s string) { got += s }
		e.Stream("stdout", strings.Repeat("long", 100*lineBytes))
		fail := commands{e}.limitOutput(rewrite.Command{Args: []string{c.arg}})
		if e.Stream("stdout", "\nend\n"); (fail == nil) != (c.lines > 0) || fail == nil && (l.lines != c.lines || e.k.lines != c.lines) {
			t.Errorf("%%output %s: %v, %d lines", c.arg, fail, l.lines)
		}
		if e.endOutput(); !strings.HasSuffix(got, "end\n") {
			t.Errorf("%%output %s: %.100q is shown", c.arg, got)
		}
		t.Setenv(outputVar, c.arg)
		if n := linesFromEnv(); n != cmp.Or(c.lines, outputLines) {
			t.Errorf("%s=%s: %d lines", outputVar, c.arg, n)
		}
	}
}

// TestAnswersPass: what a student's %output leaves out are displays, never answers to the grader.
func TestAnswersPass(t *testing.T) {
	e := newExecution(&kernel{lines: 20}, &jupyter.Message{}, executeRequest{Silent: true}, 1)
	for i, c := range []struct {
		mime string
		lost int
	}{{"text/html", 0}, {lesson.AnswerType, 0}, {lesson.AnswerType, 0}, {"text/html", 0}, {lesson.AnswerType, 0}, {"text/html", 1}, {lesson.AnswerType, 1}} {
		msgType, content := display.Message("display", []string{c.mime, "{}"}, 1)
		if left := e.limited(msgType, content); left != (c.mime != lesson.AnswerType && c.lost > 0) || e.lostDisplays() != c.lost {
			t.Errorf("display %d, %s: left out is %v, with %d in all", i+1, c.mime, left, e.lostDisplays())
		}
	}
}

// TestEndlessOutput: neither the kernel nor its client suffers from what a cell prints or shows without end.
func TestEndlessOutput(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	outs, _ := l.run("for i := range 200_000 {\n\tfmt.Println(i)\n}\n7")
	if s := flat(outs); !strings.Contains(s, "\n9999\n… and more; %output 0 shows all (189,980 more lines,") || !strings.HasSuffix(strings.TrimSpace(s), "199999\n[result]7") {
		t.Errorf("200,000 lines: %s … %s", s[:40], s[len(s)-400:])
	}
	outs, _ = l.run("s := strings.Repeat(\"0123456789abcdef\", 64*1024)\nfor range 200 {\n\tos.Stdout.WriteString(s)\n\tos.Stderr.WriteString(s)\n}")
	if n := len(flat(outs)); n > 3*outputLines*lineBytes {
		t.Errorf("of 400 MB without a line break %d bytes are shown", n)
	}
	outs, _ = l.run("for i := range 2000 {\n\tshow.Text(fmt.Sprint(\"no\", i))\n}\nshow.Text(\"end\")")
	if s := flat(outs); strings.Contains(s, "no1500") || !strings.Contains(s, "no900") || !strings.Contains(s, "1001 more displays; %output 0 shows all") {
		t.Errorf("2,001 displays: %s", s[len(s)-300:])
	}
	if got := peakMemory(l.k.Pid()); got > 200<<20 {
		t.Errorf("the kernel has taken %d MB", got>>20)
	}
	stop := sync.OnceFunc(func() { l.k.Interrupt() })
	outs, r, err := l.try("n := 0\nfor {\n\tfmt.Println(strings.Repeat(\"x\", 1000), n)\n\tn++\n}", jupyter.ExecuteOptions{Timeout: patience, Output: func(m *jupyter.Message) {
		if strings.Contains(string(m.Content), "… and more") {
			stop()
		}
	}})
	if s := flat(outs); err != nil || r.Status != "error" || !strings.Contains(s, "interrupted") || !leftOut.MatchString(s) {
		t.Errorf("an endless loop: %v, %s", err, s[max(0, len(s)-300):])
	}
	l.want("n > 2000", "[result]true")
	l.want("%output 3\nfor i := range 30 {\n\tfmt.Println(i)\n}", "\n2\n… and more; %output 0 shows all (7 more lines, 14 bytes)\n10\n")
	l.want("%output", "the first 3 lines")
	l.want("%output few", "write %output and the number of lines")
	outs, _ = l.run("%output 0\nfor i := range 20_000 {\n\tfmt.Println(i)\n}")
	if got := strings.Count(flat(outs), "\n"); got < 20_000 {
		t.Errorf("%d of 20,000 lines", got)
	}
}

// peakMemory is the most that a process has had in memory at once, as far as the system says.
func peakMemory(pid int) (bytes int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Sscan(rest, &bytes)
	return bytes << 10
}

// TestPromptOnce: the client shows what stands before the field in which the user types, and the output what was
// printed. A question is in one of the two.
func TestPromptOnce(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, c := range []struct{ name, code string }{
		{"print", `fmt.Print("line\n", "who? ")`},
		{"after a pause", "fmt.Print(\"line\\nwho? \")\ntime.Sleep(200 * time.Millisecond)"},
		{"in two pieces", "fmt.Print(\"line\\nwho\")\ntime.Sleep(200 * time.Millisecond)\nfmt.Print(\"? \")"},
		{"after a display", "fmt.Print(\"line\\nwho? \")\nshow.Text(\"shown\")"},
		{"behind the limit", "%output 2\nfmt.Print(strings.Repeat(\"line\\n\", 30), \"who? \")"},
	} {
		var prompt string
		outs, r, err := l.try(c.code+"\nvar who string\nfmt.Scanln(&who)\nfmt.Println(\"hello\", who)", jupyter.ExecuteOptions{Timeout: patience, Input: func(p string, _ bool) (string, error) {
			prompt = p
			return "Ada", nil
		}})
		printed := ""
		for _, o := range outs {
			if o.kind == "stdout" {
				printed += o.text
			}
		}
		if err != nil || r.Status != "ok" || strings.Count(printed+prompt, "who? ") != 1 && c.name != "behind the limit" ||
			!strings.HasSuffix("who? ", prompt) || !strings.Contains(printed, "line\n") || !strings.HasSuffix(printed, "hello Ada\n") {
			t.Errorf("%s: %v, prompt %q, printed %q", c.name, err, prompt, printed)
		}
		if c.name == "behind the limit" && prompt != "who? " {
			t.Errorf("%s: prompt %q", c.name, prompt)
		}
	}
}
