package render

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A courseMap shows which lesson needs which: lessons in rows, each below all that it needs, and arrows from row to
// row. What follows from other arrows is left out. The rows are drawn as in Sugiyama, Tagawa & Toda 1981: an arrow
// that goes past a row has a place in it, the order within rows is one with few crossings, and then each place moves
// toward its neighbors.
type courseMap struct {
	mapSizes
	rows  [][]*mapPlace
	paths [][]*mapPlace // of the arrows, from row to row
}

// A mapPlace is a lesson, or where an arrow passes between lessons.
type mapPlace struct {
	page        *page // nil where an arrow passes
	row, column int
	x, width    float64 // x is that of its center
	up, down    []*mapPlace
}

// mapSizes are those of a map in pixels.
type mapSizes struct {
	width      float64
	box        float64 // its width
	height     float64 // of a box
	gap        float64 // between boxes
	pass       float64 // of an arrow between lessons
	row        float64 // from one row to the next
	lineLength int     // of a title in a box, in characters; 0 for boxes with their lessons' numbers alone
}

// A page's text is as wide as the first, and a phone as the second.
var (
	wideMap   = mapSizes{width: 734, box: 118, height: 58, gap: 5, pass: 18, row: 94, lineLength: 17}
	narrowMap = mapSizes{width: 350, box: 34, height: 30, gap: 4, pass: 8, row: 58}
)

// newCourseMap returns the map of lessons, or nil if none needs another.
func newCourseMap(pages []*page, sizes mapSizes) *courseMap {
	m := &courseMap{mapSizes: sizes}
	places := map[*page]*mapPlace{}
	known := map[*page]map[*page]bool{} // all that a lesson builds on
	for _, p := range pages {           // what a lesson needs comes before it
		row := 0
		known[p] = map[*page]bool{}
		for _, q := range p.needs {
			row = max(row, places[q].row+1)
			known[p][q] = true
			for r := range known[q] {
				known[p][r] = true
			}
		}
		places[p] = m.add(p, row)
	}
	for _, p := range pages {
		for _, q := range p.needs {
			if !slices.ContainsFunc(p.needs, func(r *page) bool { return known[r][q] }) {
				m.connect(places[q], places[p])
			}
		}
	}
	if len(m.paths) == 0 {
		return nil
	}
	m.order()
	m.align()
	return m
}

// add gives a lesson, or an arrow that passes, a place at the end of a row.
func (m *courseMap) add(p *page, row int) *mapPlace {
	for len(m.rows) <= row {
		m.rows = append(m.rows, nil)
	}
	x := &mapPlace{page: p, row: row, column: len(m.rows[row]), width: m.box}
	if p == nil {
		x.width = m.pass
	}
	m.rows[row] = append(m.rows[row], x)
	return x
}

// connect adds an arrow.
func (m *courseMap) connect(from, to *mapPlace) {
	path := []*mapPlace{from}
	for row := from.row + 1; row <= to.row; row++ {
		next := to
		if row < to.row {
			next = m.add(nil, row)
		}
		last := path[len(path)-1]
		last.down, next.up = append(last.down, next), append(next.up, last)
		path = append(path, next)
	}
	m.paths = append(m.paths, path)
}

// order finds an order of each row with few crossings: again and again each row is sorted by where its neighbors
// stand, in the row above going down and in the row below going up. The best order of all counts.
func (m *courseMap) order() {
	best, fewest := m.columns(), m.crossings()
	for round := range 24 {
		for i := range m.rows {
			row, near := m.rows[i], func(x *mapPlace) []*mapPlace { return x.up }
			if round%2 == 1 {
				row, near = m.rows[len(m.rows)-1-i], func(x *mapPlace) []*mapPlace { return x.down }
			}
			wish := map[*mapPlace]float64{}
			for _, x := range row {
				wish[x] = mean(near(x), float64(x.column), func(y *mapPlace) float64 { return float64(y.column) })
			}
			slices.SortStableFunc(row, func(a, b *mapPlace) int { return cmp.Compare(wish[a], wish[b]) })
			for column, x := range row {
				x.column = column
			}
		}
		if n := m.crossings(); n < fewest {
			best, fewest = m.columns(), n
		}
	}
	for _, row := range m.rows {
		slices.SortFunc(row, func(a, b *mapPlace) int { return cmp.Compare(best[a], best[b]) })
		for column, x := range row {
			x.column = column
		}
	}
}

func (m *courseMap) columns() map[*mapPlace]int {
	columns := map[*mapPlace]int{}
	for _, row := range m.rows {
		for _, x := range row {
			columns[x] = x.column
		}
	}
	return columns
}

// crossings counts the pairs of arrows that cross between two rows.
func (m *courseMap) crossings() (n int) {
	for _, row := range m.rows {
		var ends [][2]int
		for _, x := range row {
			for _, y := range x.down {
				ends = append(ends, [2]int{x.column, y.column})
			}
		}
		for i, a := range ends {
			for _, b := range ends[:i] {
				if (a[0]-b[0])*(a[1]-b[1]) < 0 {
					n++
				}
			}
		}
	}
	return n
}

// align moves places toward the middle of their neighbors, as far as the order and the width allow.
func (m *courseMap) align() {
	for _, row := range m.rows {
		m.spread(row, func(*mapPlace) float64 { return m.width / 2 })
	}
	for range 12 {
		for i := range m.rows {
			m.spread(m.rows[i], func(x *mapPlace) float64 { return mean(x.up, x.x, func(y *mapPlace) float64 { return y.x }) })
		}
		for i := range m.rows {
			m.spread(m.rows[len(m.rows)-1-i], func(x *mapPlace) float64 { return mean(x.down, x.x, func(y *mapPlace) float64 { return y.x }) })
		}
	}
}

// spread puts a row's places as near to where they want to be as they can get without touching: the sum of the squared
// distances is smallest. Less the room of those before it, each place has to be to the right of the one before. So
// neighbors that want it the other way round share their mean, which is what the method of pooling adjacent violators
// does.
func (m *courseMap) spread(row []*mapPlace, wish func(*mapPlace) float64) {
	type pool struct {
		sum float64
		n   int
	}
	var pools []pool
	offsets := make([]float64, len(row))
	for i, x := range row {
		if i > 0 {
			offsets[i] = offsets[i-1] + (row[i-1].width+x.width)/2 + m.gap
		}
		pools = append(pools, pool{wish(x) - offsets[i], 1})
		for len(pools) > 1 {
			a, b := pools[len(pools)-2], pools[len(pools)-1]
			if a.sum/float64(a.n) <= b.sum/float64(b.n) {
				break
			}
			pools = append(pools[:len(pools)-2], pool{a.sum + b.sum, a.n + b.n})
		}
	}
	if len(row) == 0 {
		return
	}
	last := len(row) - 1
	least := row[0].width / 2
	most := max(least, m.width-offsets[last]-row[last].width/2)
	i := 0
	for _, p := range pools {
		at := min(max(p.sum/float64(p.n), least), most)
		for range p.n {
			row[i].x = at + offsets[i]
			i++
		}
	}
}

// mean is the mean of a value over places, or a default if there are none.
func mean(places []*mapPlace, none float64, value func(*mapPlace) float64) float64 {
	if len(places) == 0 {
		return none
	}
	sum := 0.
	for _, x := range places {
		sum += value(x)
	}
	return sum / float64(len(places))
}

// svg draws the map. What it says is in the list of lessons as well, so its title is short.
func (m *courseMap) svg(s *site) string {
	var b strings.Builder
	width := m.width
	for _, row := range m.rows {
		for _, x := range row {
			width = max(width, x.x+x.width/2)
		}
	}
	height := float64(len(m.rows))*m.row - (m.row - m.height)
	fmt.Fprintf(&b, `<svg role="img" viewBox="-1 -1 %.0f %.0f" width="%.0f" height="%.0f"><title>%s</title>`+"\n",
		width+2, height+2, width+2, height+2, s.say("Map of the lessons: an arrow leads from each lesson to those that need it."))
	for _, path := range m.paths {
		for i, to := range path[1:] {
			from := path[i]
			x1, y1 := from.x, float64(from.row)*m.row+m.height
			x2, y2 := to.x, float64(to.row)*m.row
			if to.page != nil {
				y2 -= 5 // the tip
			}
			fmt.Fprintf(&b, `<path class="way" d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f`, x1, y1, x1, (y1+y2)/2, x2, (y1+y2)/2, x2, y2)
			if to.page == nil {
				fmt.Fprintf(&b, "v%.1f\"/>\n", m.height)
			} else {
				fmt.Fprintf(&b, `"/><path class="tip" d="M%.1f %.1fl-4 -7h8z"/>`+"\n", x2, y2+5)
			}
		}
	}
	for _, row := range m.rows {
		for _, x := range row {
			if x.page == nil {
				continue
			}
			left, top := x.x-m.box/2, float64(x.row)*m.row
			fmt.Fprintf(&b, `<g class="part%d"><rect x="%.1f" y="%.1f" width="%.0f" height="%.0f" rx="6"/>`, x.page.part, left, top, m.box, m.height)
			var lines []string
			if x.page.number != "" {
				lines = append(lines, x.page.number)
			}
			switch first, _, _ := strings.Cut(x.page.title, " "); {
			case m.lineLength > 0:
				lines = append(lines, wrap(x.page.short(), m.lineLength)...)
			case lines == nil:
				lines = wrap(first, 5)
			}
			first := top + m.height/2 + 4.5 - 7.5*float64(len(lines)-1)
			for i, line := range lines {
				class := ""
				if i == 0 && x.page.number != "" {
					class = ` class="n"`
				}
				fmt.Fprintf(&b, `<text%s x="%.1f" y="%.1f">%s</text>`, class, x.x, first+15*float64(i), html.EscapeString(line))
			}
			b.WriteString("</g>\n")
		}
	}
	b.WriteString("</svg>")
	return b.String()
}

// short is the title without its explanation, for places where there is little room.
func (p *page) short() string {
	name, _, _ := strings.Cut(strings.ReplaceAll(p.title, "：", ":"), ":")
	return name
}

// wrap breaks a text into lines of some characters, three at most; the rest is cut. Chinese characters are as
// wide as two, and a line may end after each.
func wrap(text string, length int) (lines []string) {
	width := func(s string) int { return utf8.RuneCountInString(s) + len(wide.FindAllString(s, -1)) }
	for _, word := range pieces.FindAllString(text, -1) {
		last := len(lines) - 1
		between := " "
		if last >= 0 && (wide.MatchString(word) || endsWide.MatchString(lines[last])) {
			between = ""
		}
		if last >= 0 && width(lines[last])+len(between)+width(word) <= length || closes.MatchString(word) && last >= 0 {
			lines[last] += between + word
			continue
		}
		if last == 2 {
			lines[last] += between + "…"
			break
		}
		if r := []rune(word); width(word) > length {
			word = string(r[:length-1]) + "…"
		}
		lines = append(lines, word)
	}
	return lines
}

var (
	wide     = regexp.MustCompile(`[\p{Han}，。、：；？！（）]`)
	endsWide = regexp.MustCompile(`[\p{Han}，。、：；？！（）]$`)
	closes   = regexp.MustCompile(`^[，。、：；？！）]$`)
	pieces   = regexp.MustCompile(`[\p{Han}，。、：；？！（）]|[^\s\p{Han}，。、：；？！（）]+`)
)

// hours is a time in words, to the half hour.
func (s *site) hours(minutes int) string {
	switch half := math.Round(float64(minutes) / 30); {
	case minutes < 50:
		return s.minutes(minutes)
	case half == 2:
		return s.say("1 hour")
	case half == math.Trunc(half/2)*2:
		return s.say("%.0f hours", half/2)
	default:
		return s.say("%.0f½ hours", math.Trunc(half/2))
	}
}
