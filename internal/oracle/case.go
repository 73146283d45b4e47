package oracle

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Case is one question with its known answer.
type Case struct {
	ID     string
	Op     string
	Inputs []Input
	Args   json.RawMessage
	Source string // which program computed the answer
	Notes  string

	// Expect is the answer: JSON decoded into any (numbers are float64). It is meaningful only
	// when Error is nil.
	Expect any
	Error  *ExpectedError
	Tol    Tolerance

	Lenient  bool   // an error is as good as the answer
	Optional string // why the case may be left out; empty for core cases
	Requires string // the asset that the case needs
}

// Input is one tensor passed to the operation. Data is flat in row-major order; float32 values are already
// rounded to float32, and "nan", "inf" and "-inf" are already numbers. A bool is 0 or 1.
type Input struct {
	Name         string
	Dtype        string
	Shape        []int
	Data         []float64
	RequiresGrad bool
}

// ExpectedError says that the operation must report an error. Kind, PeerType and PeerMessage are hints for
// readers and are not compared; Step (at_step or at_statement) is compared if the answer carries one.
type ExpectedError struct {
	Kind        string
	PeerType    string
	PeerMessage string
	Step        *int
	// Fields holds everything that the file says about the error, by its JSON name.
	Fields map[string]any
}

// Tolerance accepts x for e if |x-e| <= Atol + Rtol*|e|. The zero value requires equality.
type Tolerance struct {
	Rtol, Atol float64
}

// DecodeArgs decodes the case's keyword arguments into the struct or map that v points to. An argument for
// which the struct has no field fails the case: nothing that a case asks for is silently left out.
func (c *Case) DecodeArgs(v any) {
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		panic(caseError{fmt.Errorf("args %s: %w", clip(string(c.Args)), err)})
	}
}

// DecodeExpect decodes the expected answer into v, for op functions that compare by themselves.
func (c *Case) DecodeExpect(v any) {
	text, err := json.Marshal(c.Expect)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		panic(caseError{fmt.Errorf("expect: %w", err)})
	}
}

// caseError is what helpers panic with when a case cannot be read; Run reports it without a stack trace.
type caseError struct{ error }

// Load reads the cases of one family.
func Load(family string) ([]*Case, error) {
	text, err := Asset(family + ".json")
	if err != nil {
		return nil, err
	}
	var file struct {
		Family string
		Schema int
		Count  int
		Cases  []caseJSON
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("oracle: %s.json: %w", family, err)
	}
	switch {
	case file.Family != family:
		return nil, fmt.Errorf("oracle: %s.json says it holds family %q", family, file.Family)
	case file.Schema != 1:
		return nil, fmt.Errorf("oracle: %s.json has schema %d; this runner reads schema 1", family, file.Schema)
	case file.Count != len(file.Cases):
		return nil, fmt.Errorf("oracle: %s.json announces %d cases and holds %d", family, file.Count, len(file.Cases))
	case len(file.Cases) == 0:
		return nil, fmt.Errorf("oracle: %s.json holds no cases", family)
	}
	cases := make([]*Case, len(file.Cases))
	for i, j := range file.Cases {
		c, err := j.toCase()
		if err != nil {
			return nil, fmt.Errorf("oracle: %s.json: case %s: %w", family, j.ID, err)
		}
		cases[i] = c
	}
	return cases, nil
}

// caseJSON is a case as the file has it.
type caseJSON struct {
	ID     string
	Op     string
	Inputs []struct {
		Name         string
		Dtype        string
		Shape        []int
		Data         []any
		RequiresGrad bool `json:"requires_grad"`
	}
	Args        json.RawMessage
	Expect      json.RawMessage
	ExpectError map[string]any `json:"expect_error"`
	Tol         *Tolerance
	Source      string
	Notes       string
	Lenient     bool
	Optional    any // a reason, or true
	Requires    string
}

func (j *caseJSON) toCase() (*Case, error) {
	c := &Case{ID: j.ID, Op: j.Op, Args: j.Args, Source: j.Source, Notes: j.Notes, Lenient: j.Lenient, Requires: j.Requires}
	if len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	if j.Tol != nil {
		c.Tol = *j.Tol
	}
	switch v := j.Optional.(type) {
	case string:
		c.Optional = v
	case bool:
		if v {
			c.Optional = "optional"
		}
	}
	for i, in := range j.Inputs {
		data, err := numbers(in.Dtype, in.Data)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		c.Inputs = append(c.Inputs, Input{Name: in.Name, Dtype: in.Dtype, Shape: in.Shape, Data: data, RequiresGrad: in.RequiresGrad})
	}
	if (j.ExpectError == nil) == (j.Expect == nil) {
		return nil, errors.New("must have exactly one of expect and expect_error")
	}
	if j.Expect != nil {
		return c, json.Unmarshal(j.Expect, &c.Expect)
	}
	e := &ExpectedError{Fields: j.ExpectError}
	e.Kind, _ = j.ExpectError["kind"].(string)
	e.PeerType, _ = j.ExpectError["peer_type"].(string)
	e.PeerMessage, _ = j.ExpectError["peer_message"].(string)
	for _, name := range []string{"at_step", "at_statement"} {
		if v, ok := j.ExpectError[name].(float64); ok {
			step := int(v)
			e.Step = &step
		}
	}
	c.Error = e
	return c, nil
}

// Asset returns the contents of a file of the oracle, such as "assets/gpt2.ranks": from the folder that
// LECTERN_ORACLE names, or else from testdata. In either place the file may be gzipped, with .gz appended to its name.
func Asset(name string) ([]byte, error) {
	folder := os.Getenv("LECTERN_ORACLE")
	if folder == "" {
		folder = "testdata"
	}
	path := filepath.Join(folder, filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err == nil {
		return text, nil
	}
	f, gzErr := os.Open(path + ".gz")
	if gzErr != nil {
		if errors.Is(gzErr, fs.ErrNotExist) {
			return nil, fmt.Errorf("oracle: %w (nor is there a .gz of it)", err)
		}
		return nil, fmt.Errorf("oracle: %w", gzErr)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("oracle: %s.gz: %w", path, err)
	}
	text, err = io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("oracle: %s.gz: %w", path, err)
	}
	return text, nil
}
