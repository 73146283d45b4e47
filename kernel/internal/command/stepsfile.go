package command

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/report"
)

// A file of recorded steps is a zip archive. It holds what .lectern/steps does: for each notebook a file of JSON, which
// is named after the notebook and the key of its record, so that a record is never taken for that of another text or
// another library. [render] -steps-to writes one, and -steps-from takes records out of it.

// stepsZip is the file that render takes records from without being told, beside go.mod: releases have it.
const stepsZip = "steps.zip"

const (
	mostRecords = 1000     // that such a file may hold
	mostRecord  = 64 << 20 // bytes of one of them
)

var recordName = regexp.MustCompile(`^[^/\\:\x00-\x1f]+-[0-9a-f]{16}\.json$`)

// A StepsFileError reports a bad file of recorded steps.
type StepsFileError struct {
	File   string // as it was given
	Record string // which of its records it is about; empty for the file
	Err    error
}

func (e *StepsFileError) Error() string {
	where := e.File
	if e.Record != "" {
		where += ", " + e.Record
	}
	return fmt.Sprintf("recorded steps: %s: %v; get the file again, or do without it: then render records the steps itself", where, e.Err)
}

func (e *StepsFileError) Unwrap() error { return e.Err }

var (
	errRecordTooLarge = fmt.Errorf("it has more than %s", humanize.Bytes(mostRecord))
	errManyRecords    = fmt.Errorf("it has more than %d files", mostRecords)
	errMoreText       = errors.New("there is more text after it")
	errNoRecord       = errors.New("this is not the name of a record, such as 11-gradients-0123456789abcdef.json")
)

// stepsFromFile copies into a folder those of the named records that a file holds and the folder does not, and returns
// the names of the ones that it copied. A malformed record is an error, and then nothing is copied.
func stepsFromFile(file, folder string, names []string) (copied []string, err error) {
	wrong := func(record string, err error) ([]string, error) {
		return nil, &StepsFileError{file, record, err}
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		return wrong("", err)
	}
	defer z.Close()
	if len(z.File) > mostRecords {
		return wrong("", errManyRecords)
	}
	texts := map[string][]byte{}
	for _, f := range z.File {
		if !recordName.MatchString(f.Name) {
			return wrong(f.Name, errNoRecord)
		}
		if !slices.Contains(names, f.Name) || fileExists(filepath.Join(folder, f.Name)) {
			continue
		}
		text, err := readRecord(f)
		if err != nil {
			return wrong(f.Name, err)
		}
		texts[f.Name] = text
	}
	for name, text := range texts {
		if err := writeFile(filepath.Join(folder, name), text, 0o666); err != nil {
			return nil, fmt.Errorf("recorded steps: %w", err)
		}
		copied = append(copied, name)
	}
	return copied, nil
}

// readRecord reads and checks a record. The archive's checksum is checked at its end.
func readRecord(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, mostRecord+1)) // what its header says about its size need not be true
	if err != nil {
		return nil, err
	}
	if len(text) > mostRecord {
		return nil, errRecordTooLarge
	}
	var cells map[string]struct {
		Record *report.Record `json:"record"`
		Why    string         `json:"why"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&cells); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) { // programs that read the whole file would stumble over it
		return nil, errMoreText
	}
	for id, c := range cells {
		if c.Record == nil {
			continue
		}
		if err := c.Record.Check(); err != nil {
			return nil, fmt.Errorf("cell %s: %w", id, err)
		}
	}
	return text, nil
}

// stepsToFile writes records, by their paths, as one file: the same bytes for the same records.
func stepsToFile(file string, records []string) error {
	records = slices.Clone(records)
	slices.SortFunc(records, func(a, b string) int { return bytes.Compare([]byte(filepath.Base(a)), []byte(filepath.Base(b))) })
	err := atomicfile.Write(file, func(to io.Writer) error {
		z := zip.NewWriter(to)
		for _, path := range records {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			h := &zip.FileHeader{Name: filepath.Base(path), Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			h.SetMode(fs.FileMode(0o644))
			w, err := z.CreateHeader(h)
			if err != nil {
				return err
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
		return z.Close()
	})
	if err != nil {
		return fmt.Errorf("recorded steps: %w", err)
	}
	return nil
}
