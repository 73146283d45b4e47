package translate

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/po"
	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// TestSameTexts: with its own texts in their places, a notebook stays as it is, byte for byte.
func TestSameTexts(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		n, err := notebook.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		before := string(n.Bytes())
		same, _ := walk(n, func(cell, kind, text string) (string, bool) { return text, true })
		if got := string(same.Bytes()); got != before {
			a, b := strings.Split(before, "\n"), strings.Split(got, "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("%s, line %d:\n%s\nwant\n%s", path, i+1, b[i], a[i])
					break
				}
			}
		}
		// Nothing of the original changes when all of it does.
		walk(n, func(cell, kind, text string) (string, bool) { return "x" + text, false })
		if string(n.Bytes()) != before {
			t.Errorf("%s was changed", path)
		}
	}
}

func TestMarkdown(t *testing.T) {
	source := "# A title\n\nOne `x := 1` line,\nand $y$ another.\n\n- an item\n  that goes on\n- `code`\n\n1. first\n\n| head | `x` |\n|---|---|\n| 1 | 2 |\n| `f` | a word |\n\n" +
		"<details>\n<summary>Look</summary>\n\n```python\nx = 1  # (4, 1)\ny = 2  # what it says\n# two\n# lines\n```\n\n</details>\n\n<!-- explore: bowl -->\n\n$$\\text{time} = 3$$\n\n$$a = b$$\n\n> Quoted."
	var got []string
	out, foreign := markdown(source, func(kind, text string) (string, bool) {
		got = append(got, kind+": "+text)
		return "[" + text + "]", kind != "prose" && kind != "quote"
	})
	want := []string{"heading: A title", "prose: One `x := 1` line, and $y$ another.", "item of a list: an item that goes on", "item of a list: first", "row of a table: | head | `x` |",
		"row of a table: | `f` | a word |", "summary: Look", "comment in code: what it says", "comment in code: two lines", "formula: $$\\text{time} = 3$$", "prose: Quoted."}
	want[len(want)-1] = "quote: Quoted."
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	lines := strings.Split(out, "\n")
	for _, n := range foreign {
		if l := lines[n-1]; !strings.HasPrefix(l, "[One") && l != "> [Quoted.]" {
			t.Errorf("line %d is said to be in another language: %q", n, l)
		}
	}
	if len(foreign) != 2 {
		t.Errorf("foreign: %v", foreign)
	}
	for _, line := range []string{"# [A title]", "- [an item that goes on]", "<summary>[Look]</summary>", "y = 2  # [what it says]", "# [two", "# lines]", "x = 1  # (4, 1)"} {
		if !strings.Contains("\n"+out+"\n", "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, out)
		}
	}
}

func TestCode(t *testing.T) {
	source := "//step 3\n// first says what\n// the loop does\nfor { // forever\n\ts := \"// no comment\"\n\t//x := 2\n}\n// x  1\n// y  2 pairs\n%%bash\necho don't // worry about it"
	var got []string
	out := comments(strings.Split(source, "\n"), "go", func(kind, text string) (string, bool) {
		got = append(got, text)
		return "甲乙丙丁，戊己庚辛", true
	})
	want := []string{"first says what the loop does", "forever", "y  2 pairs"}
	if !reflect.DeepEqual(got[:3], want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if out[1] != "// 甲乙丙丁，" || out[2] != "// 戊己庚辛" || out[3] != "for { // 甲乙丙丁，戊己庚辛" {
		t.Errorf("%q", out)
	}
}

func TestNumbersInLabels(t *testing.T) {
	for text, want := range map[string]string{
		"x has shape [4 4] and strides [4 1]": "x has shape [{1} {2}] and strides [{3} {4}]",
		"H100, float32, 2D and 1.5e3 ms":      "H100, float32, 2D and {1} ms",
		"12 MB a step":                        "{1} MB a step",
	} {
		key, numbers := masked(text)
		if key != want {
			t.Errorf("%q: %q, want %q", text, key, want)
		}
		if back := filled(key, numbers); back != text {
			t.Errorf("%q: then %q", text, back)
		}
	}
}

// TestSaid: what package lesson has printed is known by its form, with hints and praise in it.
func TestSaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "xx")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("site.po", "msgid \"\"\nmsgstr \"Language: xx\\nX-Language-Name: Ix\\n\"\n")
	write("05-a.po", "msgid \"Well done.\"\nmsgstr \"Gut.\"\n")
	write("lesson.po", `msgid "✓ Exercise %s: %s of %d. %s"
msgstr "✓ Übung %s: %[2]s von %[3]d. %[4]s"

msgid "%d points"
msgstr "%d Punkte"

msgid "✓ Exercise %s is right. %s"
msgstr "✓ Übung %s stimmt. %s"

msgid "lesson.Hint(%q) helps."
msgstr "lesson.Hint(%q) hilft."

msgid "a number"
msgstr "eine Zahl"
`)
	l, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := l.printed("x is a number\n✓ Exercise 05.1 is right. Well done.\n✓ Exercise 05.2 is right.\n✓ Exercise 05.5: 7 points of 7. Well done.\nlesson.Hint(\"05.7\") helps.\na number")
	want := "x is a number\n✓ Übung 05.1 stimmt. Gut.\n✓ Übung 05.2 stimmt.\n✓ Übung 05.5: 7 Punkte von 7. Gut.\nlesson.Hint(\"05.7\") hilft.\neine Zahl"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Where the folder is missing, messages about answers come along.
	write("05-a.po", "#. praise\nmsgid \"Well done.\"\nmsgstr \"Gut.\"\n\n#. prose\nmsgid \"Long text.\"\nmsgstr \"Lang.\"\n")
	answers, err := l.Answers("05-a")
	if err != nil {
		t.Fatal(err)
	}
	for english, want := range map[string]bool{"Well done.": true, "a number": true, "✓ Exercise %s is right. %s": true, "Long text.": false} {
		if got := po.Find(answers, english); (got != nil) != want {
			t.Errorf("%q: %v, want that it is there: %v", english, got, want)
		}
	}
}

// TestLoad: pages lie in a folder that is named after that of the catalogues, and their language is an attribute.
func TestLoad(t *testing.T) {
	for _, c := range []struct{ dir, header, fault string }{
		{"zh", "Language: zh-Hans\\nX-Language-Name: 中文\\n", ""},
		{"pt-br", "Language: pt-BR\\nX-Language-Name: Português\\n", ""},
		{"pt_BR", "Language: pt-BR\\nX-Language-Name: Português\\n", "can't be the folder of a language"},
		{"en", "Language: en\\nX-Language-Name: English\\n", "can't be the folder of a language"},
		{"live", "Language: lv\\nX-Language-Name: Latviešu\\n", "can't be the folder of a language"},
		{"xx", "X-Language-Name: Ix\\n", "needs a Language"},
		{"xx", "Language: xx\\n", "X-Language-Name"},
		{"xx", "Language: xx\\\" onclick=\\\"f()\\nX-Language-Name: Ix\\n", "needs a Language"},
	} {
		dir := filepath.Join(t.TempDir(), c.dir)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, SiteFile), []byte("msgid \"\"\nmsgstr \""+c.header+"\"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := Load(dir)
		if c.fault == "" && (err != nil || l.Code != c.dir) || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s, %s: %v, want %q", c.dir, c.header, err, c.fault)
		}
	}
}

// TestErrors: an error is known by its form, whatever follows, and its values stay what they are. A language without
// the catalogue, and one whose catalogue can't be read, know none.
func TestErrors(t *testing.T) {
	root := t.TempDir()
	for lang, text := range map[string]string{"xx": `msgid ""
msgstr "Language: xx\n"

msgid "undefined: %s"
msgstr "%s kennt niemand."

msgid "loss"
msgstr "Verlust"

#, fuzzy
msgid "missing return"
msgstr "Veraltet."

msgid "tensor: %s: %s: sizes differ, %d and %d"
msgstr "%s: %[3]d ist nicht %[4]d: %[2]s."

msgid "tensor: matmul: %s: sizes differ, %d and %d"
msgstr "Matmul: %s, %d, %d."
`, "broken": "msgid"} {
		if err := os.MkdirAll(filepath.Join(root, "notebooks", lang), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "notebooks", lang, ErrorsFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(po.LanguageVariable, "xx")
	e := ChosenErrors(root)
	for message, want := range map[string]string{
		"undefined: loss":             "loss kennt niemand.",
		"undefined: a.b (but have B)": "a.b kennt niemand.",
		"it is undefined: loss":       "",
		"missing return":              "",
		"tensor: add: [2 3] x [2]: sizes differ, 3 and 2; axes are matched (at a.go:3)": "add: 3 ist nicht 2: [2 3] x [2].",
		"tensor: matmul: [2 3] x [2]: sizes differ, 3 and 2":                            "Matmul: [2 3] x [2], 3, 2.",
		"tensor: add: [2 3] x [2]: sizes differ, 3 and 25 more":                         "",
	} {
		if got := e.Text(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
	for _, lang := range []string{"", "en", "yy", "broken", "../notebooks/xx"} {
		t.Setenv(po.LanguageVariable, lang)
		if got := ChosenErrors(root).Text("undefined: loss"); got != "" {
			t.Errorf("language %q: %q", lang, got)
		}
	}
}

// TestFaults: what a program can see in a translation is seen, and nothing is in one that is right.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ english, text, fault string }{
		{"Take `x` and $a^2$: 15 billion tokens, [lesson 7](07-matmul.ipynb).", "取 `x` 和 $a^2$：150 亿个 token，见[第 7 课](07-matmul.ipynb)。", ""},
		{"**Bold** views of 1,024 bytes (and 2 more).", "**粗体**视图，共 1024 字节（还有 2 个）。", ""},
		{"$$\\text{time} = 3$$", "$$\\text{时间} = 3$$", ""},
		{"{1} bytes", "{1} 字节", ""},
		{"Take `x`.", "取 `y`。", "code spans"},
		{"Take $a$.", "取 $b$。", "formulas"},
		{"See [this](a.ipynb).", "见[此](b.ipynb)。", "targets"},
		{"It takes 64 bytes.", "它占 46 字节。", "64 is missing"},
		{"It takes bytes.", "它占 46 字节。", "46 is not"},
		{"{1} bytes", "{2} 字节", "values"},
		{"%d points", "%s 分", "formats"},
		{"**Bold** text.", "粗体文字。", "**"},
		{"Search", "搜索<IMG SRC=x>", "more of <"},
		{"Search", "搜索\" autofocus onfocus=\"f()", "more of \""},
		{"Go on.", "继续。\npanic(1)", "0 line breaks became 1"},
		{"One, two.", "一,二。", "half-width"},
		{"One.", "一.", "half-width"},
		{"One (two).", "一(二)。", "half-width"},
		{"A tensor x.", "张量x。", "no space"},
		{"A `x`.", "取`x`。", "no space"},
		{"A tensor.", "张 量。", "a space within"},
		{"This one is still plain English.", "This one is still plain English.", "still English"},
		{"The stride is 4.", "跨距是 4。", "glossary"},
	} {
		g := glossary{{words: []string{"stride"}, english: []*regexp.Regexp{regexp.MustCompile("stride")}, known: "stride", text: []string{"步长"}, never: []string{"跨距"}}}
		m := &po.Message{ID: c.english, Str: c.text}
		found := strings.Join(slices.Concat(compared(m), chinese(c.text), g.misused(m)), "; ")
		if c.fault == "" && found != "" || !strings.Contains(found, c.fault) {
			t.Errorf("%q, %q: %q, want %q", c.english, c.text, found, c.fault)
		}
	}
}

// TestLanguages: nothing is wrong with the translations that are there, as far as a program can see it, and a language
// that says that it is complete has all of them.
func TestLanguages(t *testing.T) {
	list, err := Languages("../../notebooks")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, l := range list {
		faults, err := l.Faults()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults {
			t.Error(f)
		}
		for english, m := range l.messages {
			if l.Complete && !m.Valid() {
				t.Errorf("%s says that it is complete, and has no translation of %q", l.Code, english)
			}
		}
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
