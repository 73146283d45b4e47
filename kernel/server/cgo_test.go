//go:build unix

package main

import "testing"

// C in cells: in each form of the import, and in functions that later cells call.
func TestCgo(t *testing.T) {
	t.Parallel()
	need(t, compilesC())
	l := startLab(t)
	l.want("/*\nstatic int add(int a, int b) { return a + b; }\n*/\nimport \"C\"\n\nfmt.Println(C.add(2, 3))", "[stdout]5\n")
	l.want("// static int twice(int a) { return 2 * a; }\n// typedef struct { int x; double y; } point;\nimport \"C\"\n\n"+
		"func Twice(n int) int { return int(C.twice(C.int(n))) }\nn := int(C.twice(4))\nvar k int32 = int32(C.twice(1))\nn + 1", "[result]9")
	l.want("Twice(n) + int(k)", "[result]18")
	l.want("import (\n\t\"strings\"\n\t/*\n\t#include <math.h>\n\t#cgo LDFLAGS: -lm\n\t*/\n\t// static double half(double x) { return x / 2; }\n\t\"C\"\n)\n"+
		"func Root(x float64) float64 { return float64(C.sqrt(C.double(x))) }\nfmt.Println(strings.ToUpper(\"a\"), C.half(3), Twice(5))\nx := C.half(5)\nx", "x is not remembered by later cells: its type is one of C's: convert it, as in x := int(C.f()), or declare it with its type\n[stdout]A 1.5 10\n[result]_Ctype_double(2.5)")
	l.want("Root(16) + float64(Twice(1))", "[result]6")
	l.want("// static int one(void) { return 1; }\nimport \"C\"\n// static int two(void) { return 2; }\nimport \"C\"\nfmt.Println(C.one() + C.two())", "[stdout]3\n")
	l.want("/*\nstatic int add(int a, int b) { return a - b; }\n*/\nimport \"C\"\nfunc main() { fmt.Println(C.add(2, 3)) }", "[stdout]-1\n")
	l.want("/*\nstatic int wrong(int a) {\n\treturn b;\n}\n*/\nimport \"C\"\nC.wrong(1)", "cell[")
	l.want("Twice(3)", "[result]6")
}
