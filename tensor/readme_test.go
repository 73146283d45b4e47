package tensor_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// TestReadmeShowsTheRealError runs the product whose error the README shows.
func TestReadmeShowsTheRealError(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?m)^tensor: matmul: \[(\d+) (\d+)\] x \[(\d+) (\d+)\]: .*$`).FindAllStringSubmatch(string(text), -1)
	if len(shown) == 0 {
		t.Fatal("the README shows no error of a product any more: show one, or remove this test")
	}
	for _, line := range shown {
		var sizes [4]int
		for i := range sizes {
			sizes[i], _ = strconv.Atoi(line[i+1])
		}
		err := tensor.Try(func() { tensor.Zeros(sizes[0], sizes[1]).Matmul(tensor.Zeros(sizes[2], sizes[3])) })
		if fmt.Sprint(err) != line[0] {
			t.Errorf("the README shows\n%s\nthe error is\n%v", line[0], err)
		}
	}
	// The cell shows what its comment says.
	x, w := tensor.Of(1., 2, 3), tensor.Of(1., 1, 1).RequireGrad()
	x.Matmul(w).Sub(5).Pow(2).Mul(0.5).Backward()
	if want := "the cell shows " + w.Grad().String(); !strings.Contains(string(text), want) {
		t.Errorf("the README does not say %q", want)
	}
}
