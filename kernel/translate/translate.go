// Package translate puts the texts of a notebook into another language. The notebook itself stays the same: its code,
// numbers and outputs are shared, and the translation of each text is looked up by its English, in catalogues beside
// the notebooks. A text that has changed since it was translated stays English.
//
// A language is a folder, such as notebooks/zh, with catalogues in gettext's PO format: one for each notebook, and
// others for what belongs to no single notebook. The header of site.po names the language.
package translate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/glob"
	"github.com/lectern-go/lectern/internal/po"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// A Language is a folder of catalogues. A nil *Language is English.
type Language struct {
	Code     string // of the folder, and of addresses: zh
	Tag      string // for lang="…": zh-Hans
	Name     string // in the language itself: 中文
	Complete bool   // nothing may be missing
	Dir      string

	messages map[string]*po.Message
	lesson   map[string]bool // what package lesson says
	explore  map[string]string
	forms    []*form // of that, what has values in it
}

// SiteFile is the catalogue of the pages' own texts, whose header names the language.
const SiteFile = "site.po"

// exploreFile is the catalogue of the explorers.
const exploreFile = "explore.po"

// Explorers are the translations of what the explorers say, by their English.
func (l *Language) Explorers() map[string]string {
	if l == nil { // English
		return nil
	}
	return l.explore
}

// Languages finds the languages in the folder of the notebooks, in the order of their codes.
func Languages(notebooks string) ([]*Language, error) {
	found, err := glob.In(notebooks, "*/"+SiteFile)
	if err != nil {
		return nil, err
	}
	var list []*Language
	for _, file := range found {
		l, err := Load(filepath.Dir(file))
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// read reads a catalogue.
func read(path string) (*po.File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("translate: %w", err)
	}
	f, err := po.Parse(path, text)
	if err != nil {
		return nil, fmt.Errorf("translate: %w", err)
	}
	return f, nil
}

// Load reads the catalogues of a folder.
func Load(dir string) (*Language, error) {
	l := &Language{Code: filepath.Base(dir), Dir: dir, messages: map[string]*po.Message{}, lesson: map[string]bool{}, explore: map[string]string{}}
	files, err := glob.In(dir, "*.po")
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		f, err := read(path)
		if err != nil {
			return nil, err
		}
		if filepath.Base(path) == SiteFile {
			l.Tag, l.Name, l.Complete = f.Header("Language"), f.Header("X-Language-Name"), f.Header("X-Complete") == "yes"
		}
		for _, m := range f.Messages {
			if other := l.messages[m.ID]; m.ID != "" && (other == nil || !other.Valid()) {
				l.messages[m.ID] = m
			}
			if filepath.Base(path) == exploreFile && m.ID != "" && m.Valid() {
				l.explore[m.ID] = m.Str
			}
			if filepath.Base(path) == LessonFile && m.ID != "" && m.Valid() {
				l.lesson[m.ID] = true
				if f := newForm(m, "$"); f != nil && strings.Contains(m.ID, "%") {
					l.forms = append(l.forms, f)
				}
			}
		}
	}
	longestFirst(l.forms)
	if !languageCode.MatchString(l.Code) || l.Code == "en" {
		return nil, fmt.Errorf("translate: %s can't be the folder of a language: its name is that of the language in the pages' addresses, such as zh or pt-br, and English has none", dir)
	}
	if !languageCode.MatchString(strings.ToLower(l.Tag)) || l.Name == "" {
		return nil, fmt.Errorf("translate: the header of %s needs a Language such as zh-Hans, and an X-Language-Name", filepath.Join(dir, SiteFile))
	}
	return l, nil
}

// languageCode is what a folder of catalogues may be called: pages lie in folders of the same names.
var languageCode = regexp.MustCompile(`^[a-z]{2,3}(?:-[a-z0-9]+)*$`)

// Named finds a language by its code. English, which "" stands for as well, is nil.
func Named(all []*Language, code string) (*Language, error) {
	if code == "" || code == "en" {
		return nil, nil
	}
	codes := []string{"en"}
	for _, l := range all {
		if l.Code == code {
			return l, nil
		}
		codes = append(codes, l.Code)
	}
	return nil, fmt.Errorf("translate: there is no language %q; there are %s", code, strings.Join(codes, ", "))
}

// Text returns the translation of an English text; ok is false where there is none that may be shown, and the text is
// English then.
func (l *Language) Text(english string) (text string, ok bool) {
	if l == nil {
		return english, true
	}
	if m := l.messages[english]; m != nil && m.Valid() {
		return m.Str, true
	}
	return english, false
}

// Stale reports whether the translation of an English text was made from an older one.
func (l *Language) Stale(english string) bool {
	m := l.messages[english]
	return m != nil && m.Str != "" && m.Fuzzy()
}

// Say returns the translation of an English text, or the text itself.
func (l *Language) Say(english string) string {
	text, _ := l.Text(english)
	return text
}

// Words are the translations of what scripts say, by their English: the first argument of each call to say, and of
// sayLater, which marks a text that is said later.
func (l *Language) Words(scripts ...string) map[string]string {
	said := map[string]string{}
	for _, script := range scripts {
		for _, english := range SaidInScript(script) {
			if text, ok := l.Text(english); ok && l != nil {
				said[english] = text
			}
		}
	}
	return said
}

var sayInScript = regexp.MustCompile(`\bsay(?:Later)?\(("(?:[^"\\]|\\.)*")`)

// ofAnswers are the kinds of texts that package lesson says about answers.
var ofAnswers = []string{"hint", "praise", "name of a case", "what a good answer says"}

// Answers is a catalogue of what package lesson says about the answers to a lesson's exercises, for cells that run
// where the language's folder is not.
func (l *Language) Answers(lesson string) ([]byte, error) {
	return l.part([]string{LessonFile, lesson + ".po", "shared.po"}, func(name string, m *po.Message) bool {
		return name == LessonFile || slices.ContainsFunc(m.Kinds, func(k string) bool { return slices.Contains(ofAnswers, k) })
	})
}

// Errors is the catalogue of [ErrorsFile], likewise.
func (l *Language) Errors() ([]byte, error) {
	return l.part([]string{ErrorsFile}, func(string, *po.Message) bool { return true })
}

// part is a catalogue of some messages of the given files, as far as these exist.
func (l *Language) part(files []string, wanted func(file string, m *po.Message) bool) ([]byte, error) {
	all := &po.File{}
	for _, name := range files {
		f, err := read(filepath.Join(l.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, m := range f.Messages {
			known := slices.ContainsFunc(all.Messages, func(other *po.Message) bool { return other.ID == m.ID })
			if m.ID != "" && m.Valid() && wanted(name, m) && !known {
				all.Messages = append(all.Messages, &po.Message{ID: m.ID, Str: m.Str})
			}
		}
	}
	return append([]byte("\n"), all.Bytes()...), nil // each message has a line above it, by which it is found
}

// SaidInScript lists what a script says.
func SaidInScript(script string) (list []string) {
	for _, m := range sayInScript.FindAllStringSubmatch(script, -1) {
		if english, err := strconv.Unquote(m[1]); err == nil {
			list = append(list, english)
		}
	}
	return list
}

// A Unit is a text of a notebook to translate.
type Unit struct {
	Cell string // its id; "" for what the notebook says of itself
	Kind string
	Text string
}

// Units lists the texts of a notebook that readers see, in their order.
func Units(n *notebook.Notebook) []Unit {
	var list []Unit
	walk(n, func(cell, kind, text string) (string, bool) {
		list = append(list, Unit{cell, kind, text})
		return text, true
	})
	return list
}

// A Translated notebook shares code and numbers with its original.
type Translated struct {
	*notebook.Notebook

	// Foreign are the lines, counted from 1, on which blocks of Markdown begin that are still English, by cell.
	Foreign map[string][]int

	// Missing are the texts that are still English.
	Missing []Unit
}

// Notebook returns a notebook in the language.
func (l *Language) Notebook(n *notebook.Notebook) *Translated {
	t := &Translated{Notebook: n}
	if l == nil {
		return t
	}
	t.Notebook, t.Foreign = walk(n, func(cell, kind, text string) (string, bool) {
		now, ok := l.Text(text)
		if !ok {
			t.Missing = append(t.Missing, Unit{cell, kind, text})
		}
		return now, ok
	})
	for _, c := range t.Cells {
		for i, o := range c.Outputs {
			if o.Type == "stream" && !c.HasTag("check-only") {
				now := *o
				now.Text = l.printed(o.Text)
				c.Outputs[i] = &now
			}
		}
	}
	return t
}

// walk goes through the texts of a notebook and returns a notebook with what put returns in their place.
func walk(n *notebook.Notebook, put func(cell, kind, text string) (string, bool)) (*notebook.Notebook, map[string][]int) {
	copied := *n
	copied.Cells = nil
	copied.Metadata = notebook.Object{}
	for key, v := range n.Metadata {
		copied.Metadata[key] = v
	}
	if about, ok := n.Metadata["lectern"].(notebook.Object); ok {
		now := notebook.Object{}
		for key, v := range about {
			now[key] = v
		}
		if s, ok := about["summary"].(string); ok && hasWords(s) {
			now["summary"], _ = put("", "summary of the lesson", s)
		}
		copied.Metadata["lectern"] = now
	}
	foreign := map[string][]int{}
	for _, c := range n.Cells {
		if c.HasTag("check-only") { // no reader sees it
			copied.Cells = append(copied.Cells, c)
			continue
		}
		here := func(kind, text string) (string, bool) { return put(c.ID, kind, text) }
		now := *c
		switch c.Type {
		case "markdown":
			var lines []int
			if now.Source, lines = markdown(c.Source, here); len(lines) > 0 {
				foreign[c.ID] = lines
			}
		case "code":
			now.Source = strings.Join(comments(strings.Split(c.Source, "\n"), language(n), here), "\n")
			now.Outputs = nil
			for _, o := range c.Outputs {
				now.Outputs = append(now.Outputs, output(o, here))
			}
		}
		copied.Cells = append(copied.Cells, &now)
	}
	return &copied, foreign
}

// language is that of the notebook's code.
func language(n *notebook.Notebook) string {
	if info, ok := n.Metadata["language_info"].(notebook.Object); ok {
		if name := str(info["name"]); name != "" {
			return name
		}
	}
	return "go"
}

// Markdown returns a text from outside the notebooks in the language; foreign is as in [Translated].
func (l *Language) Markdown(text string) (out string, foreign []int) {
	return markdown(text, func(_, text string) (string, bool) { return l.Text(text) })
}

// MarkdownUnits lists the texts of Markdown that is in no notebook.
func MarkdownUnits(text string) (list []Unit) {
	markdown(text, func(kind, text string) (string, bool) {
		list = append(list, Unit{"", kind, text})
		return text, true
	})
	return slices.Clip(list)
}
