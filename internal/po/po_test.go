package po

import (
	"reflect"
	"strings"
	"testing"
)

const sample = `msgid ""
msgstr ""
"Language: zh-Hans\n"
"X-Complete: no\n"

# Said in lesson 2, too.
#. heading
#: 05-storage-strides-views#05-02
#: 06-elementwise#06-01
msgid "A matrix is a \"row\" of memory"
msgstr "矩阵就是内存中的一行"

#. prose
#: 05-storage-strides-views#05-04
#, fuzzy
#| msgid "Views are free."
msgid "Views are free, copies are not."
msgstr "视图不花钱。"

#. site
#: page.js
msgid ""
"two\n"
"lines\n"
msgstr ""
"两\n"
"行"
`

func TestRoundTrip(t *testing.T) {
	f, err := Parse("x.po", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(f.Bytes()); got != sample {
		t.Errorf("got:\n%s\nwant:\n%s", got, sample)
	}
	if f.Header("language") != "zh-Hans" || f.Header("x-complete") != "no" || f.Header("none") != "" {
		t.Errorf("header: %q", f.Messages[0].Str)
	}
	m := f.Messages[2]
	if !m.Fuzzy() || m.Valid() || m.Previous != "Views are free." {
		t.Errorf("%+v", m)
	}
	for _, m := range f.Messages[1:] {
		if got := Find([]byte(sample), m.ID); !reflect.DeepEqual(got, m) {
			t.Errorf("found %+v, want %+v", got, m)
		}
	}
	if Find([]byte(sample), "Views are free.") != nil || Find([]byte(sample), "") != nil {
		t.Error("what is not there was found")
	}
}

// TestForms: what other programs write of the same, and what no catalogue is.
func TestForms(t *testing.T) {
	wrapped := "#, fuzzy, c-format\n#| msgid \"\"\n#| \"o\"\n#| \"ld\"\nmsgid \"\"\n\"n\"\n\"ew\"\nmsgstr \"x\"\n#~ msgid \"dead\"\n#~ msgstr \"tot\"\nmsgid \"b\"\nmsgstr \"\"\n"
	f, err := Parse("x.po", []byte(wrapped))
	if err != nil || len(f.Messages) != 2 || f.Messages[0].ID != "new" || f.Messages[0].Previous != "old" || f.Messages[1].ID != "b" {
		t.Errorf("%v %+v", err, f)
	}
	for text, want := range map[string]string{
		"msgid \"a\"\n":                 "no msgstr",
		"msgid \"a\"\n\nmsgstr \"b\"\n": "no msgstr",
		"msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"a\"\nmsgstr \"c\"\n": "same msgid",
		"msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"\"\nmsgstr \"c\"\n":  "header",
		"msgctxt \"a\"\nmsgid \"a\"\nmsgstr \"b\"\n":               "contexts",
		"msgid \"a\nmsgstr \"b\"\n":                                "a text in quotes",
		"msgid \"a\\x\"\nmsgstr \"b\"\n":                           "a text in quotes",
		"\"a\"\n":                                                  "belongs to nothing",
		"hello\n":                                                  "expected",
		"msgid \"a\"\n# note\nmsgstr \"b\"\n":                      "within a message",
		"msgid \"\xff\"\nmsgstr \"b\"\n":                           "UTF-8",
	} {
		if _, err := Parse("x.po", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: what is read and written is read again as the same, and each message is found.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("#| msgid \"a\"\nmsgid \"b\"\nmsgstr \"\\n\"\n")
	f.Add("msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"c\"\nmsgstr \"d\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("", []byte(text))
		if err != nil {
			return
		}
		written := file.Bytes()
		again, err := Parse("", written)
		if err != nil {
			t.Fatalf("%v:\n%s", err, written)
		}
		if got := again.Bytes(); string(got) != string(written) {
			t.Errorf("written:\n%s\nthen:\n%s", written, got)
		}
		for _, m := range again.Messages {
			if m.ID != "" {
				if got := Find(append([]byte("\n"), written...), m.ID); got == nil || got.Str != m.Str {
					t.Errorf("%q: found %+v", m.ID, got)
				}
			}
		}
	})
}
