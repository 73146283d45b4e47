package render

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/ask"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/translate"
)

//go:embed assets/page.css
var styleSheet string

//go:embed assets/stored.js
var storedScript string

//go:embed assets/page.js
var pageScript string

//go:embed assets/guess.js
var guessScript string

//go:embed assets/talk.js
var talkScript string

//go:embed assets/steps.js
var stepsScript string

// stepper is what a page needs for steps, besides its own script.
var stepper = report.StepperScript() + stepsScript

// stepperSize is how many bytes of a page it takes, with its style.
var stepperSize = len(stepper) + len(report.StepperStyle())

// script runs at the end of every page.
var script = storedScript + pageScript + ask.Script + guessScript + talkScript

//go:embed assets/theme.js
var themeScript string

// headScript runs before the page is drawn.
var headScript = ask.Say + themeScript

// policy forbids a page to load or send anything. Scripts may be part of the page, since outputs may contain scripts;
// a page of notebooks that are not trusted runs the site's own scripts and no other.
func (s *site) policy(p sheet) string {
	scripts := "'unsafe-inline'"
	if s.options.Untrusted {
		scripts = hashed(headScript) + " " + hashed(script)
	}
	switch {
	case p.live != "":
		scripts += livePolicy
	case p.explore != "":
		scripts += explorePolicy
	}
	return "default-src 'none'; script-src " + scripts + "; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; base-uri 'none'; form-action 'none'"
}

// hashed names a script of the site's own in its policy.
func hashed(script string) string {
	sum := sha256.Sum256([]byte("\n" + script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// logo is an open book on a stand, drawn in the current color.
const logo = `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linejoin="round" stroke-linecap="round" aria-hidden="true"><path d="M12 6.2C9.6 4.6 6.3 4.2 3 4.6v10.6c3.3-.4 6.6 0 9 1.6 2.4-1.6 5.7-2 9-1.6V4.6c-3.3-.4-6.6 0-9 1.6zM12 6.2v10.6M12 16.8V21M8 21h8"/></svg>`

// icon is the same in the browser's tab; a data URL, so that no file is asked for.
var icon = "data:image/svg+xml," + url.PathEscape(strings.Replace(strings.Replace(logo, "<svg", `<svg xmlns="http://www.w3.org/2000/svg"`, 1), "currentColor", "#2a8f98", 1))

// A sheet is a page without what surrounds every page.
type sheet struct {
	file, title, description string
	head                     string // what else is in the head
	columns                  string
	index                    string // what search looks through; without it there is no search
	root                     string // what comes before the links to other pages
	links                    string // to the source of what cells call
	steps                    string // what was recorded of the cells, for the stepper; without it there is none
	live                     string // what the script that runs cells has to know; without it none run
	explore                  string // what the script of explorers has to know; without it there are none
}

// frame is the whole text of a page.
func (s *site) frame(p sheet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n", s.tag())
	fmt.Fprintf(&b, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", s.policy(p))
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n")
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(p.title))
	s.card(&b, p)
	if words := s.words(s.scripts(p)...); words != "" {
		fmt.Fprintf(&b, "<script type=\"application/json\" id=\"lectern-words\">%s</script>\n", words)
	}
	fmt.Fprintf(&b, "<link rel=\"icon\" href=\"%s\">\n%s<style>\n%s</style>\n<script>\n%s</script>\n</head>\n<body>\n", icon, p.head, s.style(p), headScript)
	fmt.Fprintf(&b, "<a class=\"skip\" href=\"#main\">%s</a>\n", s.say("Skip to the text"))
	fmt.Fprintf(&b, "<header class=\"bar\"><a class=\"brand\" href=\"%sindex.html\">%s%s</a>\n", html.EscapeString(p.home(s)), logo, html.EscapeString(s.options.Title))
	if p.index != "" {
		fmt.Fprintf(&b, `<div class="search" role="search" hidden><input id="search" type="search" autocomplete="off" spellcheck="false" aria-label="%s" aria-keyshortcuts="Control+K Meta+K" placeholder="%s"><ul class="results" id="results" aria-label="%s" hidden></ul></div>`,
			s.say("Search all lessons"), s.say("Search"), s.say("Search results"))
	}
	b.WriteString(s.switches(p.file, cmp.Or(p.root, s.up())))
	fmt.Fprintf(&b, `<button type="button" class="tool" id="talk" title="%s" hidden>%s</button>`, s.say("Present this lesson, one block at a time"), s.say("Talk"))
	b.WriteString(`<button type="button" class="tool" id="theme" hidden></button></header>` + "\n")
	b.WriteString(`<div class="hidden" id="said" role="status"></div>` + "\n")
	b.WriteString(p.columns)
	if s.options.Footer != "" {
		fmt.Fprintf(&b, "<footer class=\"foot\">\n%s</footer>\n", s.markdown("the footer", s.options.Footer))
	}
	if p.index != "" {
		fmt.Fprintf(&b, "<script type=\"text/plain\" id=\"lectern-index\">%s</script>\n", p.index)
	}
	fmt.Fprintf(&b, "<script>\n%s</script>\n", script)
	if p.steps != "" {
		fmt.Fprintf(&b, "<script type=\"application/json\" id=\"lectern-steps\">%s</script>\n", p.steps)
	}
	if p.live != "" { // by which the stepper's script knows that another one brings its buttons along
		fmt.Fprintf(&b, "<script type=\"application/json\" id=\"lectern-live\">%s</script>\n", p.live)
	}
	if p.steps != "" || p.live != "" {
		fmt.Fprintf(&b, "<script type=\"application/json\" id=\"lectern-source\">%s</script>\n", p.links)
		fmt.Fprintf(&b, "<script>\n%s</script>\n", stepper)
	}
	if p.live != "" {
		fmt.Fprintf(&b, "<script>\n%s</script>\n", s.options.Live.Script)
	}
	if p.explore != "" {
		fmt.Fprintf(&b, "<script type=\"application/json\" id=\"lectern-explore\">%s</script>\n", p.explore)
		fmt.Fprintf(&b, "<script>\n%s</script>\n", s.options.Explore.Script)
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}

// home leads to the folder of the pages in the page's language.
func (p sheet) home(s *site) string {
	if p.root == "" {
		return ""
	}
	return p.root + s.folder()
}

// scripts are those of a page that say something.
func (s *site) scripts(p sheet) []string {
	list := []string{script}
	if p.steps != "" || p.live != "" {
		list = append(list, stepper)
	}
	if p.live != "" {
		list = append(list, s.options.Live.Script)
	}
	if p.explore != "" {
		list = append(list, s.options.Explore.Script)
	}
	return list
}

// card is what other programs show of a page: search engines, and apps in which people send each other links.
func (s *site) card(b *strings.Builder, p sheet) {
	meta := func(key, name, value string) {
		if value != "" {
			fmt.Fprintf(b, "<meta %s=\"%s\" content=\"%s\">\n", key, name, html.EscapeString(value))
		}
	}
	meta("name", "description", p.description)
	meta("property", "og:title", p.title)
	meta("property", "og:description", p.description)
	meta("property", "og:type", "article")
	meta("property", "og:site_name", s.options.Title)
	if s.options.URL == "" || p.index == "" {
		return
	}
	at := s.address(p.file)
	meta("property", "og:url", at)
	if s.options.Picture != nil {
		meta("property", "og:image", s.options.URL+pictureFile)
		meta("property", "og:image:type", "image/png")
		meta("property", "og:image:width", strconv.Itoa(s.picture.Width))
		meta("property", "og:image:height", strconv.Itoa(s.picture.Height))
		meta("property", "og:image:alt", s.say(s.options.PictureAlt))
		meta("name", "twitter:card", "summary_large_image")
	}
	fmt.Fprintf(b, "<link rel=\"canonical\" href=\"%s\">\n%s", html.EscapeString(at), s.alternates(p.file))
}

// address is where a page will be published.
func (s *site) address(file string) string {
	return s.options.URL + s.folder() + pathOf(file)
}

// sitemap lists the pages for search engines.
func (s *site) sitemap() string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, t := range append([]*translate.Language{nil}, s.options.Languages...) {
		t := site{options: s.options, language: t}
		for _, file := range append([]string{"index.html"}, s.outs()...) {
			fmt.Fprintf(&b, "<url><loc>%s</loc></url>\n", html.EscapeString(t.address(file)))
		}
	}
	b.WriteString("</urlset>\n")
	return b.String()
}

func (s *site) outs() []string {
	var list []string
	for _, p := range s.pages {
		list = append(list, p.out)
	}
	return list
}

// missing is what a web server shows in place of a page that is not there. It may be shown at any address, so its links
// are absolute if the site's address is known.
func (s *site) missing() string {
	var b strings.Builder
	title := s.say("There is no such page")
	fmt.Fprintf(&b, "<div class=\"columns one\">\n<main id=\"main\" tabindex=\"-1\">\n<h1>%s</h1>\n<p>%s</p>\n<ul>\n", title, s.say("The lesson may have a new name. These are all of them:"))
	for _, p := range s.pages {
		fmt.Fprintf(&b, "<li><a href=\"%s%s\">%s</a></li>\n", html.EscapeString(sheet{root: s.options.URL}.home(s)), url.PathEscape(p.out), p.titleHTML)
	}
	b.WriteString("</ul>\n</main>\n</div>\n")
	return s.frame(sheet{file: "404.html", title: title + " · " + s.options.Title, head: "<meta name=\"robots\" content=\"noindex\">\n", columns: b.String(), root: s.options.URL})
}

// lesson is the page of the i-th notebook; steps are those of its cells.
func (s *site) lesson(i int, index, steps string) string {
	p := s.pages[i]
	var b, head strings.Builder
	b.WriteString("<div class=\"columns\">\n")
	b.WriteString(s.lessons(p))
	b.WriteString("<main id=\"main\" tabindex=\"-1\">\n<article>\n")
	if p.number != "" {
		fmt.Fprintf(&b, "<p class=\"eyebrow\">%s</p>\n", s.say("Lesson %s", p.number))
	}
	if p.titleID == "" {
		fmt.Fprintf(&b, "<h1>%s</h1>\n", p.titleHTML)
	}
	b.WriteString(p.body.String())
	b.WriteString("</article>\n")
	if len(s.pages) > 1 {
		fmt.Fprintf(&b, "<nav class=\"turn\" aria-label=\"%s\">\n", s.say("Previous and next lesson"))
		if i > 0 {
			q := s.pages[i-1]
			fmt.Fprintf(&b, "<a class=\"previous\" rel=\"prev\" href=\"%s\"><small>%s</small>%s</a>\n", url.PathEscape(q.out), s.say("Previous"), html.EscapeString(q.title))
			fmt.Fprintf(&head, "<link rel=\"prev\" href=\"%s\">\n", url.PathEscape(q.out))
		}
		if i+1 < len(s.pages) {
			q := s.pages[i+1]
			fmt.Fprintf(&b, "<a class=\"next\" rel=\"next\" href=\"%s\"><small>%s</small>%s</a>\n", url.PathEscape(q.out), s.say("Next"), html.EscapeString(q.title))
			fmt.Fprintf(&head, "<link rel=\"next\" href=\"%s\">\n", url.PathEscape(q.out))
		} else if s.options.After != "" {
			fmt.Fprintf(&b, "<a class=\"next\" href=\"index.html#after\"><small>%s</small>%s</a>\n", s.say("That was the last one"), s.say("What now?"))
		}
		b.WriteString("</nav>\n")
	}
	b.WriteString("</main>\n")
	b.WriteString(p.contents())
	b.WriteString("</div>\n")
	return s.frame(sheet{file: p.out, title: p.title + " · " + s.options.Title, description: p.summary, head: head.String(), columns: b.String(), index: index, steps: steps, links: p.links, live: s.live(i), explore: s.explore(p)})
}

// lessons is the list of all lessons beside a page.
func (s *site) lessons(here *page) string {
	var b strings.Builder
	lessons := s.say("Lessons")
	fmt.Fprintf(&b, "<nav class=\"side lessons\" id=\"lessons\" aria-label=\"%s\"><details open><summary>%s</summary>\n<ol>\n", lessons, lessons)
	for _, p := range s.pages {
		current, number := "", ""
		if p == here {
			current = ` aria-current="page"`
		}
		if p.number != "" {
			number = `<span class="n">` + p.number + "</span>"
		}
		fmt.Fprintf(&b, "<li><a href=\"%s\"%s>%s<span>%s</span></a></li>\n", url.PathEscape(p.out), current, number, p.titleHTML)
	}
	b.WriteString("</ol></details></nav>\n")
	return b.String()
}

// contents are the headings of a page.
func (p *page) contents() string {
	var b strings.Builder
	for _, e := range p.toc {
		if e.level <= 3 {
			fmt.Fprintf(&b, "<li class=\"l%d\"><a href=\"#%s\">%s</a></li>\n", e.level, url.PathEscape(e.id), e.html)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	here := p.site.say("On this page")
	return fmt.Sprintf("<nav class=\"side contents\" id=\"contents\" aria-label=\"%s\"><details open><summary>%s</summary>\n<ol>\n", here, here) + b.String() + "</ol></details></nav>\n"
}

// index is the page that lists the lessons.
func (s *site) index(index string) string {
	var b strings.Builder
	b.WriteString("<div class=\"columns one\">\n<main id=\"main\" tabindex=\"-1\">\n")
	fmt.Fprintf(&b, "<h1>%s</h1>\n", html.EscapeString(s.options.Title))
	if len(s.options.Intro) > 0 {
		b.WriteString(s.markdown("the index's introduction", s.options.Intro...))
	}
	for i, p := range s.pages {
		if i == 0 || p.part != s.pages[i-1].part {
			if i > 0 {
				b.WriteString("</ol>\n")
			}
			b.WriteString(s.partHead(p.part))
			b.WriteString("<ol class=\"course\">\n")
		}
		b.WriteString(p.entry())
	}
	b.WriteString("</ol>\n")
	if m := newCourseMap(s.pages, wideMap); m != nil {
		fmt.Fprintf(&b, "<section id=\"map\">\n<h2>%s</h2>\n<p>%s</p>\n<figure class=\"map scroll\">%s%s</figure>\n</section>\n", s.say("What needs what"),
			s.say("You don't have to read everything. An arrow leads from each lesson to those that build on it; the list above says the same in words."), m.svg(s), newCourseMap(s.pages, narrowMap).svg(s))
	}
	if s.options.After != "" {
		b.WriteString("<section id=\"after\">\n" + s.markdown("the index's end", s.options.After) + "</section>\n")
	}
	b.WriteString("</main>\n</div>\n")
	return s.frame(sheet{file: "index.html", title: s.options.Title, description: s.say(s.options.Description), columns: b.String(), index: index})
}

// partHead is the heading of a part of the course, with the time that it takes; there is none for what belongs to no
// part.
func (s *site) partHead(part int) string {
	if part == 0 {
		return ""
	}
	minutes := 0
	for _, p := range s.pages {
		if p.part == part {
			minutes += p.minutes
		}
	}
	time := ""
	if minutes > 0 {
		time = "<small>" + s.say("about %s", s.hours(minutes)) + "</small>"
	}
	return fmt.Sprintf("<h2 class=\"part part%d\">%s%s</h2>\n", part, html.EscapeString(s.say(s.options.Parts[part-1].Title)), time)
}

// entry is the lesson in the list of lessons: what it is about, how long it takes and what it needs.
func (p *page) entry() string {
	var b strings.Builder
	level := 2
	if p.part > 0 {
		level = 3
	}
	fmt.Fprintf(&b, "<li><span class=\"n\">%s</span><div><h%d><a href=\"%s\">%s</a></h%d>\n", p.number, level, url.PathEscape(p.out), p.titleHTML, level)
	if p.summary != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(p.summary))
	}
	var facts []string
	if p.minutes > 0 {
		facts = append(facts, p.site.say("About %s", p.site.minutes(p.minutes)))
	}
	var needed []string
	for _, q := range p.needs {
		needed = append(needed, fmt.Sprintf("<a href=\"%s\">%s</a>", url.PathEscape(q.out), html.EscapeString(q.short())))
	}
	if len(needed) > 0 {
		facts = append(facts, p.site.say("Builds on %s", strings.Join(needed, p.site.say(", "))))
	}
	if len(facts) > 0 {
		fmt.Fprintf(&b, "<p class=\"facts\">%s</p>\n", strings.Join(facts, " · "))
	}
	var inside strings.Builder
	for _, e := range p.toc {
		if e.level == 2 {
			fmt.Fprintf(&inside, "<li><a href=\"%s#%s\">%s</a></li>\n", url.PathEscape(p.out), url.PathEscape(e.id), e.html)
		}
	}
	if inside.Len() > 0 {
		fmt.Fprintf(&b, "<details><summary>%s<span class=\"hidden\"> · %s</span></summary>\n<ul>\n%s</ul></details>\n", p.site.say("Contents"), html.EscapeString(p.title), inside.String())
	}
	b.WriteString("</div></li>\n")
	return b.String()
}
