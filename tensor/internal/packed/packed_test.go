package packed

import (
	"reflect"
	"testing"

	"github.com/lectern-go/lectern/tensor/layout"
)

func TestLayoutsArePacked(t *testing.T) {
	for _, l := range []layout.Layout{{}, layout.Contiguous(0), layout.Contiguous(2, 3), {Shape: []int{5, 1 << 40}, Strides: []int{0, 7}, Offset: 1 << 50}} {
		var p Data
		p.PutLayout(l)
		got := p.Layout()
		if len(got.Shape) != len(l.Shape) || got.Offset != l.Offset || len(l.Shape) > 0 && !reflect.DeepEqual(got, l) {
			t.Errorf("%v became %v", l, got)
		}
	}
}
