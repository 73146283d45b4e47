package inband

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// transcript feeds chunks to a splitter and writes down what comes out.
func transcript(token string, chunks ...string) string {
	var b strings.Builder
	s := Splitter{Token: token,
		Text: func(t string) { b.WriteString(t) },
		Say:  func(kind string, fields []string) { fmt.Fprintf(&b, "<%s %q>", kind, fields) },
	}
	for _, c := range chunks {
		s.Write(c)
	}
	s.Close()
	return b.String()
}

func TestSplitter(t *testing.T) {
	html := Encode("T", "display", "text/html", "<b>é\x07\x1b]</b>", "text/plain", "")
	for _, c := range []struct{ name, in, want string }{
		{"text", "a\nb", "a\nb"},
		{"order", "a" + html + "b" + html, `a<display ["text/html" "<b>é\a\x1b]</b>" "text/plain" ""]>b<display ["text/html" "<b>é\a\x1b]</b>" "text/plain" ""]>`},
		{"no fields", Encode("T", "flush"), "<flush []>"},
		{"another token is text", Encode("X", "display"), Encode("X", "display")},
		{"broken payload is text", prefix + "T;!!" + suffix, prefix + "T;!!" + suffix},
		{"short payload is text", prefix + "T;CQ==" + suffix, prefix + "T;CQ==" + suffix},
		{"unfinished", "a" + html[:20], "a" + html[:20]},
		{"escape alone", "a\x1b", "a\x1b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := transcript("T", c.in); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if got := transcript("T", strings.Split(c.in, "")...); got != c.want {
				t.Errorf("in single characters: got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestSplitterChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var in strings.Builder
	for i := range 200 {
		fmt.Fprintf(&in, "line %d\x1b\n", i)
		in.WriteString(Encode("tok", "display", "text/plain", strings.Repeat("x", i)))
	}
	want := transcript("tok", in.String())
	for range 50 {
		var chunks []string
		for s := in.String(); s != ""; {
			n := 1 + r.IntN(min(len(s), 97))
			chunks = append(chunks, s[:n])
			s = s[n:]
		}
		if transcript("tok", chunks...) != want {
			t.Fatalf("chunks %q change the result", chunks)
		}
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add("a\x1b]lectern;T;", "AWE=\x07b")
	f.Fuzz(func(t *testing.T, a, b string) {
		if got, want := transcript("T", a, b), transcript("T", a+b); got != want {
			t.Errorf("%q + %q: got %q, want %q", a, b, got, want)
		}
		m := Encode("T", a, b)
		if got, want := transcript("T", m), fmt.Sprintf("<%s %q>", a, []string{b}); got != want {
			t.Errorf("message: got %q, want %q", got, want)
		}
	})
}
