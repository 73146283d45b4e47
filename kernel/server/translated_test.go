//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/internal/po"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/translate"
)

// TestErrorsInChinese: each form of an error that students meet is what a program of theirs leads to, and what it means
// in Chinese stands behind the English. A form that nothing leads to any more fails here.
func TestErrorsInChinese(t *testing.T) {
	needLong(t)
	t.Parallel()
	root := repoRoot(t)
	text, err := os.ReadFile(filepath.Join(root, "notebooks", "zh", translate.ErrorsFile))
	if err != nil {
		t.Fatal(err)
	}
	bin, err := tools()
	need(t, err)
	l := startLabIn(t, bin, t.TempDir(), []string{offlineVar + "=1", "LECTERN_LANG=zh"})
	for _, code := range []string{
		"func one(x int) (int, error) { return x, nil }\nfunc many(x int) int { return many(x+1) + 1 }\ntype pair struct{ a int }\nn, f, zero, none := 1, 1.5, 0, []int{}\nw := tensor.Ones(2, 3)",
		"c := make(chan int)",
	} {
		if outs, r := l.run(code); r.Status != "ok" {
			t.Fatalf("%s\nshows %s", code, flat(outs))
		}
	}
	l.run("panic(\"early\")\nlate := 1")
	verb := regexp.MustCompile(`%(?:\[\d+\])?[ds]`)
	programs := map[string]string{
		"undefined: %s":                                             "nope + 1",
		"%s is declared and not used":                               "func g() { unused := 1 }",
		"%s is not used":                                            "n + 1\nn",
		"cannot use %s (%s) as %s value in %s":                      "one(f)",
		"invalid operation: %s (mismatched types %s and %s)":        "n * f",
		"%s undefined (type %s has no field or method %s)":          "pair{}.b",
		"not enough arguments in call to %s":                        "one()",
		"too many arguments in call to %s":                          "one(1, 2)",
		"assignment mismatch: %d variable but %s returns %d values": "v := one(1)",
		"assignment mismatch: %d variables but %s returns %d value": "v, e := many(1)",
		"missing return":                                            "func h(x int) int {\n\tif x > 0 {\n\t\treturn 1\n\t}\n}",
		"something is missing here":                                 "n = n +",
		"missing ',' before newline in %s":                          "fmt.Println(1,\n\t2\n)",
		"this { belongs at the end of the line before":              "if n > 0\n{\n\tn++\n}",

		"runtime error: index out of range [%d] with length %d":            "none[n]",
		"runtime error: slice bounds out of range [:%d] with capacity %d":  "none[:n]",
		"runtime error: invalid memory address or nil pointer dereference": "var p *pair\np.a",
		"runtime error: integer divide by zero":                            "n / zero",
		"assignment to entry in nil map":                                   "var m map[string]int\nm[\"a\"] = 1",
		"all goroutines are asleep - deadlock!":                            "<-make(chan int)",
		"stack overflow":                                                   "debug.SetMaxStack(1 << 20)\nmany(1)",

		"matmul: %s: inner sizes differ, %d (axis %d of left) and %d (axis %d of right)":                                                  "w.Matmul(w)",
		"matmul: %s: both operands must have the same dtype":                                                                              "w.Matmul(tensor.Of(1, 2, 3))",
		"%s: %s: sizes differ, %d (axis %d of left) and %d (axis %d of right)":                                                            "w.Add(tensor.Ones(2))",
		"%s: %s: shape %s has %d elements, %s has %d":                                                                                     "w.Reshape(2, 2)",
		"view: %s: view size is not compatible with input tensor's size and stride: shape %s strides %s cannot become %s without copying": "w.T().View(6)",
		"item: %s: the tensor has %d elements, not one":                                                                                   "w.Item()",
		"%s: %s: index %d is out of range for axis %d of size %d":                                                                         "w.At(2, 0)",
		"backward: %s: without a starting gradient, the tensor must hold exactly one number":                                              "v := tensor.Ones(2).RequireGrad()\nv.Mul(2).Backward()",
		"backward: %s: the values saved by %s were released by an earlier Backward":                                                       "v := tensor.Ones(2).RequireGrad()\nloss := v.Mul(v).Sum()\nloss.Backward()\nloss.Backward()",
		"backward: %s: the tensor was not computed from one that requires a gradient":                                                     "w.Sum().Backward()",
		"%s: %s: the memory of an operand was freed by Free or FreeAfter":                                                                 "v := tensor.Ones(2).Add(1)\nv.Free()\nv.Add(1)",

		"first run the cell that defines it":                                         "nowhere",
		"%s was not kept: the cell that defines it ended too early, so run it again": "late",
		"%s (%s) is not remembered by later cells: a channel can't be kept":          "c",
		"the cell was interrupted":                                                   "fmt.Println(\"go\")\nfor { n++ }",
		"the cell was killed: usually because the machine ran out of memory":         "import \"syscall\"\nsyscall.Kill(os.Getpid(), syscall.SIGKILL)",

		"%s: %s: the operands lie on different devices": "", // which takes a GPU
	}
	for form := range programs {
		if !slices.Contains(translate.ErrorForms, form) {
			t.Errorf("%q is no form any more", form)
		}
	}
	for _, form := range translate.ErrorForms {
		code, ok := programs[form]
		m := po.Find(text, form)
		if !ok || m == nil || !m.Valid() {
			t.Errorf("%q has no program here, or no Chinese", form)
			continue
		}
		want := "^  "
		for i, own := range verb.Split(m.Str, -1) {
			if i > 0 {
				want += ".+"
			}
			want += regexp.QuoteMeta(own)
		}
		said := regexp.MustCompile("(?m)" + want + "$")
		if code == "" {
			source, err := os.ReadFile(filepath.Join(root, "tensor", "device.go"))
			if last := form[strings.LastIndex(form, "%s: ")+len("%s: "):]; err != nil || !strings.Contains(string(source), `"`+last+`"`) {
				t.Errorf("nothing says %q (%v)", last, err)
			}
			continue
		}
		interrupt := sync.OnceFunc(func() { l.k.Interrupt() })
		outs, r, err := l.try(code, jupyter.ExecuteOptions{Timeout: patience, Output: func(m *jupyter.Message) {
			if m.Header.Type == "stream" && form == "the cell was interrupted" {
				interrupt()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if shown := ansi.ReplaceAllString(flat(outs), ""); r.Status != "error" || !said.MatchString(shown) {
			t.Errorf("%s\nshows %s\nwant a line like %s", code, shown, want)
		}
	}
}
