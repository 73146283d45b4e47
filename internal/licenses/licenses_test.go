// Package licenses keeps the list of what the project's programs are made of besides its own code.
package licenses

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

var update = flag.Bool("update", false, "write THIRD_PARTY.md again")

// A sentence of each license that may be linked into programs under the MIT license without further duties than naming
// it. A person must look at a text that matches none.
var known = []struct{ name, sentence string }{
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
	{"Apache-2.0", "Apache License Version 2.0"},
	{"OFL-1.1", "SIL OPEN FONT LICENSE Version 1.1"},
	{"FTL", "The FreeType License, which is similar to the original BSD license"}, // or the GPL, as one chooses
	{"CC-BY-4.0", "Creative Commons Attribution 4.0 International"},
	{"Unlicense", "This is free and unencumbered software released into the public domain"},
}

const head = `# What else is inside

The modules that the command, the kernel, the library and the lessons are built from, with their licenses. ` + "`go test ./internal/licenses`" + ` keeps
this list true. GoNB and goimports are built beside them, as programs of their own, from [tools/cells/go.mod](tools/cells/go.mod); JupyterLab
comes from its own packages.

` + "`tokenizer/vocab/gpt2.merges`" + ` holds the merges of GPT-2's vocabulary, which OpenAI published with the model, (c) 2019 OpenAI, under a
[modified MIT license](https://github.com/openai/gpt-2/blob/master/LICENSE).

| module | version | license |
|---|---|---|
`

func TestThirdParty(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not here")
	}
	cmd := exec.Command("go", "list", "-deps", "-json=Module", "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64") // each system has modules of its own
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		m := p.Module
		if m == nil || m.Main || rows[m.Path] != "" {
			continue
		}
		names := licenses(t, m.Dir)
		if len(names) == 0 {
			t.Errorf("%s in %s has a license that is not known, or none", m.Path, m.Dir)
		}
		rows[m.Path] = fmt.Sprintf("| [%s](https://pkg.go.dev/%s@%s) | %s | %s |\n", m.Path, m.Path, m.Version, m.Version, strings.Join(names, ", "))
	}
	want := head
	var paths []string
	for p := range rows {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		want += rows[p]
	}
	file := filepath.Join("..", "..", "THIRD_PARTY.md")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("THIRD_PARTY.md is not what the modules say (%v); run go test ./internal/licenses -update", err)
	}
}

// licenses names the licenses in a module's folder.
func licenses(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "UNLICENSE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		flat := strings.ToLower(strings.Join(strings.Fields(string(text)), " "))
		for _, l := range known {
			if l.name == "BSD-2-Clause" && slices.Contains(names, "BSD-3-Clause") {
				continue // whose sentence that is, too
			}
			if strings.Contains(flat, strings.ToLower(l.sentence)) && !slices.Contains(names, l.name) {
				names = append(names, l.name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
