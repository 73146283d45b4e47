//go:build unix

package main

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// What the rewriter lets through compiles, unless the compiler knows better, or the code with which we keep values has
// a mistake. The second is no reason to fail a cell that Go would run.

// keepingLess looks for what not to keep so that a cell builds which the compiler has refused. It returns the program
// that was built last, which did, with a note about the values that are not kept; or nil if the keeping is not to
// blame.
func keepingLess(before *rewrite.Session, first *rewrite.Result, cell int, code string, refused *compileError, build func(*rewrite.Result) error) *rewrite.Result {
	why := fmt.Sprintf("it can't be kept, since Go's compiler refuses the code for that (%s). This is a bug in Lectern: please report the cell", refused.first())
	try := func(names []string, literals bool) *rewrite.Result {
		unkept := map[string]string{}
		for _, name := range names {
			unkept[name] = why
		}
		r := before.KeepLess(unkept, literals).Rewrite(cell, code)
		if len(r.Errors) > 0 || r.Program == nil || build(r) != nil {
			return nil
		}
		return r
	}
	all := first.Defines
	if try(all, false) == nil {
		return nil
	}
	if r := try(nil, false); r != nil {
		r.Notes = append(r.Notes, "function values of this cell are not remembered by later cells: "+why)
		return r
	}
	for _, literals := range []bool{true, false} { // as little as will do
		for i := range all {
			if r := try(all[i:i+1], literals); r != nil {
				return r
			}
		}
	}
	need := slices.Clone(all)
	for i := len(need) - 1; i >= 0; i-- { // several are to blame
		if less := slices.Delete(slices.Clone(need), i, i+1); try(less, false) != nil {
			need = less
		}
	}
	return try(need, false)
}
