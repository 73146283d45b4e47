package wording

import (
	"fmt"
	"reflect"
	"testing"
)

func TestReplace(t *testing.T) {
	format := `<svg aria-label="Roof of %s"><p class="%s">Takes <b>%.3g</b> of %d, 5 %%.</p><dd>%s</dd><td>so be it</td>`
	args := []any{"A", "x", 1.5, 7, "end"}
	var seen []string
	same := Replace(format, func(text string) string { seen = append(seen, text); return text })
	if want := []string{"Roof of %s", "Takes <b>%.3g</b> of %d, 5 %%.", "so be it"}; !reflect.DeepEqual(seen, want) {
		t.Errorf("texts %q, want %q", seen, want)
	}
	if got, want := fmt.Sprintf(same, args...), fmt.Sprintf(format, args...); got != want {
		t.Errorf("the same texts give %q, want %q", got, want)
	}
	other := Replace(format, func(text string) string {
		return map[string]string{"Roof of %s": "%s 的屋顶", "Takes <b>%.3g</b> of %d, 5 %%.": "%[2]d 中占 <b>%.3[1]g</b>，5%%。", "so be it": "就这样"}[text]
	})
	want := `<svg aria-label="A 的屋顶"><p class="x">7 中占 <b>1.5</b>，5%。</p><dd>end</dd><td>就这样</td>`
	if got := fmt.Sprintf(other, args...); got != want {
		t.Errorf("got  %s\nwant %s (format %s)", got, want, other)
	}
}
