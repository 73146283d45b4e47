package tabular

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	table := Table{
		Caption: "two & two",
		Header:  []string{"name", "n"},
		Rows:    [][]string{{"élan", "7"}, {"  <b>", "1,000"}},
	}
	if got, want := table.String(), "two & two\nname       n\nélan       7\n  <b>  1,000\n"; got != want {
		t.Errorf("text is\n%s\nwant\n%s", got, want)
	}
	for _, want := range []string{"<caption>two &amp; two</caption>", `<th style="text-align:left">name</th>`, `<td style="text-align:right">1,000</td>`, `<td style="text-align:left;padding-left:1.7em">&lt;b&gt;</td>`} {
		if !strings.Contains(table.HTML(), want) {
			t.Errorf("HTML lacks %s:\n%s", want, table.HTML())
		}
	}
	text := table.String()
	table.Unfold(1, "600 < 601: 600", "and 400")
	if got, want := table.HTML(), `<td style="text-align:right"><details><summary>1,000</summary><div>600 &lt; 601: 600</div><div>and 400</div></details></td>`; !strings.Contains(got, want) || strings.Count(got, "<details>") != 1 {
		t.Errorf("a number that unfolds is\n%s\nwant %s", got, want)
	}
	if got := table.String(); got != text {
		t.Errorf("text has changed to\n%s", got)
	}
	ruled := Table{Header: []string{"a"}, Rule: true}
	if got, want := ruled.String(), "a\n-\n"; got != want {
		t.Errorf("a header alone: %q, want %q", got, want)
	}
	ruled.Add("long", "12") // more cells than the header has
	if got, want := ruled.String(), "a\n--------\nlong  12\n"; got != want {
		t.Errorf("with a rule: %q, want %q", got, want)
	}
	words := Table{Header: []string{"a", "b"}, Left: func(int) bool { return true }}
	words.Add("long", "")
	words.Add("", "x")
	if got, want := words.String(), "a     b\nlong\n      x\n"; got != want {
		t.Errorf("words alone, no caption: %q, want %q", got, want)
	}
}
