package columns

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	table := Table{
		Caption: "two & two",
		Header:  []string{"name", "n"},
		Rows:    [][]string{{"élan", "7"}, {"<b>", "1,000"}},
		Right:   func(column int) bool { return column == 1 },
	}
	if got, want := table.String(), "two & two\nname      n\nélan      7\n<b>   1,000"; got != want {
		t.Errorf("text is\n%s\nwant\n%s", got, want)
	}
	for _, want := range []string{"<caption>two &amp; two</caption>", `<th style="text-align:left">name</th>`, `<td style="text-align:right">1,000</td>`, "&lt;b&gt;"} {
		if !strings.Contains(table.HTML(), want) {
			t.Errorf("HTML lacks %s:\n%s", want, table.HTML())
		}
	}
	if got, want := (Table{Header: []string{"a", "b"}, Rows: [][]string{{"long", ""}}}).String(), "a     b\nlong"; got != want {
		t.Errorf("without caption and numbers: %q, want %q", got, want)
	}
}
