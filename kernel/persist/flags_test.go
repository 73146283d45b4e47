package persist

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

// upper is a flag.Value of one's own.
type upper string

func (u *upper) String() string     { return string(*u) }
func (u *upper) Set(s string) error { *u += upper(strings.ToUpper(s)); return nil }

// Every kind of flag comes back with its variable, its default and whether it was given; its value's Set is not called
// again, and what sets begin with as Usage is known by name.
func TestFlagSetsAreKept(t *testing.T) {
	var calls []string
	var own upper
	set := flag.NewFlagSet("tool", flag.ContinueOnError)
	b, i, i64 := set.Bool("b", false, ""), set.Int("i", 1, ""), set.Int64("i64", 2, "")
	u, u64, s := set.Uint("u", 3, ""), set.Uint64("u64", 4, ""), set.String("s", "x", "")
	f, d := set.Float64("f", 0.1, ""), set.Duration("d", time.Second, "")
	set.Func("func", "", func(s string) error { calls = append(calls, s); return nil })
	set.BoolFunc("switch", "", func(s string) error { calls = append(calls, s); return nil })
	set.Var(&own, "own", "a `word`")
	if err := set.Parse(strings.Fields("-b -i=10 -f=0.3 -d=2h -func=one -switch -own=a rest -i=20")); err != nil {
		t.Fatal(err)
	}
	if !isStandardUsage(set.Usage) || isStandardUsage(func() {}) || isStandardUsage(nil) || !isStandardUsage(standardUsage(set)) {
		t.Error("the Usage that a flag.FlagSet begins with isn't known from others")
	}
	describe := func(set *flag.FlagSet) string {
		var out strings.Builder
		set.VisitAll(func(f *flag.Flag) {
			fmt.Fprintf(&out, "%s %T %v %v %s\n", f.Name, f.Value, f.Value, f.DefValue, f.Usage)
		})
		set.Visit(func(f *flag.Flag) { out.WriteString(f.Name + " ") })
		fmt.Fprintln(&out, set.Args(), set.Parsed())
		set.SetOutput(&out)
		set.Usage()
		return out.String()
	}
	FlagSets()
	kept := flagsOf(set, nil)
	again := flag.NewFlagSet("tool", flag.ContinueOnError)
	again.Usage = standardUsage(again)
	kept.define(again, false)
	if got, want := describe(again), describe(set); got != want {
		t.Errorf("a set comes back as\n%s\nand not as\n%s", got, want)
	}
	if err := again.Parse(strings.Fields("-b=false -i=30 -i64=31 -u=32 -u64=33 -s=y -f=0.5 -d=1ms -func=two -switch=false -own=b")); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(*b, *i, *i64, *u, *u64, *s, *f, *d, own, calls)
	if want := "false 30 31 32 33 y 0.5 1ms AB [one true two false]\n"; got != want {
		t.Errorf("the flags set %s, want %s", got, want)
	}
	fresh := flag.NewFlagSet("tool", flag.ContinueOnError)
	kept.define(fresh, true)
	if *i != 1 || *s != "x" || *d != time.Second || own != "AB" || fresh.NFlag() != 0 {
		t.Errorf("a program that begins has i %d, s %q, d %v, own %q, %d given", *i, *s, *d, own, fresh.NFlag())
	}
}
