package grading

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/sandbox"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// A Submission is what one student has handed in.
type Submission struct {
	Student  string
	Notebook *notebook.Notebook
	Files    string // the folder of its other files; "" for none
	Problem  string // why it can't be graded; then there is no notebook
}

// largest is how many bytes a notebook that is handed in may have.
const largest = 50 << 20

// Submissions finds those of an assignment in a folder: student.ipynb, or name.ipynb anywhere below a folder named
// after the student, as nbgrader has them.
func Submissions(folder, name string) ([]Submission, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	found, problems := map[string][]string{}, map[string]string{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if student, ok := strings.CutSuffix(e.Name(), ".ipynb"); ok && !e.IsDir() {
			found[student] = append(found[student], filepath.Join(folder, e.Name()))
			continue
		}
		if e.Type().IsRegular() {
			continue // of the teacher's, perhaps
		}
		found[e.Name()] = append(found[e.Name()], nil...) // also where there is none
		if !e.IsDir() {
			problems[e.Name()] = "it is a link or something else that isn't followed: the submission has to be a folder or a notebook"
			continue
		}
		err := filepath.WalkDir(filepath.Join(folder, e.Name()), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir // Jupyter's checkpoints
			}
			if err == nil && !d.IsDir() && d.Name() == name+".ipynb" {
				found[e.Name()] = append(found[e.Name()], path)
			}
			return err
		})
		if err != nil { // one folder that can't be read is one student's
			problems[e.Name()] = "the folder can't be read: " + below(folder, err)
		}
	}
	var list []Submission
	for student, paths := range found {
		s := Submission{Student: student, Problem: problems[student]}
		switch {
		case s.Problem != "":
		case len(paths) == 0:
			s.Problem = fmt.Sprintf("there is no %s.ipynb in the folder", name)
		case len(paths) == 1:
			s.read(folder, paths[0])
		default:
			for i, p := range paths {
				paths[i], _ = filepath.Rel(folder, p)
			}
			slices.Sort(paths)
			s.Problem = fmt.Sprintf("there are %s, %s: leave only the one that counts", humanize.Count(len(paths), "submission"), strings.Join(paths, " and "))
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Submission) int { return strings.Compare(a.Student, b.Student) })
	return list, nil
}

// below makes the path in an error relative to folder.
func below(folder string, err error) string {
	return strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), "")
}

// read reads the notebook at a path in folder. Between checking its name and opening it, the student may put something
// else there that leads out of the submission, so every check is made on the open file.
func (s *Submission) read(folder, path string) {
	within := folder
	if dir := filepath.Dir(path); dir != filepath.Clean(folder) {
		within, s.Files = filepath.Join(folder, s.Student), dir
	}
	var err error
	s.Notebook, err = readNotebook(within, path)
	var large *largeError
	switch {
	case err == nil:
		return
	case sandbox.IsNoFile(err):
		s.Problem = "the notebook is a link, or something else that isn't a file: it has to be a file"
	case errors.As(err, &large):
		s.Problem = large.Error()
	default:
		s.Problem = "the notebook can't be read: " + below(folder, err)
		var bad *notebook.Error
		if errors.As(err, &bad) {
			s.Problem = "the notebook is damaged: " + bad.Msg
			if bad.Cell > 0 {
				s.Problem = fmt.Sprintf("the notebook is damaged in cell %d: %s", bad.Cell, bad.Msg)
			}
		}
	}
}

// A largeError reports a notebook that is too large.
type largeError struct{ size int64 }

func (e *largeError) Error() string {
	return fmt.Sprintf("the notebook has %s, and at most %s are allowed; are there outputs to clear?", humanize.Bytes(int(e.size)), humanize.Bytes(largest))
}

// readNotebook reads a notebook somewhere in a folder, and never leaves the folder.
func readNotebook(folder, path string) (*notebook.Notebook, error) {
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, i, err := sandbox.OpenFile(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if i.Size() > largest {
		return nil, &largeError{i.Size()}
	}
	b, err := io.ReadAll(io.LimitReader(f, i.Size()))
	if err != nil {
		return nil, err
	}
	return notebook.Parse(path, b)
}
