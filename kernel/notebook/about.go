package notebook

import (
	"encoding/json"
	"regexp"
	"strings"
)

// An About is what a notebook says about itself as a lesson of a course, below "lectern" in its metadata.
type About struct {
	Summary string   // a line for lists of lessons
	Minutes int      // that it takes; 0 if it doesn't say
	Needs   []string // the files of the lessons that it builds on
}

// About reads what the notebook says about itself as a lesson.
func (n *Notebook) About() About {
	about, _ := n.Metadata["lectern"].(Object)
	a := About{}
	a.Summary, _ = about["summary"].(string)
	a.Summary = strings.TrimSpace(a.Summary)
	if number, ok := about["minutes"].(json.Number); ok {
		if m, err := number.Int64(); err == nil && m > 0 && m < 10_000 {
			a.Minutes = int(m)
		}
	}
	needs, _ := about["needs"].([]any)
	for _, x := range needs {
		name, _ := x.(string)
		a.Needs = append(a.Needs, name+".ipynb")
	}
	return a
}

var heading = regexp.MustCompile(`(?m)^# +(.+)$`)

// Title is the notebook's first heading, up to a colon; "" if it has none.
func (n *Notebook) Title() string {
	for _, c := range n.Cells {
		if m := heading.FindStringSubmatch(c.Source); m != nil && c.Type == "markdown" {
			title, _, _ := strings.Cut(m[1], ":")
			return title
		}
	}
	return ""
}
