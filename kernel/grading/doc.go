// Package grading grades students' notebooks, whose code is not trusted.
//
// An assignment is one notebook, its source, in nbgrader's form: cells are marked in their metadata as solutions, as
// tests or as locked. What is between // BEGIN SOLUTION and // END SOLUTION is for the teacher only, and so is what is
// between // BEGIN HIDDEN TESTS and // END HIDDEN TESTS; [Source.Release] removes both.
//
// A test is a cell of calls to lesson.Grade and nothing else, since the grader runs no test in the student's process:
// there, a function could change what a test sees. A [Runner] starts the student's kernel in a sandbox, has the
// student's function answer the inputs of the cases, and compares the answers outside. So the expected answers never
// come near the student's code, and all that this code can do for its points is to give right answers.
package grading
