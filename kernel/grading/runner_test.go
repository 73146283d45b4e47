package grading

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/jupyter/fakekernel"
)

func TestMain(m *testing.M) {
	fakekernel.Hook()
	os.Exit(m.Run())
}

// The interrupt of a cell that is beyond its limit hits this cell or none: also one that has just ended by itself.
func TestInterruptsHitOneCell(t *testing.T) {
	spec, err := fakekernel.Spec("message")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Start(t.Context(), Options{Kernel: spec.Argv, Env: spec.Env, Trust: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	none := func(*jupyter.Message) {}
	much := "print " + strings.Repeat("x", outputLimit)
	for i := range 20 {
		var limit *LimitError
		if _, err := r.Cell(t.Context(), much, none); !errors.As(err, &limit) {
			t.Fatalf("too much output: %v", err)
		}
		if result, err := r.Cell(t.Context(), fmt.Sprint("sleep ", i, "ms"), none); err != nil || result.Status != "ok" {
			t.Fatalf("the cell after it: %+v, %v", result, err)
		}
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
