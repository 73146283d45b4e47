package e2e

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onDisk is the address of a file, or of a folder.
func onDisk(path ...string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(path...))}).String()
}

// inBoth does in Chromium and in Firefox what a reader does with pages that were opened as files.
func inBoth(t *testing.T, does func(p page)) {
	t.Run("Chromium", func(t *testing.T) {
		b := openBrowser(t)
		b.window(1280, 900, false)
		does(b.page)
		b.clean(func(address string) bool {
			return strings.HasPrefix(address, "file:") || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "about:") || strings.HasPrefix(address, "blob:")
		})
	})
	t.Run("Firefox", func(t *testing.T) {
		f := openFirefox(t)
		f.window(1280, 900, false)
		does(f.page)
	})
}

// mostBeside is how many bytes lie beside pages whose cells don't run, for all their explorers.
const mostBeside = 2_600_000

// TestDiskExplorers uses each explorer by keyboard on pages whose cells don't run. What they load lies beside the pages
// once.
func TestDiskExplorers(t *testing.T) {
	site := renderedSite(t)
	size := int64(0)
	parts, err := os.ReadDir(filepath.Join(site, "live"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		info, err := part.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	t.Logf("explorers take %.2f MB beside the pages", float64(size)/1e6)
	if size > mostBeside {
		t.Errorf("explorers take %d bytes beside the pages, more than %d", size, mostBeside)
	}
	exe := native(t)
	inBoth(t, func(p page) {
		p.explore(exe, onDisk(site), func(name string) {
			if cells := p.text(`String(document.querySelectorAll(".live-run").length)`); cells != "0" {
				p.t.Errorf("%s cells can run beside the explorer %s", cells, name)
			}
		})
	})
}

// TestDiskExplorersFail: a part that is damaged and a program that has ended are told of, and the next try begins anew.
func TestDiskExplorersFail(t *testing.T) {
	site, dir := renderedSite(t), t.TempDir()
	names, err := filepath.Glob(filepath.Join(site, "live", "*.js"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "live"), 0o755); err != nil {
		t.Fatal(err)
	}
	program, whole := "", []byte(nil)
	for _, from := range append(names, filepath.Join(site, "22-roofline.html")) {
		name, err := filepath.Rel(site, from)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(filepath.Base(from), "explore-") {
			program, whole = filepath.Join(dir, name), text
		}
	}
	if whole == nil {
		t.Fatalf("there is no program of the explorers among %q", names)
	}
	exe := native(t)
	b := openBrowser(t)
	const note = `document.querySelector("[data-explore=roofline] .x-note").textContent`
	less := func() {
		t.Helper()
		b.focus("roofline", "[name=m]")
		b.press("ArrowLeft", keyLeft, 0)
	}
	put := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(program, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, damaged := range [][]byte{whole[:len(whole)/2], nil, []byte(`lecternPart("` + strings.TrimSuffix(filepath.Base(program), ".js") + `", "???")`)} {
		put(damaged)
		b.nears(exe, onDisk(dir), "22-roofline", "roofline")
		less()
		b.until("the damage is told of", note+`.startsWith("Something went wrong: ") && `+note+`.endsWith(" is damaged")`, note)
	}
	put(whole)
	b.act(`(() => { const W = Worker; window.Worker = class extends W { constructor(...a) { super(...a); window.last = this; } }; })()`)
	less()
	b.shows(exe, "roofline", "m=8")
	b.act(`last.terminate()`)
	less()
	b.until("the page waits", note+` == "Loading"`, note)
	b.act(`last.dispatchEvent(new ErrorEvent("error", { message: "gone" }))`)
	b.until("the end is told of", note+` == "Something went wrong: gone"`, note)
	less()
	b.shows(exe, "roofline", "m=6")
	if said := b.text(note); said != "" {
		t.Errorf("when all is well again it says %q", said)
	}
}

// TestDiskSteps follows links to a step, and talks a lesson through.
func TestDiskSteps(t *testing.T) {
	lesson := onDisk(rendered(t, "-steps", filepath.Join("notebooks", steppedLesson+".ipynb")), steppedLesson+".html")
	const (
		where = `(document.querySelector(".step-where")?.textContent ?? "")`
		hash  = `location.hash`
		now   = `(document.querySelector(".talk-now")?.textContent.trim() ?? "")`
		later = `[...document.querySelectorAll(".talk-later")].filter(e => e.checkVisibility()).length`
	)
	steppable := func(more string) string {
		return `[...document.querySelectorAll(".cell.run")].find(c => c.querySelector(".step-open")` + more + `)`
	}
	t.Run("links", func(t *testing.T) {
		inBoth(t, func(p page) {
			p.visit(lesson)
			p.until("cells can be stepped through", steppable("")+` !== undefined`, hash)
			link := lesson + "#" + p.text(steppable("")+`.id`) + ".step-"
			p.visit("about:blank")
			p.visit(link + "3")
			p.until("the link opens the stepper there", where+`.startsWith("Step 3 ")`, where)
			p.act(`document.querySelector(".steps").focus()`)
			p.press("ArrowRight", keyRight, 0)
			p.until("the address follows", where+`.startsWith("Step 4 ") && location.href === `+quoted(link+"4"), `location.href`)
			p.visit(link + "2")
			p.until("a link on the page itself", where+`.startsWith("Step 2 ")`, where)
		})
	})
	t.Run("talk", func(t *testing.T) {
		inBoth(t, func(p page) {
			p.visit(lesson)
			p.act(`document.querySelector("#talk").click()`)
			p.until("the title is shown, and nothing after it", now+`.startsWith("Gradients") && `+later+` == 0 && `+hash+` == "#talk-1"`, now)
			p.press("ArrowRight", keyRight, 0)
			p.until("a block on", hash+` == "#talk-2" && `+later+` == 0`, now)
			p.press("ArrowLeft", keyLeft, 0)
			p.until("and back", hash+` == "#talk-1"`, now)
			for range 60 {
				if p.text(`String(`+steppable(` && c === document.querySelector(".talk-now").closest(".cell")`)+` !== undefined)`) == "true" {
					break
				}
				p.press("ArrowRight", keyRight, 0)
			}
			p.write("s")
			p.until("the stepper opens in place", where+`.startsWith("Step 1 ")`, where)
			p.press("ArrowRight", keyRight, 0)
			p.until("the same key steps", where+`.startsWith("Step 2 ")`, where)
			before := p.text(hash)
			p.press("End", keyEnd, 0)
			p.press("ArrowRight", keyRight, 0)
			p.until("after the last step the talk goes on", `!document.querySelector(".steps") && `+hash+` != `+quoted(before), hash)
			p.press("Escape", keyEscape, 0)
			p.until("the talk has ended", `!document.documentElement.matches(".talk") && `+later+` == 0`, hash)
		})
	})
}

// TestDiskGuesses answers the questions of a lesson; answers are there when the page is opened again.
func TestDiskGuesses(t *testing.T) {
	lesson := onDisk(rendered(t, "-steps=false", filepath.Join("notebooks", "17-optimizers.ipynb")), "17-optimizers.html")
	const (
		first    = `document.querySelector(".guess")`
		verdicts = `[...document.querySelectorAll(".verdict")].map(v => v.textContent).filter(Boolean).map(v => v[0]).join("")`
		answers  = `[...document.querySelectorAll(".guess .answer")].filter(a => !a.hidden).length`
	)
	inBoth(t, func(p page) {
		p.visit(lesson)
		p.until("questions come before their answers", first+`.querySelector(".ask input") != null && `+answers+` == 0`, answers)
		p.act(first + `.querySelector("input").focus()`)
		p.write("many\n")
		p.until("numbers are wanted", first+`.querySelector(".bad").textContent.includes("Enter numbers")`, first+`.textContent`)
		p.act(first + `.querySelector("input").select()`)
		p.write("4, 20\n")
		p.until("the guess is right", verdicts+` == "✓" && `+answers+` == 1`, first+`.textContent`)
		p.act(`[...document.querySelectorAll(".guess")].find(g => g.textContent.includes("30th step")).querySelector("button").click()`)
		p.until("another is wrong", verdicts+` == "✓✗"`, verdicts)
		p.visit("about:blank")
		p.visit(lesson)
		p.until("guesses are remembered", verdicts+` == "✓✗"`, verdicts)
	})
}
