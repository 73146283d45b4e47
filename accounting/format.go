package accounting

import (
	"fmt"
	"html"
	"math"
	"strconv"
)

// short writes a number of any size with five significant digits: 4.3772e22,
// 989.5e12, 16384. Exponents are multiples of three up to 1e15.
func short(x float64) string {
	abs := math.Abs(x)
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x) || x == 0:
		return fmt.Sprint(x)
	case abs >= 1e18 || abs < 1e-3:
		exponent := int(math.Floor(math.Log10(abs)))
		mantissa := x / math.Pow(10, float64(exponent))
		return trim(mantissa, 5) + "e" + strconv.Itoa(exponent)
	case abs >= 1e6:
		exponent := int(math.Floor(math.Log10(abs))) / 3 * 3
		return trim(x/math.Pow(10, float64(exponent)), 5) + "e" + strconv.Itoa(exponent)
	}
	return trim(x, 5)
}

// trim writes x with a number of significant digits, without trailing zeros.
func trim(x float64, digits int) string {
	return strconv.FormatFloat(mustParse(strconv.FormatFloat(x, 'g', digits, 64)), 'f', -1, 64)
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
	for math.Abs(perSecond) >= 1000 && i < len(prefixes)-1 {
		perSecond /= 1000
		i++
	}
	return trim(perSecond, 4) + " " + prefixes[i] + unit + "/s"
}

// preformatted shows text in a notebook as it is.
func preformatted(text string) string { return "<pre>" + html.EscapeString(text) + "</pre>\n" }
