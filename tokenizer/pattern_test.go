package tokenizer

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
)

// engineWords is the pattern of Words for an engine whose \w is not Unicode's: spelled out but for a few alphabetic
// marks, which the texts of the test do not hold.
const engineWords = `[\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\u200c\u200d]+|[^\n]`

// TestScannersMatchRegexp holds the scanners to the regular expressions that they are written after.
func TestScannersMatchRegexp(t *testing.T) {
	alphabet := []string{
		"a", "s", "S", "ll", "Ve", "t", "é", "世", "ǅ", "ʰ", "ª", "1", "2", "٣", "½", "Ⅷ", "²", " ", " ", "  ", "\t", "\n", "\r", "\r\n", "\v",
		"\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u3000", "\u200b", "\u200d", "'", "'", "'s", "'LL", "’", "!", "。", "_", "‿", "🌍", "\u0301", "\x00", "$",
		"ſ", "K", "\ufffd", "\U00020000", "\U0001d7ce",
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		pattern *Pattern
		expr    string
	}{{GPT2, GPT2.expr}, {CL100K, strings.Replace(CL100K.expr, "sdmt", "sdmtſ", 1)}, {Words, engineWords}} {
		re := regexp2.MustCompile(c.expr)
		check := func(text string) {
			t.Helper()
			at, err := re.FindAllStringIndex(text, -1)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{}
			for _, m := range at {
				want = append(want, text[m[0]:m[1]])
			}
			if got := c.pattern.Split(text); !reflect.DeepEqual(got, want) {
				t.Fatalf("%v on %q:\n got %q\nwant %q", c.pattern, text, got, want)
			}
		}
		for _, text := range awkward {
			check(strings.ToValidUTF8(text, "?"))
		}
		for range 20000 {
			var b strings.Builder
			for range rng.IntN(12) {
				b.WriteString(alphabet[rng.IntN(len(alphabet))])
			}
			check(b.String())
		}
	}
}

// TestClasses checks the table of classes against Unicode's own.
func TestClasses(t *testing.T) {
	for r := range rune(1 << 16) {
		if got, want := planeClass()[r], runeClass(r); got != want {
			t.Fatalf("class of %U is %d, want %d", r, got, want)
		}
	}
}

func TestCompile(t *testing.T) {
	for expr, want := range spellings {
		if got, err := Compile(expr); got != want || err != nil {
			t.Errorf("Compile(%q) = %v, %v; want the pattern %v", expr, got, err, want)
		}
	}
	own, err := Compile(`\d+|[a-z]+(?= )`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := own.Split("ab cd12 é3\xff4"), []string{"ab", "12", "3", "\xff", "4"}; !reflect.DeepEqual(got, want) {
		t.Errorf("Split = %q, want %q", got, want)
	}
	long := strings.Repeat("a", 300_000)
	if all, err := Compile(`\w+|\W`); err != nil || !reflect.DeepEqual(all.Split(long), []string{long}) {
		t.Errorf("a word of %d letters is cut, or %v", len(long), err)
	}
	_, err = Compile(`a(b`)
	var e *PatternError
	if !errors.As(err, &e) || e.Expr != "a(b" {
		t.Errorf("Compile of a broken expression says %v", err)
	}
}
