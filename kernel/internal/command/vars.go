package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"unicode"

	"github.com/lectern-go/lectern/kernel/internal/private"
	"github.com/lectern-go/lectern/kernel/persist"
)

func varsCommand() *command {
	return &command{
		name:  "vars",
		short: "list the variables of running kernels",
		long: `
Vars lists the variables that running kernels of this machine's user remember: names, types, shapes and bytes, kernel by kernel, as %vars
does inside a notebook. Variables that could not be kept follow, with the reason. Example:

  go run ./kernel vars`,
		run: func(_ context.Context, ws *workspace, args []string) error {
			if len(args) > 0 {
				return usagef("it takes no arguments")
			}
			kernels := runningKernels(os.TempDir())
			if len(kernels) == 0 {
				fmt.Fprintln(ws.stdout, "no kernel is running")
				return nil
			}
			for i, k := range kernels {
				if i > 0 {
					fmt.Fprintln(ws.stdout)
				}
				m, err := persist.ReadManifest(k.values)
				if err != nil {
					fmt.Fprintf(ws.stderr, "kernel %s: %v\n", k.pid, err)
					continue
				}
				fmt.Fprintf(ws.stdout, "kernel %s in %s\n", k.pid, printable(k.where))
				listVars(ws.stdout, m)
			}
			return nil
		},
	}
}

// A runningKernel is what a kernel's working folder says about it.
type runningKernel struct{ pid, where, values string }

// aboutLimit is more bytes than a kernel can say about itself: a number and three paths.
const aboutLimit = 64 << 10

// runningKernels finds the working folders in dir of this user's kernels that are alive. Others may put folders of
// that name there too: what they hold is neither read nor believed.
func runningKernels(dir string) (list []runningKernel) {
	found, _ := filepath.Glob(filepath.Join(dir, "lectern-kernel-*"))
	sort.Strings(found)
	for _, d := range found {
		b, err := readAbout(d)
		lines := strings.Split(string(b), "\n")
		if err != nil || len(lines) < 4 || !alive(lines[0]) || private.Check(lines[3]) != nil {
			continue
		}
		k := runningKernel{pid: lines[0], where: lines[1], values: lines[3]}
		if lines[2] != "" {
			k.where = lines[2] // Jupyter says which notebook it is
		}
		list = append(list, k)
	}
	return list
}

// readAbout reads what a kernel says about itself in its working folder.
func readAbout(dir string) ([]byte, error) {
	root, err := private.Open(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return private.ReadFile(root, "about", aboutLimit)
}

// printable is text without characters that a terminal would obey.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// alive reports whether a process exists.
func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 0 {
		return false
	}
	p, err := os.FindProcess(n)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

// listVars writes a table of what a kernel keeps.
func listVars(w io.Writer, m *persist.Manifest) {
	if len(m.Vars) == 0 {
		fmt.Fprintln(w, "  no variables")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(m.Vars) > 0 {
		fmt.Fprintln(t, "  name\ttype\tshape\tbytes\tof data")
	}
	for _, name := range sortedNames(m.Vars) {
		v := m.Vars[name]
		fmt.Fprintf(t, "  %s\t%s\t%s\t%d\t%d\n", name, printable(shortType(v.Type)), printable(v.Shape), v.Bytes, v.Data)
	}
	t.Flush()
	for _, name := range sortedNames(m.Notes) {
		if _, kept := m.Vars[name]; !kept && name != "" {
			fmt.Fprintf(w, "  %s\n", printable(m.Notes[name]))
		}
	}
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// shortType drops the paths of packages: *github.com/a/b.T becomes *b.T, main.T becomes T.
func shortType(t string) string {
	var b strings.Builder
	for t != "" {
		i := strings.IndexFunc(t, func(r rune) bool { return strings.ContainsRune("*[](){},; ", r) })
		if i < 0 {
			i = len(t)
		}
		word := t[:i]
		word = strings.TrimPrefix(word[strings.LastIndexByte(word, '/')+1:], "main.")
		b.WriteString(word)
		if i < len(t) {
			b.WriteByte(t[i])
			i++
		}
		t = t[i:]
	}
	return b.String()
}
