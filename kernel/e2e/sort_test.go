package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSortedTable clicks on the name of a column with numbers, those of floats that aren't finite among them.
func TestSortedTable(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root(t), "kernel", "show", "bundle.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(source), "const sorting = `")
	script, _, found := strings.Cut(script, "`")
	if !found {
		t.Fatal("there is no script")
	}
	page := `<!doctype html><div><table class="lectern-table"><thead><tr><th></th><th>Loss</th></tr></thead><tbody>`
	for _, v := range []string{"0.5", "+Inf", "0.25", "NaN", "10", "-Inf", "1e-05"} {
		page += "<tr><th>0</th><td>" + v + "</td></tr>"
	}
	file := filepath.Join(t.TempDir(), "table.html")
	if err := os.WriteFile(file, []byte(page+"</tbody></table>"+script+"</div>"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t)
	b.visit("file://" + file)
	for _, want := range []string{"-Inf 1e-05 0.25 0.5 10 +Inf NaN", "NaN +Inf 10 0.5 0.25 1e-05 -Inf"} {
		if got := b.text(`(document.querySelectorAll("th")[1].click(), [...document.querySelectorAll("td")].map(d => d.textContent).join(" "))`); got != want {
			t.Errorf("sorted: %s, want %s", got, want)
		}
	}
}
