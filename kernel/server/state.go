//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/vet"
	"github.com/lectern-go/lectern/kernel/persist"
)

// %save copies the files of values and notes which cells have run; %load copies the files back, and has the rewriter
// read those cells again, without running anything, so that it knows what they have declared.

// A ranCell is a cell whose declarations the kernel remembers.
type ranCell struct {
	Cell int
	Code string
}

const savedCells = "cells.json"

var stateName = regexp.MustCompile(`^[\w][\w.-]*$`)

// stateDir is where the state of the given name is stored: those of other notebooks lie elsewhere.
func (k *kernel) stateDir(c rewrite.Command) (dir string, f *failure) {
	name := "state"
	switch {
	case len(c.Args) > 1 || len(c.Args) == 1 && !stateName.MatchString(c.Args[0]):
		return "", said("usage", "write "+c.Name+", or "+c.Name+" followed by a name made of letters and digits")
	case len(c.Args) == 1:
		name = c.Args[0]
	}
	of := thisNotebook(k.started)
	if of == "" {
		of = k.started
	}
	sum := sha256.Sum256([]byte(of))
	return filepath.Join(k.c.root, ".lectern", "saved", hex.EncodeToString(sum[:8]), name), nil
}

// save obeys %save.
func (e commands) save(c rewrite.Command) *failure {
	dir, f := e.k.stateDir(c)
	if f != nil {
		return f
	}
	fail := func(err error) *failure { return said("save", err.Error()) }
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return fail(err)
	}
	temp, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(temp)
	var bytes int64
	for _, from := range e.k.f.keep() {
		n, err := copyValues(func(string) string { return temp }, from)
		if err != nil {
			return fail(err)
		}
		bytes += n
	}
	text, err := json.Marshal(e.k.ran)
	if err == nil {
		err = atomicfile.Replace(filepath.Join(temp, savedCells), text, 0o600)
	}
	if err == nil {
		err = replaceFolder(dir, temp)
	}
	if err != nil {
		return fail(err)
	}
	e.Stream("stdout", fmt.Sprintf("saved %s, %s; %%load brings them back, even in another kernel\n", humanize.Count(len(e.k.session.Manifest().Vars), "variable"), humanize.Bytes(int(bytes))))
	return nil
}

// load obeys %load. What the kernel has known before is forgotten.
func (e commands) load(c rewrite.Command) *failure {
	dir, f := e.k.stateDir(c)
	if f != nil {
		return f
	}
	if e.Result.Program != nil {
		return said("load", "write %load in a cell of its own: code beside it can't know yet what it brings")
	}
	b, err := os.ReadFile(filepath.Join(dir, savedCells))
	if errors.Is(err, fs.ErrNotExist) {
		return said("load", "nothing is saved yet: %save does that")
	}
	var ran []ranCell
	if err == nil {
		err = json.Unmarshal(b, &ran)
	}
	m, merr := persist.ReadManifest(dir)
	if err = errors.Join(err, merr); err != nil {
		return said("load", err.Error())
	}
	s := rewrite.NewSession(e.k.packages, func() *persist.Manifest { return m }).Vetted(vet.Check)
	for _, x := range ran {
		if r := s.Rewrite(x.Cell, x.Code); len(r.Errors) == 0 {
			s = r.Next
		} else {
			e.note(fmt.Sprintf("what cell [%d] declares can't be brought back: %s", x.Cell, r.Errors[0].Msg))
		}
	}
	if err := e.k.f.bring(dir, m); err != nil {
		return said("load", err.Error())
	}
	e.Result.Next, e.k.ran, e.loaded = s.Keeping(e.k.session.Manifest), ran, true // the cell's end settles it
	e.k.mu.Lock()
	for _, x := range ran { // later cells have later numbers
		if x.Cell > unrecorded {
			e.k.unrecorded = max(e.k.unrecorded, x.Cell-unrecorded)
		} else {
			e.k.count = max(e.k.count, x.Cell)
		}
	}
	e.k.mu.Unlock()
	e.Stream("stdout", fmt.Sprintf("loaded %s\n", humanize.Count(len(m.Vars), "variable")))
	return nil
}

// remember notes the cell, which has run, for %save.
func (e *execution) remember() {
	if !e.loaded {
		e.k.ran = append(slices.DeleteFunc(e.k.ran, func(r ranCell) bool { return r.Cell == e.Number }), ranCell{e.Number, e.req.Code})
	}
}

// bring puts the saved values of a folder in the place of those that the kernel keeps; if it can't, those stay. An
// array goes into the folder that its values name.
func (f *folders) bring(from string, m *persist.Manifest) error {
	folder := map[string]int{} // of arrays, those that don't go into the first
	for _, g := range m.Groups {
		for _, a := range g.Arrays {
			if i, name, _ := strings.Cut(a, "/"); i != "0" {
				n, err := strconv.Atoi(i)
				if err != nil || n >= len(f.keep()) {
					return fmt.Errorf("%s was saved by a kernel that kept values in memory, too; this one doesn't (LECTERN_KEEP_ON_DISK, or no %s)", from, memoryDisk)
				}
				folder[name] = n
			}
		}
	}
	var temps []string
	for _, to := range f.keep() {
		temp, err := os.MkdirTemp(to, "load-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		temps = append(temps, temp)
	}
	if _, err := copyValues(func(name string) string { return temps[folder[name]] }, from); err != nil {
		return err
	}
	for i, to := range f.keep() {
		if err := errors.Join(removeValues(to), moveValues(to, temps[i])); err != nil {
			return err
		}
	}
	return nil
}

// replaceFolder puts a folder in the place of another, which need not exist.
func replaceFolder(dir, by string) error {
	old := by + ".old"
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(by, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}

// kept reports whether a file in a folder of kept values belongs to those.
func kept(d fs.DirEntry) bool {
	return d.Type().IsRegular() && d.Name() != "lock" && d.Name() != savedCells
}

// copyValues copies kept values of a folder, each into the folder that to names, and returns how many bytes they are.
func copyValues(to func(name string) string, from string) (bytes int64, err error) {
	list, err := os.ReadDir(from)
	if err != nil {
		return 0, err
	}
	for _, d := range list {
		if !kept(d) {
			continue
		}
		n, err := copyFile(filepath.Join(to(d.Name()), d.Name()), filepath.Join(from, d.Name()))
		if bytes += n; err != nil {
			return bytes, err
		}
	}
	return bytes, nil
}

func copyFile(to, from string) (n int64, err error) {
	r, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(w, r)
	return n, errors.Join(err, w.Close())
}

// moveValues moves kept values from one folder to another on the same disk.
func moveValues(to, from string) error {
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, d := range list {
		if err := os.Rename(filepath.Join(from, d.Name()), filepath.Join(to, d.Name())); err != nil {
			return err
		}
	}
	return nil
}

// removeValues empties a folder of kept values.
func removeValues(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, d := range list {
		if kept(d) {
			if err := os.Remove(filepath.Join(dir, d.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
