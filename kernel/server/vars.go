//go:build unix

package main

import (
	"fmt"
	"html"
	"sort"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/persist"
)

// varRow is one line of the list of variables.
type varRow struct {
	name, typ, shape, note string
	bytes, data            int64
}

// rows lists the remembered variables, and those that could not be kept with the reason.
func varRows(vars map[string]string, m *persist.Manifest) []varRow {
	var rows []varRow
	for name, typ := range vars {
		v, ok := m.Vars[name]
		r := varRow{name: name, typ: typ, shape: v.Shape, bytes: v.Bytes, data: v.Data}
		if !ok {
			r.note = "made again in each cell"
		}
		rows = append(rows, r)
	}
	for name, note := range m.Notes {
		if _, ok := vars[name]; !ok && name != "" && !strings.Contains(name, " ") {
			rows = append(rows, varRow{name: name, note: note})
		}
	}
	sort.Slice(rows, func(i, j int) bool {
		if (rows[i].typ == "") != (rows[j].typ == "") {
			return rows[i].typ != ""
		}
		return rows[i].name < rows[j].name
	})
	return rows
}

func (e commands) listVars() {
	rows := varRows(e.k.session.Current().Vars(), e.k.session.Manifest())
	if len(rows) == 0 {
		e.show(map[string]any{"text/plain": "no variables yet"})
		return
	}
	var h, t strings.Builder
	h.WriteString("<table><thead><tr><th>name</th><th>type</th><th>shape</th><th>size</th><th>data</th><th></th></tr></thead><tbody>\n")
	wide := [3]int{4, 4, 5}
	for _, r := range rows {
		wide = [3]int{max(wide[0], len(r.name)), max(wide[1], len(r.typ)), max(wide[2], len(r.shape))}
	}
	line := func(name, typ, shape, bytes, data, note string) {
		t.WriteString(strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %-*s  %12s  %12s  %s", wide[0], name, wide[1], typ, wide[2], shape, bytes, data, note), " ") + "\n")
	}
	line("name", "type", "shape", "size", "data", "")
	for _, r := range rows {
		bytes, data := humanize.Bytes(int(r.bytes)), ""
		if r.data > 0 {
			data = humanize.Bytes(int(r.data))
		}
		if r.typ == "" || r.note != "" {
			bytes, data = "", ""
		}
		line(r.name, r.typ, r.shape, bytes, data, r.note)
		fmt.Fprintf(&h, `<tr><td style="text-align:left"><code>%s</code></td><td style="text-align:left"><code>%s</code></td><td>%s</td><td>%s</td><td>%s</td><td style="text-align:left">%s</td></tr>`+"\n",
			html.EscapeString(r.name), html.EscapeString(r.typ), html.EscapeString(r.shape), bytes, data, html.EscapeString(r.note))
	}
	h.WriteString("</tbody></table>")
	e.show(map[string]any{"text/html": h.String(), "text/plain": strings.TrimSuffix(t.String(), "\n")})
}
