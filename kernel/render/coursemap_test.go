package render

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// course writes lessons of two sections each into a folder; needs are by number.
func course(t *testing.T, dir string, minutes int, needs ...[]int) (files []string) {
	t.Helper()
	name := func(i int) string { return fmt.Sprintf("%02d-lesson", i) }
	for i, list := range needs {
		var names []any
		for _, n := range list {
			names = append(names, name(n))
		}
		nb := &notebook.Notebook{
			Cells: []*notebook.Cell{md("a", fmt.Sprintf("# Lesson <%d>: more of it\n\nHello.", i)), md("b", "## Inside")},
			Metadata: notebook.Object{"lectern": notebook.Object{
				"minutes": json.Number(fmt.Sprint(minutes)), "needs": names, "summary": fmt.Sprint("About ", i)}},
		}
		files = append(files, filepath.Join(dir, name(i)+".ipynb"))
		if err := nb.Write(files[i]); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestIndexGuides: the index groups lessons, says what each needs and how long it takes, shows a map, and says where
// to go after the last, to which the last lesson leads, too.
func TestIndexGuides(t *testing.T) {
	dir := t.TempDir()
	o := Options{
		Notebooks: course(t, dir, 45, nil, []int{0}, []int{0, 1}, []int{2}), Out: filepath.Join(dir, "site"),
		Parts: []Part{{"First & last", "00"}, {"Rest", "02"}}, After: "## And now\n\nRead on.",
	}
	r, err := Site(o)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatalf("%v, warnings %v", err, r.Warnings)
	}
	index := readFile(t, r.Index)
	selfContained(t, "index", index)
	accessible(t, "index", index)
	if balance(index) != index {
		t.Error("tags are not balanced")
	}
	want(t, index, `About 45 minutes · Builds on <a href="00-lesson.html">Lesson &lt;0&gt;</a>, <a href="01-lesson.html">Lesson &lt;1&gt;</a></p>`,
		`First &amp; last<small>about 1½ hours</small></h2>`, `<h3><a href="03-lesson.html">`, `<title>Map of the lessons: `)
	at := -1
	for _, part := range []string{"First &amp; last", "00-lesson.html", "01-lesson.html", "Rest", "02-lesson.html", "03-lesson.html", `<section id="map">`, "<svg role=\"img\" viewBox", `<section id="after">`, "And now"} {
		next := strings.Index(index[at+1:], part)
		if next < 0 {
			t.Fatalf("%q does not stand where it should", part)
		}
		at += next + 1
	}
	if n := strings.Count(index, `class="tip"`); n != 2*3 { // on the map and on that for phones; that 2 needs 0 follows
		t.Errorf("%d arrows, want 3 on each map", n)
	}
	want(t, readFile(t, r.Pages[3].File), `<a class="next" href="index.html#after">`)
	wantNot(t, readFile(t, r.Pages[2].File), "#after")

	o.After, o.Parts, o.Notebooks = "", nil, o.Notebooks[:1]
	r, err = Site(o)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatalf("%v, warnings %v", err, r.Warnings)
	}
	index = readFile(t, r.Index)
	accessible(t, "index", index)
	want(t, index, `<h2><a href="00-lesson.html">`)
	wantNot(t, index, `id="map"`, `id="after"`, "Builds on", "<h3>")
	wantNot(t, readFile(t, r.Pages[0].File), "#after")
}

// TestNeeds: a lesson that is not there, or comes later, is a warning, and no lesson can need itself.
func TestNeeds(t *testing.T) {
	dir := t.TempDir()
	r, err := Site(Options{Notebooks: course(t, dir, 0, []int{0, 1}, []int{0, 0, 7}), Out: filepath.Join(dir, "site")})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, w := range r.Warnings {
		said = append(said, w.Error())
	}
	all := strings.Join(said, "\n")
	if len(said) != 3 {
		t.Errorf("%d warnings, want 3", len(said))
	}
	want(t, all, `"00-lesson", which does not come before it`, `"01-lesson", which does not come before it`, `"07-lesson", which is not on the site`)
	want(t, readFile(t, r.Index), `<p class="facts">Builds on <a href="00-lesson.html">`)
}

var arrow = regexp.MustCompile(`<path class="way"`)

// TestMapOfAnyCourse: whatever lessons need, boxes and what passes between them do not overlap, all of it is inside,
// each lesson is there once and below what it needs, and the same course gives the same bytes.
func TestMapOfAnyCourse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		sizes := []mapSizes{wideMap, narrowMap}[round%2]
		var pages []*page
		for i := range 1 + r.IntN(30) {
			p := &page{title: fmt.Sprint("Lesson ", i), number: fmt.Sprintf("%02d", i)}
			for range min(i, r.IntN(4)) {
				if q := pages[r.IntN(i)]; !slices.Contains(p.needs, q) {
					p.needs = append(p.needs, q)
				}
			}
			pages = append(pages, p)
		}
		m := newCourseMap(pages, sizes)
		needs := slices.ContainsFunc(pages, func(p *page) bool { return len(p.needs) > 0 })
		if m == nil {
			if needs {
				t.Fatal("there is no map")
			}
			continue
		}
		rows := map[*page]int{}
		for row, places := range m.rows {
			total := 0.
			for i, x := range places {
				total += x.width + m.gap
				if x.row != row || x.column != i {
					t.Fatalf("row %d, place %d says that it is at %d, %d", row, i, x.row, x.column)
				}
				if i > 0 && x.x-places[i-1].x < (x.width+places[i-1].width)/2+m.gap-1e-6 {
					t.Fatalf("row %d: places %d and %d overlap", row, i-1, i)
				}
				if x.page != nil {
					if _, twice := rows[x.page]; twice {
						t.Fatalf("%s is there twice", x.page.title)
					}
					rows[x.page] = row
				}
			}
			last := places[len(places)-1]
			if first := places[0]; first.x < first.width/2-1e-6 || total <= m.width && last.x+last.width/2 > m.width+1e-6 {
				t.Fatalf("row %d goes from %g to %g of %g", row, first.x-first.width/2, last.x+last.width/2, m.width)
			}
		}
		drawn := 0
		for _, p := range pages {
			for _, q := range p.needs {
				if rows[q] >= rows[p] {
					t.Fatalf("%s needs %s and does not stand below it", p.title, q.title)
				}
			}
		}
		for _, path := range m.paths {
			drawn += len(path) - 1
			for i, x := range path[1:] {
				if x.row != path[i].row+1 || (x.page != nil) != (i == len(path)-2) {
					t.Fatal("an arrow leaves out a row, or goes through a lesson")
				}
			}
		}
		svg := m.svg(&site{})
		if n := len(arrow.FindAllString(svg, -1)); n != drawn {
			t.Fatalf("%d pieces of arrows are drawn, want %d", n, drawn)
		}
		if len(rows) != len(pages) || strings.Count(svg, "<rect") != len(pages) {
			t.Fatalf("%d of %d lessons are on the map", len(rows), len(pages))
		}
		if newCourseMap(pages, sizes).svg(&site{}) != svg {
			t.Fatal("the same course gives another map")
		}
	}
}

// TestMapHasFewCrossings: two pairs of lessons that would cross if they stood in the order of the course don't.
func TestMapHasFewCrossings(t *testing.T) {
	a, b := &page{title: "a"}, &page{title: "b"}
	c := &page{title: "c", needs: []*page{b}}
	d := &page{title: "d", needs: []*page{a}}
	if n := newCourseMap([]*page{a, b, c, d}, wideMap).crossings(); n != 0 {
		t.Errorf("%d crossings", n)
	}
}

func TestWrap(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "Data": {"Data"}, "Where the memory goes": {"Where the memory", "goes"}, "Matrix multiplication": {"Matrix", "multiplication"},
		"Donaudampfschifffahrt": {"Donaudampfschiff…"}, "a lesson that has a title of a great many words in it": {"a lesson that has", "a title of a", "great many words …"},
	} {
		if got := wrap(text, wideMap.lineLength); !slices.Equal(got, want) {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestHours(t *testing.T) {
	for minutes, want := range map[int]string{20: "20 minutes", 49: "49 minutes", 50: "1 hour", 70: "1 hour", 80: "1½ hours", 110: "2 hours", 420: "7 hours", 200: "3½ hours"} {
		if got := (&site{}).hours(minutes); got != want {
			t.Errorf("%d minutes are %q, want %q", minutes, got, want)
		}
	}
}
