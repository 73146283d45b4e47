// Package grading grades notebooks of students, whose code is not trusted.
//
// An assignment is one notebook, its source, in nbgrader's form: cells are marked in their metadata as solutions, as
// tests or as locked. What lies between // BEGIN SOLUTION and // END SOLUTION is the teacher's, and so is what lies
// between // BEGIN HIDDEN TESTS and // END HIDDEN TESTS; [Source.Release] takes both out.
//
// A test is a cell of calls of lesson.Grade and nothing else, since the grader runs no test in the student's process:
// there, a function could change what a test sees. A [Runner] starts the student's kernel in a sandbox, has the
// student's function answer the inputs of the cases, and compares the answers outside. So the wanted answers never come
// near the student's code, and all that code can do to its points is to give right answers.
package grading
