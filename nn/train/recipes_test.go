package train_test

import (
	"strings"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/nn/train"
)

func TestRecipes(t *testing.T) {
	if testing.Short() {
		t.Skip("trains seven networks")
	}
	table, err := train.CompareRecipes(train.Recipes, 250)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%v", table)
	by := map[string]train.RecipeResult{}
	for _, r := range table {
		by[r.Name] = r
	}
	exact := by["float32"]
	if exact.Last > 0.7*exact.First {
		t.Errorf("float32 learned little: %v to %v", exact.First, exact.Last)
	}
	for _, name := range []string{"bf16 autocast", "fp16 autocast, scaled", "bf16 weights, float32 copy", "fp8 products"} {
		if r := by[name]; r.Last > 1.05*exact.Last {
			t.Errorf("%s ends at %v, float32 at %v", name, r.Last, exact.Last)
		}
	}
	if scaled, bare := by["fp16 autocast, scaled"], by["fp16 autocast, no scaling"]; bare.Lost < 0.5 || scaled.Lost > exact.Lost+0.01 || bare.Last < 1.2*scaled.Last {
		t.Errorf("float16 without scaling loses %v of the gradients and ends at %v; scaled %v and %v", bare.Lost, bare.Last, scaled.Lost, scaled.Last)
	}
	if with, without := by["bf16 weights, float32 copy"], by["bf16 weights, no copy"]; without.Last < 1.02*with.Last {
		t.Errorf("bf16 weights end at %v without and %v with a copy", without.Last, with.Last)
	}
	if half := by["bf16 weights, no copy"].Memory; 2*half[accounting.Parameters] != exact.Memory[accounting.Parameters] || 2*half[accounting.Gradients] != exact.Memory[accounting.Gradients] {
		t.Errorf("bf16 weights and gradients take %v, float32 ones %v", half, exact.Memory)
	}
	if !strings.Contains(table.HTML(), ">fp8 products</td>") {
		t.Error("the table does not show itself")
	}
}
