// Package rewrite turns a notebook cell of bare Go into a whole Go program, and knows where each part of it came from.
//
// It is a pure function of the cell and of a [Session], the only record of what earlier cells have declared:
//
//  1. The cell is cut into imports, declarations and statements (split.go); lines for the kernel, its
//     magics, are taken out (magic.go).
//  2. The user's text is type-checked as it is, together with the remembered declarations and variables (check.go).
//     An error is the user's, and nothing else happens.
//  3. Top-level variables become package-level variables of the types found, so that functions and closures see them,
//     initializers run once and nothing is "declared and not used" (variables.go). A name that has meant a package may
//     mean something else from then on (shadow.go).
//  4. Function literals that may be stored move to the package level, so that package persist can make them
//     again in a later cell (literals.go).
//  5. The last expression is shown (echo.go), loops can be interrupted (persist.go), reads of standard input ask in the
//     notebook (redirect.go), and a //step cell records its statements (steps.go).
//  6. The program is put together from what the cell can reach (reach.go, compose.go). It restores the variables that
//     it needs before the first statement and registers those that it defines. What else code does, such as
//     starting goroutines, is found once, when it is declared (effects.go).
//  7. Where programs take long to build, those of several cells become one (chain.go). Like package export it goes by
//     the program's pieces and by what names mean in each of them (pieces.go), which is found out only once.
//
// Every byte of the program is either the user's, with its place in the cell that it came from, or written here
// (edits.go, text.go).
package rewrite
