package rewrite

import (
	"fmt"
	"go/token"
	"regexp"
	"strings"
	"sync"
)

// Most people who learn Go here come from Python, some from C or JavaScript. What they write out of habit does not
// parse, and the parser stumbles over it somewhere later. The habits below recognize it by its looks.

// A habit is a way of writing that Go does not have. No pattern matches valid Go, or else the habit is looked for only
// where there is an error.
type habit struct {
	pattern *regexp.Regexp // on a masked line, of a cell that does not parse
	msg     string         // the mistake
	why     string         // goes before a proposal
	fixes   []string       // the first of these that works is proposed for what the pattern matches; $1 and so on stand for its groups
	hint    string         // without such a proposal
}

// re compiles a pattern in which NAME stands for an identifier, and BLOCK for what ends the line that begins a block,
// in Python or in Go.
func re(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.NewReplacer("NAME", `[\pL_][\pL\d_]*`, "BLOCK", `\s*(?:[:{]\s*$|\{)`).Replace(pattern))
}

const defines = "functions begin with func"
const noFor = "Go has no for … in"
const noStep = "a slice has no step in Go"
const noExceptions = "Go has no exceptions"
const namedInside = "a function inside a function can't have a name"

// habits are tried in this order on each line. They are made when a cell first needs them.
var habits = sync.OnceValue(func() []habit {
	return []habit{
		{re(`^\s*(if|while)\s+\(?([^={]*[^=!<>:{])=([^=].*?)\)?\s*(?:\{|:\s*$)`), "= assigns and does not compare", "== compares", []string{"if $2==$3 {"}, "== compares"},
		{re(`^\s*while\s*\(?\s*(?:True|true|1)\s*\)?BLOCK`), "Go has no while: for is its only loop", "without a condition it runs until a break", []string{"for {"},
			"write for { … }: without a condition it runs until a break"},
		{re(`^\s*while\s*\((.*)\)BLOCK`), "Go has no while: for is its only loop", "", []string{"for $1 {"}, "for cond { … } runs as long as cond is true"},
		{re(`^\s*while\s+(.*\S)BLOCK`), "Go has no while: for is its only loop", "", []string{"for $1 {"}, "for cond { … } runs as long as cond is true"},
		{re(`^\s*do\s*\{`), "Go has no do: for is its only loop", "", nil, "for { …; if done { break } } checks its condition at the end"},
		{re(`^\s*for\s+(NAME)\s+in\s+range\(([^,]*)\)BLOCK`), noFor, "", []string{"for $1 := range $2 {"}, "for i := range n { … } counts from 0 to n-1"},
		{re(`^\s*for\s+(NAME)\s+in\s+range\(([^,]*),\s*([^,]*)\)BLOCK`), noFor, "", []string{"for $1 := $2; $1 < $3; $1++ {"}, "for i := a; i < b; i++ { … } counts from a to b-1"},
		{re(`^\s*for\s+(NAME)\s+in\s+range\(([^,]*),\s*([^,]*),\s*-([^,]*)\)BLOCK`), noFor, "", []string{"for $1 := $2; $1 > $3; $1 -= $4 {"},
			"for i := a; i > b; i -= step { … } counts down"},
		{re(`^\s*for\s+(NAME)\s+in\s+range\(([^,]*),\s*([^,]*),\s*([^,]*)\)BLOCK`), noFor, "", []string{"for $1 := $2; $1 < $3; $1 += $4 {"},
			"for i := a; i < b; i += step { … } counts in steps"},
		{re(`^\s*(for\s[^;]*;[^;]*;.*\S)\s*:\s*$`), "a block doesn't begin with a colon in Go", "blocks go between { and }", []string{"$1 {"}, "write for i := 0; i < n; i++ { … }"},
		{re(`^\s*(?:for|while)\s.*[^:]:\s+\S`), "a block doesn't begin with a colon in Go", "", nil, "write for i := range 3 { … }: blocks go between { and }"},
		{re(`^\s*for\s+\(?(NAME)\s*,\s*(NAME)\)?\s+in\s+enumerate\((.*)\)BLOCK`), noFor, "range gives the index and the element", []string{"for $1, $2 := range $3 {"},
			"for i, x := range xs { … } gives the index and the element"},
		{re(`^\s*for\s+\(?(NAME)\s*,\s*(NAME)\)?\s+in\s+(.*)\.items\(\)BLOCK`), noFor, "range gives the key and the value", []string{"for $1, $2 := range $3 {"},
			"for k, v := range m { … } gives the key and the value"},
		{re(`^\s*for\s+(NAME)\s+in\s+(.*)\.keys\(\)BLOCK`), noFor, "", []string{"for $1 := range $2 {"}, "for k := range m { … } gives the keys"},
		{re(`^\s*for\s+(NAME)\s+in\s+(.*)\.values\(\)BLOCK`), noFor, "", []string{"for _, $1 := range $2 {"}, "for _, v := range m { … } gives the values"},
		{re(`^\s*for\s+.*\s+in\s+zip\(.*BLOCK`), noFor, "", nil, "for i := range a { … } goes through both: a[i] and b[i]"},
		{re(`^\s*for\s*\(\s*(?:let|const|var)\s+(NAME)\s+(?:in|of)\s+(.*\S)\)BLOCK`), noFor, "range gives the index and the element", []string{"for _, $1 := range $2 {"},
			"for i, x := range xs { … } gives the index and the element"},
		{re(`^\s*for\s*(NAME)\s+in\s+(.*\S)BLOCK`), noFor, "range gives the index and the element", []string{"for _, $1 := range $2 {", "for $1 := range $2 {"},
			"for i, x := range xs { … } gives the index and the element"},
		{re(`^\s*for\s*\(\s*(?:int|var|let)?\s*(NAME)\s*=\s*([^;]*);([^;]*);([^;]*)\)\s*\{`), "Go's for has no parentheses, and := defines its variable", "",
			[]string{"for $1 := $2;$3;$4 {"}, "for i := 0; i < n; i++ { … } counts"},
		{re(`^\s*for\s+(NAME\s*:?=[^;{,]*),([^;{,]*),([^;{,]*?)\s*\{`), "semicolons separate the parts of a for", "", []string{"for $1;$2;$3 {"}, "for i := 0; i < n; i++ { … } counts"},
		{re(`^(\s*for\s.*;)\s*(\+\+|--)\s*(NAME)\s*\{`), "$2 goes after the variable", "", []string{"$1 $3$2 {"}, "write i++, not ++i"},
		{re(`^\s*(\}?)\s*(?:elif|elsif|else\s+if)\s+(.*\S)\s*\{`), "Go writes elif as else if", "", []string{"$1 else if $2 {"},
			"write } else if … { on the line of the } that ends the block before"},
		{re(`^\s*elif\b`), "Go writes elif as else if", "", nil, "write } else if … { on the line of the } that ends the block before"},
		{re(`^\s*if\s*(.*\S)\s*:\s*$`), "a block doesn't begin with a colon in Go", "blocks go between { and }, however they are indented", []string{"if $1 {"},
			"write if … { … }: blocks go between { and }, however they are indented"},
		{re(`^\s*if\s+(.*\S)\s+then\b`), "Go has no then", "", nil, "write if $1 { … }"},
		{re(`^\s*if\s.*[^:]:\s+\S`), "a block doesn't begin with a colon in Go", "", nil, "write if … { … }: blocks go between { and }"},
		{re(`^\s*(else|try|finally|except|switch|match|case)\b.*:\s*$`), "", "", nil, ""}, // colonBlock
		{re(`^\s*except\b`), noExceptions, "", nil, "a function that can fail returns an error: if err != nil { … } handles it"},
		{re(`^\s*(?:try|catch)\b`), noExceptions, "", nil, "a function that can fail returns an error: if err != nil { … } handles it"},
		{re(`^\s*(?:raise|throw)\b`), noExceptions, "", nil, "return an error, such as errors.New(\"what went wrong\"), or panic(\"what went wrong\")"},
		{re(`^\s*with\s+(?:torch\.)?(?:no_grad|inference_mode)\(\)\s*:\s*$`), "Go has no with", "", nil, "tensor.NoGrad(func() { … }) runs the code between the braces without gradients"},
		{re(`^\s*with\s.*:\s*$`), "Go has no with", "", nil, "defer f.Close() closes f when the function ends"},
		{re(`^\s*assert\s+(.*\S)\s*$`), "Go has no assert", "", []string{`if !($1) { panic("failed") }`}, `if !cond { panic("failed") } asserts cond`},
		{re(`^\s*(?:async\s+)?def\s+(NAME)\s*\(\s*\)`), "functions begin with func", "", []string{"func $1() {"}, "write func name() { … }"},
		{defLine, defines, "parameters and results have types, such as float64", nil, "write func name(x float64) float64 { … }: parameters and results have types"},
		{re(`^\s*(?:async\s+)?(?:def|function)\s+(NAME)\s*\(([\pL\d_, ]*)\)`), "functions begin with func", "parameters and results have types, such as float64",
			[]string{"func $1($2 float64) float64 {"}, "write func name(x float64) float64 { … }: parameters and results have types"},
		{re(`^\s*(?:async\s+)?(?:def|function|fn|fun)\s+(NAME)`), "functions begin with func", "", nil, "write func name(x float64) float64 { … }: parameters and results have types"},
		{re(`^\s*class\s+(NAME)`), "Go has no classes", "a struct holds the fields, and methods are functions beside it", []string{"type $1 struct {"},
			"type T struct { … } holds the fields, and func (t *T) Method() { … } is a method"},
		{re(`^\s*func\s+(NAME)\s*\(([^()]*)\)\s*(?:->|:)\s*([^{]*\S)\s*\{`), "the result's type follows the parentheses, with no sign in between", "", []string{"func $1($2) $3 {"}, "write func f(x float64) float64 { … }"},
		{re(`^\s*func\s+(NAME)\s*\(([^()]*\S\s*=[^()]*)\)`), "parameters have no default values in Go", "", nil, "write func f(a int), and a second function for the common case"},
		{re(`^\s*func\s+(NAME)\s*\(`), namedInside, "", []string{"$1 := func("}, "keep it in a variable: f := func(…) { … }"},
		{re(`\blambda\s+([\pL\d_, ]+):\s*(.*\S)`), "Go has no lambda", "a function without a name needs types, too", []string{"func($1 float64) float64 { return $2 }"},
			"write func(x float64) float64 { return … }"},
		{re(`\(([\pL\d_, ]*)\)\s*=>\s*(\S.*)|(NAME)\s*=>\s*(\S.*)`), "Go has no => for functions", "", nil, "write func(x float64) float64 { return … }"},
		{re(`^\s*(?:from|import)\s+(NAME)(?:\.|\s+import|\s*$|\s+as)`), "", "", nil, ""}, // pythonImport
		{re(`^\s*del\s+(NAME)\[(.*)\]`), "Go has no del", "", []string{"delete($1, $2)", "$1 = slices.Delete($1, $2, $2+1)"}, "delete(m, k) removes a key from a map"},
		{re(`^\s*del\s`), "Go has no del", "", nil, "a value that is no longer used is freed automatically"},
		{re(`^\s*(?:global|nonlocal)\s`), "Go has no global", "", nil, "a function can use the cell's variables directly: leave the line out"},
		{re(`^\s*(?:yield|await)\b`), "Go has neither yield nor await", "", nil, "return a slice, or send the values to a channel: c <- v"},
		{re(`^\s*(?:pip3?|conda)\s+install\s`), "pip installs packages for Python", "", nil, "%get path@latest fetches a Go module; tensors, layers and plots are here already"},
		{re(`^\s*(?:ls|cd|git|cat|mkdir|cp|mv|rm|wget|curl)\s+[^=:(\s].*`), "this is a command for the shell", "", nil, "put ! before it to run it there, as in !ls"},
		{re(`^\s*(fmt\.NAME)\s+([^=\s].*\S)`), "functions are called with ( and )", "", []string{"$1($2)"}, "write fmt.Println(…)"},
		{re(`^\s*print(?:ln)?\s+(.*\S)`), "functions are called with ( and )", "", []string{"fmt.Println($1)"}, "write fmt.Println(…)"},
		{re(`\bnew\s+(NAME)\s*\(\s*\)`), "new is a function in Go", "", []string{"&$1{}", "new($1)"}, "&T{} makes a T and returns a pointer to it"},
		{re(`\bnew\s+(NAME)\s*\(`), "new is a function in Go", "", nil, "&T{…} makes a T with these fields and returns a pointer to it"},
		{re(`"""|'''`), "Go has no triple quotes", "", nil, "a string of several lines goes between backquotes (`)"},
		{re(`\b(?:f|F|rf|fr)"`), "", "", nil, ""}, // fstring
		{re(`\b[rR]"(_*)"`), "Go writes raw strings between backquotes", "", nil, "write `…` in place of r\"…\""},
		{re(`\b[bB]("_*")`), "Go has no b\"…\"", "", []string{"[]byte($1)"}, "write []byte(\"…\")"},
		{re(`^\s*(?:let|auto|local|val|my)\s+(?:mut\s+)?(NAME)\s*=\s*([^=].*\S|[^=])`), "a new variable is defined with :=", "", []string{"$1 := $2"}, "write x := value"},
		{re(`^\s*(var|const)\s+(NAME)\s*:=\s*(.*\S)`), "$1 and := don't go together", "", []string{"$1 $2 = $3"}, "write x := value, or var x = value"},
		{re(`^\s*(NAME)(\[\])\s+(NAME)\s*=\s*(.*\S)`), "the type comes after the name", "", []string{"var $3 []$1 = $4", "$3 := []$1$4"}, "write var x []int = …"},
		{re(`^\s*(NAME)\s+(int|float64|float32|string|bool|byte|\[\]NAME)\s*:?=\s*(.*\S)`), "a variable with a type begins with var", "", []string{"var $1 $2 = $3"}, "write var x int = …, or x := …"},
		{re(`^\s*(int|float|double|char|bool|string|float64|float32|long)\s+(NAME)\s*:=\s*(.*\S)`), "the type comes after the name", "", []string{"var $2 $1 = $3", "$2 := $3"}, "write var x int = …, or x := …"},
		{re(`^\s*(NAME(?:\.NAME)?)\s+(NAME)\s*=\s*([^=].*\S|[^=])`), "the type comes after the name", "", []string{"var $2 $1 = $3", "$2 := $3"}, "write var x int = …, or x := …"},
		{re(`^\s*(int|float|double|char|bool|string|float64|float32|long)\s+(NAME)\s*;?\s*$`), "the type comes after the name", "", []string{"var $2 $1"}, "write var x int, or x := 0"},
		{re(`(\S+)\s*!==\s*(\S+)`), "Go has no operator !==", "", []string{"$1 != $2"}, "!= compares"},
		{re(`(\S+)\s*===\s*(\S+)`), "Go has no operator ===", "", []string{"$1 == $2"}, "== compares"},
		{re(`~(NAME|\d+)`), "Go has no operator ~", "^ flips the bits", []string{"^$1"}, "^x flips the bits"},
		{re(`(\S)\s*<>\s*(\S)`), "Go has no operator <>", "", []string{"$1 != $2"}, "!= compares"},
		{re(`(NAME)->(NAME)`), "Go has no operator ->", "the dot works for pointers, too", []string{"$1.$2"}, "write p.field, for pointers too"},
		{re(`(NAME)::(NAME)`), "Go has no operator ::", "", []string{"$1.$2"}, "write package.Name"},
		{re(`(NAME)\s+as\s+(NAME)`), "conversions are written like calls", "", []string{"$2($1)"}, "write int(x)"},
		{re(`[(=,]\s*range\(.*`), "range comes after for", "", nil, "for i := range n { … } counts from 0 to n-1"},
		{re(`^\s*(interface|struct)\s+(NAME)\s*\{`), "a type begins with the word type", "", []string{"type $2 $1 {"}, "write type T $1 { … }"},
		{re(`^\s*enum\s+(NAME)`), "Go has no enum", "", nil, "const ( Red = iota; Green; Blue ) numbers constants"},
		{re(`\((int|float64|float32|int64|int32|uint8|byte|string)\)\s*(NAME|\d+)`), "conversions are written like calls", "", []string{"$1($2)"}, "write int(x)"},
		{re(`[\[({][^\[\](){}]*[^\[\](){}\s;]\s+for\s.*\sin\s.*[\])}]|\[.*\sfor\s.*\sin\s.*\]`), "Go has no list comprehensions", "", nil, "make the slice, and append to it in a for loop: for _, x := range xs { ys = append(ys, …) }"},
		{re(`([^=(,]*\S)\s+if\s+(.*\S)\s+else\s+(.*\S)`), "Go has no … if … else …", "", nil, "write if cond { v = a } else { v = b }"},
		{re(`\b(NAME)\[::-1\]`), noStep, "", []string{"$1.Flip(0)"}, "slices.Reverse(xs) reverses a slice, slices.Backward(xs) goes through it from the end"},
		{re(`\b(NAME)\[([^\[\],]*:[^\[\],]*:[^\[\],]*)\]`), noStep, "", []string{"$1.Index(ITEMS)"}, "for i := 0; i < len(xs); i += 2 { … } goes in steps"},
		{re(`\b(NAME)\[([^\[\]]+,[^\[\]]+)\]`), "an index is a single number", "", []string{"$1.Index(ITEMS)", "$1[INDEX]"}, "write a[i][j], or t.Index(i, j) for a tensor"},
		{re(`^\s*(NAME)\s*\+=\s*\[(.*)\]\s*$`), "slices can't be added", "", []string{"$1 = append($1, $2)"}, "xs = append(xs, x) adds an element"},
		{re(`((?:NAME\.)*NAME(?:\(\))?)\s*==\s*\[([^\[\]]*)\]`), "slices are compared with a function", "", []string{"slices.Equal($1, []int{$2})", "slices.Equal($1, []float64{$2})", "slices.Equal($1, []string{$2})"}, "slices.Equal(a, b) compares slices"},
		{re(`=\s*\[\s*\]\s*$`), "a list needs a type", "", nil, "write x := []float64{}, or var x []float64"},
		{re(`\[([^\[\]]+(?:,[^\[\]]*)*)\]`), "a list needs a type", "", []string{"[]int{$1}", "[]float64{$1}", "[]string{$1}", "[]any{$1}"}, "write []float64{1, 2.5}"},
		{re(`\{((?:"_*"|\d+)\s*:.*)\}`), "a map needs a type", "", []string{"map[string]int{$1}", "map[string]float64{$1}", "map[string]string{$1}", "map[int]string{$1}",
			"map[string]any{$1}"}, "write map[string]int{\"a\": 1}"},
		{re(`(NAME\s*:?=)\s*\{([^{}:;]+)\}\s*$`), "a list needs a type", "", []string{"$1 []int{$2}", "$1 []float64{$2}", "$1 []string{$2}", "$1 []any{$2}"}, "write []float64{1, 2.5}"},
		{re(`=\s*\{\s*\}\s*$`), "a map needs a type", "", nil, "write m := map[string]int{}"},
		{re(`("_*")\s*%\s*\(([^()]*)\)`), "Go has no % for strings", "", []string{"fmt.Sprintf($1, $2)"}, "fmt.Sprintf(\"%d %s\", n, s) puts values into a string"},
		{re(`^\s*(NAME\s*,[^=]*\S)\s*:?=\s*\(([^()]+,[^()]*)\)\s*$`), "Go has no tuples", "", []string{"$1 = $2", "$1 := $2"}, "write a, b := 1, 2"},
		{re(`^\s*\(([^()]+,[^()]+)\)\s*$`), "Go has no tuples", "", []string{"fmt.Println($1)"}, "fmt.Println(a, b) prints several values"},
		{re(`^\s*(NAME)\s*:?=\s*\(([^()]+),([^()]+)\)\s*$`), "Go has no tuples", "", nil, "give each value its own name (a, b := 1, 2), or make a slice ([]int{1, 2})"},
		{re(`^(\s*return\s+)\(([^()]+,[^()]+)\)\s*$`), "Go has no tuples", "", []string{"${1}$2"}, "write return a, b"},
		{re(`(\+\+|--)(NAME)\s*;?\s*$`), "$1 goes after the variable", "", []string{"$2$1"}, "write i++ on a line of its own"},
		{re(`(?:[=(,+*/-]|return)\s*(NAME(?:\.NAME)*)(\+\+|--)`), "$1$2 has no value in Go: it is a statement", "", nil, "put $1$2 on a line of its own, then use $1"},
		{re(`^\s*(if\s+\S+\s+(?:not\s+)?in\s+NAME\s*\{)`), "Go has no operator in", "", []string{"$1"}, "slices.Contains(xs, x) searches a slice; _, ok := m[k] looks in a map"},
		{re(`\bnot\s+in\b`), "Go has no operator in", "", nil, "!slices.Contains(xs, x) searches a slice; _, ok := m[k] looks in a map"},
		{re(`(NAME|\d+|"_*")\s+in\s+(NAME)`), "Go has no operator in", "", []string{"slices.Contains($2, $1)", "strings.Contains($2, $1)"},
			"slices.Contains(xs, x) searches a slice; _, ok := m[k] looks in a map"},
		{re(`(NAME)\s+is\s+not\s+(NAME)`), "Go has no operator is", "", []string{"$1 != $2"}, "== and != compare"},
		{re(`(NAME)\s+is\s+(NAME)`), "Go has no operator is", "", []string{"$1 == $2"}, "== and != compare"},
		{re(`.*\s(and|or)\s.*`), "", "", nil, ""}, // words
		{re(`.*\bnot\s+\S.*`), "", "", nil, ""},   // words
		{re(`\b(\d+(?:\.\d*)?|\.\d+)(?:f|F|L|l|u|d|D)\b`), "numbers have no suffixes in Go", "", []string{"$1"}, "write the number alone, or float32(1.5) to give it a type"},
		{re(`\b(\d+(?:\.\d*)?)j\b`), "Go writes the imaginary unit as i", "", []string{"${1}i"}, "write 2i"},
		{re(`\btype\s*\((.*)\)`), "type declares a type in Go", "", []string{`fmt.Printf("%T\n", $1)`}, `fmt.Printf("%T\n", x) prints the type of x`},
		{re(`^\s*case\b.*:\s*$`), "case belongs in a switch", "", nil, "write switch x { case 1: … }"},
		{re(`^\s*range\b`), "range comes after for", "", nil, "for i := range n { … } counts from 0 to n-1"},
		{re(`^\s*if\s[^{]*\S\s+NAME(?:\.NAME)*\(.*\)\s*$`), "the block after if and for goes between { and }", "", nil, "put it in braces, even if it is a single statement"},
		{re(`^\s*(?:if|for)\s*\(.*\)\s*[^\s{].*[^{]$`), "the block after if and for goes between { and }", "", nil, "put it in braces, even if it is a single statement"},
		{re(`^\s*(?:public|private|static|void|protected)\s`), "Go has no public, private or static", "", nil, "a name that begins with a capital letter is public; a function begins with func"},
		{re(`^\s*#\s*include\b`), "Go has no #include", "", nil, "packages of the standard library can be used without a line for them"},
	}
})

// goWords translates Python's words for operators and constants into Go's.
func goWords(s string) string {
	masked := mask(s)
	for _, w := range [][2]string{{`\band\b`, "&&"}, {`\bor\b`, "||"}, {`\bis\s+not\b`, "!="}, {`\bis\b`, "=="}, {`\bnot\s+`, "!"}, {`\bTrue\b`, "true"}, {`\bFalse\b`, "false"},
		{`\bNone\b`, "nil"}} {
		at := 0
		var b strings.Builder
		for _, m := range regexp.MustCompile(w[0]).FindAllStringIndex(masked, -1) {
			b.WriteString(s[at:m[0]] + w[1])
			at = m[1]
		}
		s = b.String() + s[at:]
		masked = mask(s)
	}
	return s
}

// goConditions translates a line with Python's words into Go, in several ways if the words could mean different things.
func goConditions(s string) []string {
	texts := []string{goWords(s)}
	for _, way := range []struct {
		pattern string
		texts   []string
	}{
		{`\bnot\s+(NAME)(?:\s|$)`, []string{"$1 == 0 ", "len($1) == 0 ", "$1 == nil "}}, // a number, a text or list, a pointer
		{`^if\s+([^\s()]+)\s+not\s+in\s+(NAME)\s*\{`, []string{"if !slices.Contains($2, $1) {", "if !strings.Contains($2, $1) {", "if _, ok := $2[$1]; !ok {"}},
		{`^if\s+([^\s()]+)\s+in\s+(NAME)\s*\{`, []string{"if slices.Contains($2, $1) {", "if strings.Contains($2, $1) {", "if _, ok := $2[$1]; ok {"}},
	} {
		if p := re(way.pattern); p.MatchString(mask(s)) {
			for _, is := range way.texts {
				texts = append(texts, goWords(strings.TrimSpace(p.ReplaceAllString(s, is))))
			}
		}
	}
	return texts
}

// habitLines is how many lines after a habit the parser may stumble: it takes try: for a label, and what follows may be
// Go.
const habitLines = 200

// A pythonHabit is a mistake that Python programmers make.
type pythonHabit struct{ *mistake }

func (m *mistake) habit() pythonHabit { return pythonHabit{m} }

// first explains a cell that does not parse by the first habit that it shows; false means that it shows none up to the
// error.
func (m pythonHabit) first() bool {
	from := max(1, m.src.Pos(m.off).Line-habitLines)
	for lo := m.src.lines()[from-1]; lo <= m.off && lo < len(m.masked); lo += lineLen(m.masked[lo:]) {
		line := strings.TrimRight(m.masked[lo:lo+lineLen(m.masked[lo:])], "\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		onError := m.off <= lo+len(line)
		if m.elseAlone(lo, line) {
			return true
		}
		if !onError && rightGo(line) {
			continue
		}
		if onError && m.pythonCall(lo, line) {
			return true
		}
		for _, h := range habits() {
			part := !strings.HasPrefix(h.pattern.String(), "^") // of a line: it says nothing of other parts
			if part && !onError {
				continue
			}
			g := h.pattern.FindStringSubmatchIndex(line)
			if g == nil || part && (m.off < lo+g[0] || m.off > lo+g[1]) {
				continue
			}
			if h.msg == namedInside && !strings.HasPrefix(m.e.Msg, "expected '('") {
				continue
			}
			for i := range g {
				if g[i] >= 0 {
					g[i] += lo
				}
			}
			if m.obey(h, lo, g) {
				return true
			}
		}
	}
	return false
}

// rightGo reports whether a line that the parser has passed may be right although a habit's pattern fits.
func rightGo(line string) bool {
	s := strings.TrimSpace(line)
	for _, word := range []string{"func", "case", "var", "const", "type", "return", "go", "defer", "goto"} {
		if strings.HasPrefix(s, word+" ") {
			return true
		}
	}
	return strings.HasPrefix(s, "switch ") && strings.HasSuffix(s, "{") || strings.HasPrefix(s, "import ") && strings.Contains(s, `"`) ||
		strings.HasPrefix(s, "if ") && strings.HasSuffix(s, "{") || strings.HasPrefix(s, "for ") && strings.HasSuffix(s, "{") && !strings.Contains(s, " in ")
}

// obey explains a mistake by a habit whose pattern has the groups g, as offsets in the cell.
func (m pythonHabit) obey(h habit, line int, g []int) bool {
	lo, hi := g[0], g[1]
	for lo < hi && (m.masked[lo] == ' ' || m.masked[lo] == '\t') {
		lo++
	}
	group := func(i int) string {
		if 2*i+1 >= len(g) || g[2*i] < 0 {
			return ""
		}
		return m.src.Code[g[2*i]:g[2*i+1]]
	}
	text := m.src.Code[lo:hi]
	if h.msg == "" {
		switch {
		case strings.Contains(h.pattern.String(), "import"):
			m.move(lo, hi)
			m.pythonImport(text)
			return true
		case strings.Contains(h.pattern.String(), "rf|fr"):
			return m.fstring(line, hi-1)
		case strings.Contains(h.pattern.String(), "finally"):
			return m.colonBlock(lo, group(1))
		}
		return m.words(lo, hi)
	}
	expand := func(s string) string {
		return string(h.pattern.ExpandString(nil, s, m.src.Code, g))
	}
	m.e.Msg = expand(h.msg)
	m.move(lo, hi)
	m.e.Hint = expand(h.hint)
	fixes := h.fixes
	if h.pattern == defLine && re(`\(\s*self\b`).MatchString(text) {
		m.e.Hint = "a method names its receiver before its own name: func (m *Model) Forward(x *tensor.Tensor) *tensor.Tensor { … }"
		if strings.Contains(text, "__init__") {
			m.e.Hint = "a function makes the value: func NewModel() *Model { return &Model{…} }"
		}
	} else if h.pattern == defLine {
		if fixes = []string{goHeader(m.src.Code[lo:hi])}; strings.Contains(fixes[0], "()") {
			h.why = ""
		}
		if strings.Contains(text[:len(text)-1], ":") {
			h.why = strings.TrimSuffix(h.why, ", such as float64")
		}
		if strings.Contains(text, "=") {
			h.why += "; there are no default values"
		}
	}
	var texts []string
	for _, f := range fixes {
		if over := group(2); h.msg == noFor && f == "for _, $1 := range $2 {" && strings.HasPrefix(m.s.vars[over].typ, "map[") && !strings.Contains(text, ".values(") {
			f, h.why = "for $1 := range $2 {", "" // Python goes through the keys, too
		}
		f = strings.NewReplacer("ITEMS", indexItems(group(2)), "INDEX", strings.ReplaceAll(group(2), ", ", "][")).Replace(f)
		texts = append(texts, goConditions(strings.TrimSpace(expand(f)))...)
	}
	for _, t := range texts {
		code, end := m.replaced(lo, hi, t), lo+len(t)
		if strings.HasSuffix(t, "{") {
			if m.src.Code[hi-1] != '{' || !m.works(code, lo, end) {
				code, end = m.withEmptyBlock(line, lo, hi, t)
			}
		}
		if !m.works(code, lo, end) {
			t = m.defined(lo, hi, t)
		}
		if t != "" {
			m.e.Hint = "write " + t
			switch t[len(t)-1] {
			case '{':
				m.e.Hint += " … }"
			case '(':
				m.e.Hint += "…) { … }"
			}
			if h.why != "" {
				m.e.Hint = h.why + ": " + m.e.Hint
			}
			break
		}
	}
	return true
}

// withEmptyBlock returns the cell with a header in place of [lo, hi), and an empty block in place of the lines
// that belong to it: those that are indented further than line, empty ones, and a closing brace. end is where it ends.
func (m pythonHabit) withEmptyBlock(line, lo, hi int, header string) (code string, end int) {
	src, indent := m.src.Code, lo-line
	behind := hi + lineLen(src[hi:])
	for behind < len(src) {
		l := src[behind : behind+lineLen(src[behind:])]
		text := strings.TrimSpace(l)
		if text != "" && text != "}" && len(l)-len(strings.TrimLeft(l, " \t")) <= indent {
			break
		}
		behind += len(l)
	}
	block := " }\n"
	if strings.HasPrefix(header, "func ") && !strings.HasSuffix(header, ") {") { // which returns something
		block = " panic(0) }\n"
	}
	code = src[:lo] + header + block
	return code + src[behind:], len(code) - 1
}

// elseAlone finds an else that is not on the line of the } before it.
func (m pythonHabit) elseAlone(lo int, line string) bool {
	if !strings.HasPrefix(strings.TrimSpace(line), "else") {
		return false
	}
	before := strings.TrimRight(m.masked[:lo], " \t\n")
	if !strings.HasSuffix(before, "}") {
		return false
	}
	at := lo + strings.Index(line, "else")
	m.move(at, at+len("else"))
	m.e.Msg = "else goes on the line of the } before it"
	header := strings.TrimSpace(m.src.Code[at : lo+len(line)])
	m.e.Hint = "write } else {"
	if m.works(m.src.Code[:len(before)]+" "+m.src.Code[at:], len(before), len(before)+1) {
		m.e.Hint = "write } " + header
	}
	return true
}

func (m pythonHabit) colonBlock(lo int, word string) bool {
	m.move(lo, lo+len(word))
	m.e.Msg, m.e.Hint = "a block doesn't begin with a colon in Go", "blocks go between { and }, however they are indented"
	switch word {
	case "else":
		m.e.Hint = "write } else { on the line of the } that ends the block before"
	case "try", "except", "finally":
		m.e.Msg, m.e.Hint = noExceptions, "a function that can fail returns an error: if err != nil { … } handles it"
	case "case":
		if !strings.Contains(m.masked[:lo], "switch") && !strings.Contains(m.masked[:lo], "select") && !strings.Contains(m.masked[:lo], "match") {
			m.e.Msg, m.e.Hint = "case belongs in a switch", "write switch x { case 1: … }"
			break
		}
		return false
	case "switch", "match":
		m.e.Hint = "write switch x { case 1: … }"
	}
	return true
}

// words finds and, or and not.
func (m pythonHabit) words(lo, hi int) bool {
	text := m.src.Code[lo:hi]
	w := regexp.MustCompile(`\b(and|or|not)\b`).FindStringIndex(m.masked[lo:hi])
	word := text[w[0]:w[1]]
	sign := map[string]string{"and": "&&", "or": "||", "not": "!"}[word]
	m.e.Msg = fmt.Sprintf("Go writes %s as %s", word, sign)
	header := goWords(strings.TrimSuffix(strings.TrimSpace(text), ":"))
	if line, _ := m.lineAt(lo); strings.HasPrefix(header, "!") && strings.TrimSpace(m.src.Code[line:lo]) == "" { // which would be a line for the shell
		header = "(" + header + ")"
		m.e.Hint = m.write("", lo, hi, "&& is and, || is or, ! is not", header)
		m.move(lo+w[0], lo+w[1])
		return true
	}
	m.e.Hint = m.write("", lo, hi, "&& is and, || is or, ! is not", append(goConditions(strings.TrimSuffix(strings.TrimSpace(text), ":")), strings.Replace(header, " = ", " := ", 1))...)
	m.move(lo+w[0], lo+w[1])
	return true
}

var placeholder = regexp.MustCompile(`\{([^{}:!]*)(?:![rs])?(?::([^{}]*))?\}`)

// goFormat turns the literal of a Python string with { } into one with verbs, and returns the values in { }, each after
// a comma.
func goFormat(lit string) (format, values string) {
	format = placeholder.ReplaceAllStringFunc(strings.ReplaceAll(lit, "%", "%%"), func(s string) string {
		g := placeholder.FindStringSubmatch(s)
		if x := strings.TrimSuffix(g[1], "="); x != "" {
			values += ", " + x
		}
		switch verb := strings.ReplaceAll(g[2], "%%", "%"); {
		case verb == "":
			return "%v"
		case regexp.MustCompile(`^[+-]?\d*(\.\d+)?[fedgxs]$`).MatchString(verb):
			return "%" + verb
		case regexp.MustCompile(`^\d*(\.\d+)?$`).MatchString(verb):
			return "%" + verb + "v"
		}
		return "%v"
	})
	return format, values
}

// fstring turns Python's f"…" into a call to fmt.Sprintf. quote is the offset of the string.
func (m pythonHabit) fstring(lo, quote int) bool {
	var lit string
	for _, t := range tokens(m.src.Code) {
		if t.lo == quote && t.tok == token.STRING {
			lit = m.src.Code[t.lo:t.hi]
		}
	}
	if lit == "" {
		return false
	}
	hi := quote + len(lit)
	format, args := goFormat(lit)
	if g := re(`\bprint(?:ln)?\($`).FindStringIndex(m.masked[lo : quote-1]); g != nil && strings.HasPrefix(m.masked[hi:], ")") {
		m.e.Msg = "Go has no f-strings"
		m.e.Hint = m.write("", lo+g[0], hi+1, "fmt.Printf(\"x = %v\\n\", x) prints values within a text", "fmt.Printf("+format[:len(format)-1]+"\\n\""+args+")")
		m.move(lo+g[0], hi+1)
		return true
	}
	lo = quote - 1
	m.e.Msg = "Go has no f-strings"
	m.e.Hint = m.write("", lo, hi, "fmt.Sprintf(\"x = %v\", x) puts values into a string", "fmt.Sprintf("+format+args+")")
	m.move(lo, hi)
	return true
}

// pythonPackages are what to use in place of Python's packages.
var pythonPackages = map[string]string{
	"torch": "package tensor has what torch has, layers are in nn, and optimizers in optim", "numpy": "package tensor has arrays like NumPy's", "np": "package tensor has arrays like NumPy's",
	"matplotlib": "package plots draws charts", "einops": "package einops has rearrange, reduce and einsum", "random": "package math/rand/v2 makes random numbers: rand.Float64(), rand.IntN(6)", "plt": "package plots draws charts", "pd": "package encoding/csv reads tables",
	"sys": "package os has Args, Exit and Stdin", "re": "package regexp has regular expressions", "json": "package encoding/json reads and writes JSON",
	"math": "package math needs no import here: write math.Sqrt(2)", "time": "package time needs no import here: write time.Now()", "os": "package os needs no import here",
	"collections": "maps and slices are part of Go", "typing": "types are part of Go", "itertools": "package slices does much of that",
	"datetime": "package time has dates", "pathlib": "package path/filepath handles paths", "functools": "functions are values in Go", "dataclasses": "a struct does that",
	"string": "package strings has functions for text", "logging": "package log writes a log", "pandas": "package encoding/csv reads tables",
}

// pythonImport explains an import whose path is not between quotes.
func (m pythonHabit) pythonImport(text string) {
	f := strings.Fields(text)
	pkg := strings.Trim(f[min(1, len(f)-1)], ".;")
	first, _, _ := strings.Cut(pkg, ".")
	m.e.Msg = "an import path goes between quotes"
	if f[0] == "from" {
		m.e.Msg = "Go imports whole packages, by a path between quotes"
	}
	name := first
	if _, hi := m.lineAt(m.off); f[0] == "from" {
		f = strings.Fields(m.src.Code[m.off:hi])
	}
	if f[0] == "from" && len(f) > 3 && m.s.packages.ByName(strings.Trim(f[3], ",")) != "" {
		name = strings.Trim(f[3], ",")
	}
	if path := m.s.packages.ByName(name); strings.Contains(path, "/") && strings.Contains(path, ".") {
		m.e.Hint = fmt.Sprintf("write import %q; most packages can be used by their names, without an import", path)
		return
	}
	if why := pythonPackages[first]; why != "" {
		m.e.Hint = why
		return
	}
	lo := m.off
	_, hi := m.lineAt(lo)
	m.e.Hint = m.write("", lo, hi, "there is no package "+first+" in Go's standard library: write import \"path\" with a package's full path", fmt.Sprintf("import %q", first), fmt.Sprintf("import %q", pkg))
}

// lexical finds what can't be a piece of Go at all: an open string or comment, a sign that Go doesn't have.
func lexical(src *Source, code string) *Error {
	at, msg := firstLexical(code)
	if at < 0 {
		return nil
	}
	e := &Error{Pos: src.Pos(at), Msg: msg, exact: true}
	e.End = e.Pos.Col + 1
	rest := code[at:]
	line := strings.TrimRight(rest[:lineLen(rest)], "\n")
	before := code[strings.LastIndexByte(code[:at], '\n')+1 : at]
	switch {
	case strings.HasPrefix(msg, "string literal"):
		e.Msg, e.Hint = "this string is never closed", `the closing " is missing on this line; a string of several lines goes between backquotes (`+"`)"
		e.End = src.Pos(at + len(line)).Col
	case strings.HasPrefix(msg, "raw string"):
		e.Msg, e.Hint = "this string is never closed", "the closing ` is missing"
	case strings.HasPrefix(msg, "comment"):
		e.Msg, e.Hint, e.End = "this comment is never closed", "the */ that belongs to it is missing", e.Pos.Col+2
	case strings.HasPrefix(line, "'''"):
		e.Msg, e.Hint, e.End = "Go has no triple quotes", "a string of several lines goes between backquotes (`)", e.Pos.Col+3
	case strings.HasPrefix(msg, "rune literal"):
		e.Msg, e.Hint = "this quote is never closed", `a string goes between double quotes: "it's"; single quotes are for one character`
	case strings.HasPrefix(msg, "illegal rune") && strings.HasPrefix(line, "''"):
		e.Msg, e.Hint, e.End = "there is no character between these quotes", `an empty string is ""`, e.Pos.Col+2
	case strings.HasPrefix(msg, "illegal rune") || strings.HasPrefix(msg, "more than one"):
		text, _, closed := strings.Cut(line[1:], "'")
		e.Msg, e.Hint = "single quotes are for one character", "a string goes between double quotes"
		if closed {
			e.End = src.Pos(at + len(text) + 2).Col
		}
	case strings.HasPrefix(msg, "unknown escape") && re(`\b[rR]"[^"]*$`).MatchString(before):
		e.Msg, e.Hint = "Go writes raw strings between backquotes (`)", "write `…` in place of r\"…\""
	case strings.HasPrefix(msg, "unknown escape") || strings.HasPrefix(msg, "escape"):
		e.Hint = `write \\ for a backslash, or put the string between backquotes (` + "`)"
		e.Msg = `a \ in a string begins a special character, and this one does not exist`
	case strings.HasPrefix(msg, "invalid digit") && strings.Contains(msg, "octal"):
		e.Msg, e.Hint = "a number that begins with 0 is octal: its digits are 0 to 7", "leave the 0 out"
	case line == "" || !strings.HasPrefix(msg, "illegal character") && !strings.HasPrefix(msg, "curly") && !strings.HasPrefix(msg, "invalid"):
	default:
		e.Msg, e.Hint = strangeSign(line, before, e.Msg)
	}
	return e
}

// strangeSign explains a character that means nothing in Go. line begins with it; before is what comes before it.
func strangeSign(line, before, msg string) (string, string) {
	first := []rune(line)[0]
	signs := map[rune]string{'−': "-", '–': "-", '—': "-", '×': "*", '·': "*", '÷': "/", '≤': "<=", '≥': ">=", '≠': "!=", '“': `"`, '”': `"`, '„': `"`, '‘': "'", '’': "'",
		'，': ",", '；': ";", '（': "(", '）': ")", '：': ":", '…': "..."}
	switch {
	case first == '#':
		return "# doesn't begin a comment in Go", "comments begin with //"
	case first == '?':
		return "Go has no ? : operator", "write if cond { v = a } else { v = b }"
	case first == '@' && strings.TrimSpace(before) == "":
		return "Go has no decorators", "call one function with the other as its argument: f = timed(f)"
	case first == '@':
		return "Go has no operator @", "tensors are multiplied with a.Matmul(b)"
	case first == '\\':
		return "a line is not continued with \\", "end the line with an operator, a comma or an open bracket instead"
	case first == '$':
		return "a name can't contain a $", "write the name alone"
	case first == '\u00a0' || first == '\u200b' || first == '\ufeff' || first == '\u3000':
		return "this is a special space, which Go does not know", "it came along with copied text: type a normal space"
	case signs[first] == `"` || signs[first] == "'":
		return "these are typographic quotes", "write " + signs[first]
	case signs[first] != "":
		return fmt.Sprintf("Go doesn't know the sign %c", first), "write " + signs[first]
	}
	return msg, ""
}
