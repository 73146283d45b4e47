//go:build unix

// Command server is Lectern's kernel: the process that Jupyter starts.
//
//	lectern-kernel CONNECTION_FILE
//
// It turns cells into programs, builds them and runs them: cells are bare Go, the last expression is shown, variables
// live on, errors point at the user's own lines. GoNB is started when a cell needs what only GoNB can do: its protocol
// for displays and widgets.
//
// It is built as .lectern/bin/lectern-kernel and finds the repository from there; the flags -root and -bin override
// that. These environment variables change what it does:
//
//	LECTERN_ROOT           the repository, if -root is not given
//	LECTERN_COMMAND        how its user calls the command that sets the kernel up
//	LECTERN_LANG           the language of the lessons, such as zh: what errors mean is said in it, too
//	LECTERN_LEAN           if set, the library is compiled only when a cell imports it
//	LECTERN_KEEP_LIMIT     how many bytes of values a kernel may keep, such as 4G; otherwise half of the disk's room
//	LECTERN_KEEP_ON_DISK   if set, values are kept on disk, not on the memory disk
//	LECTERN_GET            the folder of the module for fetched packages; otherwise .lectern/get
//	LECTERN_OUTPUT         how many lines a cell shows of what it prints, 0 for all; %output says otherwise
//	LECTERN_OFFLINE        if set, imports fetch no modules
//	LECTERN_PROGRAMS       a folder of programs that kernels share: a cell's program that is there is not built again
//	LECTERN_MESSAGE_LIMIT  how many megabytes a message may have, if 64 are too few
//	LECTERN_GRADER_TIMEOUT how long a cell may run where nbgrader grades, such as 30s
//	LECTERN_GRADER_TOTAL   how long a submission may run with all its cells, such as 10m
//	LECTERN_GRADER_MEMORY  how many megabytes a submission may use then
//	LECTERN_GRADER_TRUST   if set, submissions are not isolated
//
// Where NBGRADER_EXECUTION is autograde, as nbgrader sets it, the kernel runs the notebook's cells in another kernel in
// a sandbox, and grades calls to lesson.Grade itself.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/layered"
	"github.com/lectern-go/lectern/kernel/internal/sandbox"
)

func main() {
	sandbox.Main()
	if len(os.Args) == 3 && os.Args[1] == watchArg {
		watch(os.Args[2])
		return
	}
	if len(os.Args) == 4 && os.Args[1] == cacheArg {
		if err := layered.Serve(os.Stdin, os.Stdout, os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "lectern-kernel:", err)
			os.Exit(1)
		}
		return
	}
	c := config{}
	flag.StringVar(&c.root, "root", "", "the `folder` of the module that cells import from (default: the one that holds .lectern)")
	flag.StringVar(&c.bin, "bin", "", "the `folder` with gonb and goimports (default: the one of this program)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: lectern-kernel [-root DIR] [-bin DIR] CONNECTION_FILE")
		flag.PrintDefaults()
	}
	ready := flag.Bool(strings.TrimPrefix(prepareArg, "-"), false, "compile and store what cells import, and start no kernel")
	exported := flag.String(strings.TrimPrefix(exportArg, "-"), "", "write the `notebook` as a Go program into the folder -o, and start no kernel")
	out := flag.String("o", "", "the `folder` for that")
	flag.Parse()
	if *exported != "" && flag.NArg() == 0 {
		if err := c.complete(); err != nil {
			fmt.Fprintln(os.Stderr, "lectern-kernel:", err)
			os.Exit(1)
		}
		if err := exportNotebook(c, *exported, *out); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if *ready && flag.NArg() == 0 {
		if err := c.complete(); err != nil {
			fmt.Fprintln(os.Stderr, "lectern-kernel:", err)
			os.Exit(1)
		}
		os.Exit(prepare(c))
	}
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	c.connection = flag.Arg(0)
	if err := c.complete(); err != nil {
		fmt.Fprintln(os.Stderr, "lectern-kernel:", err)
		os.Exit(1)
	}
	live := run
	if os.Getenv(nbgraderVar) == "autograde" {
		live = runGrader
	}
	if err := live(c); err != nil {
		fmt.Fprintln(os.Stderr, "lectern-kernel:", err)
		os.Exit(1)
	}
}

// setupCommand is what the user calls to set the kernel up.
func setupCommand() string { return cmp.Or(os.Getenv("LECTERN_COMMAND"), "go run ./kernel") }

// config is where things are.
type config struct {
	connection string // Jupyter's connection file
	root       string // the module of the lessons
	bin        string // the pinned tools
	home       *home  // the module that the notebook lies in; nil if that is the lessons', or there is none
	get        string // the module that %get writes; "" for the one beside the lessons'
	own        bool   // it is the notebook's own
	notebook   string // its file, as far as it is known
	mine       string // the folder of the student's own package; "" if there is none beside the notebook
	store      string // where the notebook's own module is kept between kernels; "" if its file is not known
}

// complete fills in what was not given and checks that it is there.
func (c *config) complete() error {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	if err != nil {
		return err
	}
	if c.bin == "" {
		c.bin = filepath.Dir(exe)
	}
	if c.root == "" {
		c.root = os.Getenv("LECTERN_ROOT")
	}
	if c.root == "" {
		c.root = filepath.Dir(filepath.Dir(c.bin)) // …/.lectern/bin
	}
	for _, p := range []*string{&c.bin, &c.root, &c.connection} {
		if *p, err = filepath.Abs(*p); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(c.root, "go.mod")); err != nil {
		return fmt.Errorf("there is no module in %s: %w; give its folder with -root", c.root, err)
	}
	return nil
}
