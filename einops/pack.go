package einops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Pack joins tensors of different ranks along one axis: * in the pattern stands for
// any axes of each tensor, which are composed into one; the other axes are named and
// must agree. It returns a new tensor and, for [Unpack], the shapes that * stood for.
//
//	// a class token [c], patches [h w c]: packed [1+h*w c], shapes [[] [h w]]
//	packed, shapes := einops.Pack("* c", token, patches)
//
// It panics with an [*Error] if the pattern has no *, or if tensors don't fit it or
// each other.
func Pack(pattern string, tensors ...*tensor.Tensor) (packed *tensor.Tensor, shapes [][]int) {
	star := newStar("pack", pattern)
	if len(tensors) == 0 {
		must(star.error(ErrOperand, "no tensors are given", ""))
	}
	flat := make([]*tensor.Tensor, len(tensors))
	for i, t := range tensors {
		if t == nil {
			must(star.error(ErrOperand, fmt.Sprintf("tensor %d is nil", i), ""))
		}
		shape := t.Shape()
		if t.Dim() < star.others() {
			must(star.error(tensor.ErrShape, fmt.Sprintf("the pattern is for %s, tensor %d has %d", atLeast(true, star.others()), i, t.Dim()), "", shape))
		}
		if t.Dtype() != tensors[0].Dtype() {
			must(star.error(tensor.ErrDtype, fmt.Sprintf("tensor 0 is %s, tensor %d is %s", tensors[0].Dtype(), i, t.Dtype()), "convert one with To"))
		}
		starts, inside, ends := shape[:star.before], shape[star.before:len(shape)-star.after], shape[len(shape)-star.after:]
		for j, n := range slices.Concat(starts, ends) {
			first := tensors[0].Shape()
			if j >= star.before {
				first = first[len(first)-star.others():]
			}
			if first[j] != n {
				err := star.error(tensor.ErrShape, fmt.Sprintf("axis %q is %d in tensor 0 and %d in tensor %d", star.words[j], first[j], n, i), "", tensors[0].Shape(), shape)
				at := star.places[j]
				err.Start, err.End = at, at+len(star.words[j])
				must(err)
			}
		}
		shapes = append(shapes, slices.Clone(inside))
		flat[i] = t.Reshape(slices.Concat(starts, []int{product(inside)}, ends)...)
	}
	return tensor.Cat(star.before, flat...), shapes
}

// Unpack undoes [Pack]: it cuts the axis * into pieces of the given shapes and
// restores the axes of each. One length in all shapes may be -1 and is then worked
// out. The results are views of x.
//
// It panics with an [*Error] unless the pattern has one * and a name for every
// other axis, and the shapes fill the axis exactly.
func Unpack(x *tensor.Tensor, shapes [][]int, pattern string) []*tensor.Tensor {
	star := newStar("unpack", pattern)
	if x == nil {
		must(star.error(ErrOperand, "the tensor is nil", ""))
	}
	shape := x.Shape()
	if x.Dim() != star.others()+1 {
		must(star.error(tensor.ErrShape, fmt.Sprintf("the pattern is for %s, the tensor has %d", atLeast(false, star.others()+1), x.Dim()), "", shape))
	}
	filled, problem := fill(shape[star.before], shapes)
	if problem != "" {
		err := star.error(tensor.ErrShape, fmt.Sprintf("axis %d of size %d can't be cut into pieces %v: %s", star.before, shape[star.before], shapes, problem), "", shape)
		err.Start, err.End = star.at, star.at+1
		must(err)
	}
	pieces := make([]*tensor.Tensor, len(filled))
	start := 0
	for i, inside := range filled {
		n := product(inside)
		pieces[i] = x.Narrow(star.before, start, n).View(slices.Concat(shape[:star.before], inside, shape[star.before+1:])...)
		start += n
	}
	return pieces
}

// fill works out the -1 among shapes that have size elements in all, and says what is
// wrong if they don't.
func fill(size int, shapes [][]int) (filled [][]int, problem string) {
	total := 0
	var open []int // the shape with the -1
	at, beside := 0, 1
	for i, shape := range shapes {
		shape = slices.Clone(shape)
		filled = append(filled, shape)
		n := 1
		hole := unknown
		for j, length := range shape {
			switch {
			case length == -1 && (open != nil || hole >= 0):
				return nil, "two lengths are -1, only one can be worked out"
			case length == -1:
				hole = j
			case length < 0:
				return nil, fmt.Sprintf("length %d of piece %d is negative", length, i)
			default:
				n = capped(n, length)
			}
		}
		if hole >= 0 {
			open, at, beside = shape, hole, n
		} else {
			total = min(total+n, maxLength*2)
		}
	}
	rest := size - total
	switch {
	case open == nil && rest != 0:
		return nil, fmt.Sprintf("they have %s", humanize.Count(total, "element"))
	case open == nil:
	case rest < 0:
		return nil, fmt.Sprintf("those without -1 have %s", humanize.Count(total, "element"))
	case beside == 0 || rest%beside != 0:
		return nil, fmt.Sprintf("%d elements are left for the piece with -1, not a multiple of %d", rest, beside)
	default:
		open[at] = rest / beside
	}
	return filled, ""
}

// star is a pattern of Pack: names with one * among them.
type star struct {
	parser
	before, after int // axes on either side
	at            int // place of the *
	words         []string
	places        []int
}

func (s *star) others() int { return s.before + s.after }

func newStar(op, pattern string) *star {
	s := &star{parser: parser{op, pattern}, at: unknown}
	if len(pattern) > maxPattern {
		must(s.fail(maxPattern, maxPattern, fmt.Sprintf("the pattern has %d bytes, more than %d", len(pattern), maxPattern), ""))
	}
	const space = " \t\n\r"
	for at := 0; at < len(pattern); {
		if strings.IndexByte(space, pattern[at]) >= 0 {
			at++
			continue
		}
		end := at + strings.IndexAny(pattern[at:]+" ", space)
		word := pattern[at:end]
		switch {
		case word == "*" && s.at >= 0:
			must(s.fail(at, end, "a second *", "only one * can be packed"))
		case word == "*":
			s.at, s.before = at, len(s.words)
		case slices.Contains(s.words, word):
			must(s.fail(at, end, fmt.Sprintf("axis %q appears twice", word), "give each axis a different name"))
		default:
			it, err := s.word(at, end, rules{})
			must(err)
			if it.name == "" {
				must(s.fail(at, end, fmt.Sprintf("%q is not an axis name", word), "a pattern of pack and unpack has names and one *"))
			}
			s.words, s.places = append(s.words, word), append(s.places, at)
		}
		at = end
	}
	if s.at < 0 {
		must(s.fail(len(pattern), len(pattern), "the pattern has no *", "write * for the axes that are packed into one"))
	}
	s.after = len(s.words) - s.before
	return s
}

func (s *star) error(kind error, reason, hint string, shapes ...[]int) *Error {
	return &Error{Kind: kind, Op: s.op, Pattern: s.pattern, End: len(s.pattern), Reason: reason, Hint: hint, Shapes: shapes}
}
