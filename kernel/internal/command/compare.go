package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/linediff"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// compare describes how the outputs of two executions of one notebook differ; "" if they do not.
func compare(name string, stored, now *notebook.Notebook) string {
	var b strings.Builder
	number := 0
	for i, c := range stored.Cells {
		if c.Type != "code" || c.HasTag(tagSkip) {
			continue
		}
		if strings.TrimSpace(c.Source) != "" {
			number++
		}
		measured := c.HasTag(tagMeasured)
		d := linediff.Of(form(c.Outputs, measured), form(now.Cells[i].Outputs, measured))
		if d == "" {
			continue
		}
		what := "outputs differ"
		switch {
		case len(c.Outputs) == 0 && c.Count == 0:
			what = "has no stored outputs; " + self + " run stores them"
		case measured:
			what = "the form of the measured outputs differs (digits are masked as #)"
		}
		fmt.Fprintf(&b, "%s, cell [%d]: %s\n%s", name, number, what, d)
	}
	return b.String()
}

// form writes outputs as lines that can be compared. Text on stderr has no fixed place among the rest, since the two
// streams race, so it comes last, as one.
func form(outputs []*notebook.Output, measured bool) []string {
	var lines []string
	add := func(head, text string) {
		lines = append(lines, head)
		if measured {
			text = mask(text)
		}
		for l := range strings.Lines(text) {
			lines = append(lines, "  "+strings.TrimRight(l, "\n"))
		}
	}
	var stderr strings.Builder
	stdout := -1 // where a text on stdout that may go on begins: stderr between two parts of it does not separate them
	var parts []string
	flush := func() {
		if stdout >= 0 {
			add("stdout:", strings.Join(parts, ""))
		}
		stdout, parts = -1, nil
	}
	for i, o := range outputs {
		if o.Type == "stream" && o.Name == "stderr" {
			stderr.WriteString(fetching.ReplaceAllString(o.Text, ""))
			continue
		}
		if o.Type == "stream" {
			if stdout < 0 {
				stdout = i
			}
			parts = append(parts, o.Text)
			continue
		}
		flush()
		if o.Type == "error" {
			add("error:", ansi.ReplaceAllString(o.EName+": "+o.EValue, ""))
			continue
		}
		for _, mime := range slices.Sorted(maps.Keys(o.Data)) {
			if mime == notebook.WidgetType {
				continue // a name by chance
			}
			text, ok := o.Data[mime].(string)
			if !ok {
				j, err := json.MarshalIndent(o.Data[mime], "", " ")
				if err != nil {
					j = []byte(err.Error())
				}
				text = string(j)
			}
			if measured && !strings.HasPrefix(mime, "text/") {
				text = "" // where the lines of a picture lie is measurement too
			}
			add(o.Type+" "+mime+":", text)
		}
	}
	flush()
	if stderr.Len() > 0 {
		add("stderr:", stderr.String())
	}
	return lines
}

// fetching matches the lines that tell of modules being fetched, which happens only once.
var fetching = regexp.MustCompile(`(?m)^(?:go: (?:downloading|added|upgraded|downgraded) |fetching \S+, which this cell imports).*\n?`)

var (
	// A number followed by its unit, whose prefix changes with the size: 980 µs, 1.2 ms.
	quantity = regexp.MustCompile(`[-+−]?\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?:(\s?)(?:[nµμumkKMGTPEZ]i?)?(s|B|FLOPs?|FLOP/s|B/s|Hz|op/s|x|×)\b)?`)
	// The machine that was measured: its processor, up to the comma after its name, and the instructions that it has.
	processor    = regexp.MustCompile(`\b(?:AMD|Intel|Apple|ARM|Ampere|Neoverse|AWS|QEMU)\b[^,;:<"\n]*`)
	instructions = regexp.MustCompile(`\b(?:AVX-?\d*(?:[-_]BF16)?|NEON|AMX|SSE\d*|portable Go)\b`)
	// What varies with the width of a column.
	filling = regexp.MustCompile(`[ \t]+|-{2,}|─{2,}|═{2,}|={2,}|\.{2,}|█+|▏|▎|▍|▌|▋|▊|▉`)
)

// figure is a drawing within HTML; where its lines lie, and how many there are, is measurement too. Its title stays.
var figure = regexp.MustCompile(`(?s)(<svg\b[^>]*>\s*(?:<title\b[^>]*>.*?</title>)?).*?</svg>`)

// mask replaces every number, its unit's prefix, the name of the machine and the filling of columns, so that only the
// form of a measurement remains.
func mask(s string) string {
	s = figure.ReplaceAllString(s, "$1</svg>")
	s = instructions.ReplaceAllString(processor.ReplaceAllString(s, "#"), "#")
	s = quantity.ReplaceAllString(s, "#$2")
	return filling.ReplaceAllStringFunc(s, func(m string) string {
		switch []rune(m)[0] {
		case ' ', '\t':
			return " "
		case '-', '─', '═', '=', '.':
			r := []rune(m)
			return string(r[:2])
		}
		return ""
	})
}
