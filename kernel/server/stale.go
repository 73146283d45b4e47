//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/stale"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/persist"
)

// When a cell is run again and gives a name another meaning, a note in its output says which cells have used the
// earlier one. Only clients for notebooks get notes, known by saying which cell they run: neither what runs a whole
// notebook, as run, check and nbconvert do, nor a console has cells that could be run again.

// A staleness is what the kernel knows of cells that depend on each other.
type staleness struct {
	book  stale.Book
	off   bool
	given map[string]staleNote // by the cell in whose output it is
	notes int                  // numbers them
	soon  map[string]bool      // cells that our JupyterLab has been asked to run

	mu     sync.Mutex
	marked map[string]string // what the extension of our JupyterLab marks: why, by cell
	lab    map[string]bool   // sessions of clients that have the extension
}

// The extension asks for comms of this target when it meets a kernel, which concerns nobody else. From then on it is
// told which cells to mark, and asked to run them where they stand.
const cellsTarget = "lectern.cells"

// greet notes that a client has the extension, if that is what it asks about, and tells it what to mark.
func (k *kernel) greet(m *jupyter.Message) {
	var about struct {
		Target string `json:"target_name"`
	}
	if m.Header.Type != "comm_info_request" || m.DecodeContent(&about) != nil || about.Target != cellsTarget {
		return
	}
	s := &k.stale
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lab == nil {
		s.lab = map[string]bool{}
	}
	s.lab[m.Header.Session] = true
	k.publishMarks(m)
}

// publishMarks tells the extension what to mark. The caller holds the lock.
func (k *kernel) publishMarks(m *jupyter.Message) {
	cells := k.stale.marked
	if cells == nil {
		cells = map[string]string{}
	}
	k.publish(m, "lectern_stale", map[string]any{"cells": cells})
}

// mark has the extension mark the cells that are stale now.
func (e *execution) mark() {
	s := &e.k.stale
	now := map[string]string{}
	for _, c := range s.book.Stale() {
		now[c.ID] = "out of date: it used the earlier " + listed(c.Names)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(now, s.marked) {
		if s.marked = now; len(s.lab) > 0 {
			e.k.publishMarks(e.m)
		}
	}
}

// A staleNote is one that a client shows.
type staleNote struct{ display, text string }

// requestMetadata is what clients for notebooks say beside the code.
type requestMetadata struct {
	CellID  string   `json:"cellId"`
	Deleted []string `json:"deletedCells"`
}

func metadataOf(m *jupyter.Message) (x requestMetadata) {
	if json.Unmarshal(m.Metadata, &x) != nil {
		return requestMetadata{}
	}
	return x
}

// id is the cell's name in the book, and whether a client for notebooks has given it.
func (e *execution) id() (id string, given bool) {
	if e.repeats != "" {
		return e.repeats, false
	}
	if id := metadataOf(e.m).CellID; id != "" && !e.req.Silent {
		return id, true
	}
	return fmt.Sprint("execution ", e.cell), false
}

// account takes down what the cell has done, and says which others that concerns.
func (e *execution) account() {
	s := &e.k.stale
	forgotten := e.resets()
	if e.loaded || forgotten {
		s.book.Reset()
	}
	id, given := e.id()
	s.book.Forget(metadataOf(e.m).Deleted...)
	names := s.book.Names()
	for _, n := range slices.Concat(e.r.Reads, e.r.Declares) {
		names[n] = true
	}
	m := e.k.manifest()
	s.book.Ran(stale.Run{ID: id, Number: e.cell, Code: e.req.Code, Reads: e.r.Reads, Defines: e.r.Defines, Declares: e.r.Declares, Groups: sharing(m), Now: meanings(e.r.Next, m, names)})
	if given {
		delete(s.given, id) // its earlier output is no more
	}
	if !s.soon[id] && e.r.Program != nil { // the user goes on elsewhere
		s.soon = nil
	}
	delete(s.soon, id)
	if given && !s.off {
		waiting := e.k.queue.cells()
		maps.Copy(waiting, s.soon)
		if text := s.note(id, waiting); text != "" {
			s.notes++
			if s.given == nil {
				s.given = map[string]staleNote{}
			}
			s.given[id] = staleNote{fmt.Sprintf("stale-%s-%d", e.k.token, s.notes), text}
			e.text.flush()
			e.k.publish(e.m, "display_data", s.given[id].content())
		}
	}
	for _, other := range slices.Sorted(maps.Keys(s.given)) {
		n := s.given[other]
		text := s.note(other, nil)
		if other == id && given || text == n.text {
			continue
		}
		n.text = text
		if s.given[other] = n; text == "" {
			delete(s.given, other)
		}
		e.k.publish(e.m, "update_display_data", n.content())
	}
	e.mark()
}

// content is that of the message that shows the note. One that is over has no form at all,
// since of empty text a line would be left.
func (n staleNote) content() map[string]any {
	data := map[string]any{}
	if n.text != "" {
		data["text/plain"] = n.text
	}
	return map[string]any{
		"data":      data,
		"metadata":  map[string]any{notebook.StaleNote: true},
		"transient": map[string]any{"display_id": n.display},
	}
}

// meanings says what names mean: all variables, and those in names.
func meanings(s *rewrite.Session, m *persist.Manifest, names map[string]bool) map[string]string {
	now := map[string]string{}
	for name, typ := range s.Vars() {
		v := m.Vars[name]
		text := fmt.Sprintf("%s %x", typ, v.Print)
		for _, id := range v.Lits {
			text += " " + s.Meaning(persist.LiteralName+id)
		}
		now[name] = text
	}
	for name := range names {
		if text := s.Meaning(name); text != "" && now[name] == "" {
			now[name] = text
		}
	}
	return now
}

// sharing gives variables that share memory the same number.
func sharing(m *persist.Manifest) map[string]int {
	groups := map[string]int{}
	for name, v := range m.Vars {
		groups[name] = v.Group
	}
	return groups
}

// accountLater takes down what has changed because of something that a cell has left behind.
func (e *execution) accountLater(s *rewrite.Session) {
	book := &e.k.stale.book
	id, _ := e.id()
	m := e.k.manifest()
	book.Later(id, meanings(s, m, book.Names()), sharing(m))
	e.mark()
}

// note says which cells the last run of a cell has made stale, but for those that will run
// anyway; "" if there are none.
func (s *staleness) note(id string, waiting map[string]bool) string {
	direct, indirect, names := s.book.Because(id, func(c *stale.Cell) bool { return waiting[c.ID] })
	if len(waiting) > 0 { // what comes of those is not known yet
		indirect = nil
	}
	if len(direct) == 0 {
		return ""
	}
	text := fmt.Sprintf("note: %s used the earlier %s", numbers(direct), listed(names))
	if len(indirect) > 0 {
		text += fmt.Sprintf(", and %s what came of it", numbers(indirect))
	}
	if len(direct)+len(indirect) == 1 {
		return text + ": %run-stale runs it again"
	}
	return text + ": %run-stale runs them again"
}

// numbers names cells by the numbers beside them.
func numbers(cells []*stale.Cell) string {
	var list []string
	for _, c := range cells {
		list = append(list, fmt.Sprintf("[%d]", c.Number))
	}
	return listed(list)
}

const listAtMost = 6 // names in a sentence

// listed writes a list as in a sentence.
func listed(list []string) string {
	if n := len(list); n > listAtMost {
		list = append(slices.Clone(list[:listAtMost-1]), fmt.Sprintf("%d more", n-listAtMost+1))
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

// cells are the cells that wait to be run, by the names that the client gives them.
func (q *queue) cells() map[string]bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	ids := map[string]bool{}
	for _, m := range q.waiting {
		if id := metadataOf(m).CellID; id != "" {
			ids[id] = true
		}
	}
	return ids
}

// listStale obeys %stale.
func (e *execution) listStale(c rewrite.Command) *failure {
	switch c.Rest() {
	case "on", "off":
		e.k.stale.off = c.Rest() == "off"
		return nil
	case "":
	default:
		return said("usage", "write %stale alone, %stale off or %stale on")
	}
	list := e.k.stale.book.Stale()
	if len(list) == 0 {
		e.stream("stdout", "no cell is stale\n")
	}
	for _, s := range list {
		e.stream("stdout", fmt.Sprintf("[%d] used the earlier %s: %s\n", s.Number, listed(s.Names), firstWords(strings.TrimSpace(s.Code))))
	}
	return nil
}

// runStale obeys %run-stale. Our JupyterLab runs the cells itself. For others the kernel does, and what the cells show
// stands in the output of this one: a kernel can't write into those of others.
func (e *execution) runStale(rewrite.Command) *failure {
	if e.r.Program != nil || len(e.r.Commands) > 1 || e.repeats != "" {
		return said("usage", "write %run-stale in a cell of its own: code beside it can't know what the cells will have done")
	}
	done := map[string]bool{}
	next := func() *stale.Cell {
		c := e.k.stale.book.Next(func(c *stale.Cell) bool { return done[c.ID] })
		if c != nil {
			done[c.ID] = true
		}
		return c
	}
	if e.inLab() {
		var order []string
		for c := next(); c != nil; c = next() {
			order = append(order, c.ID)
		}
		e.k.stale.soon = done
		e.k.publish(e.m, "lectern_run", map[string]any{"cells": order})
	} else {
		for c := next(); c != nil; c = next() {
			if f := e.again(c); f != nil {
				return f
			}
		}
	}
	if len(done) == 0 {
		e.stream("stdout", "no cell is stale\n")
	}
	e.r.Next = e.k.current()
	return nil
}

// inLab reports whether the client can run cells where they stand.
func (e *execution) inLab() bool {
	s := &e.k.stale
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lab[e.m.Header.Session]
}

// again runs a cell once more, under a number of its own, since the code of each number is remembered.
func (e *execution) again(c *stale.Cell) *failure {
	k := e.k
	k.mu.Lock()
	k.count++
	sub := newExecution(k, e.m, executeRequest{Code: c.Code, Silent: e.req.Silent, AllowStdin: e.req.AllowStdin}, k.count)
	sub.repeats = c.ID
	k.run = sub
	k.mu.Unlock()
	e.stream("stdout", fmt.Sprintf("[%d], now [%d]:\n", c.Number, sub.cell))
	e.text.flush()
	defer func() {
		k.mu.Lock()
		k.run = e
		k.mu.Unlock()
	}()
	return sub.guard(sub.do)
}
