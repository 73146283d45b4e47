package persist

import (
	"flag"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// Flags are defined in one cell and parsed in another. A flag of one of package flag's own types is kept as a pointer
// to the variable that it sets; all others, as what package flag was given.

// Flags are the flags of a flag.FlagSet.
type Flags struct {
	Parsed bool
	Args   []string
	Flags  []keptFlag
}

type keptFlag struct {
	Name, Usage, Default string
	Value                any  // a pointer to a variable, a function, or a flag.Value
	Switch               bool // the function needs no value on the command line
	Given                bool // it is set
}

// libraryFlags are the names of flags that each process defines for itself; nil before they are known.
var libraryFlags []string

// ReadFlags returns the flags that the cells have defined by functions of package flag; nil if there are none, and
// nothing was parsed.
func ReadFlags() *Flags {
	if libraryFlags == nil {
		libraryFlags = []string{}
		flag.VisitAll(func(f *flag.Flag) { libraryFlags = append(libraryFlags, f.Name) })
	}
	if fs := flagsOf(flag.CommandLine, libraryFlags); fs.Parsed || len(fs.Flags) > 0 {
		return fs
	}
	return nil
}

// ParseFlags parses the arguments of a cell for flags of earlier cells. Without any, arguments are the cell's own.
func ParseFlags() {
	if fs := ReadFlags(); fs != nil && len(fs.Flags) > 0 {
		flag.Parse()
	}
}

// SetFlags returns a function that defines flags again, except those whose names the cell itself may define. If
// fresh is true, they have their default values, as in a program that begins.
func SetFlags(fresh bool, names ...string) func(*Flags) {
	return func(fs *Flags) {
		fs.Flags = slices.DeleteFunc(slices.Clone(fs.Flags), func(f keptFlag) bool { return slices.Contains(names, f.Name) || flag.Lookup(f.Name) != nil })
		if fresh {
			fs.Parsed = false
		}
		fs.define(flag.CommandLine, fresh)
	}
}

func flagsOf(set *flag.FlagSet, without []string) *Flags {
	fs := &Flags{Parsed: set.Parsed(), Args: set.Args()}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	set.VisitAll(func(f *flag.Flag) {
		if slices.Contains(without, f.Name) {
			return
		}
		k := keptFlag{Name: f.Name, Usage: f.Usage, Default: f.DefValue, Value: f.Value, Given: given[f.Name]}
		v := reflect.ValueOf(f.Value)
		switch t := v.Type(); {
		case v.Kind() == reflect.Pointer && t.Elem().PkgPath() == "flag":
			if g, ok := f.Value.(flag.Getter); ok {
				k.Value = reflect.NewAt(reflect.TypeOf(g.Get()), v.UnsafePointer()).Interface()
			}
		case v.Kind() == reflect.Func && t.PkgPath() == "flag":
			k.Value = v.Convert(reflect.TypeFor[func(string) error]()).Interface()
			_, k.Switch = f.Value.(interface{ IsBoolFlag() bool })
		}
		fs.Flags = append(fs.Flags, k)
	})
	return fs
}

// placeholder is what a flag is first defined with: to set it changes nothing.
type placeholder struct{}

func (placeholder) String() string   { return "" }
func (placeholder) Set(string) error { return nil }

func (fs *Flags) define(set *flag.FlagSet, fresh bool) {
	for i := range fs.Flags {
		k := &fs.Flags[i]
		set.Var(placeholder{}, k.Name, k.Usage)
		if k.Given && !fresh {
			set.Set(k.Name, "")
		}
		f := set.Lookup(k.Name)
		f.Value, f.DefValue = k.value(), k.Default
		if _, own := k.Value.(flag.Value); !own && fresh && reflect.TypeOf(k.Value).Kind() == reflect.Pointer {
			f.Value.Set(k.Default)
		}
	}
	if fs.Parsed {
		set.Parse(append([]string{"--"}, fs.Args...))
	}
}

// value is the flag's value as package flag makes it.
func (k *keptFlag) value() flag.Value {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	switch p := k.Value.(type) {
	case *bool:
		set.BoolVar(p, k.Name, *p, "")
	case *int:
		set.IntVar(p, k.Name, *p, "")
	case *int64:
		set.Int64Var(p, k.Name, *p, "")
	case *uint:
		set.UintVar(p, k.Name, *p, "")
	case *uint64:
		set.Uint64Var(p, k.Name, *p, "")
	case *string:
		set.StringVar(p, k.Name, *p, "")
	case *float64:
		set.Float64Var(p, k.Name, *p, "")
	case *time.Duration:
		set.DurationVar(p, k.Name, *p, "")
	case func(string) error:
		if k.Switch {
			set.BoolFunc(k.Name, "", p)
		} else {
			set.Func(k.Name, "", p)
		}
	case flag.Value:
		return p
	}
	return set.Lookup(k.Name).Value
}

// keptFlagSet is the kept state of a flag.FlagSet that a variable holds.
type keptFlagSet struct {
	Name   string
	Errors flag.ErrorHandling
	Output io.Writer
	Usage  func() // nil for the one that each set begins with
	Flags  Flags
}

// FlagSets lets variables that hold a flag.FlagSet live on. It comes before Begin, in programs that use package flag:
// in all others its code would be of no use.
func FlagSets() {
	cellstate.RegisterType(func(set *flag.FlagSet) any {
		k := &keptFlagSet{set.Name(), set.ErrorHandling(), set.Output(), set.Usage, *flagsOf(set, nil)}
		if isStandardUsage(set.Usage) {
			k.Usage = nil
		}
		return k
	}, func(set *flag.FlagSet, state any) {
		k := state.(*keptFlagSet)
		set.Init(k.Name, k.Errors)
		set.SetOutput(k.Output)
		if set.Usage = k.Usage; k.Usage == nil {
			set.Usage = standardUsage(set)
		}
		k.Flags.define(set, false)
	})
}

// standardUsage is what flag.NewFlagSet sets as Usage. It is known by the name of its code.
//
//go:noinline
func standardUsage(set *flag.FlagSet) func() {
	return func() {
		if set.Name() == "" {
			fmt.Fprintln(set.Output(), "Usage:")
		} else {
			fmt.Fprintf(set.Output(), "Usage of %s:\n", set.Name())
		}
		set.PrintDefaults()
	}
}

func isStandardUsage(f func()) bool {
	if f == nil {
		return false
	}
	name := codeName(code(*(*unsafe.Pointer)(unsafe.Pointer(&f))))
	return name == "flag.(*FlagSet).defaultUsage-fm" || strings.HasSuffix(name, "/persist.standardUsage.func1")
}
