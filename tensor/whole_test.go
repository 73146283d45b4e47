package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestWholeNumbersKeepTheirDigits: float64 holds integers up to 2⁵³ only, so
// none of this may go by way of it.
func TestWholeNumbersKeepTheirDigits(t *testing.T) {
	for _, n := range []int64{math.MaxInt64, math.MinInt64, 1<<53 + 1, -1<<53 - 1, 1<<62 + 1, 0, -1} {
		text := fmt.Sprint(n)
		x := Of([]int64{n, 3})
		for name, got := range map[string]int64{
			"AtInt": x.AtInt(0), "AtInt of a view": x.Unsqueeze(1).T().AtInt(0, -2), "ItemInt": x.Index(0).ItemInt(), "Ints": x.Ints()[0], "Data": Data[int64](x)[0],
			"Sum": x.Narrow(0, 0, 1).Sum().ItemInt(), "Max": x.Narrow(0, 0, 1).Max().ItemInt(), "Min": x.Narrow(0, 0, 1).Min().ItemInt(), "Prod": x.Narrow(0, 0, 1).Prod().ItemInt(),
			"Clone": x.Clone().AtInt(0), "Add": Of([]int64{0}).Add(n).AtInt(0), "Number": Number(n).ItemInt(), "Cat": Cat(0, x, x).AtInt(2),
			"SetIndex": Of([]int64{0, 0}).SetIndex(n, 1).AtInt(1), "SetIndex by a mask": Of([]int64{0, 0}).SetIndex(n, Of([]bool{true, false})).AtInt(0),
			"CopyFrom": Of([]int64{0, 0}).CopyFrom(x).AtInt(0), "Where": Where(Of(true), x, int64(0)).AtInt(0), "Sort": first(x.Narrow(0, 0, 1).Sort(0, false)).AtInt(0),
			"Cumsum": x.Cumsum(0).AtInt(0), "Maximum": x.Maximum(int64(math.MinInt64)).AtInt(0), "Gather": x.Gather(0, Of([]int64{0})).AtInt(0), "To": x.To(Int64).AtInt(0),
		} {
			if got != n {
				t.Errorf("%s of %d gives %d", name, n, got)
			}
		}
		for name, got := range map[string]string{
			"number": Of([]int64{n}).Index(0).String(), "vector": x.String(), "matrix": x.View(1, 2).String(), "table": x.HTML(), "verb": fmt.Sprintf("%+v", x),
		} {
			if !strings.Contains(got, text) {
				t.Errorf("%s with %d is written %s", name, n, got)
			}
		}
		if n != math.MaxInt64 && (Equal(x, x.Add(Of([]int64{1, 0}))) || AllClose(x, x.Add(Of([]int64{1, 0})), 0, 0)) {
			t.Errorf("%d and %d are called equal", n, n+1)
		}
	}
	if got := Of(2.75, -2.75).AtInt(1); got != -2 {
		t.Errorf("AtInt of -2.75 is %d, want -2", got)
	}
	wide := Of([]int64{math.MinInt64, 7}).String()
	if want := "tensor([-9223372036854775808,                    7])"; wide != want {
		t.Errorf("got %s, want %s", wide, want)
	}
	for _, f := range []func(){func() { Of(1, 2).ItemInt() }, func() { Of(1).AtInt(1) }, func() { Of(1).AtInt() }} {
		if Try(f) == nil {
			t.Error("a wrong index is no error")
		}
	}
}
