package mathml

// class is TeX's kind of atom. It decides which minus signs are unary and
// where a function name is set apart from its neighbors.
type class int

const (
	none   class = iota // start of a row
	ord                 // a letter, a number, a closed group
	op                  // a sum, a function name
	bin                 // +, ×
	rel                 // =, ≤, →
	open                // (
	close_              // )
	punct               // ,
	space               // takes part in no spacing rule
)

// symbol is what a command without arguments stands for.
type symbol struct {
	text   string
	class  class
	limits bool // scripts go above and below in display style
}

// symbols are the commands that stand for one character or operator.
var symbols = map[string]symbol{
	// Operations.
	"cdot": {"⋅", bin, false}, "times": {"×", bin, false}, "div": {"÷", bin, false}, "pm": {"±", bin, false}, "mp": {"∓", bin, false},
	"ast": {"∗", bin, false}, "star": {"⋆", bin, false}, "circ": {"∘", bin, false}, "bullet": {"∙", bin, false},
	"oplus": {"⊕", bin, false}, "ominus": {"⊖", bin, false}, "otimes": {"⊗", bin, false}, "odot": {"⊙", bin, false},
	"cup": {"∪", bin, false}, "cap": {"∩", bin, false}, "setminus": {"∖", bin, false}, "wedge": {"∧", bin, false}, "land": {"∧", bin, false},
	"vee": {"∨", bin, false}, "lor": {"∨", bin, false}, "bmod": {"mod", bin, false},

	// Relations and arrows.
	"le": {"≤", rel, false}, "leq": {"≤", rel, false}, "ge": {"≥", rel, false}, "geq": {"≥", rel, false}, "ne": {"≠", rel, false}, "neq": {"≠", rel, false},
	"lt": {"<", rel, false}, "gt": {">", rel, false}, "ll": {"≪", rel, false}, "gg": {"≫", rel, false},
	"approx": {"≈", rel, false}, "equiv": {"≡", rel, false}, "sim": {"∼", rel, false}, "simeq": {"≃", rel, false}, "cong": {"≅", rel, false}, "propto": {"∝", rel, false},
	"in": {"∈", rel, false}, "notin": {"∉", rel, false}, "ni": {"∋", rel, false}, "subset": {"⊂", rel, false}, "subseteq": {"⊆", rel, false}, "supset": {"⊃", rel, false}, "supseteq": {"⊇", rel, false},
	"mid": {"∣", rel, false}, "parallel": {"∥", rel, false}, "perp": {"⊥", rel, false}, "coloneqq": {"≔", rel, false},
	"to": {"→", rel, false}, "rightarrow": {"→", rel, false}, "leftarrow": {"←", rel, false}, "gets": {"←", rel, false}, "leftrightarrow": {"↔", rel, false},
	"Rightarrow": {"⇒", rel, false}, "Leftarrow": {"⇐", rel, false}, "Leftrightarrow": {"⇔", rel, false}, "implies": {"⟹", rel, false}, "iff": {"⟺", rel, false},
	"mapsto": {"↦", rel, false}, "longrightarrow": {"⟶", rel, false}, "longleftarrow": {"⟵", rel, false}, "longmapsto": {"⟼", rel, false}, "uparrow": {"↑", rel, false}, "downarrow": {"↓", rel, false},

	// Operators with limits.
	"sum": {"∑", op, true}, "prod": {"∏", op, true}, "coprod": {"∐", op, true}, "bigcup": {"⋃", op, true}, "bigcap": {"⋂", op, true},
	"bigoplus": {"⨁", op, true}, "bigotimes": {"⨂", op, true}, "int": {"∫", op, false}, "iint": {"∬", op, false}, "oint": {"∮", op, false},

	// Ordinary signs.
	"partial": {"∂", ord, false}, "nabla": {"∇", ord, false}, "infty": {"∞", ord, false}, "top": {"⊤", ord, false}, "bot": {"⊥", ord, false},
	"forall": {"∀", ord, false}, "exists": {"∃", ord, false}, "neg": {"¬", ord, false}, "lnot": {"¬", ord, false}, "emptyset": {"∅", ord, false}, "varnothing": {"∅", ord, false},
	"ell": {"ℓ", ord, false}, "hbar": {"ℏ", ord, false}, "Re": {"ℜ", ord, false}, "Im": {"ℑ", ord, false}, "aleph": {"ℵ", ord, false}, "prime": {"′", ord, false}, "degree": {"°", ord, false},
	"dagger": {"†", ord, false}, "checkmark": {"✓", ord, false}, "square": {"□", ord, false}, "triangle": {"△", ord, false}, "angle": {"∠", ord, false},
	"ldots": {"…", ord, false}, "dots": {"…", ord, false}, "cdots": {"⋯", ord, false}, "vdots": {"⋮", ord, false}, "ddots": {"⋱", ord, false}, "dotsc": {"…", ord, false}, "dotsb": {"⋯", ord, false},

	// Escaped characters and punctuation.
	"%": {"%", ord, false}, "#": {"#", ord, false}, "$": {"$", ord, false}, "&": {"&", ord, false}, "_": {"_", ord, false}, "colon": {":", punct, false},

	// Delimiters.
	"{": {"{", open, false}, "}": {"}", close_, false}, "lbrace": {"{", open, false}, "rbrace": {"}", close_, false}, "lbrack": {"[", open, false}, "rbrack": {"]", close_, false},
	"lfloor": {"⌊", open, false}, "rfloor": {"⌋", close_, false}, "lceil": {"⌈", open, false}, "rceil": {"⌉", close_, false}, "langle": {"⟨", open, false}, "rangle": {"⟩", close_, false},
	"lvert": {"|", open, false}, "rvert": {"|", close_, false}, "lVert": {"‖", open, false}, "rVert": {"‖", close_, false}, "|": {"‖", ord, false}, "vert": {"|", ord, false}, "Vert": {"‖", ord, false},
	"backslash": {`\`, ord, false},
}

// greek are the Greek letters; capitals stand upright, as TeX sets them.
var greek = map[string]string{
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "ϑ",
	"iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "varpi": "ϖ", "rho": "ρ", "varrho": "ϱ",
	"sigma": "σ", "varsigma": "ς", "tau": "τ", "upsilon": "υ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
	"Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}

// functions are the names set upright; true means that scripts are limits.
var functions = map[string]bool{
	"log": false, "ln": false, "lg": false, "exp": false, "sin": false, "cos": false, "tan": false, "cot": false, "sec": false, "csc": false,
	"arcsin": false, "arccos": false, "arctan": false, "sinh": false, "cosh": false, "tanh": false, "coth": false,
	"arg": false, "deg": false, "dim": false, "ker": false, "hom": false,
	"max": true, "min": true, "sup": true, "inf": true, "lim": true, "det": true, "gcd": true, "Pr": true, "argmax": true, "argmin": true,
}

// accents go above their argument; wide ones stretch with it.
var accents = map[string]struct {
	text string
	wide bool
}{
	"hat": {"^", false}, "widehat": {"^", true}, "bar": {"¯", false}, "overline": {"‾", true}, "tilde": {"~", false}, "widetilde": {"~", true},
	"vec": {"→", false}, "overrightarrow": {"→", true}, "dot": {"˙", false}, "ddot": {"¨", false}, "check": {"ˇ", false}, "breve": {"˘", false}, "acute": {"´", false}, "grave": {"`", false},
}

// spaces are the spacing commands and their widths.
var spaces = map[string]string{
	",": "0.1667em", "thinspace": "0.1667em", ":": "0.2222em", ">": "0.2222em", ";": "0.2778em", "!": "-0.1667em",
	" ": "0.25em", "\n": "0.25em", "enspace": "0.5em", "quad": "1em", "qquad": "2em",
}

// typed are the characters that may stand in a formula as themselves, besides
// letters, digits and what the parser treats specially.
var typed = map[rune]symbol{
	'+': {"+", bin, false}, '-': {"−", bin, false}, '*': {"∗", bin, false}, '/': {"/", ord, false}, '=': {"=", rel, false}, '<': {"<", rel, false}, '>': {">", rel, false},
	':': {":", rel, false}, ',': {",", punct, false}, ';': {";", punct, false}, '.': {".", ord, false}, '!': {"!", close_, false}, '?': {"?", close_, false},
	'(': {"(", open, false}, ')': {")", close_, false}, '[': {"[", open, false}, ']': {"]", close_, false}, '|': {"|", ord, false}, '@': {"@", ord, false},
}

func init() {
	// A sign typed in Unicode means what its command means.
	for _, s := range symbols {
		r := []rune(s.text)
		if len(r) == 1 && r[0] > 0x7f {
			if known, dup := typed[r[0]]; !dup || s.class < known.class {
				typed[r[0]] = s
			}
		}
	}
}

// negations are what \not may precede.
var negations = map[string]string{
	"=": "≠", "<": "≮", ">": "≯", "∈": "∉", "≤": "≰", "≥": "≱", "≡": "≢", "∼": "≁", "≈": "≉", "⊂": "⊄", "⊆": "⊈", "∣": "∤", "∥": "∦", "→": "↛",
}

// sizes are the fixed sizes of delimiters.
var sizes = map[string]string{"big": "1.2em", "Big": "1.8em", "bigg": "2.4em", "Bigg": "3em"}

// fences are the characters that \left, \right, \middle and \big accept.
var fences = map[string]bool{
	"(": true, ")": true, "[": true, "]": true, "{": true, "}": true, "|": true, "‖": true, "⌊": true, "⌋": true, "⌈": true, "⌉": true, "⟨": true, "⟩": true, "/": true, `\`: true, "↑": true, "↓": true,
}
