package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// A format is one in which numbers are stored.
type format struct {
	name  string
	info  tensor.FloatInfo
	dtype tensor.Dtype
	fp4   bool // it is no dtype, since tensors have it in blocks with a scale alone
}

var allFormats = func() (all []format) {
	for _, d := range []tensor.Dtype{tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Float8E5M2, tensor.Float8E4M3} {
		all = append(all, format{name: d.String(), info: tensor.Finfo(d), dtype: d})
	}
	table := tensor.Formats()
	return append(all, format{name: "fp4 (e2m1)", info: table[len(table)-1], fp4: true})
}()

// decode takes a code apart.
func (f format) decode(code uint64) tensor.Bits {
	if !f.fp4 {
		return f.dtype.Decode(code)
	}
	const one = 127 // the code of the scale 2⁰
	block := tensor.Quantized{Format: tensor.MXFP4, Shape: []int{1}, Codes: []uint8{uint8(code)}, Scales: []uint8{one}, Global: 1}
	return tensor.Bits{Code: code, Value: block.Tensor().Item(), Sign: code >> 3, Exponent: code >> 1 & 3, Mantissa: code & 1, ExponentWidth: 2, MantissaWidth: 1}
}

// encode rounds x to the format. FP4 has no code for NaN; what is too large becomes its largest number.
func (f format) encode(x float64) (code uint64, ok bool) {
	if !f.fp4 {
		return f.dtype.Encode(x), true
	}
	if math.IsNaN(x) {
		return 0, false
	}
	// A 4 in the block, and nothing beyond 7, make the scale 1.
	block := tensor.Of([]float64{max(-7, min(x, 7)), 4}).Quantize(tensor.MXFP4)
	return uint64(block.Codes[0] & 15), true
}

// next is the code of the next larger number (up) or smaller one; ok is false at the end of the format.
func (f format) next(code uint64, up bool) (uint64, bool) {
	sign := uint64(1) << (f.info.Bits - 1)
	at, negative := code&^sign, code&sign != 0
	if at == 0 && negative == up { // from either zero
		negative = !up
	}
	if negative != up { // away from zero
		at++
	} else {
		at--
	}
	if at >= sign {
		return code, false
	}
	if negative {
		at |= sign
	}
	return at, !math.IsNaN(f.decode(at).Value) && !math.IsNaN(f.decode(code).Value)
}

// formats lets the reader flip the bits of a number.
type formats struct {
	in    int // of allFormats
	code  uint64
	typed string
	exact float64 // what was typed, before it was rounded
	wrong bool    // what is typed is no number
}

func newFormats() *formats {
	x := &formats{in: 1}
	x.set("number", "0.1")
	return x
}

func (x *formats) set(control, value string) {
	f := allFormats[x.in]
	switch control {
	case "number":
		x.typed = value
		exact, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(value), "−", "-"), 64)
		var ok bool
		if e, is := err.(*strconv.NumError); err == nil || is && e.Err == strconv.ErrRange {
			if x.code, ok = f.encode(exact); ok {
				x.exact, x.wrong = exact, false
				return
			}
		}
		x.wrong = true
	case "format":
		if i, ok := chosen(value, len(allFormats)); ok {
			x.in = i
			if code, ok := allFormats[i].encode(x.exact); ok {
				x.code = code
			} else {
				x.put(0)
			}
		}
	case "bit":
		if i, ok := chosen(value, f.info.Bits); ok {
			x.put(x.code ^ 1<<i)
		}
	case "step":
		if code, ok := f.next(x.code, value == "up"); ok {
			x.put(code)
		}
	case "largest":
		x.set("number", num(f.info.Max))
	case "smallest":
		x.set("number", num(f.info.SmallestSubnormal))
	}
}

// put shows a code, which is a number that needs no rounding.
func (x *formats) put(code uint64) {
	x.code, x.wrong = code, false
	x.exact = allFormats[x.in].decode(code).Value
	x.typed = num(x.exact)
}

func (x *formats) draw(p *page) {
	f := allFormats[x.in]
	b := f.decode(x.code)
	p.add(`<div class="x-row">`)
	p.field("Number", "number", x.typed, 12, x.wrong)
	var names []string
	for _, f := range allFormats {
		names = append(names, f.name)
	}
	p.choice("stored as", "format", names, x.in)
	p.add(`</div>`)
	if x.wrong {
		p.add(`<p class="x-hint">Type a number, such as 0.1, 1e-8 or -3`)
		if !f.fp4 {
			p.add(`, inf or nan`)
		}
		p.add(`.</p>`)
	}
	x.drawBits(p, f, b)
	x.drawFields(p, f, b)
	p.says(`%s stores <b>%s</b>%s`, f.name, num(b.Value), raw(x.off(b.Value)))
	p.add(`<div class="x-row">`)
	p.button("◀ next smaller", "step", "down")
	p.button("next larger ▶", "step", "up")
	p.button("smallest above 0", "smallest", "")
	p.button("largest", "largest", "")
	p.add(`</div>`)
	x.drawLine(p, f, b)
	x.drawTable(p)
}

// off says how far a stored number is from what was typed.
func (x *formats) off(stored float64) string {
	switch {
	case stored == x.exact || math.IsNaN(stored) && math.IsNaN(x.exact):
		return say(", exactly.")
	case math.IsInf(stored, 0):
		return say(", since %s is too large for it.", num(x.exact))
	case math.IsNaN(stored):
		return say(", since %s is too large, and it has no infinity.", num(x.exact))
	case x.exact == 0 || math.IsInf(x.exact, 0):
		return "."
	case stored == 0:
		return say(", since %s is too small for it.", num(x.exact))
	}
	return say(", which is %s off.", percent(x.exact, stored))
}

// percent is the relative error of a rounded number.
func percent(exact, stored float64) string {
	e := math.Abs(stored-exact) / math.Abs(exact) * 100
	switch {
	case e < 0.001:
		return strings.Replace(strconv.FormatFloat(e, 'e', 1, 64), "e-0", "e-", 1) + " %"
	case e >= 99.5:
		return strconv.FormatFloat(e, 'f', 0, 64) + " %"
	}
	return strconv.FormatFloat(e, 'g', 2, 64) + " %"
}

func (x *formats) drawBits(p *page, f format, b tensor.Bits) {
	p.add(`<div class="x-bits" role="group" aria-label="Bits of the number, to flip" data-arrows="%d">`, f.info.Bits)
	at := f.info.Bits
	field := func(name, class string, width int) {
		p.add(`<div class="x-field x-%s" role="group" aria-label="%s"><span class="x-cap" aria-hidden="true">%s</span><div>`, class, say(name), say(name))
		for i := width - 1; i >= 0; i-- {
			at--
			label := say("%s bit %d", say(name), i)
			if width == 1 {
				label = say("%s bit", say(name))
			}
			bit := x.code >> at & 1
			p.add(`<button type="button" data-set="bit" data-value="%d" aria-label="%s" aria-pressed="%t">%d</button>`, at, label, bit == 1, bit)
		}
		p.add(`</div></div>`)
	}
	field(phrase("sign"), "sign", 1)
	field(phrase("exponent"), "exponent", b.ExponentWidth)
	field(phrase("mantissa"), "mantissa", b.MantissaWidth)
	p.add(`</div>`)
}

// power writes a power of two, with a name for those who hear it.
func power(e int) raw {
	minus := strings.Replace(strconv.Itoa(e), "-", "−", 1)
	return raw(fmt.Sprintf(`<span class="x-exponent" role="img" aria-label="%s">2<sup>%s</sup></span>`, say("2 to the power of %d", e), minus))
}

// drawFields says what the three fields mean, and multiplies them.
func (x *formats) drawFields(p *page, f format, b tensor.Bits) {
	bias := 1<<(b.ExponentWidth-1) - 1
	parts := 1 << b.MantissaWidth
	sign, exponent := "+", int(b.Exponent)-bias
	if b.Sign == 1 {
		sign = "−"
	}
	lead, fraction := 1., float64(b.Mantissa)/float64(parts)
	if b.Exponent == 0 {
		lead, exponent = 0, 1-bias
	}
	p.add(`<p class="x-sum">`)
	switch {
	case math.IsNaN(b.Value):
		p.add(`This code stands for <b>NaN</b>, not a number.`)
	case math.IsInf(b.Value, 0):
		p.add(`An exponent of ones and a mantissa of zeros stand for <b>infinity</b>.`)
	default:
		p.add(`<span class="x-sign">%s</span> <span class="x-mantissa">%s</span> · %s = <b>%s</b>`, sign, num(lead+fraction), power(exponent), num(b.Value))
	}
	p.add(`</p><dl class="x-parts">`)
	switch {
	case math.IsNaN(b.Value) || math.IsInf(b.Value, 0):
		p.add(`<dt>exponent</dt><dd>%d, the largest</dd><dt>mantissa</dt><dd>%d</dd>`, b.Exponent, b.Mantissa)
	case b.Exponent == 0:
		p.add(`<dt>exponent</dt><dd>0: as if it were 1, so 1 − %d = %d, and no 1 before the point: the number is subnormal, or 0</dd>`, bias, exponent)
		p.add(`<dt>mantissa</dt><dd>%d of %d parts: %d / %d = %s</dd>`, b.Mantissa, parts, b.Mantissa, parts, num(fraction))
	default:
		p.add(`<dt>exponent</dt><dd>%d − %d = %d; the %d is the bias</dd>`, b.Exponent, bias, exponent, bias)
		p.add(`<dt>mantissa</dt><dd>1 + %d / %d = %s; the 1 is not stored</dd>`, b.Mantissa, parts, num(1+fraction))
	}
	p.add(`</dl>`)
}

// drawLine shows the number among its neighbors, with their true distances.
func (x *formats) drawLine(p *page, f format, b tensor.Bits) {
	if math.IsNaN(b.Value) || math.IsInf(b.Value, 0) {
		return
	}
	const each = 4 // neighbors on either side
	codes := []uint64{x.code}
	for _, up := range []bool{false, true} {
		code, ok := x.code, true
		for range each {
			if code, ok = f.next(code, up); !ok || math.IsInf(f.decode(code).Value, 0) {
				break
			}
			if up {
				codes = append(codes, code)
			} else {
				codes = append([]uint64{code}, codes...)
			}
		}
	}
	least, most := f.decode(codes[0]).Value, f.decode(codes[len(codes)-1]).Value
	const left, width = 12., 376.
	place := func(v float64) float64 { return left + width*(v/2-least/2)/(most/2-least/2) } // halves, as the whole may overflow
	below, above := "", ""
	p.add(`<svg class="x-line" viewBox="0 0 400 62" role="img" aria-label="The number and its neighbors on a line"><path class="axis" d="M4 34H396"/>`)
	for _, code := range codes {
		v := f.decode(code).Value
		class, height := "tick", 6
		if code == x.code {
			class, height = "tick here", 11
		}
		p.add(`<path class="%s" d="M%.1f %dv%d"/>`, class, place(v), 34-height, 2*height)
	}
	if x.exact >= least && x.exact <= most && x.exact != b.Value {
		p.add(`<path class="typed" d="M%.1f 30l-4.5 -8h9z"/><text class="small" x="%.1f" y="16" text-anchor="%s">%s</text>`, place(x.exact), place(x.exact), anchor(place(x.exact)), num(x.exact))
	}
	p.add(`<text x="%.1f" y="58" text-anchor="%s">%s</text></svg>`, place(b.Value), anchor(place(b.Value)), num(b.Value))
	if code, ok := f.next(x.code, false); ok {
		below = num(f.decode(code).Value)
	}
	if code, ok := f.next(x.code, true); ok {
		v := f.decode(code).Value
		above = num(v)
		if !math.IsInf(v, 0) {
			p.add(`<p class="x-hint">Between %s and %s. From here to the next larger number is a step of %s.</p>`, orEnd(below), above, num(v-b.Value))
			return
		}
	}
	p.add(`<p class="x-hint">Between %s and %s.</p>`, orEnd(below), orEnd(above))
}

func orEnd(neighbour string) string {
	if neighbour == "" {
		return say("the end of the format")
	}
	return neighbour
}

// anchor keeps a text of the line within it.
func anchor(x float64) string {
	switch {
	case x < 80:
		return "start"
	case x > 320:
		return "end"
	}
	return "middle"
}

// drawTable rounds what was typed to every format.
func (x *formats) drawTable(p *page) {
	p.add(`<div class="scroll"><table><caption>%s in every format</caption><thead><tr><th>format</th><th>stored</th><th>off by</th><th class="x-wide">bits</th></tr></thead><tbody>`, num(x.exact))
	for i, f := range allFormats {
		here := raw("")
		if i == x.in {
			here = ` class="x-here"`
		}
		code, ok := f.encode(x.exact)
		if i == x.in {
			code, ok = x.code, true
		}
		if !ok {
			p.add(`<tr%s><th scope="row">%s</th><td>it has no NaN</td><td></td><td class="x-wide"></td></tr>`, here, f.name)
			continue
		}
		b := f.decode(code)
		off := say("exact")
		switch {
		case b.Value == x.exact || math.IsNaN(x.exact):
		case math.IsInf(b.Value, 0) || math.IsNaN(b.Value):
			off = say("too large")
		case b.Value == 0:
			off = "100 %"
		case x.exact == 0 || math.IsInf(x.exact, 0):
			off = ""
		default:
			off = percent(x.exact, b.Value)
		}
		p.add(`<tr%s><th scope="row">%s</th><td>%s</td><td>%s</td><td class="x-wide"><code>%s</code></td></tr>`, here, f.name, num(b.Value), off, b.String())
	}
	p.add(`</tbody></table></div>`)
}
