package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// python is the Python that the tests may use, with the libraries that .ci/run installs into it.
func python(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("LECTERN_PYTHON"); p != "" {
		return p
	}
	absent(t, "LECTERN_PYTHON names no Python")
	return ""
}

// axeSource returns axe-core, which looks for what keeps people from using a page. It comes with a Python package, so
// that the tests need no second package manager; of that package only this file is used.
func axeSource(t *testing.T) string {
	t.Helper()
	const find = `import importlib.util as u, os; s = u.find_spec("axe_playwright_python"); print(os.path.join(os.path.dirname(s.origin), "axe.min.js") if s else "")`
	out, err := exec.Command(python(t), "-c", find).Output()
	if err != nil {
		t.Fatalf("ask Python where axe-core is: %v", err)
	}
	path := strings.TrimSpace(string(out))
	if path == "" {
		absent(t, "axe-core is not installed: pip install --no-deps axe-playwright-python")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// accessible runs axe-core's rules for WCAG 2.2, levels A and AA, on the page as it is shown.
func (b *browser) accessible(axe, what string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](axe))
	result := get(b, chromedp.Evaluate[string](`(async () => {
		// A menu or a solution that is folded away can't be looked at.
		for (const d of document.querySelectorAll("details")) d.open = true;
		// The bar at the top covers half a button only until the reader scrolls on.
		scrollTo({top: 0, behavior: "instant"});
		const r = await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"]});
		return JSON.stringify({rules: r.passes.length, violations: r.violations.map(v => ({id: v.id, help: v.help,
			nodes: v.nodes.slice(0, 3).map(n => n.target.join(" ") + ": " + n.failureSummary), count: v.nodes.length}))});
	})()`, chromedp.EvalAwaitPromise))
	var found struct {
		Rules      int
		Violations []struct {
			ID, Help string
			Nodes    []string
			Count    int
		}
	}
	if err := json.Unmarshal([]byte(result), &found); err != nil {
		b.t.Fatalf("%s: axe-core says %.200s: %v", what, result, err)
	}
	if found.Rules < 5 {
		b.t.Errorf("%s: only %d rules apply to the page: axe-core did not see it", what, found.Rules)
	}
	for _, v := range found.Violations {
		b.t.Errorf("%s: %s, %d times: %s\n\t%s", what, v.ID, v.Count, v.Help, strings.Join(v.Nodes, "\n\t"))
	}
}
