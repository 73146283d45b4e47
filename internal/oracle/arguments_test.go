package oracle_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/oracle"
)

// TestArgumentsAreRead: every argument that a schema names changes the answer, as it
// must. The stored cases have not all of them; the numbers here are worked out by hand.
func TestArgumentsAreRead(t *testing.T) {
	vector := func(data ...float64) oracle.Input {
		return oracle.Input{Dtype: "float64", Shape: []int{len(data)}, Data: data}
	}
	matrix := func(dtype string, columns int, data ...float64) oracle.Input {
		return oracle.Input{Dtype: dtype, Shape: []int{len(data) / columns, columns}, Data: data}
	}
	classes := func(data ...float64) oracle.Input {
		return oracle.Input{Dtype: "int64", Shape: []int{len(data)}, Data: data}
	}
	// Two classes with logits 0 and ln 3: probabilities 1/4 and 3/4, so losses 1.3862943611198906 and 0.2876820724517809.
	logits := matrix("float64", 2, 0, 1.0986122886681098, 0, 1.0986122886681098)
	ops := elementwiseOps()
	for name, f := range nnOps() {
		ops[name] = f
	}
	for _, c := range []struct {
		op, args string
		in       []oracle.Input
		want     string
	}{
		{"accounting", `{"what":"memory_bytes","shape":[4,8],"dtype":"float32"}`, nil, `{"value":128}`},
		{"accounting", `{"what":"memory_bytes","shape":[49152,12288],"dtype":"bfloat16"}`, nil, `{"value":1207959552}`},
		{"accounting", `{"what":"memory_bytes","shape":[2,0,3],"dtype":"float64"}`, nil, `{"value":0}`},
		{"accounting", `{"what":"matmul_flops","B":16,"D":32,"K":2}`, nil, `{"value":2048}`},
		{"accounting", `{"what":"matmul_flops","B":65536,"D":32768,"K":8192}`, nil, `{"value":35184372088832}`},
		{"accounting", `{"what":"train_memory_bytes_fp32_adagrad","B":1,"D":4,"num_layers":2}`, nil, `{"value":464}`}, // 4·(3·(2·16+4) + 8)
		{"cross_entropy", `{}`, []oracle.Input{logits, classes(0, 1)}, `{"dtype":"float64","shape":[],"data":[0.8369882167858358]}`},
		{"cross_entropy", `{"weight":[1,3]}`, []oracle.Input{logits, classes(0, 1)}, `{"dtype":"float64","shape":[],"data":[0.5623351446188083]}`}, // (l0 + 3 l1)/4
		{"cross_entropy", `{"weight":true}`, []oracle.Input{logits, classes(0, 1), vector(1, 3)}, `{"dtype":"float64","shape":[],"data":[0.5623351446188083]}`},
		{"cross_entropy", `{"weight":[1,3],"reduction":"sum"}`, []oracle.Input{logits, classes(0, 1)}, `{"dtype":"float64","shape":[],"data":[2.2493405784752333]}`},
		{"cross_entropy", `{"weight":[1,3],"reduction":"none"}`, []oracle.Input{logits, classes(0, 1)}, `{"dtype":"float64","shape":[2],"data":[1.3862943611198906,0.8630462173553427]}`},
		{"cross_entropy", `{"weight":[1,3],"ignore_index":0}`, []oracle.Input{logits, classes(0, 1)}, `{"dtype":"float64","shape":[],"data":[0.2876820724517809]}`},
		// Smoothed by 0.2: 0.8·(l0 + 3 l1)/4 + 0.2/2·2·(l0 + 3 l1)/4
		{"cross_entropy", `{"weight":[1,3],"label_smoothing":0.2}`, []oracle.Input{logits, classes(0, 1)}, `{"dtype":"float64","shape":[],"data":[0.5623351446188083]}`},
		{"cross_entropy", `{"soft_targets":true}`, []oracle.Input{logits, matrix("float64", 2, 0.5, 0.5, 0, 1)}, `{"dtype":"float64","shape":[],"data":[0.5623351446188083]}`},
		{"cross_entropy", `{"soft_targets":[[0.5,0.5],[0,1]]}`, []oracle.Input{logits}, `{"dtype":"float64","shape":[],"data":[0.5623351446188083]}`},
		// Weighted: (0.5 l0 + 0.5·3 l1 + 3 l1)/2
		{"cross_entropy", `{"soft_targets":true,"weight":[1,3]}`, []oracle.Input{logits, matrix("float64", 2, 0.5, 0.5, 0, 1)}, `{"dtype":"float64","shape":[],"data":[0.9938582532964797]}`},
		// Smoothed by 0.2 the second row is [0.1 0.9].
		{"cross_entropy", `{"soft_targets":true,"label_smoothing":0.2,"reduction":"none"}`, []oracle.Input{logits, matrix("float64", 2, 0.5, 0.5, 0, 1)}, `{"dtype":"float64","shape":[2],"data":[0.8369882167858358,0.39754330131859187]}`},
		{"sort", `{"stable":true}`, []oracle.Input{vector(2, 1, 2, 1)}, `{"tensors":[{"dtype":"float64","shape":[4],"data":[1,1,2,2]},{"dtype":"int64","shape":[4],"data":[1,3,0,2]}]}`},
		{"sort", `{"stable":true,"descending":true}`, []oracle.Input{vector(2, 1, 2, 1)}, `{"tensors":[{"dtype":"float64","shape":[4],"data":[2,2,1,1]},{"dtype":"int64","shape":[4],"data":[0,2,1,3]}]}`},
		{"topk", `{"k":2}`, []oracle.Input{vector(2, 1, 4, 3)}, `{"tensors":[{"dtype":"float64","shape":[2],"data":[4,3]},{"dtype":"int64","shape":[2],"data":[2,3]}]}`},
		{"topk", `{"k":2,"largest":false}`, []oracle.Input{vector(2, 1, 4, 3)}, `{"tensors":[{"dtype":"float64","shape":[2],"data":[1,2]},{"dtype":"int64","shape":[2],"data":[1,0]}]}`},
		{"topk", `{"k":1,"dim":0,"largest":false,"sorted":true}`, []oracle.Input{matrix("float64", 2, 2, 1, 4, 0)}, `{"tensors":[{"dtype":"float64","shape":[1,2],"data":[2,0]},{"dtype":"int64","shape":[1,2],"data":[0,1]}]}`},
		{"one_hot", `{}`, []oracle.Input{classes(1, 0)}, `{"dtype":"int64","shape":[2,2],"data":[0,1,1,0]}`},
		{"one_hot", `{"num_classes":-1}`, []oracle.Input{classes(1, 0)}, `{"dtype":"int64","shape":[2,2],"data":[0,1,1,0]}`},
	} {
		asked := &oracle.Case{Op: c.op, Inputs: c.in, Args: []byte(c.args), Tol: oracle.Tolerance{Rtol: 1e-12}}
		if err := json.Unmarshal([]byte(c.want), &asked.Expect); err != nil {
			t.Fatal(err)
		}
		f := ops[c.op]
		if f == nil {
			t.Errorf("no function for %s", c.op)
			continue
		}
		got, err := f(asked)
		if err != nil {
			t.Errorf("%s %s: %v", c.op, c.args, err)
			continue
		}
		if d := oracle.Diff(got, asked.Expect, asked.Tol); d != "" {
			t.Errorf("%s %s: %s", c.op, c.args, d)
		}
	}
}

// TestUnknownArgumentsAndPrefixesFail: nothing that a case asks for is left out, and
// no run without a case passes.
func TestUnknownArgumentsAndPrefixesFail(t *testing.T) {
	ops := elementwiseOps()
	for name, f := range nnOps() {
		ops[name] = f
	}
	for name, f := range ops {
		in := []oracle.Input{{Dtype: "float64", Shape: []int{1}, Data: []float64{1}}, {Dtype: "float64", Shape: []int{1}, Data: []float64{1}}}
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.Contains(p.(error).Error(), "no_such_argument") {
					t.Errorf("%s: an argument that is not known gives %v", name, p)
				}
			}()
			f(&oracle.Case{Op: name, Inputs: in, Args: []byte(`{"no_such_argument": 1}`)})
		}()
	}
	if os.Getenv("ORACLE_TEST_CHILD") != "" {
		oracle.RunPart(t, "files", "nothing.", oracle.Ops{})
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "ORACLE_TEST_CHILD=1")
	if out, err := child.CombinedOutput(); err == nil || !strings.Contains(string(out), "no case has an operation that begins so") {
		t.Errorf("a prefix that no case has: %v\n%s", err, out)
	}
}
