// Package bench measures Lectern beside what people would use instead: the groups of comparisons that the command
// internal/bench runs. It stands on everything else, and so is not among the packages that everything stands on.
//
// To add a group, write a file that registers it in init; see tokenizer.go.
package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// A group is a set of comparisons that are run and read together.
type group struct {
	kind  string // the flag that asks for it: one of kinds
	name  string
	about string // one line
	run   func(ctx context.Context, r *report) error
}

var groups []group

// register adds a group. It is called from init functions.
func register(kind, name, about string, run func(ctx context.Context, r *report) error) {
	groups = append(groups, group{kind, name, about, run})
}

// children are parts of groups that run in a process of their own, so that their memory can be told from
// that of the rest: this program calls itself with -child and a name.
var children = map[string]func(args []string) error{}

// kinds are the flags that choose groups.
var kinds = map[string]string{
	"peers":  "compare with other libraries",
	"kernel": "compare the notebook kernel with stock GoNB",
	"self":   "compare the library with itself, built in another way",
	"pages":  "time the lessons' pages in a browser",
}

// Main is the command: it reads the flags, runs the groups that they ask for, and ends the process.
func Main() {
	if len(os.Args) > 2 && os.Args[1] == "-child" {
		var failed error
		if err := tensor.Try(func() { failed = children[os.Args[2]](os.Args[3:]) }); err != nil || failed != nil {
			fmt.Fprintln(os.Stderr, errors.Join(err, failed))
			os.Exit(1)
		}
		return
	}
	chosen := map[string]*bool{}
	for kind, about := range kinds {
		chosen[kind] = flag.Bool(kind, false, about)
	}
	list := flag.Bool("list", false, "list the groups")
	rounds := flag.Int("rounds", 3, "how often each case is measured; the best counts")
	threads := flag.Int("threads", 2, "threads of both sides, where the case does not say 1")
	only := flag.String("cases", "", "only the cases whose name this regular expression matches, in groups candle, cpu, ggml, gomlx, gpu, lm, slow and sweep")
	record := flag.String("record", "", "a file for the figures of the last group, in the form that lessons take them from")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./internal/bench -peers|-kernel|-self|-pages [group ...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	sort.Slice(groups, func(i, j int) bool { return groups[i].name < groups[j].name })
	if *list {
		for _, g := range groups {
			fmt.Printf("-%s %-12s %s\n", g.kind, g.name, g.about)
		}
		return
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: -cases:", err)
		os.Exit(2)
	}
	picked, err := pick(chosen, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed := false
	var last []string
	for _, g := range picked {
		r := &report{name: g.name, rounds: max(1, *rounds), threads: max(1, *threads), only: match}
		fmt.Printf("%s: %s\n", g.name, g.about)
		if err := g.run(ctx, r); err != nil {
			if errors.Is(err, context.Canceled) {
				fmt.Println("stopped")
				os.Exit(130)
			}
			fmt.Printf("  failed: %v\n", err)
			failed = true
		}
		if *record != "" {
			if err := r.record(*record); err != nil {
				fmt.Printf("  failed: %v\n", err)
				failed = true
			}
		}
		failed = failed || r.missed
		last = append(last, r.summary())
	}
	fmt.Println(strings.Join(last, "\n"))
	if failed {
		os.Exit(1)
	}
}

// pick returns the groups that the command line asks for.
func pick(chosen map[string]*bool, names []string) ([]group, error) {
	var picked []group
	for _, g := range groups {
		if asked := chosen[g.kind]; asked != nil && *asked && (len(names) == 0 || slices.Contains(names, g.name)) {
			picked = append(picked, g)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(picked, func(g group) bool { return g.name == name }) {
			return nil, fmt.Errorf("no group %q here; -list shows what there is", name)
		}
	}
	if len(picked) == 0 {
		return nil, errors.New("nothing to do; say -peers, -kernel, -self or -pages, or -list for what there is")
	}
	return picked, nil
}
