// Package rewrite turns a notebook cell of bare Go into a cell that GoNB can compile and run, and knows where each part of it came from.
//
// It is a pure function of the cell and of a [Session], what is known about the cells before:
//
//  1. The cell is cut into imports, declarations and statements (split.go); lines for GoNB itself, its magics, are taken out (magic.go).
//  2. The user's text is type-checked as it is, together with the remembered declarations and variables (check.go).
//     An error is the user's, and nothing else happens.
//  3. Top-level variables become package-level variables of the types found, so that functions and closures see them, initialisers
//     run once and nothing is "declared and not used" (variables.go).
//  4. What the cell can reach is restored before its first statement, and what it defines is registered for keeping (reach.go, keep.go).
//  5. The last expression is shown (echo.go), loops can be interrupted (loops.go), reads of standard input ask in the notebook (stdin.go), and a
//     //step cell records its statements (steps.go).
//  6. The result is checked again, as the program that will be built (compose.go).
//
// Every byte of the result is either the user's, with its place in the cell that it came from, or written here (text.go).
package rewrite
