package e2e

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestGuess answers the questions of a lesson by keyboard, and looks at the page before and after.
func TestGuess(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	b.colors("light")
	b.window(1280, 900, false)
	site := renderedSite(t)
	open := func() {
		t.Helper()
		address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(site, "17-optimizers.html"))}).String()
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.WaitReady("body"))
	}
	const (
		guesses = `document.querySelectorAll(".guess").length`
		asked   = `[...document.querySelectorAll(".guess")].filter(g => !g.querySelector(".ask").hidden).length`
		answers = `[...document.querySelectorAll(".guess .answer")].filter(a => !a.hidden).length`
		hidden  = `document.querySelectorAll(".after[hidden]").length`
		verdict = `(document.activeElement.closest(".guess")?.querySelector(".verdict").textContent ?? "")`
	)
	open()
	n := ask[int](b, guesses)
	if n < 5 || ask[int](b, asked) != n || ask[int](b, answers) != 0 || ask[int](b, hidden) == 0 {
		t.Fatalf("%d guesses, %d are asked and %d answered, %d boxes are hidden", n, ask[int](b, asked), ask[int](b, answers), ask[int](b, hidden))
	}
	before := ask[int](b, hidden)
	ask[bool](b, `(localStorage.setItem("lectern-guesses:17-optimizers", '{"in another window": 1}'), true)`)
	// The first question wants several numbers, the third is a choice. An answer that is no number gets a message.
	b.do(chromedp.Focus(".guess .ask input"), chromedp.KeyEvent("many\r"))
	b.until("numbers are wanted", `document.querySelector(".guess .bad").textContent.includes("Enter numbers")`, `document.querySelector(".guess").textContent`)
	b.do(chromedp.KeyEvent("\b\b\b\b4, 20\r"))
	b.until("the guess is right, and its answer has the keyboard", verdict+` == "✓ Right."`, `document.querySelector(".guess").textContent`)
	if got := ask[string](b, `Object.values(JSON.parse(localStorage.getItem("lectern-guesses:17-optimizers"))).join(" | ")`); got != "1 | 4,20" {
		t.Errorf("beside a guess in another window %q is remembered", got)
	}
	if ask[bool](b, `lecternAsk.fits("shape", [1.5, 2])`) {
		t.Error("a part of an element is taken for the size of an axis")
	}
	if ask[int](b, answers) != 1 || ask[int](b, asked) != n-1 || ask[int](b, hidden) >= before {
		t.Errorf("after one guess %d are answered and %d asked, and %d boxes of %d are hidden", ask[int](b, answers), ask[int](b, asked), ask[int](b, hidden), before)
	}
	ask[bool](b, `[...document.querySelectorAll(".guess")].find(g => g.textContent.includes("30th step")).querySelector("button").click(), true`)
	b.until("a wrong choice", verdict+`.startsWith("✗ You guessed AdaGrad")`, verdict)
	// Guesses are there when the page is opened again, until the reader wants to be asked again.
	answered := asked + ` == ` + guesses + ` - 2 && [...document.querySelectorAll(".verdict")].map(v => v.textContent).filter(Boolean).map(v => v[0]).join("") == "✓✗"`
	open()
	b.until("guesses are remembered", answered, asked)
	ask[bool](b, `(localStorage.setItem("lectern-guesses:17-optimizers", '{"in another window": 2}'), true)`)
	b.do(chromedp.Click(chromedp.CSS(".asks button:last-of-type")))
	nothing := asked + ` == ` + guesses + ` && [...document.querySelectorAll(".verdict")].every(v => v.hidden) && document.querySelector(".asks button:last-of-type").hidden`
	b.until("guesses are forgotten", nothing, asked)
	open()
	b.until("guesses stay forgotten, those of other windows, too", nothing, asked)
	// What does not look like a guess is not taken for one.
	ask[bool](b, `localStorage.setItem("lectern-guesses:17-optimizers", JSON.stringify(Object.fromEntries([...document.querySelectorAll(".guess")].map(g => [g.closest(".cell").id + " " + JSON.parse(g.dataset.guess).question, {a: 1}])))), true`)
	open()
	b.until("strange guesses are left out", asked+` == `+guesses, asked)
	// How far off a number is, in the words of package lesson.
	for _, tt := range []struct{ guess, off string }{
		{"8", "a factor of 2 too small"}, {"-16", "the size is right, the sign is not"}, {"17", "one too many"}, {"1600", "a factor of 100 too large; check the powers of ten"},
		{"128", "a factor of 8 too large; bits for bytes, perhaps"}, {"0.0625", "that is its reciprocal"}, {"80", "5 times too large"}, {"20", "25 % too large"}, {"0", "A zero takes as many bytes"},
		{"－１６", "the size is right, the sign is not"},
	} {
		open()
		ask[bool](b, `(lecternGuesses.given = {}, true)`)
		ask[bool](b, `(() => { const g = [...document.querySelectorAll(".guess")].find(g => g.textContent.includes("bytes do the zeros")); g.querySelector("input").value = "`+tt.guess+
			`"; g.querySelector("[type=submit]").click(); return true; })()`)
		b.until(tt.guess+" for 16", verdict+`.includes("`+tt.off+`")`, verdict)
	}
	// Those who want to see everything say so once.
	open()
	ask[bool](b, `(lecternGuesses.given = {}, true)`)
	b.do(chromedp.Click(chromedp.CSS(".asks button:first-of-type")))
	all := answers + ` == ` + guesses + ` && ` + hidden + ` == 0`
	b.until("all is shown", all, answers)
	open()
	b.until("the choice is remembered", all, answers)
	b.do(chromedp.Click(chromedp.CSS(".asks button:first-of-type")))
	b.until("the questions are back", answers+` == 0 && `+hidden+` == `+"document.querySelectorAll('.after').length", answers)
	// Paper shows everything.
	ask[bool](b, `dispatchEvent(new Event("beforeprint")), true`)
	b.until("paper shows everything", all, answers)
	ask[bool](b, `dispatchEvent(new Event("afterprint")), true`)
	b.until("after printing all is as before", answers+` == 0`, answers)
	b.shoot("site-guess", false)
	b.clean(func(address string) bool {
		return strings.HasPrefix(address, "file:") || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "about:")
	})
}

// testGuessForms answers questions in JupyterLab: a guess goes into the cell once it is right, or the answer is asked
// for; a wrong one may be followed by another.
func testGuessForms(t *testing.T, address string) {
	path := write(t, "guesses.ipynb",
		`lesson.Guess("How many bytes?", nil, 128, lesson.Unit("bytes"), lesson.Mistake(32, "Each has four."))
fmt.Println("what came", "out")`,
		`lesson.Guess("What shape is it?", nil, []int{2, 3})
lesson.Guess("Which \"one\" is it?", nil, "b", lesson.Choices("a", "b", "c"))`,
		`lesson.Guess("Is it so?", nil, true)`,
		`lesson.Guess("What is the sum?", nil, 2.5, lesson.Why("Add them."))
fmt.Println("one", "half")`)
	b := openBrowser(t)
	b.window(1200, 1400, false)
	b.do(chromedp.Navigate(at(t, address, path)))
	b.opened(4)
	const code = `[...document.querySelectorAll(".jp-Notebook .jp-CodeCell")]`
	cell := func(i int, of string) string { return code + `[` + strconv.Itoa(i) + `]` + of }
	source := func(i int) string { return cell(i, `.querySelector(".cm-content").innerText`) }
	output := func(i int) string { return cell(i, `.querySelector(".jp-Cell-outputArea").innerText`) }
	press := func(i int, name string) {
		t.Helper()
		ask[bool](b, `[...`+cell(i, `.querySelectorAll(".lectern-guess button")`)+`].find(x => x.textContent == "`+name+`").click(), true`)
	}
	guess := func(i int, text string) {
		t.Helper()
		ask[bool](b, cell(i, `.querySelector(".lectern-guess input").focus(), true`))
		b.do(chromedp.KeyEvent(text + "\r"))
	}
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell:nth-child(1) .cm-content`)))
	for i := range 4 {
		b.press("Enter", keyEnter, shift)
		b.until("the questions are asked", cell(i, `.querySelector(".lectern-guess .ask") != null`), code+`.map(c => c.innerText).join(" | ")`)
	}
	guess(0, "many")
	b.until("a number is wanted", output(0)+`.includes("Enter a number")`, output(0))
	guess(0, "32") // in place of what was wrong
	b.until("a hint comes before the answer", output(0)+`.includes("✗ You guessed 32: 4 times too small. Each has four.") && !`+output(0)+`.includes("128")`, output(0))
	if got := ask[string](b, source(0)); !strings.Contains(got, `"How many bytes?", nil,`) {
		t.Errorf("after a wrong guess the cell is %s", got)
	}
	guess(0, "128")
	b.until("the cell has run with the guess", output(0)+`.startsWith("✓ How many bytes? Right, it is 128 bytes.") && `+output(0)+`.includes("what came out")`, output(0))
	if got := ask[string](b, source(0)); !strings.Contains(got, `"How many bytes?", 128,`) {
		t.Errorf("after the right guess the cell is %s", got)
	}
	guess(1, "2.5, 3") // with which the cell could not be built
	b.until("integers are wanted", output(1)+`.includes("Enter numbers")`, output(1))
	guess(1, "3, 2")
	b.until("the order is wrong", output(1)+`.includes("the sizes are right, their order is not")`, output(1))
	press(1, "Show the answer")
	b.until("the wrong guess is in the cell", output(1)+`.includes("✗ What shape is it? You guessed [3 2]; it is [2 3]")`, output(1))
	press(1, "c")
	b.until("there are two others", output(1)+`.includes("✗ You guessed c.")`, output(1))
	press(1, "b")
	b.until("the second question is answered, too", output(1)+`.includes("Right, it is b")`, output(1))
	if got := ask[string](b, source(1)); !strings.Contains(got, `[]int{3, 2}, []int{2, 3}`) || !strings.Contains(got, `is it?", "b", "b",`) {
		t.Errorf("after both guesses the cell is %s", got)
	}
	press(2, "false")
	b.until("of two the other is right", output(2)+`.includes("You guessed false; it is true")`, output(2))
	press(3, "Show the answer")
	b.until("who doesn't guess sees it all", output(3)+`.includes("It is 2.5. Add them.") && `+output(3)+`.includes("one half")`, output(3))
	if got := ask[string](b, source(3)); !strings.Contains(got, "nil, 2.5") {
		t.Errorf("without a guess the cell is %s", got)
	}
	b.shoot("lab-guesses", false)
}

// testStrangersGuess opens an untrusted notebook. Its stored question must show as text: a form would run the cell at a
// click.
func testStrangersGuess(t *testing.T, address string) {
	path := write(t, "stranger.ipynb", `lesson.Guess("How many?", nil, true)`)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const asked = `"outputs":[{"output_type":"display_data","metadata":{},"data":{"text/plain":"? How many?","application/vnd.lectern.guess+json":` +
		`{"question":"How many?","kind":"choice","choices":["true","false"],"answer":"true","shown":"true"}}}]`
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"outputs":[]`, asked, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t)
	b.do(chromedp.Navigate(at(t, address, path)))
	b.opened(1)
	const output = `document.querySelector(".jp-Notebook .jp-Cell-outputArea").innerText`
	b.until("the question is a text", output+`.includes("? How many?")`, output)
	if forms := ask[int](b, `document.querySelectorAll(".jp-Notebook .lectern-guess, .jp-Notebook .jp-Cell-outputArea button.lectern-button").length`); forms > 0 {
		t.Error("a stranger's output asks with a form that runs the cell")
	}
}
