// Package command is what the commands kernel and lectern do: it sets up the Go kernel and
// runs, checks, renders and opens notebooks.
//
//	go run ./kernel setup       build the kernel into .lectern/
//	go run ./kernel lab         open the lessons in JupyterLab
//	go run ./kernel run         execute notebooks, without Python
//	go run ./kernel check       execute notebooks and compare the results with their stored outputs
//	go run ./kernel render      write the lessons as web pages
//	go run ./kernel export      turn a notebook into a Go program
//	go run ./kernel copies      write the lessons as students get them
//	go run ./kernel assignment  turn a lesson into an assignment
//	go run ./kernel release     turn an assignment into what students get
//	go run ./kernel grade       grade what students have handed in
//	go run ./kernel uninstall   remove what these commands have written
//	go run ./kernel version     say which Lectern this is
//
// The exit status is 0 when all went well, 1 when something failed and 2 when the command line was wrong.
package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/lectern-go/lectern/kernel/internal/install"
	"github.com/lectern-go/lectern/kernel/internal/sandbox"
)

// A command is one subcommand.
type command struct {
	name  string
	args  string // what follows the flags, for the usage line
	short string // one line for the list of commands
	long  string // what it does, ending with examples
	run   func(ctx context.Context, ws *workspace, args []string) error
	flags func(*flag.FlagSet)
}

// commands lists them in the order in which a newcomer needs them.
func commands() []*command {
	return []*command{labCommand(), setupCommand(), runCommand(), checkCommand(), renderCommand(), exportCommand(), copiesCommand(), assignmentCommand(), releaseCommand(), gradeCommand(), uninstallCommand()}
}

// usageError is a mistake on the command line.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// reported is the error of a command that has already said what went wrong.
type reported struct{}

func (reported) Error() string { return "failed" }

// self is how the user has called the command, for messages.
var self = goRun

const goRun = "go run ./kernel"

// Main is the program. In messages it is called by its name, or by the name that its parent process passes on.
func Main() {
	sandbox.Main()
	self = cmp.Or(os.Getenv("LECTERN_COMMAND"), strings.TrimSuffix(filepath.Base(os.Args[0]), exeSuffix))
	os.Unsetenv("LECTERN_COMMAND")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := start(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// start finds the command and runs it. The result is the exit status.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] == "help" && len(args) == 1 || args[0] == "-h" || args[0] == "-help" || args[0] == "--help" {
		out := stdout
		if len(args) == 0 {
			out = stderr
		}
		overview(out)
		if len(args) == 0 {
			return 2
		}
		return 0
	}
	name, rest := args[0], args[1:]
	if slices.Contains([]string{"version", "-version", "--version"}, name) {
		fmt.Fprintf(stdout, "Lectern %s, %s, %s/%s\n", install.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return 0
	}
	if name == "help" {
		name, rest = rest[0], []string{"-h"}
	}
	var c *command
	for _, k := range commands() {
		if k.name == name {
			c = k
		}
	}
	if c == nil {
		fmt.Fprintf(stderr, "kernel: there is no command %q; %s help lists them\n", name, self)
		return 2
	}
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	if c.flags != nil {
		c.flags(fs)
	}
	operands, err := parse(fs, rest)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help(stdout, c, fs)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "kernel %s: %v; %s %s -h shows what it takes\n", name, err, self, name)
		return 2
	}
	ws, err := findWorkspace(ctx, stdout, stderr, name == "uninstall")
	if err == nil {
		err = c.run(ctx, ws, operands)
	}
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "kernel %s: %v; %s %s -h shows what it takes\n", name, err, self, name)
		return 2
	case errors.As(err, &reported{}):
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "kernel %s: interrupted\n", name)
	default:
		fmt.Fprintf(stderr, "kernel %s: %v\n%s", name, err, remedy(err))
	}
	return 1
}

// parse takes flags before, between and after the operands, which it returns. After -- there are no flags.
func parse(fs *flag.FlagSet, args []string) (operands []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		rest := fs.Args()
		if len(rest) == 0 {
			return operands, nil
		}
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			return append(operands, rest...), nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
}

// remedy says what to do about an error that only repeats what the system told Go; it ends with a line break.
func remedy(err error) string {
	text := err.Error()
	says := func(any ...string) bool {
		return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(text, s) })
	}
	switch {
	case errors.Is(err, syscall.ENOSPC) || says("no space left on device"):
		return "hint: the disk is full. Setup needs about 1.5 GB, most of it for Go's caches; these can be on another disk: set GOMODCACHE and GOCACHE\n"
	case says("module lookup disabled by GOPROXY=off", "dial tcp", "network is unreachable", "no such host"):
		return "hint: Go could not download modules. Setup needs the network once; where a proxy is needed, GOPROXY or HTTPS_PROXY names it\n"
	}
	return ""
}

func overview(w io.Writer) {
	fmt.Fprintf(w, "Go notebooks: the Jupyter kernel of the Lectern lessons, and what goes with it.\n\nUsage: %s <command> [flags] [arguments]\n\n", self)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-11s %s\n", c.name, c.short)
	}
	fmt.Fprintf(w, "\nStart with: %[1]s lab\nMore on a command: %[1]s <command> -h\nWhich Lectern this is: %[1]s version\n", self)
}

func help(w io.Writer, c *command, fs *flag.FlagSet) {
	usage := self + " " + c.name
	n := 0
	fs.VisitAll(func(*flag.Flag) { n++ })
	if n > 0 {
		usage += " [flags]"
	}
	if c.args != "" {
		usage += " " + c.args
	}
	fmt.Fprintf(w, "Usage: %s\n\n%s\n", usage, strings.ReplaceAll(strings.TrimSpace(c.long), goRun, self))
	if n > 0 {
		fmt.Fprint(w, "\nFlags:\n")
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
}
