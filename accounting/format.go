package accounting

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// short writes a number of any size with five significant digits: 4.3772e22,
// 989.5e12, 16384. Exponents are multiples of three up to 1e15.
func short(x float64) string {
	if math.IsInf(x, 0) || math.IsNaN(x) || x == 0 {
		return fmt.Sprint(x)
	}
	// The exponent is that of the rounded number: 999,999,999 is 1e9.
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(x, 'e', 4, 64), "e")
	exponent, err := strconv.Atoi(power)
	if err != nil {
		panic(err)
	}
	switch {
	case exponent >= 18 || exponent < -3:
		return trim(mustParse(mantissa), 5) + "e" + strconv.Itoa(exponent)
	case exponent >= 6:
		exponent = exponent / 3 * 3
		return trim(x/math.Pow(10, float64(exponent)), 5) + "e" + strconv.Itoa(exponent)
	}
	return trim(x, 5)
}

// trim writes x with a number of significant digits, without trailing zeros.
func trim(x float64, digits int) string { return strconv.FormatFloat(rounded(x, digits), 'f', -1, 64) }

// rounded returns x with a number of significant digits.
func rounded(x float64, digits int) float64 {
	return mustParse(strconv.FormatFloat(x, 'g', digits, 64))
}

func mustParse(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return x
}

// rate writes a speed: "426.1 GFLOP/s", "3.35 TB/s".
func rate(perSecond float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	i := 0
	for r := rounded(perSecond, 4); math.Abs(r) >= 1000 && i < len(prefixes)-1; r /= 1000 { // which may have the next prefix
		perSecond /= 1000
		i++
	}
	return trim(perSecond, 4) + " " + prefixes[i] + unit + "/s"
}

// preformatted shows text in a notebook as it is.
func preformatted(text string) string { return "<pre>" + html.EscapeString(text) + "</pre>\n" }
