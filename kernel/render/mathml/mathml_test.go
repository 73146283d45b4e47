package mathml

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// inner strips the <math> element, whose alttext only repeats the input.
func inner(t *testing.T, latex string, display bool) string {
	t.Helper()
	ml, err := Convert(latex, display)
	if err != nil {
		t.Fatalf("Convert(%q): %v", latex, err)
	}
	wellFormed(t, latex, ml)
	ml = ml[strings.Index(ml, ">")+1:]
	return strings.TrimSuffix(ml, "</math>")
}

func wellFormed(t *testing.T, latex, ml string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(ml))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("Convert(%q) is not well formed: %v\n%s", latex, err, ml)
		}
	}
}

func TestConvert(t *testing.T) {
	const unary = `<mo form="prefix" stretchy="false" lspace="0" rspace="0">`
	const bracket = `<mo stretchy="false" lspace="0" rspace="0">`
	const thin = `<mspace width="0.1667em"/>`
	tests := []struct{ name, latex, want string }{
		{"letter", `x`, `<mi>x</mi>`},
		{"number", `3.14`, `<mn>3.14</mn>`},
		{"sentence end", `3.`, `<mn>3</mn><mo stretchy="false" lspace="0" rspace="0">.</mo>`},
		{"one digit per argument", `\frac12\sum`, `<mfrac><mn>1</mn><mn>2</mn></mfrac><mo>∑</mo>`},
		{"one digit per script", `x^10`, `<msup><mi>x</mi><mn>1</mn></msup><mn>0</mn>`},
		{"group script", `x^{10}_i`, `<msubsup><mi>x</mi><mi>i</mi><mn>10</mn></msubsup>`},
		{"order of scripts", `x_i^2`, `<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>`},
		{"prime and power", `f'^2`, `<msup><mi>f</mi><mrow><mo lspace="0" rspace="0">′</mo><mn>2</mn></mrow></msup>`},
		{"transpose", `x^\top W^{-1}`, `<msup><mi>x</mi><mi>⊤</mi></msup><msup><mi>W</mi><mrow>` + unary + `−</mo><mn>1</mn></mrow></msup>`},
		{"unary minus", `a=-b-c`, `<mi>a</mi><mo>=</mo>` + unary + `−</mo><mi>b</mi><mo>−</mo><mi>c</mi>`},
		{"dangling sign", `h+`, `<mi>h</mi><mo lspace="0" rspace="0">+</mo>`},
		{"starred", `x^*`, `<msup><mi>x</mi>` + unary + `∗</mo></msup>`},
		{"brackets", `f(x)`, `<mi>f</mi>` + bracket + `(</mo><mi>x</mi>` + bracket + `)</mo>`},
		{"function", `a\log b`, `<mi>a</mi>` + thin + `<mi>log</mi>` + thin + `<mi>b</mi>`},
		{"function of brackets", `\log(b)`, `<mi>log</mi>` + bracket + `(</mo><mi>b</mi>` + bracket + `)</mo>`},
		{"limits", `\max_i x`, `<munder><mo movablelimits="true" form="prefix" lspace="0" rspace="0">max</mo><mi>i</mi></munder>` + thin + `<mi>x</mi>`},
		{"sum", `\sum_{i=1}^n`, `<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>`},
		{"forced limits", `\sum\limits_i`, `<munder><mo movablelimits="false">∑</mo><mi>i</mi></munder>`},
		{"integral", `\int_0^1`, `<msubsup><mo>∫</mo><mn>0</mn><mn>1</mn></msubsup>`},
		{"root", `\sqrt{d}\sqrt[3]{x}`, `<msqrt><mi>d</mi></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>`},
		{"roman word", `\mathrm{MFU}`, `<mi>MFU</mi>`},
		{"roman letter", `\mathrm{d}x`, `<mi mathvariant="normal">d</mi><mi>x</mi>`},
		{"bold", `\mathbf{W}`, `<mi>𝐖</mi>`},
		{"blackboard", `\mathbb{R}^{m\times n}`, `<msup><mi>ℝ</mi><mrow><mi>m</mi><mo>×</mo><mi>n</mi></mrow></msup>`},
		{"calligraphic", `\mathcal{L}`, `<mi>ℒ</mi>`},
		{"font ends with its group", `\mathrm{a}b`, `<mi mathvariant="normal">a</mi><mi>b</mi>`},
		{"text", `\text{if } x \text{ is 5\%}`, "<mtext>if\u00a0</mtext><mi>x</mi><mtext>\u00a0is 5%</mtext>"},
		{"operator name", `\operatorname{softmax}(x)`, `<mi>softmax</mi>` + bracket + `(</mo><mi>x</mi>` + bracket + `)</mo>`},
		{"hat", `\hat{y}`, `<mover accent="true"><mi>y</mi><mo stretchy="false">^</mo></mover>`},
		{"overline", `\overline{ab}`, `<mover accent="true"><mrow><mi>a</mi><mi>b</mi></mrow><mo stretchy="true">‾</mo></mover>`},
		{"left right", `\left(\frac{a}{b}\right]`, `<mrow><mo form="prefix" fence="true" stretchy="true">(</mo><mfrac><mi>a</mi><mi>b</mi></mfrac><mo form="postfix" fence="true" stretchy="true">]</mo></mrow>`},
		{"left nothing", `\left. x \right|`, `<mrow><mi>x</mi><mo form="postfix" fence="true" stretchy="true">|</mo></mrow>`},
		{"floor", `\lfloor x \rfloor`, bracket + `⌊</mo><mi>x</mi>` + bracket + `⌋</mo>`},
		{"matrix", `\begin{bmatrix}1&2\\3&4\end{bmatrix}`, `<mrow><mo form="prefix" fence="true" stretchy="true">[</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo form="postfix" fence="true" stretchy="true">]</mo></mrow>`},
		{"aligned", `\begin{aligned}a&=b\\&=-c\\\end{aligned}`, `<mtable displaystyle="true"><mtr><mtd style="text-align:right;text-align:-webkit-right;padding-right:0;padding-left:0"><mi>a</mi></mtd><mtd style="text-align:left;text-align:-webkit-left;padding-left:0"><mo>=</mo><mi>b</mi></mtd></mtr><mtr><mtd style="text-align:right;text-align:-webkit-right;padding-right:0;padding-left:0"></mtd><mtd style="text-align:left;text-align:-webkit-left;padding-left:0"><mo>=</mo>` + unary + `−</mo><mi>c</mi></mtd></mtr></mtable>`},
		{"cases", `\begin{cases}1&x>0\\0\end{cases}`, `<mrow><mo form="prefix" fence="true" stretchy="true">{</mo><mtable><mtr><mtd style="text-align:left;text-align:-webkit-left"><mn>1</mn></mtd><mtd style="text-align:left;text-align:-webkit-left"><mi>x</mi><mo>&gt;</mo><mn>0</mn></mtd></mtr><mtr><mtd style="text-align:left;text-align:-webkit-left"><mn>0</mn></mtd></mtr></mtable></mrow>`},
		{"Greek", `\alpha\Sigma\varepsilon`, `<mi>α</mi><mi mathvariant="normal">Σ</mi><mi>ε</mi>`},
		{"typed Unicode", `σ ≤ ∞`, `<mi>σ</mi><mo>≤</mo><mi>∞</mi>`},
		{"comma in a number", `1{,}000`, `<mn>1</mn>` + unary + `,</mo><mn>000</mn>`},
		{"negation", `x \not= y`, `<mi>x</mi><mo>≠</mo><mi>y</mi>`},
		{"underbrace", `\underbrace{ab}_{n}`, `<munder><munder><mrow><mi>a</mi><mi>b</mi></mrow><mo stretchy="true">⏟</mo></munder><mi>n</mi></munder>`},
		{"escapes", `5\%\ \{x\}`, `<mn>5</mn><mi>%</mi><mspace width="0.25em"/>` + bracket + `{</mo><mi>x</mi>` + bracket + `}</mo>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := inner(t, tt.latex, false); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.latex, got, tt.want)
			}
		})
	}
}

func TestDisplayAndAltText(t *testing.T) {
	got, err := Convert(" a <\n  b\"c ", true)
	if err == nil {
		t.Fatalf("a stray quote was accepted: %s", got)
	}
	got, err = Convert(" a <\n  b ", true)
	if err != nil {
		t.Fatal(err)
	}
	if want := `<math display="block" alttext="a &lt; b"><mi>a</mi><mo>&lt;</mo><mi>b</mi></math>`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Every name in the tables has to convert by itself or with one argument.
func TestEveryCommandConverts(t *testing.T) {
	special := map[string]string{
		"left": `\left(x\right)`, "right": `\left(x\right]`, "middle": `\left(x\middle|y\right)`, "begin": `\begin{matrix}x\end{matrix}`, "end": `\begin{matrix}x\end{matrix}`,
		"limits": `\sum\limits_x`, "nolimits": `\sum\nolimits_x`, "not": `\not=`,
	}
	for _, name := range known {
		latex, ok := special[name]
		if !ok {
			latex = `\` + name + `{x}{y}`
		}
		if _, err := Convert(latex, true); err != nil {
			t.Errorf("%s: %v", latex, err)
		}
	}
	for name := range environments {
		spec := ""
		if name == "array" {
			spec = "{lr}"
		}
		inner(t, `\begin{`+name+`}`+spec+`a&b\\c&d\end{`+name+`}`, true)
	}
	for _, s := range []string{"big", "Big", "bigg", "Bigg", "bigl", "Biggr"} {
		inner(t, `\`+s+`(x`, false)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, latex string
		offset      int
		want        string // part of the message
	}{
		{"unknown command", `a + \foo{b}`, 4, `unknown command \foo`},
		{"slip of the pen", `\farc{a}{b}`, 0, `did you mean \frac?`},
		{"unknown environment", `\begin{align}a\end{align}`, 7, `inside $$ use aligned`},
		{"unclosed group", `\frac{a`, 5, `this { is never closed`},
		{"stray brace", `a}`, 1, `closes nothing`},
		{"missing argument", `\frac{a}`, 8, `\frac needs something`},
		{"missing script", `x^`, 2, `^ needs something`},
		{"script of nothing", `^2`, 0, `there is nothing before ^`},
		{"double superscript", `x^a^b`, 3, `two superscripts`},
		{"double subscript", `x_a_b`, 3, `two subscripts`},
		{"left without right", `\left( x`, 0, `no \right`},
		{"right without left", `x \right)`, 2, `\right without its beginning`},
		{"bad delimiter", `\left x`, 6, `needs a delimiter`},
		{"ampersand", `a & b`, 2, `outside a table`},
		{"line break", `a \\ b`, 2, `\begin{aligned}`},
		{"mismatched end", `\begin{cases}a\end{matrix}`, 19, `does not match`},
		{"open environment", `\begin{cases}a`, 0, `no \end{cases}`},
		{"percent", `5%`, 1, `write \%`},
		{"dollar in text", `\text{a $b$}`, 8, `close the text first`},
		{"command in text", `\text{a \alpha}`, 8, `close the text first`},
		{"quote", `a"`, 1, `has no meaning`},
		{"empty", `  `, 0, `empty`},
		{"backslash at the end", `a\`, 1, `a backslash ends`},
		{"limits without operator", `x\limits_i`, 1, `only follows an operator`},
		{"wide array", `\begin{array}{l}a&b\end{array}`, 19, `more columns`},
		{"control character", "a\x00", 1, `control character`},
		{"not UTF-8", "a\xff", 1, `UTF-8`},
		{"second line", "a\n+ \\foo", 4, `unknown command`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ml, err := Convert(tt.latex, false)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Convert(%q) = %s, %v; want an *Error", tt.latex, ml, err)
			}
			if e.Offset != tt.offset || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("Convert(%q): offset %d, %q; want offset %d, %q", tt.latex, e.Offset, e, tt.offset, tt.want)
			}
		})
	}
	_, err := Convert("a\n+ \\foo", false)
	if line, col := err.(*Error).Position(); line != 2 || col != 3 {
		t.Errorf("position = line %d column %d, want line 2 column 3", line, col)
	}
}

func TestDeepNestingIsAnError(t *testing.T) {
	for _, s := range []string{"{", `\sqrt{`, `x^{`, `\left(`, `\begin{matrix}`, `\frac`, `\hat`, `\mathrm`} {
		if _, err := Convert(strings.Repeat(s, 5000), false); err == nil {
			t.Errorf("%q nested 5000 deep was accepted", s)
		}
	}
}

// The lessons' own formulas, as they are meant to be written.
func TestLessonFormulas(t *testing.T) {
	for _, s := range []string{
		`\text{days} = \frac{6 \cdot 70 \times 10^{9} \cdot 15 \times 10^{12}}{1024 \cdot 989.5 \times 10^{12} \cdot 0.5 \cdot 86400} \approx 144`,
		`\mathcal{L} = \tfrac12 (x^\top w - 5)^2, \qquad \frac{\partial \mathcal{L}}{\partial w} = (x^\top w - 5)\, x`,
		`\operatorname{softmax}(x)_i = \frac{\exp(x_i - \max_j x_j)}{\sum_{j=1}^{n} \exp(x_j - \max_k x_k)}`,
		`\begin{aligned} m_t &= \beta_1 m_{t-1} + (1-\beta_1) g_t \\ v_t &= \beta_2 v_{t-1} + (1-\beta_2) g_t^2 \\ \theta_t &= \theta_{t-1} - \eta \frac{\hat m_t}{\sqrt{\hat v_t} + \epsilon} \end{aligned}`,
		`W \sim \mathcal{N}\!\left(0, \frac{2}{n_\mathrm{in} + n_\mathrm{out}}\right)`,
		`\mathrm{ReLU}(x) = \begin{cases} x & x > 0 \\ 0 & \text{otherwise} \end{cases}`,
		`\text{MFU} = \frac{\text{actual FLOP/s}}{\text{peak FLOP/s}} \le \min\left(1, \frac{I}{I_\text{machine}}\right)`,
		`\nabla_x f : \mathbb{R}^n \to \mathbb{R},\quad i \in \{0, 1, \ldots, n-1\}`,
		`x \mapsto \lfloor x / s \rceil \odot \mathbf{1}, \quad \underbrace{4+4+4+4}_{\text{bytes}} = 16, \prod_{l=1}^{L} \bar w_l \ne \infty`,
		`\begin{pmatrix} a & b \\ c & d \end{pmatrix}^{\!\top} \begin{bmatrix} x \\ y \end{bmatrix} \Rightarrow \| x \|_2 \geq \tilde{x}`,
	} {
		inner(t, s, true)
	}
}

func FuzzConvert(f *testing.F) {
	for _, s := range []string{`\frac12\sum_{i=1}^n x_i`, `\begin{aligned}a&=b\\c&=d\end{aligned}`, `\left(\sqrt[3]{x}\right)'`, `\text{a b}\mathbf{Wx}`, `\not\in`, `\big|`, `{}^2`, `x\limits`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ml, err := Convert(s, true)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || e.Offset < 0 || e.Offset > len(s) {
				t.Fatalf("Convert(%q): %v", s, err)
			}
			_ = e.Error()
			return
		}
		wellFormed(t, s, ml)
	})
}
