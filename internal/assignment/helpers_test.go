package assignment

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/checkpoint"
	"github.com/lectern-go/lectern/tensor"
)

// tensors reads a file of tensors.
func tensors(t *testing.T, path string) map[string]*tensor.Tensor {
	t.Helper()
	file, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	all, err := file.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// text reads a text of the assignment.
func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// allClose is numpy.testing.assert_allclose: |got - want| <= absolute + relative·|want|.
func allClose(t *testing.T, got, want *tensor.Tensor, relative, absolute float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) {
		t.Fatalf("the shape is %v, want %v", got.Shape(), want.Shape())
	}
	a, b := got.Floats(), want.Floats()
	for i := range b {
		if !(math.Abs(a[i]-b[i]) <= absolute+relative*math.Abs(b[i])) {
			t.Fatalf("element %d is %v, want %v ± %v", i, a[i], b[i], absolute+relative*math.Abs(b[i]))
		}
	}
}
