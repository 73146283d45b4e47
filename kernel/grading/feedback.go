package grading

import (
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// WriteCSV writes a line for each student: points in all, of how many, for each test, and notes.
func (s *Source) WriteCSV(w io.Writer, reports []*Report) error {
	out := csv.NewWriter(w)
	header := []string{"student", "points", "of"}
	for _, t := range s.Tests {
		header = append(header, t.ID)
	}
	out.Write(append(header, "notes"))
	for _, r := range reports {
		line := []string{plain(r.Student)}
		if r.Problem != "" {
			line = append(line, "", strconv.Itoa(s.Points()))
			for range s.Tests {
				line = append(line, "")
			}
			out.Write(append(line, plain("not graded: "+r.Problem)))
			continue
		}
		line = append(line, strconv.Itoa(r.Points), strconv.Itoa(r.Of))
		for _, t := range r.Tests {
			line = append(line, strconv.Itoa(t.Verdict.Points))
		}
		out.Write(append(line, plain(strings.Join(r.Notes, "; "))))
	}
	out.Flush()
	return out.Error()
}

// plain keeps a spreadsheet from taking a student's text for a formula.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

// outputShown is how much of an output feedback shows.
const outputShown = 20_000

// WriteFeedback writes a page for the student: points, what was wrong, and the notebook as it was graded. There is
// nothing on it but text.
func (s *Source) WriteFeedback(w io.Writer, r *Report) error {
	return feedback.Execute(w, map[string]any{"Name": s.Name, "R": r})
}

// outputText is the part of an output that a page shows.
func outputText(o *notebook.Output) string {
	text := o.Plain()
	if o.Type == "error" {
		text = o.EValue
	}
	if len(text) > outputShown {
		text = strings.ToValidUTF8(text[:outputShown], "") + fmt.Sprintf("\n… and %d more bytes", len(text)-outputShown)
	}
	return text
}

var feedback = template.Must(template.New("feedback").Funcs(template.FuncMap{"output": outputText}).Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{.Name}}: {{.R.Student}}</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
pre { font: 14px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; padding: .5rem .8rem }
.code { background: color-mix(in srgb, CanvasText 6%, Canvas); border-radius: 4px }
.verdict { border-left: 4px solid #b35900 } .full { border-color: #1a7f37 } .error { border-left: 4px solid #c62828 }
table { border-collapse: collapse } th, td { text-align: left; padding: .2rem 1.2rem .2rem 0 } td.n { text-align: right }
</style>
<h1>{{.Name}}</h1>
<p><b>{{.R.Student}}</b>: {{if .R.Problem}}not graded: {{.R.Problem}}.{{else}}<b>{{.R.Points}} of {{.R.Of}} points</b>{{end}}</p>
{{with .R.Notes}}<ul>{{range .}}<li>{{.}}</li>{{end}}</ul>{{end}}
{{with .R.Tests}}<table><tr><th>Test</th><th>Points</th><th>Of</th></tr>
{{range .}}<tr><td>{{.Test.ID}}</td><td class="n">{{.Verdict.Points}}</td><td class="n">{{.Test.Points}}</td></tr>
{{end}}</table>
{{range .}}<h2>{{.Test.ID}}</h2>
<pre class="verdict{{if eq .Verdict.Points .Test.Points}} full{{end}}">{{.Verdict}}</pre>
{{end}}{{end}}
{{with .R.Notebook}}<h2>Your notebook, as it was graded</h2>
{{range .Cells}}{{if eq .Type "code"}}<pre class="code">{{.Source}}</pre>
{{range .Outputs}}<pre{{if eq .Type "error"}} class="error"{{end}}>{{output .}}</pre>
{{end}}{{else}}<pre>{{.Source}}</pre>
{{end}}{{end}}{{end}}
</html>
`))
