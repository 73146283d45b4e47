// Package humanize writes numbers and texts the way people read them. All tables, errors and pages of the project use
// it, so that 2,304 MiB is 2,304 MiB everywhere.
package humanize

import (
	"math"
	"strconv"
	"strings"
)

// Thousands writes an integer with commas: 503,316,480.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes writes a number of bytes: "496 bytes", "2,304 MiB", "62.8 GiB". From ten thousand on, or when nothing gets
// lost, the unit grows: an integer says more than a rounded number of the next unit.
func Bytes(n int) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	value, unit := float64(n), 0
	for unit < len(units)-1 && (math.Abs(value) >= 10*1024 || value != 0 && math.Mod(value, 1024) == 0) {
		value /= 1024
		unit++
	}
	if value == math.Trunc(value) {
		return Thousands(int(value)) + " " + units[unit]
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + " " + units[unit]
}

// Shorten cuts a text to a largest number of characters, the last of which is then "…".
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return strings.TrimRight(string(r[:most-1]), " ") + "…"
}

// Significant writes a number with a number of significant digits, and with an exponent if it would be long: 6.3e24.
func Significant(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'g', digits, 64)
	if y, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(y) < 1e15 && (math.Abs(y) >= 1e-4 || y == 0) {
		return strconv.FormatFloat(y, 'f', -1, 64)
	}
	return strings.Replace(s, "e+", "e", 1)
}

// Count writes a number of things: "1 axis", "2 axes". The noun is given in the singular.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + plural(noun)
}

// plural follows the usual spelling rules; "axis" is the only exception among our nouns.
func plural(noun string) string {
	stem, vowels := noun[:len(noun)-1], "aeiou"
	switch {
	case strings.HasSuffix(noun, "axis"):
		return noun[:len(noun)-2] + "es"
	case strings.HasSuffix(noun, "index"), strings.HasSuffix(noun, "matrix"):
		return noun[:len(noun)-2] + "ices"
	case strings.HasSuffix(noun, "y") && !strings.ContainsAny(stem[len(stem)-1:], vowels):
		return stem + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"):
		return noun + "es"
	}
	return noun + "s"
}
