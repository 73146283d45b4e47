package show_test

import (
	"fmt"

	"github.com/lectern-go/lectern/kernel/show"
	"github.com/lectern-go/lectern/tensor"
)

// Outside a notebook everything is text.
func ExampleValue() {
	show.Value(tensor.Of(1., 2, 3))
	fmt.Println("printed between two displays")
	show.Value([]string{"a", "b"})
	// Output:
	// tensor([1., 2., 3.])
	// printed between two displays
	// []string{"a", "b"}
}

func ExampleTable() {
	show.Table([]string{"layer", "parameters"}, [][]any{{"hidden", 4096}, {"final", 64}})
	// Output:
	// layer   parameters
	// ------------------
	// hidden        4096
	// final           64
}
