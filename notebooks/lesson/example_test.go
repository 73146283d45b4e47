package lesson_test

import "github.com/lectern-go/lectern/notebooks/lesson"

// Before the student has guessed, the answer is not printed. Then it is, with how far off the guess was.
func ExampleGuess() {
	bytes := 32 * 4
	lesson.Guess("How many bytes do 32 numbers of float32 take?", nil, bytes)
	lesson.Guess("How many bytes do 32 numbers of float32 take?", 1024, bytes, lesson.Unit("bytes"))
	lesson.Guess("What shape does the transpose have?", []int{4, 8}, []int{8, 4})
	// Output:
	// ? How many bytes do 32 numbers of float32 take? Put your guess (a number) in place of nil, and run the cell again.
	// ✗ How many bytes do 32 numbers of float32 take? You guessed 1024; it is 128 bytes: a factor of 8 too large; bits for bytes, perhaps.
	// ✗ What shape does the transpose have? You guessed [4 8]; it is [8 4]: the sizes are right, their order is not.
}

func ExampleGrade() {
	sgd := func(p float64, gradients []float64, lr, m float64) float64 {
		b := 0.0
		for _, g := range gradients {
			b = m*b + g
			p += lr * b // uphill
		}
		return p
	}
	lesson.Grade("17.4", sgd)
	// Output:
	// Exercise 17.4: 1 point of 7. The first case that fails (one step):
	//   input   p = 4, gradients = [4], lr = 0.03, m = 0
	//   wanted  3.88
	//   got     4.12
	// lesson.Hint("17.4") helps.
}

func ExampleHint() {
	lesson.Hint("17.4")
	// Output:
	// Hint 1 of 2: Which two numbers change from step to step? One is p. Where does the other begin?
	// lesson.Hint("17.4", 2) says more.
}
