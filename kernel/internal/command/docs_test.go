package command

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

var (
	codeSpan      = regexp.MustCompile("`[^`\n]+`")
	relativeLink  = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"`)
	kernelCommand = regexp.MustCompile(`go run \./kernel ([a-z]+)((?: -[a-z]+)*)`)
	testCommand   = regexp.MustCompile("go (?:-C (\\S+) )?test ([^`\n#]*)")
	takesValue    = regexp.MustCompile(`^-(run|bench|fuzz|record|count)$`)
	wantedTests   = regexp.MustCompile(`-(run|bench|fuzz) ([A-Za-z]+)`)
)

// documents are the texts for people, by their paths from here.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"../../../*.md", "../../../docs/*.md", "../../../docs/gallery/*.ipynb"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(b)
		}
	}
	return texts
}

// A link into the repository leads somewhere, and to a heading that is there.
func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	links := 0
	texts := documents(t)
	for file, text := range texts {
		for _, m := range relativeLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(text, ""), -1) {
			link := m[1] + m[2]
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			links++
			path, heading, _ := strings.Cut(link, "#")
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", file, link)
				continue
			}
			if heading != "" && !hasHeading(texts[target], heading) {
				t.Errorf("%s: %s has no heading %s", file, target, heading)
			}
		}
	}
	if links < 60 {
		t.Errorf("%d links were found: is the pattern right?", links)
	}
}

// hasHeading reports whether a text has a heading that hosts of repositories give this name.
func hasHeading(text, name string) bool {
	for line := range strings.Lines(text) {
		title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(strings.TrimSpace(title)))
		if slug == name {
			return true
		}
	}
	return false
}

// The commands that show what the documents claim are there: subcommands with their flags, packages, and tests by
// their names.
func TestDocumentsNameCommandsThatExist(t *testing.T) {
	flags := map[string]*flag.FlagSet{}
	for _, c := range commands() {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		if c.flags != nil {
			c.flags(fs)
		}
		flags[c.name] = fs
	}
	flags["version"] = flag.NewFlagSet("version", flag.ContinueOnError)
	seen := 0
	for file, text := range documents(t) {
		for _, m := range kernelCommand.FindAllStringSubmatch(text, -1) {
			seen++
			fs, ok := flags[m[1]]
			if !ok {
				t.Errorf("%s: %q: there is no such command", file, m[0])
				continue
			}
			for _, f := range strings.Fields(m[2]) {
				if fs.Lookup(f[1:]) == nil && f != "-h" {
					t.Errorf("%s: %q: there is no flag %s", file, m[0], f)
				}
			}
		}
		for _, m := range testCommand.FindAllStringSubmatch(text, -1) {
			seen++
			checkTestCommand(t, file, filepath.Join("..", "..", "..", m[1]), m[2])
		}
	}
	if seen < 25 {
		t.Errorf("%d commands were found: are the patterns right?", seen)
	}
}

// checkTestCommand looks for the packages that a `go test` in dir names, and for a test of the name that it asks for.
func checkTestCommand(t *testing.T, file, dir, args string) {
	t.Helper()
	var sources strings.Builder
	words := strings.Fields(args)
	for i, arg := range words {
		if !strings.HasPrefix(arg, ".") || arg == "./..." || arg == "./mine" || // that is a student's
			i > 0 && takesValue.MatchString(words[i-1]) {
			continue
		}
		folder := filepath.Join(dir, strings.TrimSuffix(arg, "/..."))
		tests, _ := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if _, err := os.Stat(folder); err != nil || len(tests) == 0 && !strings.HasSuffix(arg, "/...") {
			t.Errorf("%s: go test %s: %s has no tests", file, args, arg)
		}
		for _, f := range tests {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(b)
		}
	}
	for _, m := range wantedTests.FindAllStringSubmatch(args, -1) {
		kind := map[string]string{"run": "Test", "bench": "Benchmark", "fuzz": "Fuzz"}[m[1]]
		name := strings.TrimPrefix(m[2], kind)
		if !regexp.MustCompile(`(?m)^func ` + kind + `\w*` + name).MatchString(sources.String()) {
			t.Errorf("%s: go test %s: no %s has %s in its name", file, args, kind, name)
		}
	}
}

// The README says how much there is to read: lines of Go without tests, comments and what a program has generated.
func TestReadmeCountsLines(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile("(\\d+),000 lines of Go without tests and comments, (\\d+),000 of them in `tensor/`").FindSubmatch(readme)
	if said == nil {
		t.Fatal("the README does not say how many lines of Go there are")
	}
	all, tensors := 0, 0
	err = filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || path != "../../.." && strings.HasPrefix(name, ".") || name == copiesDir {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(b, []byte("// Code generated")) {
			return err
		}
		n := 0
		for line := range bytes.Lines(b) {
			if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
				n++
			}
		}
		if all += n; strings.HasPrefix(filepath.ToSlash(path), "../../../tensor/") {
			tensors += n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{all, tensors} {
		if thousands, _ := strconv.Atoi(string(said[i+1])); 1000*thousands < n*9/10 || 1000*thousands > n*11/10 {
			t.Errorf("the README says %d,000 lines, there are %d", thousands, n)
		}
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
