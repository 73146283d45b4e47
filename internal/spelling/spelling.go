// Package spelling finds the name that a misspelt one was meant to be, for messages that suggest it.
package spelling

import "unicode/utf8"

// Nearest returns the word closest to name, at most limit slips away and by no more than half of the longer one's
// letters: the first of several equally close ones, "" if there is none. It never suggests name itself.
func Nearest(name string, words []string, limit int) string {
	nearest, least := "", limit+1
	for _, w := range words {
		if d := Distance(name, w); d > 0 && d < least && d <= max(utf8.RuneCountInString(name), utf8.RuneCountInString(w))/2 {
			nearest, least = w, d
		}
	}
	return nearest
}

// Distance counts the letters to insert, delete or replace, and the neighbors to swap, to turn a into b.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var before []int
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		next := make([]int, len(y)+1)
		next[0] = i + 1
		for j := range y {
			cost := row[j]
			if x[i] != y[j] {
				cost++
			}
			next[j+1] = min(cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(y)]
}
