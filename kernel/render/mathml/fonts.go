package mathml

// font is a letter style. MathML Core has no attribute for most of them: a bold
// letter is another character, from the block of mathematical alphanumerics.
type font int

const (
	italic font = iota // TeX's default
	roman
	bold
	boldItalic
	blackboard
	calligraphic
	fraktur
	sans
	typewriter
)

var fontCommands = map[string]font{
	"mathrm": roman, "mathup": roman, "mathit": italic, "mathnormal": italic, "mathbf": bold, "boldsymbol": boldItalic, "bm": boldItalic, "mathbb": blackboard,
	"mathcal": calligraphic, "mathscr": calligraphic, "mathfrak": fraktur, "mathsf": sans, "mathtt": typewriter,
}

// Where each style's letters begin; zero means that the style lacks them.
var alphabets = map[font]struct{ upper, lower, digit, greekUpper, greekLower rune }{
	bold:         {0x1D400, 0x1D41A, 0x1D7CE, 0x1D6A8, 0x1D6C2},
	boldItalic:   {0x1D468, 0x1D482, 0x1D7CE, 0x1D71C, 0x1D736},
	blackboard:   {0x1D538, 0x1D552, 0x1D7D8, 0, 0},
	calligraphic: {0x1D49C, 0x1D4B6, 0, 0, 0},
	fraktur:      {0x1D504, 0x1D51E, 0, 0, 0},
	sans:         {0x1D5A0, 0x1D5BA, 0x1D7E2, 0, 0},
	typewriter:   {0x1D670, 0x1D68A, 0x1D7F6, 0, 0},
}

// Letters that Unicode had before the block, whose places in it are empty.
var older = map[font]map[rune]rune{
	blackboard:   {'C': 'ℂ', 'H': 'ℍ', 'N': 'ℕ', 'P': 'ℙ', 'Q': 'ℚ', 'R': 'ℝ', 'Z': 'ℤ'},
	calligraphic: {'B': 'ℬ', 'E': 'ℰ', 'F': 'ℱ', 'H': 'ℋ', 'I': 'ℐ', 'L': 'ℒ', 'M': 'ℳ', 'R': 'ℛ', 'e': 'ℯ', 'g': 'ℊ', 'o': 'ℴ'},
	fraktur:      {'C': 'ℭ', 'H': 'ℌ', 'I': 'ℑ', 'R': 'ℜ', 'Z': 'ℨ'},
}

// The Greek signs that follow the letters in the mathematical block.
var greekVariants = map[rune]rune{'∂': 25, 'ϵ': 26, 'ϑ': 27, 'ϰ': 28, 'ϕ': 29, 'ϱ': 30, 'ϖ': 31}

// style returns r in the font, or r itself where the font has no such letter.
func (f font) style(r rune) rune {
	if o, ok := older[f][r]; ok {
		return o
	}
	a, ok := alphabets[f]
	if !ok {
		return r
	}
	switch {
	case r >= 'A' && r <= 'Z':
		return a.upper + r - 'A'
	case r >= 'a' && r <= 'z':
		return a.lower + r - 'a'
	case r >= '0' && r <= '9' && a.digit != 0:
		return a.digit + r - '0'
	case r >= 'Α' && r <= 'Ω' && a.greekUpper != 0:
		return a.greekUpper + r - 'Α'
	case r >= 'α' && r <= 'ω' && a.greekLower != 0:
		return a.greekLower + r - 'α'
	case r == '∇' && a.greekUpper != 0:
		return a.greekUpper + 25
	case greekVariants[r] != 0 && a.greekLower != 0:
		return a.greekLower + greekVariants[r]
	}
	return r
}

// styleAll returns every letter of s in the font.
func (f font) styleAll(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		out = append(out, f.style(r))
	}
	return string(out)
}
