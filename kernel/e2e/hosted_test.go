package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// below is where a teacher's web space may have the course: not at the root of its host.
const below = "/courses/lectern/"

// A host serves a folder below a path as any plain web server does, and notes what it was asked for and doesn't have.
type host struct {
	address string

	mu     sync.Mutex
	absent []string
	held   chan struct{} // what a page runs cells with waits until this is closed; nil if it need not
}

func hosting(t *testing.T, folder string) *host {
	t.Helper()
	h := &host{}
	files := http.FileServer(http.Dir(folder))
	mux := http.NewServeMux()
	mux.Handle(below, http.StripPrefix(strings.TrimSuffix(below, "/"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		held := h.held
		h.mu.Unlock()
		if held != nil && strings.HasPrefix(r.URL.Path, "/live/") {
			select {
			case <-held:
			case <-r.Context().Done():
				return
			}
		}
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(r.URL.Path))); err != nil {
			h.note(r)
		}
		files.ServeHTTP(w, r)
	})))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		h.note(r)
		http.NotFound(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.address = server.URL + below
	return h
}

func (h *host) note(r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.URL.Path != "/favicon.ico" { // which browsers ask for by themselves
		h.absent = append(h.absent, r.URL.Path)
	}
}

// complete checks that nothing was asked for that the host doesn't have.
func (h *host) complete(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.absent) > 0 {
		t.Errorf("the host was asked for %q, which it doesn't have", h.absent)
	}
}

// links follows all links of all pages, and looks whether what each names is there.
func (h *host) links(b *browser) {
	b.t.Helper()
	ids := map[string]map[string]bool{} // of pages
	from := map[string]string{}         // of links, a page that has it
	queue := []string{h.address}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if ids[at] != nil {
			continue
		}
		ids[at] = map[string]bool{}
		b.do(chromedp.Navigate(at), chromedp.WaitReady("body"))
		var page struct{ Links, IDs, Broken []string }
		text := ask[string](b, `JSON.stringify({
			Links: [...new Set([...document.querySelectorAll("[href], [src]")].flatMap((e) => [e.href, e.src]).map((a) => a?.baseVal ?? a).filter(Boolean).map((a) => new URL(a, document.baseURI).href))],
			IDs: [...document.querySelectorAll("[id]")].map((e) => e.id),
			Broken: [...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src.slice(0, 80)),
		})`)
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			b.t.Fatal(err)
		}
		if len(page.Broken) > 0 {
			b.t.Errorf("%s: broken pictures: %q", at, page.Broken)
		}
		for _, id := range page.IDs {
			ids[at][id] = true
		}
		for _, link := range page.Links {
			u, err := url.Parse(link)
			switch {
			case err != nil:
				b.t.Errorf("%s: %v", at, err)
			case u.Scheme == "data" || u.Scheme == "https": // its own, or another host's
			case !strings.HasPrefix(link, h.address):
				b.t.Errorf("%s has a link to %s", at, link)
			default:
				from[link] = at
				u.Fragment, u.RawFragment = "", ""
				if path := u.Path; strings.HasSuffix(path, "/") || strings.HasSuffix(path, ".html") {
					queue = append(queue, u.String())
				}
			}
		}
	}
	if len(ids) < 30 {
		b.t.Errorf("only %d pages are linked", len(ids))
	}
	for link, at := range from {
		u, err := url.Parse(link)
		if err != nil {
			b.t.Fatal(err)
		}
		fragment, _, _ := strings.Cut(u.Fragment, ".step-")
		u.Fragment, u.RawFragment = "", ""
		if known := ids[u.String()]; known != nil {
			if fragment != "" && !known[fragment] {
				b.t.Errorf("%s has a link to %s, where nothing has that name", at, link)
			}
			continue
		}
		response, err := http.Get(u.String())
		if err != nil {
			b.t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			b.t.Errorf("%s has a link to %s: %s", at, link, response.Status)
		}
	}
}

// find looks for a lesson from another one, and opens it.
func (h *host) find(b *browser) {
	b.t.Helper()
	b.do(chromedp.Navigate(h.address+"05-storage-strides-views.html"), chromedp.WaitReady("body"))
	b.until("the page can be searched", `document.readyState == "complete" && document.querySelector(".search")?.hidden === false`, `document.readyState`)
	b.do(chromedp.KeyEvent("/"), chromedp.KeyEvent("roofline"))
	const first = `document.querySelector("#results a")?.getAttribute("href")`
	b.until("the search finds the lesson", `(`+first+` ?? "").startsWith("22-roofline.html")`, first)
	b.press("Enter", keyEnter, 0)
	b.until("Enter opens it, below the same path", `location.href.startsWith(`+quoted(h.address+"22-roofline.html")+`)`, `location.href`)
}

// TestHosted has a plain web server hand out the rendered lessons below a path: whatever pages link to, show or find is
// there.
func TestHosted(t *testing.T) {
	t.Parallel()
	h := hosting(t, renderedSite(t))
	b := openBrowser(t)
	b.window(1280, 900, false)
	h.links(b)
	h.find(b)
	h.complete(t)
	b.clean(fromSite(h.address))
}

// TestLiveHosted does the same with pages whose cells run, and runs one.
func TestLiveHosted(t *testing.T) {
	served(t)
	dir, err := liveSite()
	if err != nil {
		t.Fatal(err)
	}
	h := hosting(t, dir)
	b := openBrowser(t)
	b.window(1280, 900, false)
	h.links(b)
	h.find(b)
	b.open(h.address + "05-storage-strides-views.html")
	if got := b.runCell("05-03", "x := tensor.Arange(3)\nx.Sum()"); !strings.HasPrefix(got, "tensor(3)") {
		t.Errorf("the cell shows %q", got)
	}
	h.complete(t)
	b.clean(fromSite(h.address))
}

// TestLiveBeforeTheEngine uses a page whose cells run while what they run with is still on its way, or never comes: it
// is the page that it would be without, and afterwards the cell that was to run does.
func TestLiveBeforeTheEngine(t *testing.T) {
	if os.Getenv("LECTERN_LONG") == "" {
		t.Skip("it builds Go's compiler; LECTERN_LONG=1 does it")
	}
	lesson := filepath.Join("notebooks", steppedLesson+".ipynb")
	b := openBrowser(t)
	b.window(1280, 900, false)
	// What a reader sees, and may step through.
	const shown = `JSON.stringify({
		steps: [...document.querySelectorAll(".step-open")].map((e) => e.closest("[id^=cell-]").id),
		outputs: [...document.querySelectorAll("main .out")].filter((e) => e.checkVisibility()).map((e) => e.innerText),
		questions: document.querySelectorAll(".guess").length,
	})`
	still := hosting(t, rendered(t, "-steps", lesson))
	b.do(chromedp.Navigate(still.address+steppedLesson+".html"), chromedp.WaitReady("body"))
	want := ask[string](b, shown)

	h := hosting(t, rendered(t, "-live", "-steps", lesson))
	h.held = make(chan struct{})
	b.open(h.address + steppedLesson + ".html")
	if got := ask[string](b, shown); got != want {
		t.Errorf("before the engine is there the page shows\n%s\nand without cells that run\n%s", got, want)
	}
	first := ask[string](b, `document.querySelector("[id^=cell-] .live-run").closest("[id^=cell-]").id`)
	b.act(`document.querySelector("[id^=cell-] .live-run").click()`)
	b.until("the cell waits for the engine", `lecternLive.state != "idle"`, liveState)
	b.act(`document.querySelectorAll(".step-open")[1].click()`)
	b.until("a reader steps meanwhile", `document.querySelector(".step-where")?.textContent.startsWith("Step 1 ") ?? false`, `document.body.className`)
	b.do(chromedp.KeyEvent("/"), chromedp.KeyEvent("gradients"))
	b.until("and searches", `document.querySelectorAll("#results a").length > 0`, `document.querySelector("#results")?.outerHTML`)
	b.press("Escape", keyEscape, 0)
	close(h.held)
	b.idle("the cell that waited has run")
	if !ask[bool](b, `document.querySelector(`+quoted("#"+first+" .live-note")+`).textContent.startsWith("ran here")`) {
		t.Errorf("the cell has not run: %s", ask[string](b, liveState))
	}
	h.complete(t)
}
