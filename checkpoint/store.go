package checkpoint

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/tensor"
)

// A Part is something whose state belongs to a checkpoint: a model (nn.Part),
// an optimizer, a gradient scaler, the position in the data. [Binary] and
// [Values] make parts of generators and plain values.
type Part interface {
	// SaveState returns the tensors of the state by name and the rest of it, any
	// value that package encoding/json can write; both may be nil.
	SaveState() (tensors map[string]*tensor.Tensor, values any)
	// LoadState takes a state that SaveState returned: the tensors, which must be copied
	// because they are valid only during the call, and values as JSON. If they don't fit,
	// it returns an error and changes nothing.
	LoadState(tensors map[string]*tensor.Tensor, values []byte) error
}

// Parts are what one checkpoint holds, by name. Names must not contain dots.
type Parts map[string]Part

// Binary makes a part out of something that marshals itself, such as a
// *tensor.Generator.
func Binary(state interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}) Part {
	return binaryPart{state}
}

type binaryPart struct {
	state interface {
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}
}

func (p binaryPart) SaveState() (map[string]*tensor.Tensor, any) {
	data, err := p.state.MarshalBinary()
	if err != nil {
		return nil, failed{err}
	}
	return nil, data
}

func (p binaryPart) LoadState(_ map[string]*tensor.Tensor, values []byte) error {
	var data []byte
	if err := json.Unmarshal(values, &data); err != nil {
		return err
	}
	return p.state.UnmarshalBinary(data)
}

// failed is a value that says, when it is written, why it could not be saved.
type failed struct{ err error }

func (f failed) MarshalJSON() ([]byte, error) { return nil, f.err }

// Values makes a part out of the value that pointer points to, which is written as
// JSON: a count, or a struct with exported fields.
func Values(pointer any) Part { return valuesPart{pointer} }

type valuesPart struct{ pointer any }

func (p valuesPart) SaveState() (map[string]*tensor.Tensor, any) { return nil, p.pointer }

func (p valuesPart) LoadState(_ map[string]*tensor.Tensor, values []byte) error {
	return json.Unmarshal(values, p.pointer)
}

// A Store is a folder with the checkpoints of one run. One process at a time may
// save to it; others may read.
type Store struct {
	Dir  string // made by the first Save
	Keep int    // how many checkpoints Save leaves; 0 means all
}

const (
	filePrefix = "step-"
	fileSuffix = ".safetensors"
	stepKey    = "lectern.step"
	sumKey     = "lectern.crc32c"
	partKey    = "lectern.part."
)

// Save writes a checkpoint and returns its path. When it returns without error, the
// checkpoint is on disk; older ones beyond Keep are then removed. If it fails, or the
// process ends meanwhile, the earlier checkpoints are untouched. Saving a step again
// replaces it.
func (s Store) Save(step int, parts Parts) (path string, err error) {
	return s.save(step, parts, Write)
}

// save is Save with the function that writes the file, which a test observes.
func (s Store) save(step int, parts Parts, write func(io.Writer, map[string]*tensor.Tensor, map[string]string) error) (path string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("checkpoint: save step %d: %w", step, err)
		}
	}()
	if step < 0 {
		return "", errors.New("the step is negative")
	}
	if s.Dir == "" {
		return "", errors.New("the Store has no Dir; name the folder that checkpoints go to")
	}
	tensors := map[string]*tensor.Tensor{}
	metadata := map[string]string{stepKey: fmt.Sprint(step)}
	for name, part := range parts {
		if strings.Contains(name, ".") || name == "" {
			return "", fmt.Errorf("part name %q: give a name without dots", name)
		}
		if part == nil {
			return "", missingPart(name)
		}
		own, values := part.SaveState()
		text, err := json.Marshal(values)
		if err != nil {
			return "", fmt.Errorf("part %q: %w", name, err)
		}
		metadata[partKey+name] = string(text)
		for key, t := range own {
			tensors[name+"."+key] = t
		}
	}
	sum, err := checksum(tensors, metadata)
	if err != nil {
		return "", err
	}
	metadata[sumKey] = sum
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return "", err
	}
	if err := s.cleanPartial(); err != nil {
		return "", err
	}
	path = filepath.Join(s.Dir, fmt.Sprintf("%s%010d%s", filePrefix, step, fileSuffix))
	if err := atomicfile.Write(path, func(w io.Writer) error { return write(w, tensors, metadata) }); err != nil {
		return "", err
	}
	return path, s.prune(path)
}

func missingPart(name string) error {
	return fmt.Errorf("part %q is nil; give what is to be saved, such as nn.Part(model)", name)
}

// cleanPartial removes what a process left behind that ended while saving.
func (s Store) cleanPartial() error {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if of, ok := atomicfile.Partial(e.Name()); ok && strings.HasPrefix(of, filePrefix) && strings.HasSuffix(of, fileSuffix) {
			if err := os.Remove(filepath.Join(s.Dir, e.Name())); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	return nil
}

// prune removes the checkpoints with the lowest steps, but never the one that was just
// written.
func (s Store) prune(written string) error {
	if s.Keep <= 0 {
		return nil
	}
	all, err := s.List()
	if err != nil {
		return err
	}
	excess := len(all) - s.Keep
	for _, c := range all {
		if excess <= 0 {
			break
		}
		if c.Path == written {
			continue
		}
		if err := os.Remove(c.Path); err != nil && !os.IsNotExist(err) {
			return err
		}
		excess--
	}
	return nil
}

// Saved is a checkpoint in a Store.
type Saved struct {
	Step int
	Path string
}

// List returns the checkpoints in the order of their steps, without looking into them.
// A folder that does not exist has none.
func (s Store) List() ([]Saved, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	var all []Saved
	for _, e := range entries {
		digits, isFile := strings.CutSuffix(e.Name(), fileSuffix)
		digits, isStep := strings.CutPrefix(digits, filePrefix)
		var step int
		if _, err := fmt.Sscanf(digits+"\n", "%d\n", &step); !isFile || !isStep || err != nil || step < 0 {
			continue
		}
		all = append(all, Saved{step, filepath.Join(s.Dir, e.Name())})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Step < all[j].Step })
	return all, nil
}

// ErrNone is returned by Resume if there is no checkpoint to continue from.
var ErrNone = errors.New("checkpoint: there is none yet")

// Resumed says what Resume loaded.
type Resumed struct {
	Saved
	Skipped []error // why newer checkpoints were skipped: one reason for each
}

// Resume loads the newest intact checkpoint into parts; damaged ones are skipped and
// reported. It returns [ErrNone] if the folder has no checkpoint, an error that joins
// all reasons if it has only damaged ones, and an error that names the part if one
// does not fit. Parts of the file that are not wanted are ignored.
func (s Store) Resume(parts Parts) (Resumed, error) {
	var resumed Resumed
	all, err := s.List()
	if err != nil {
		return resumed, err
	}
	if len(all) == 0 {
		return resumed, ErrNone
	}
	slices.Reverse(all)
	for _, c := range all {
		f, err := open(c.Path)
		if err != nil {
			resumed.Skipped = append(resumed.Skipped, err)
			continue
		}
		defer f.Close()
		resumed.Saved = c
		return resumed, f.restore(parts)
	}
	return resumed, fmt.Errorf("checkpoint: no checkpoint in %s can be loaded: %w", s.Dir, errors.Join(resumed.Skipped...))
}

// Load loads one checkpoint, after making sure that it is intact.
func Load(path string, parts Parts) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.restore(parts)
}

// open opens a checkpoint and compares its checksum.
func open(path string) (*File, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	if _, ok := f.metadata[sumKey]; !ok {
		f.Close()
		return nil, &FormatError{Path: path, Reason: "it carries no checksum, so it is damaged or was not written by Save; read single tensors with Open"}
	}
	if err := f.Verify(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// restore gives each part its state. It looks for all of them before it changes the
// first.
func (f *File) restore(parts Parts) error {
	names := make([]string, 0, len(parts))
	for name, part := range parts {
		if part == nil {
			return fmt.Errorf("checkpoint: %s: %w", f.name(), missingPart(name))
		}
		if _, ok := f.metadata[partKey+name]; !ok {
			var have []string
			for key := range f.metadata {
				if part, ok := strings.CutPrefix(key, partKey); ok {
					have = append(have, part)
				}
			}
			sort.Strings(have)
			return fmt.Errorf("checkpoint: %s has no part %q; it has %s", f.name(), name, listed(have))
		}
		names = append(names, name)
	}
	sort.Strings(names)
	all, err := f.All()
	if err != nil {
		return err
	}
	for _, name := range names {
		own := map[string]*tensor.Tensor{}
		for key, t := range all {
			if key, ok := strings.CutPrefix(key, name+"."); ok {
				own[key] = t
			}
		}
		if err := parts[name].LoadState(own, []byte(f.metadata[partKey+name])); err != nil {
			return fmt.Errorf("checkpoint: %s: part %q: %w", f.name(), name, err)
		}
	}
	return nil
}
