// Package persist carries the values of a notebook's variables from one cell's process to the next.
//
// All variables that a cell touched are written as one object graph, so that sharing survives: two variables that
// point at the same struct, slices of one array, a pointer to a field or an element, an optimizer that points at a
// model's tensors. Unexported fields are kept too. Variables that share anything form a group, which is written to one
// file and restored as a whole.
//
// Large arrays without pointers become files of their own that later cells map into memory: restoring them copies
// nothing, and writes into them need no saving. A group that has not changed is not written again.
//
// A type may choose its kept state, with two methods on the pointer:
//
//	func (t *T) KeepState() any          // returns a pointer to a plain struct with the state to keep
//	func (t *T) RestoreState(state any)  // called on a zero T that keep has allocated, with a pointer to such a struct
//
// KeepState must work on the zero value too: keep calls it there to learn the type of the struct. Sharing is followed
// through the struct as everywhere, and pointers to the T stay pointers to one T. A library whose types should not have
// such methods registers functions with cellstate.RegisterType instead.
//
// Functions are kept by name, and function literals of the cells by an id and the variables that they capture; see Fn,
// Lit and LitOf. Errors and other variables of libraries that are compared by identity are kept by name, too; see
// Same.
//
// What a process holds outside its own memory can't be kept: channels, open files, connections. A variable that
// contains one is not remembered, and the cell says so once, with the reason. Locks that a cell leaves locked are
// locked in later cells, but not if it was cut off.
//
// The calls to Begin, Def, Setting, Reg, Link, Lit, LitOf, Fn, Same, FlagSets and Poll are written into cells by the
// kernel (package kernel/server), which reads the manifest to know what there is. Reg, Link, Lit, LitOf, Fn, Same and
// FlagSets come before Begin, Setting after it. A program names with Reg every type that its cells declare at package
// level (but generic types, and interfaces that only constrain), with Lit and Fn every literal and function that may
// be stored, and, with what the manifest says of the groups that it restores, the rest:
//
//	for each of Group.Regs    persist.Reg[T]()
//	for each of Group.Links   persist.Link(expression)
//	for each of Group.Funcs   persist.Lit(id, maker), persist.LitOf(id, maker) or persist.Fn(id, function)
//	for each of Group.Shared  persist.Same(name, variable)
package persist

// A Keeper chooses its kept state; see the package comment.
type Keeper interface {
	KeepState() any
	RestoreState(state any)
}
