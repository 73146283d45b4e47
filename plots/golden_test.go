package plots

import (
	"math"
	"testing"
	"time"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/plots/internal/golden"
	"github.com/lectern-go/lectern/tensor"
)

// decay is a loss that falls, with a ripple in place of noise.
func decay(steps int, rate, floor float64) []float64 {
	values := make([]float64, steps)
	for i := range values {
		values[i] = floor + 2.5*math.Exp(-rate*float64(i)) + 0.08*math.Sin(float64(i)*1.7)*math.Exp(-rate*float64(i)/3)
	}
	return values
}

// through returns a random batch after each of several layers without
// activation, whose weights have the given standard deviation.
func through(std float64, layers int) []*tensor.Tensor {
	g := tensor.NewGenerator(1)
	const width = 64
	x := tensor.With(g).Randn(32, width)
	all := make([]*tensor.Tensor, layers)
	for i := range all {
		x = x.Matmul(tensor.With(g).Randn(width, width).Mul(std)).Tanh()
		all[i] = x
	}
	return all
}

// valley is a loss that is steep in one parameter and flat in the other.
func valley(x, y float64) float64 { return x*x/20 + y*y }

// descend is gradient descent with momentum in the valley.
func descend(rate, momentum float64, steps int) [][2]float64 {
	p, v := [2]float64{-9, 2.4}, [2]float64{}
	points := [][2]float64{p}
	for range steps {
		for i, gradient := range []float64{p[0] / 10, 2 * p[1]} {
			v[i] = momentum*v[i] - rate*gradient
			p[i] += v[i]
		}
		points = append(points, p)
	}
	return points
}

func measuredRoofline() accounting.RooflineReport {
	m := accounting.Machine{Name: "a laptop, float32", PeakPerSecond: 426e9, BytesPerSecond: 21e9}
	operations := accounting.LectureOperations(1024, 4)
	for i, part := range []float64{0.8, 0.5, 0.9, 0.7, 0.85} {
		operations[i].Measured = time.Duration(m.Seconds(operations[i]) / part * 1e9)
	}
	return accounting.Roofline(m, operations...)
}

func h100Roofline(t *testing.T) accounting.RooflineReport {
	d, err := accounting.LookUp("NVIDIA H100 80GB HBM3")
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Machine(accounting.BF16)
	if err != nil {
		t.Fatal(err)
	}
	return accounting.Roofline(m, accounting.LectureOperations(1024, 2)...)
}

func TestFigures(t *testing.T) {
	spiky := decay(200, 0.02, 0.1)
	spiky[90] = math.NaN()
	golden.Check(t, map[string]func() golden.Figure{
		"loss": func() golden.Figure {
			return Loss(Run("lr 0.01", decay(200, 0.01, 0.2)), Run("lr 0.1", decay(200, 0.05, 0.15)), Run("lr 1", spiky))
		},
		"loss-long":  func() golden.Figure { return Loss(Run("long run", decay(100_000, 0.0001, 0.01))) },
		"loss-first": func() golden.Figure { return Loss(Run("", []float64{2.5})) },
		"schedules": func() golden.Figure {
			return Schedules(1000,
				Schedule{"constant", func(int) float64 { return 3e-4 }},
				Schedule{"warm-up, then cosine", func(step int) float64 {
					return 1e-3 * min(float64(step)/100, 0.5+0.5*math.Cos(math.Pi*float64(step)/1000))
				}},
				Schedule{"1/sqrt(step)", func(step int) float64 { return 1e-3 * min(1, 10/math.Sqrt(float64(step+1))) }})
		},
		"depth": func() golden.Figure {
			return Depth("activation", Stack{"standard deviation 1", through(1, 6)}, Stack{"Xavier", through(1./8, 6)}, Stack{"0.05", through(0.05, 6)})
		},
		"paths": func() golden.Figure {
			return Paths(valley, Plane{-10, 10, -3, 3}, Path{"SGD", descend(0.4, 0, 40)}, Path{"momentum", descend(0.2, 0.8, 40)}, Path{"SGD, rate too large", descend(1.02, 0, 12)})
		},
		"roofline":          func() golden.Figure { return Roofline(h100Roofline(t)) },
		"roofline-measured": func() golden.Figure { return Roofline(measuredRoofline()) },
		"roofline-two":      func() golden.Figure { return Roofline(measuredRoofline(), h100Roofline(t)) },
		"mfu": func() golden.Figure {
			return MFU(Utilization{"CPU float32", 361e9, 426e9}, Utilization{"H100 bf16", 612e12, 989.5e12}, Utilization{"H100 fp32, small", 2e12, 67e12})
		},
		"recipes": func() golden.Figure {
			return Recipes(Recipe{"fp32", 0.412, 0.0121, 41 << 20}, Recipe{"bf16, fp32 master", 0.418, 0.0074, 30 << 20},
				Recipe{"fp16, scaled", 0.415, 0.0076, 30 << 20}, Recipe{"fp16", math.NaN(), 0.0075, 24 << 20}, Recipe{"fp8", 0.447, 0.0060, 26 << 20})
		},
	})
}
