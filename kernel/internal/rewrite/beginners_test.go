package rewrite

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// mistakes are cells as beginners type them, most of whom come from Python. Each has the place and the words of what
// is said about it, and, if a hint quotes the cell with a change, the cell with that change.
var mistakes = []struct{ cell, at, msg, hint, fixed string }{
	{`var i int = "s"`, "1:13", `cannot use "s" (untyped string constant) as int value in variable declaration`, "a string is not a number: strconv.Atoi(s) reads an int, strconv.ParseFloat(s, 64) a float64", ""},
	{`s := "abc`, "1:6", "this string is never closed", "the closing \" is missing on this line; a string of several lines goes between backquotes (`)", ""},
	{`fmt.Println("abc)`, "1:13", "this string is never closed", "the closing \" is missing on this line; a string of several lines goes between backquotes (`)", ""},
	{"1<<64", "1:1", "1 << 64 does not fit into an int", "a float64 has room for it, with about 15 digits: write float64(1<<64)", "float64(1<<64)"},
	{"x, f", "1:1", "these are several values, and a cell shows one", "write fmt.Println(x, f)", "fmt.Println(x, f)"},
	{"'hello'", "1:1", "single quotes are for one character", `a string goes between double quotes: write "hello"`, `"hello"`},
	{"Nope", "1:1", "undefined: Nope", "first run the cell that defines it; a new variable is defined with :=", ""},
	{"Nope{}", "1:1", "undefined: Nope", "there is no such type: first run the cell that declares it, with type Nope …", ""},
	{"while True:\n    x = 1", "1:1", "Go has no while: for is its only loop", "without a condition it runs until a break: write for { … }", "for { }\n"},
	{"for i in range(3):\n    fmt.Println(i)", "1:1", "Go has no for … in", "write for i := range 3 { … }", "for i := range 3 { }\n"},
	{"if x == 3:\n    fmt.Println(x)", "1:1", "a block doesn't begin with a colon in Go", "blocks go between { and }, however they are indented: write if x == 3 { … }", "if x == 3 { }\n"},
	{"a[0]", "1:1", "cannot index a (variable of type *tensor.Tensor)", "brackets don't work on tensors: write a.Index(0)", "a.Index(0)"},
	{"a + a", "1:1", "invalid operation: operator + not defined on a (variable of type *tensor.Tensor)", "operators don't work on tensors, methods do: write a.Add(a)", "a.Add(a)"},
	{"2 * a", "1:1", "invalid operation: 2 * a (mismatched types untyped int and *tensor.Tensor)", "operators don't work on tensors, methods do: write a.Mul(2)", "a.Mul(2)"},
	{"x > 2 ? 1 : 2", "1:7", "Go has no ? : operator", "write if cond { v = a } else { v = b }", ""},
	{"y := x++\ny", "1:4", "x++ has no value in Go: it is a statement", "put x++ on a line of its own, then use x", ""},
	{"++x", "1:1", "++ goes after the variable", "write x++", "x++"},
	{`print "hi"`, "1:1", "functions are called with ( and )", `write fmt.Println("hi")`, `fmt.Println("hi")`},
	{"def sq(x):\n    return x", "1:1", "functions begin with func", "parameters and results have types, such as float64: write func sq(x float64) float64 { … }", "func sq(x float64) float64 { panic(0) }\n"},
	{"def hello():\n    fmt.Println(1)", "1:1", "functions begin with func", "write func hello() { … }", "func hello() { }\n"},
	{"import numpy as np", "1:1", "an import path goes between quotes", "package tensor has arrays like NumPy's", ""},
	{"import math", "1:1", "an import path goes between quotes", "package math needs no import here: write math.Sqrt(2)", ""},
	{"if x > 3 {\n} elif x > 2 {\n}", "2:1", "Go writes elif as else if", "write } else if x > 2 { … }", "if x > 3 {\n} else if x > 2 {\n}"},
	{"var q *T = None", "1:12", "undefined: None", "Go's word for it is nil: write nil", "var q *T = nil"},
	{"y := None", "1:6", "undefined: None", "Go has nil, for pointers, slices, maps, functions and interfaces only", ""},
	{"y := True\ny", "1:6", "undefined: True", "write true", "y := true\ny"},
	{"x > 1 and x < 3", "1:7", "Go writes and as &&", "write x > 1 && x < 3", "x > 1 && x < 3"},
	{"not true", "1:1", "Go writes not as !", "write (!true)", "(!true)"},
	{"x ** 2", "1:1", "Go has no operator **", "write math.Pow(float64(x), 2)", "math.Pow(float64(x), 2)"},
	{"2 ** 3", "1:1", "Go has no operator **", "write math.Pow(2, 3)", "math.Pow(2, 3)"},
	{"a ** 2", "1:1", "Go has no operator **", "write a.Pow(2)", "a.Pow(2)"},
	{"y := (7 // 2)", "1:6", "this ( is never closed", "// begins a comment, which swallows the ): / between integers drops the remainder", ""},
	{`f"x = {x}"`, "1:1", "Go has no f-strings", `write fmt.Sprintf("x = %v", x)`, `fmt.Sprintf("x = %v", x)`},
	{"xs[-1]", "1:4", "invalid argument: index -1 (constant of type int) must not be negative", "an index counts from the beginning: write xs[len(xs)-1]", "xs[len(xs)-1]"},
	{"xs[1:-1]", "1:6", "invalid argument: index -1 (constant of type int) must not be negative", "an index counts from the beginning: write xs[1:len(xs)-1]", "xs[1:len(xs)-1]"},
	{"len(a)", "1:5", "invalid argument: a (variable of type *tensor.Tensor) for built-in len", "len doesn't work on tensors, Size does: write a.Size(0)", "a.Size(0)"},
	{"a.shape", "1:3", "a.shape undefined (type *tensor.Tensor has no field or method shape, but does have method Shape)", "did you mean Shape()?", "a.Shape()"},
	{"xs.append(1)", "1:4", "xs.append undefined (type []int has no field or method append)", "a value of type []int has no methods: write xs = append(xs, 1)", "xs = append(xs, 1)"},
	{"yy = 3", "1:1", "undefined: yy", "a new variable is defined with :=: write yy := 3", "yy := 3"},
	{"if x > 3 {\n}\nelse {\n}", "3:1", "else goes on the line of the } before it", "write } else {", "if x > 3 {\n} else {\n}"},
	{"func h() {\n\tfunc k() {}\n}", "2:2", "a function inside a function can't have a name", "write k := func(…) { … }", "func h() {\n\tk := func() {}\n}"},
	{`"-" * 10`, "1:1", `invalid operation: "-" * 10 (mismatched types untyped string and untyped int)`, `strings can't be multiplied: write strings.Repeat("-", 10)`, `strings.Repeat("-", 10)`},
	{`"x is " + x`, "1:1", `invalid operation: "x is " + x (mismatched types untyped string and int)`, `only strings can be added to strings: write fmt.Sprint("x is ", x)`, `fmt.Sprint("x is ", x)`},
	{"x * f", "1:1", "invalid operation: x * f (mismatched types int and float64)", "Go never converts numbers by itself: write float64(x) * f", "float64(x) * f"},
	{"/* abc", "1:1", "this comment is never closed", "the */ that belongs to it is missing", ""},
	{"y := 3 /* open", "1:8", "this comment is never closed", "the */ that belongs to it is missing", ""},
	{"x := [1, 2, 3]", "1:6", "a list needs a type", "write []int{1, 2, 3}", "x := []int{1, 2, 3}"},
	{`y := {"a": 1}`, "1:6", "a map needs a type", `write map[string]int{"a": 1}`, `y := map[string]int{"a": 1}`},
	{"y := (1, 2)", "1:1", "Go has no tuples", "give each value its own name (a, b := 1, 2), or make a slice ([]int{1, 2})", ""},
	{"y := [v*v for v in xs]", "1:6", "Go has no list comprehensions", "make the slice, and append to it in a for loop: for _, x := range xs { ys = append(ys, …) }", ""},
	{"y: int = 3", "1:1", "a colon does not go before a type in Go", "write var y int = 3", "var y int = 3"},
	{"int y = 3", "1:1", "the type comes after the name", "write var y int = 3", "var y int = 3"},
	{"let y = 3", "1:1", "a new variable is defined with :=", "write y := 3", "y := 3"},
	{"for (int i = 0; i < 3; i++) { fmt.Println(i) }", "1:1", "Go's for has no parentheses, and := defines its variable", "write for i := 0; i < 3; i++ { … }", "for i := 0; i < 3; i++ { fmt.Println(i) }"},
	{"if (x == 3)\n\tfmt.Println(x)", "2:16", "the block after if, for or switch goes between { and }", "put it in braces, even if it is a single statement", ""},
	{"# comment", "1:1", "# doesn't begin a comment in Go", "comments begin with //", ""},
	{"xs2 := []int{\n\t1,\n\t2\n}", "3:3", "missing ',' before newline in composite literal", "in a list of several lines, each line ends with a comma", ""},
	{"g(n=3)", "1:1", "Go has no named arguments", "write g(3)", "g(3)"},
	{"0 < x < 5", "1:9", "invalid operation: 0 < x < 5 (mismatched types untyped bool and untyped int)", "comparisons don't chain: write 0 < x && x < 5", "0 < x && x < 5"},
	{"if x { }", "1:4", "non-boolean condition in if statement", "a condition must be true or false: write x != 0", "if x != 0 { }"},
	{"if p { }", "1:4", "non-boolean condition in if statement", "a condition must be true or false: write p != nil", "if p != nil { }"},
	{"if s { }", "1:4", "non-boolean condition in if statement", `a condition must be true or false: write s != ""`, `if s != "" { }`},
	{"if xs { }", "1:4", "non-boolean condition in if statement", "a condition must be true or false: write len(xs) > 0", "if len(xs) > 0 { }"},
	{`g("3")`, "1:3", `cannot use "3" (untyped string constant) as int value in argument to g`, "a string is not a number: write 3", "g(3)"},
	{"g(2.5)", "1:3", "cannot use 2.5 (untyped float constant) as int value in argument to g (truncated)", "an int has no fraction: use a float64, or an integer", ""},
	{"g(f)", "1:3", "cannot use f (variable of type float64) as int value in argument to g", "Go never converts numbers by itself: write int(f)", "g(int(f))"},
	{"T.Size", "1:3", "T.Size undefined (type T has no method Size)", "T has no Size: Tab after the dot lists what it has", ""},
	{"T{}.size", "1:5", "T{}.size undefined (type T has no field or method size, but does have field Size)", "did you mean Size?", "T{}.Size"},
	{`n := strconv.Atoi("3")`, "1:6", "assignment mismatch: 1 variable but strconv.Atoi returns 2 values", `it returns 2 values: write n, err := strconv.Atoi("3")`, `n, err := strconv.Atoi("3")`},
	{"str(x)", "1:1", "undefined: str", "write fmt.Sprint(x)", "fmt.Sprint(x)"},
	{"torch.zeros(2, 3)", "1:1", "undefined: torch", "package tensor has what torch has: write tensor.Zeros", "tensor.Zeros(2, 3)"},
	{"sqrt(2)", "1:1", "undefined: sqrt", "write math.Sqrt(2)", "math.Sqrt(2)"},
	{"func h(x) int { return x }", "1:8", "x (package-level variable) is not a type", "a type is needed here: each parameter has one, as in func f(x float64)", ""},
	{"func h(x int) { return x }", "1:24", "too many return values; have (int); want ()", "say what the function returns before its {, as in func f(x int) int { … }", ""},
	{"x.(int)", "1:1", "invalid operation: x (variable of type int) is not an interface", "x.(T) asks what an interface holds; a conversion is a call: write int(x)", "int(x)"},
	{"(int)f", "1:1", "conversions are written like calls", "write int(f)", "int(f)"},
	{"new T()", "1:1", "new is a function in Go", "write &T{}", "&T{}"},
	{"p->Size", "1:1", "Go has no operator ->", "the dot works for pointers, too: write p.Size", "p.Size"},
	{"x === 3", "1:1", "Go has no operator ===", "write x == 3", "x == 3"},
	{"lambda v: v + 1", "1:1", "Go has no lambda", "a function without a name needs types, too: write func(v float64) float64 { return v + 1 }", "func(v float64) float64 { return v + 1 }"},
	{"class A:\n    pass", "1:1", "Go has no classes", "a struct holds the fields, and methods are functions beside it: write type A struct { … }", "type A struct { }\n"},
	{"p is None", "1:1", "Go has no operator is", "write p == nil", "p == nil"},
	{"2 in xs", "1:1", "Go has no operator in", "write slices.Contains(xs, 2)", "slices.Contains(xs, 2)"},
	{"v = 1 if x > 2 else 0", "1:5", "Go has no … if … else …", "write if cond { v = a } else { v = b }", ""},
	{"try:\n    g(1)\nexcept Exception as e:\n    pass", "1:1", "Go has no exceptions", "a function that can fail returns an error: if err != nil { … } handles it", ""},
	{"with open(\"f\") as h:\n    pass", "1:1", "Go has no with", "defer f.Close() closes f when the function ends", ""},
	{`raise ValueError("x")`, "1:1", "Go has no exceptions", `return an error, such as errors.New("what went wrong"), or panic("what went wrong")`, ""},
	{"assert x == 3", "1:1", "Go has no assert", `write if !(x == 3) { panic("failed") }`, `if !(x == 3) { panic("failed") }`},
	{`del m["a"]`, "1:1", "Go has no del", `write delete(m, "a")`, `delete(m, "a")`},
	{`"""doc"""`, "1:1", "Go has no triple quotes", "a string of several lines goes between backquotes (`)", ""},
	{"'it's'", "1:1", "single quotes are for one character", "a string goes between double quotes", ""},
	{"a @ a", "1:3", "Go has no operator @", "write a.Matmul(a)", "a.Matmul(a)"},
	{"@decorator", "1:1", "Go has no decorators", "call one function with the other as its argument: f = timed(f)", ""},
	{"y := 1.5f", "1:6", "numbers have no suffixes in Go", "write 1.5", "y := 1.5"},
	{"y := 08", "1:7", "a number that begins with 0 is octal: its digits are 0 to 7", "write 8", "y := 8"},
	{`"C:\data"`, "1:5", `a \ in a string begins a special character, and this one does not exist`, "write \\\\ for a backslash, or put the string between backquotes (`)", ""},
	{"x := “hi”", "1:6", "these are typographic quotes", `write "`, ""},
	{"var y = nil", "1:9", "use of untyped nil in variable declaration", "nil alone has no type: write var p *T, which starts out as nil", ""},
	{"const c = g(1)", "1:11", "g(1) (value of type int) is not constant", "a const is known before anything runs: write c := g(1)", "c := g(1)"},
	{"console.log(x)", "1:1", "undefined: console", "fmt.Println(…) prints", ""},
	{"const y := 3", "1:1", "const and := don't go together", "write const y = 3", "const y = 3"},
	{"var y := 3", "1:1", "var and := don't go together", "write var y = 3", "var y = 3"},
	{"x +", "1:4", "something is missing here", "a value must follow what comes before", ""},
	{"g(1", "1:2", "this ( is never closed", "the ) that belongs to it is missing", ""},
	{"a.add(a)", "1:3", "a.add undefined (type *tensor.Tensor has no field or method add, but does have method Add)", "did you mean Add?", "a.Add(a)"},
	{"m.items()", "1:3", "m.items undefined (type map[string]int has no field or method items)", "for k, v := range m { … } goes through a map", ""},
	{"s.upper()", "1:3", "s.upper undefined (type string has no field or method upper)", "a value of type string has no methods: write strings.ToUpper(s)", "strings.ToUpper(s)"},
	{"s.length", "1:3", "s.length undefined (type string has no field or method length)", "a value of type string has no methods: write len(s)", "len(s)"},
	{"xs.len()", "1:4", "xs.len undefined (type []int has no field or method len)", "a value of type []int has no methods: write len(xs)", "len(xs)"},
	{"~x", "1:1", "Go has no operator ~", "^ flips the bits: write ^x", "^x"},
	{`x = "a"`, "1:5", `cannot use "a" (untyped string constant) as int value in assignment`, "a string is not a number: strconv.Atoi(s) reads an int, strconv.ParseFloat(s, 64) a float64", ""},
	{"x := 3\nx := 4", "2:3", "no new variables on left side of :=", "all of these names exist in this cell already: assign with = instead", ""},
	{"return x", "1:8", "too many return values; have (int); want ()", "a cell shows the value of its last line by itself: write x", "x"},
	{"break", "1:1", "break not in for, switch, or select statement", "break only works inside for, switch and select", ""},
	{"func (t T) Area() int { return self.Size }", "1:32", "undefined: self", "the receiver has the name that the method gives it: in func (m *Model) Step() it is m", ""},
	{"p.Nope()", "1:3", "p.Nope undefined (type *T has no field or method Nope)", "*T has no Nope: Tab after the dot lists what it has", ""},
	{`fmt.println("x")`, "1:5", "undefined: fmt.println", "did you mean fmt.Println?", `fmt.Println("x")`},
	{`fmt.Printn("x")`, "1:5", "undefined: fmt.Printn", "did you mean fmt.Println?", `fmt.Println("x")`},
	{"for i := range 3 fmt.Println(i)", "1:18", "the block after if, for or switch goes between { and }", "put it in braces, even if it is a single statement", ""},
	{"x y", "1:3", "y doesn't belong here", "an operator, a comma, a bracket or a new line is missing before it", ""},
	{"for i = 0; i < 3; i++ { }", "1:5", "undefined: i", "a new variable is defined with :=: write for i := 0; i < 3; i++ { }", "for i := 0; i < 3; i++ { }"},
	{"s[0] = 'c'", "1:1", "cannot assign to s[0] (neither addressable nor a map index expression)", "the bytes of a string can't be changed: b := []byte(s) makes a copy that can", ""},
	{"&3", "1:2", "invalid operation: cannot take address of 3 (untyped int constant)", "give the value a name first: v := value, then &v", ""},
	{"T{1, 2}", "1:6", "too many values in struct literal of type T", "name the fields: T{Size: 1}", ""},
	{"T{Sise: 1}", "1:3", "unknown field Sise in struct literal of type T", "did you mean Size?", "T{Size: 1}"},
	{"type(x)", "1:1", "type declares a type in Go", `write fmt.Printf("%T\n", x)`, `fmt.Printf("%T\n", x)`},
	{"case 3:", "1:1", "case belongs in a switch", "write switch x { case 1: … }", ""},
	{"xs + xs", "1:1", "invalid operation: operator + not defined on xs (variable of type []int)", "slices can't be added: write append(xs, xs...)", "append(xs, xs...)"},
	{"xs == xs", "1:1", "invalid operation: xs == xs (slice can only be compared to nil)", "slices and maps are compared element by element: write slices.Equal(xs, xs)", "slices.Equal(xs, xs)"},
	{"xs * 2", "1:1", "invalid operation: xs * 2 (mismatched types []int and untyped int)", "operators don't work on slices: go through the elements with for i := range xs, or make a tensor of them", ""},
	{"a * a", "1:1", "invalid operation: operator * not defined on a (variable of type *tensor.Tensor)", "operators don't work on tensors, methods do: write a.Mul(a)", "a.Mul(a)"},
	{"-a", "1:2", "invalid operation: operator - not defined on a (variable of type *tensor.Tensor)", "operators don't work on tensors, methods do: write a.Neg()", "a.Neg()"},
	{"tensor.zeros(2)", "1:8", "undefined: tensor.zeros", "did you mean tensor.Zeros?", "tensor.Zeros(2)"},
	{"a > 0", "1:5", "invalid operation: a > 0 (mismatched types *tensor.Tensor and untyped int)", "operators don't work on tensors, methods do: write a.Gt(0)", "a.Gt(0)"},
	{"a[0] = 3", "1:1", "cannot index a (variable of type *tensor.Tensor)", "brackets don't work on tensors: write a.SetIndex(3, 0)", "a.SetIndex(3, 0)"},
	{"go func() { }", "1:14", "expression in go must be function call", "write go f(…) or defer f(…), with the parentheses", ""},
	{"defer g", "1:8", "expression in defer must be function call", "write go f(…) or defer f(…), with the parentheses", ""},
	{`import "fmtt"`, "1:8", "there is no package fmtt", "did you mean fmt?", `import "fmt"`},
	{"import fmt", "1:1", "an import path goes between quotes", `write import "fmt"`, `import "fmt"`},
	{"from math import sqrt", "1:1", "Go imports whole packages, by a path between quotes", "package math needs no import here: write math.Sqrt(2)", ""},
	{"g()", "1:3", "not enough arguments in call to g; have (); want (int)", "the parameters that the function needs are listed after want", ""},
	{"g(1, 2)", "1:6", "too many arguments in call to g; have (number, number); want (int)", "the function takes only what is listed after want", ""},
	{"var z T = nil", "1:11", "cannot use nil as T value in variable declaration", "only pointers, slices, maps, channels, functions and interfaces can be nil; var x T is a zero value", ""},
	{"cuont := 1\ncount + 1", "2:1", "undefined: count", "did you mean cuont?", "cuont := 1\ncuont + 1"},
	{"tensor.Zeroes(2)", "1:8", "undefined: tensor.Zeroes", "did you mean tensor.Zeros?", "tensor.Zeros(2)"},
	{"gg(3)", "1:1", "undefined: gg", "there is no such function: first run the cell that declares it", ""},
	{"x = 3\ny = x // 2\nz := y +", "3:9", "something is missing here", "a value must follow what comes before", ""},
	{"for i in range(3) { fmt.Println(i) }", "1:1", "Go has no for … in", "write for i := range 3 { … }", "for i := range 3 { fmt.Println(i) }"},
	{"for i in range(2, 8, 2):\n    fmt.Println(i)", "1:1", "Go has no for … in", "write for i := 2; i < 8; i += 2 { … }", "for i := 2; i < 8; i += 2 { }\n"},
	{"for i in range(8, 2, -1):\n    fmt.Println(i)", "1:1", "Go has no for … in", "write for i := 8; i > 2; i -= 1 { … }", "for i := 8; i > 2; i -= 1 { }\n"},
	{"for i, v in enumerate(xs):\n    fmt.Println(i, v)", "1:1", "Go has no for … in", "range gives the index and the element: write for i, v := range xs { … }", "for i, v := range xs { }\n"},
	{"for k, v in m.items():\n    fmt.Println(k, v)", "1:1", "Go has no for … in", "range gives the key and the value: write for k, v := range m { … }", "for k, v := range m { }\n"},
	{"for k in m.keys():\n    fmt.Println(k)", "1:1", "Go has no for … in", "write for k := range m { … }", "for k := range m { }\n"},
	{"for v in m.values():\n    fmt.Println(v)", "1:1", "Go has no for … in", "write for _, v := range m { … }", "for _, v := range m { }\n"},
	{"for v in xs:\n    fmt.Println(v)", "1:1", "Go has no for … in", "range gives the index and the element: write for _, v := range xs { … }", "for _, v := range xs { }\n"},
	{"for (let v of xs) { fmt.Println(v) }", "1:1", "Go has no for … in", "range gives the index and the element: write for _, v := range xs { … }", "for _, v := range xs { fmt.Println(v) }"},
	{"for p, q in zip(xs, xs):\n    fmt.Println(p, q)", "1:1", "Go has no for … in", "for i := range a { … } goes through both: a[i] and b[i]", ""},
	{"while x < 10:\n    x += 1", "1:1", "Go has no while: for is its only loop", "write for x < 10 { … }", "for x < 10 { }\n"},
	{"while (x < 10) { x++ }", "1:1", "Go has no while: for is its only loop", "write for x < 10 { … }", "for x < 10 { x++ }"},
	{"while x > 0 and x < 3:\n    x -= 1", "1:1", "Go has no while: for is its only loop", "write for x > 0 && x < 3 { … }", "for x > 0 && x < 3 { }\n"},
	{"do { x++ } while (x < 3)", "1:1", "Go has no do: for is its only loop", "for { …; if done { break } } checks its condition at the end", ""},
	{"if x = 3 { fmt.Println(x) }", "1:1", "= assigns and does not compare", "== compares: write if x == 3 { … }", "if x == 3 { fmt.Println(x) }"},
	{"if x = 3:\n    fmt.Println(x)", "1:1", "= assigns and does not compare", "== compares: write if x == 3 { … }", "if x == 3 { }\n"},
	{"if x > 3: fmt.Println(x)", "1:1", "a block doesn't begin with a colon in Go", "write if … { … }: blocks go between { and }", ""},
	{"if x > 3 and not (x > 5):\n    fmt.Println(x)", "1:1", "a block doesn't begin with a colon in Go", "blocks go between { and }, however they are indented: write if x > 3 && !(x > 5) { … }", "if x > 3 && !(x > 5) { }\n"},
	{"else:\n    x = 1", "1:1", "a block doesn't begin with a colon in Go", "write } else { on the line of the } that ends the block before", ""},
	{"if x > 1 {\n\tfmt.Println(1)\n}\nelse if x > 2 {\n\tfmt.Println(2)\n}", "4:1", "else goes on the line of the } before it", "write } else if x > 2 {", "if x > 1 {\n\tfmt.Println(1)\n} else if x > 2 {\n\tfmt.Println(2)\n}"},
	{"w = torch.tensor([1.0, 2.0])", "1:5", "package tensor makes tensors", "write w := tensor.Of(1.0, 2.0)", "w := tensor.Of(1.0, 2.0)"},
	{"w := torch.tensor([[1, 2], [3, 4]])", "1:6", "package tensor makes tensors", "write tensor.Of([][]float64{{1, 2}, {3, 4}})", "w := tensor.Of([][]float64{{1, 2}, {3, 4}})"},
	{"w = [1.5, 2]", "1:5", "a list needs a type", "write w := []float64{1.5, 2}", "w := []float64{1.5, 2}"},
	{`w = {"a": 1.5}`, "1:5", "a map needs a type", `write w := map[string]float64{"a": 1.5}`, `w := map[string]float64{"a": 1.5}`},
	{`w = f"{f:.2f} and {s}"`, "1:5", "Go has no f-strings", `write w := fmt.Sprintf("%.2f and %v", f, s)`, `w := fmt.Sprintf("%.2f and %v", f, s)`},
	{"w = not true", "1:5", "Go writes not as !", "write w := !true", "w := !true"},
	{"w = a @ a", "1:7", "Go has no operator @", "write w := a.Matmul(a)", "w := a.Matmul(a)"},
	{"w = 'abc'", "1:5", "single quotes are for one character", `a string goes between double quotes: write w := "abc"`, `w := "abc"`},
	{"y := ~x", "1:6", "cannot use ~ outside of interface or type constraint (use ^ for bitwise complement)", "^ flips the bits: write ^x", "y := ^x"},
	{"x % f", "1:1", "invalid operation: x % f (mismatched types int and float64)", "% is for integers: write math.Mod(float64(x), f)", "math.Mod(float64(x), f)"},
	{"5.5 % 2", "1:1", "invalid operation: operator % not defined on 5.5 (untyped float constant)", "% is for integers: write math.Mod(5.5, 2)", "math.Mod(5.5, 2)"},
	{"for v := range a { fmt.Println(v) }", "1:16", "cannot range over a (variable of type *tensor.Tensor)", "range counts along an axis, and t.Index(i) is the part at i: write range a.Size(0)", "for v := range a.Size(0) { fmt.Println(v) }"},
	{"for i := 0; i < 3; ++i { }", "1:1", "++ goes after the variable", "write for i := 0; i < 3; i++ { … }", "for i := 0; i < 3; i++ { }"},
	{"for i := 0, i < 3, i++ { }", "1:1", "semicolons separate the parts of a for", "write for i := 0; i < 3; i++ { … }", "for i := 0; i < 3; i++ { }"},
	{"func k(n int = 3) int { return n }", "1:1", "parameters have no default values in Go", "write func f(a int), and a second function for the common case", ""},
	{"k := n => n + 1", "1:6", "Go has no => for functions", "write func(x float64) float64 { return … }", ""},
	{"func k() (int, int) {\n\treturn (1, 2)\n}", "2:2", "Go has no tuples", "write return 1, 2", "func k() (int, int) {\n\treturn 1, 2\n}"},
	{"global x", "1:1", "Go has no global", "a function can use the cell's variables directly: leave the line out", ""},
	{"yield x", "1:1", "Go has neither yield nor await", "return a slice, or send the values to a channel: c <- v", ""},
	{"import torch.nn as nn", "1:1", "an import path goes between quotes", "package tensor has what torch has, layers are in nn, and optimizers in optim", ""},
	{"from torch import nn", "1:1", "Go imports whole packages, by a path between quotes", "package tensor has what torch has, layers are in nn, and optimizers in optim", ""},
	{"a[0, 1]", "1:1", "an index is a single number", "write a.Index(0, 1)", "a.Index(0, 1)"},
	{"a[0][1]", "1:1", "cannot index a (variable of type *tensor.Tensor)", "brackets don't work on tensors: write a.Index(0, 1)", "a.Index(0, 1)"},
	{"a[1:3]", "1:1", "cannot slice a (variable of type *tensor.Tensor)", "brackets don't work on tensors: write a.Index(tensor.Between(1, 3))", "a.Index(tensor.Between(1, 3))"},
	{"a[:2]", "1:1", "cannot slice a (variable of type *tensor.Tensor)", "brackets don't work on tensors: write a.Index(tensor.Until(2))", "a.Index(tensor.Until(2))"},
	{"xs[-3:]", "1:4", "invalid argument: index -3 (constant of type int) must not be negative", "an index counts from the beginning: write xs[len(xs)-3:]", "xs[len(xs)-3:]"},
	{"a += 1", "1:1", "invalid operation: a += 1 (mismatched types *tensor.Tensor and untyped int)", "operators don't work on tensors, methods do: write a.AddInPlace(1)", "a.AddInPlace(1)"},
	{"a *= a", "1:1", "invalid operation: operator * not defined on a (variable of type *tensor.Tensor)", "operators don't work on tensors, methods do: write a.MulInPlace(a)", "a.MulInPlace(a)"},
	{"1 - a", "1:1", "invalid operation: 1 - a (mismatched types untyped int and *tensor.Tensor)", "operators don't work on tensors, methods do: write tensor.Number(1).Sub(a)", "tensor.Number(1).Sub(a)"},
	{"a && a", "1:1", "invalid operation: operator && not defined on a (variable of type *tensor.Tensor)", "operators don't work on tensors, methods do: write a.LogicalAnd(a)", "a.LogicalAnd(a)"},
	{"if a > 0 { fmt.Println(1) }", "1:8", "invalid operation: a > 0 (mismatched types *tensor.Tensor and untyped int)", "operators don't work on tensors, methods do: write a.Item() > 0", "if a.Item() > 0 { fmt.Println(1) }"},
	{"float(x)", "1:1", "undefined: float", "write float64(x)", "float64(x)"},
	{"float64(a)", "1:9", "cannot convert a (variable of type *tensor.Tensor) to type float64", "a tensor of one element is still a tensor: write a.Item()", "a.Item()"},
	{`int("3")`, "1:5", `cannot convert "3" (untyped string constant) to type int`, "a string is not a number: write int(3)", "int(3)"},
	{"int(s)", "1:5", "cannot convert s (variable of type string) to type int", "strconv.Atoi(s) reads an int, strconv.ParseFloat(s, 64) a float64; both return an error, too", ""},
	{"int(2.5)", "1:5", "cannot convert 2.5 (untyped float constant) to type int", "Go doesn't cut off the fraction of a constant: write the integer", ""},
	{"string(f)", "1:8", "cannot convert f (variable of type float64) to type string", "only bytes and characters can be converted to a string like that: write fmt.Sprint(f)", "fmt.Sprint(f)"},
	{"n := len(x)", "1:10", "invalid argument: x (variable of type int) for built-in len", "the built-in function takes other types; Shift+Tab after its ( shows which", ""},
	{"var q *T = T{}", "1:12", "cannot use T{} (value of struct type T) as *T value in variable declaration", "a pointer is needed here: write &T{}", "var q *T = &T{}"},
	{"var q T = p", "1:11", "cannot use p (variable of type *T) as T value in variable declaration", "this is a pointer: write *p", "var q T = *p"},
	{"var z float64 = x", "1:17", "cannot use x (variable of type int) as float64 value in variable declaration", "Go never converts numbers by itself: write float64(x)", "var z float64 = float64(x)"},
	{"var w []float64 = xs", "1:19", "cannot use xs (variable of type []int) as []float64 value in variable declaration", "a []float64 is needed here, and this is a []int", ""},
	{"var t *tensor.Tensor = 3", "1:24", "cannot use 3 (untyped int constant) as *tensor.Tensor value in variable declaration", "a tensor is needed here: write tensor.Of(3)", "var t *tensor.Tensor = tensor.Of(3)"},
	{"g(a)", "1:3", "cannot use a (variable of type *tensor.Tensor) as int value in argument to g", "a tensor of one element is still a tensor: write int(a.Item())", "g(int(a.Item()))"},
	{"g(s)", "1:3", "cannot use s (variable of type string) as int value in argument to g", "a string is not a number: strconv.Atoi(s) reads an int, strconv.ParseFloat(s, 64) a float64", ""},
	{"var u uint8 = 300", "1:15", "300 does not fit into a uint8", "a wider type has room for it; package math/big has integers of any size", ""},
	{"s == 'h'", "1:6", "invalid operation: s == 'h' (mismatched types string and untyped rune)", `"h" is a string, and 'h' is a number that stands for a character: compare like with like`, ""},
	{"s * 2", "1:1", "invalid operation: s * 2 (mismatched types string and untyped int)", "strings can't be multiplied: write strings.Repeat(s, 2)", "strings.Repeat(s, 2)"},
	{"s + 1", "1:1", "invalid operation: s + 1 (mismatched types string and untyped int)", "only strings can be added to strings: write fmt.Sprint(s, 1)", "fmt.Sprint(s, 1)"},
	{`s - "i"`, "1:1", "invalid operation: operator - not defined on s (variable of type string)", "strings.TrimSuffix and strings.ReplaceAll remove parts of a string", ""},
	{"x && true", "1:1", "invalid operation: x && true (mismatched types int and untyped bool)", `&& is for true and false only: compare with 0, "" or nil first`, ""},
	{"xs + 1", "1:1", "invalid operation: xs + 1 (mismatched types []int and untyped int)", "operators don't work on slices: go through the elements with for i := range xs, or make a tensor of them", ""},
	{"nope(3)", "1:1", "undefined: nope", "there is no such function: first run the cell that declares it", ""},
	{"func h(v Tt) {}", "1:10", "undefined: Tt", "there is no such type: first run the cell that declares it, with type Tt …", ""},
	{"var q Sring", "1:7", "undefined: Sring", "did you mean string?", "var q string"},
	{"fmtt.Println(x)", "1:1", "undefined: fmtt", "did you mean fmt?", "fmt.Println(x)"},
	{"math.sqrt(2)", "1:6", "name sqrt not exported by package math", "did you mean math.Sqrt?", "math.Sqrt(2)"},
	{"string.ToUpper(s)", "1:8", "string.ToUpper undefined (type string has no field or method ToUpper)", "did you mean strings.ToUpper?", "strings.ToUpper(s)"},
	{"strngs.ToUpper(s)", "1:1", "undefined: strngs", "did you mean strings?", "strings.ToUpper(s)"},
	{"Println(x)", "1:1", "undefined: Println", "write fmt.Println(x)", "fmt.Println(x)"},
	{`printf("%d", x)`, "1:1", "undefined: printf", `write fmt.Printf("%d", x)`, `fmt.Printf("%d", x)`},
	{"range(3)", "1:1", "range comes after for", "for i := range n { … } counts from 0 to n-1", ""},
	{`input("name")`, "1:1", "undefined: input", "fmt.Scanln(&x) reads from the keyboard", ""},
	{"sum(xs)", "1:1", "undefined: sum", "go through the slice: for _, x := range xs { total += x }; a tensor has t.Sum()", ""},
	{"sorted(xs)", "1:1", "undefined: sorted", "write slices.Sorted(slices.Values(xs))", "slices.Sorted(slices.Values(xs))"},
	{"exit()", "1:1", "undefined: exit", "write os.Exit(0)", "os.Exit(0)"},
	{`open("f.txt")`, "1:1", "undefined: open", `Go's files are in package os, and opening one may fail: write os.Open("f.txt")`, `os.Open("f.txt")`},
	{"abs(x)", "1:1", "undefined: abs", "write math.Abs(float64(x))", "math.Abs(float64(x))"},
	{"list(xs)", "1:1", "undefined: list", `make a slice ([]int{1, 2}) or a map (map[string]int{"a": 1})`, ""},
	{"a.numpy()", "1:3", "a.numpy undefined (type *tensor.Tensor has no field or method numpy)", "*tensor.Tensor has no numpy: write a.Floats()", "a.Floats()"},
	{"a.mm(a)", "1:3", "a.mm undefined (type *tensor.Tensor has no field or method mm)", "*tensor.Tensor has no mm: write a.Matmul(a)", "a.Matmul(a)"},
	{"a.relu()", "1:3", "a.relu undefined (type *tensor.Tensor has no field or method relu)", "*tensor.Tensor has no relu: write a.ReLU()", "a.ReLU()"},
	{"a.Shpe()", "1:3", "a.Shpe undefined (type *tensor.Tensor has no field or method Shpe)", "did you mean Shape?", "a.Shape()"},
	{"a.shape[0]", "1:3", "a.shape undefined (type *tensor.Tensor has no field or method shape, but does have method Shape)", "did you mean Shape()?", "a.Shape()[0]"},
	{"m.keys()", "1:3", "m.keys undefined (type map[string]int has no field or method keys)", "a value of type map[string]int has no methods: write slices.Sorted(maps.Keys(m))", "slices.Sorted(maps.Keys(m))"},
	{`", ".join([]string{"a"})`, "1:6", `", ".join undefined (type untyped string has no field or method join)`, `untyped string has no join: write strings.Join([]string{"a"}, ", ")`, `strings.Join([]string{"a"}, ", ")`},
	{`s.split(",")`, "1:3", "s.split undefined (type string has no field or method split)", `a value of type string has no methods: write strings.Split(s, ",")`, `strings.Split(s, ",")`},
	{`s.startswith("h")`, "1:3", "s.startswith undefined (type string has no field or method startswith)", `a value of type string has no methods: write strings.HasPrefix(s, "h")`, `strings.HasPrefix(s, "h")`},
	{"p.size", "1:3", "p.size undefined (type *T has no field or method size, but does have field Size)", "did you mean Size?", "p.Size"},
	{`b := os.ReadFile("f")`, "1:6", "assignment mismatch: 1 variable but os.ReadFile returns 2 values", `it returns 2 values: write b, err := os.ReadFile("f")`, `b, err := os.ReadFile("f")`},
	{`os.ReadFile("f") + 1`, "1:1", `multiple-value os.ReadFile("f") (value of type ([]byte, error)) in single-value context`, "it returns several values: give them names first, as in v, err := f()", ""},
	{"x, y := 3", "1:9", "assignment mismatch: 2 variables but 1 value", "there must be as many values as names", ""},
	{"x, y := g(1)", "1:9", "assignment mismatch: 2 variables but g returns 1 value", "write 1 name on the left", ""},
	{"func k() int { x := 1 }", "1:23", "missing return", "every way through the function must end with a return", ""},
	{"func k() int { return }", "1:16", "not enough return values; have (); want (int)", "the results that the function promises are listed after want", ""},
	{"func k() { var unused int }", "1:16", "unused is declared and not used", "use it, or remove it", ""},
	{"const c = 3\nc = 4", "2:1", "cannot assign to c (neither addressable nor a map index expression)", "only variables can be assigned to, not constants or the values of expressions", ""},
	{"public static void main() { }", "1:1", "Go has no public, private or static", "a name that begins with a capital letter is public; a function begins with func", ""},
	{"int[] ys = {1, 2}", "1:1", "the type comes after the name", "write ys := []int{1, 2}", "ys := []int{1, 2}"},
	{"float y = 2.5", "1:1", "the type comes after the name", "write y := 2.5", "y := 2.5"},
	{"int y;", "1:1", "the type comes after the name", "write var y int", "var y int"},
	{"y := 2j", "1:6", "Go writes the imaginary unit as i", "write 2i", "y := 2i"},
	{"y := 10L", "1:6", "numbers have no suffixes in Go", "write 10", "y := 10"},
	{"x <> 3", "1:1", "Go has no operator <>", "write x != 3", "x != 3"},
	{"math::Sqrt(2)", "1:1", "Go has no operator ::", "write math.Sqrt", "math.Sqrt(2)"},
	{"new T(3)", "1:1", "new is a function in Go", "&T{…} makes a T with these fields and returns a pointer to it", ""},
	{`print "a", 3`, "1:1", "functions are called with ( and )", `write fmt.Println("a", 3)`, `fmt.Println("a", 3)`},
	{`b"abc"`, "1:1", `Go has no b"…"`, `write []byte("abc")`, `[]byte("abc")`},
	{`r"\d+"`, "1:4", "Go writes raw strings between backquotes (`)", "write `…` in place of r\"…\"", ""},
	{"del x", "1:1", "Go has no del", "a value that is no longer used is freed automatically", ""},
	{"switch x:", "1:1", "a block doesn't begin with a colon in Go", "write switch x { case 1: … }", ""},
	{"x − 1", "1:3", "Go doesn't know the sign −", "write -", ""},
	{"y := x \\\n  + 1", "1:8", `a line is not continued with \`, "end the line with an operator, a comma or an open bracket instead", ""},
	{"$x", "1:1", "a name can't contain a $", "write the name alone", ""},
	{`fmt.Println("a" "b")`, "1:17", "missing ',' in argument list", "a comma is missing here", ""},
	{"y :=", "1:5", "something is missing here", "a value must follow what comes before", ""},
	{"a.", "1:3", "expected selector or type assertion, found '}'", "the name after the dot is missing", ""},
	{"type Q struct {\n\tA int,\n\tB int\n}", "2:7", "fields of a struct are not separated by commas", "each field has a line of its own: leave the comma out", ""},
	{"if err != nil { fmt.Println(err) }", "1:4", "undefined: err", "first run the cell that defines it; a new variable is defined with :=", ""},
	{`"a" and "b"`, "1:5", "Go writes and as &&", "&& is and, || is or, ! is not", ""},
	{"func (x int) double() int { return x * 2 }", "1:9", "cannot define new methods on non-local type int", "methods are for types that a cell declares, such as type Celsius float64", ""},
	{"time.Sleep(0.5)", "1:12", "cannot use 0.5 (untyped float constant) as time.Duration value in argument to time.Sleep (truncated)", "a duration has a unit: 500 * time.Millisecond is half a second", ""},
	{"time.Sleep(x)", "1:12", "cannot use x (variable of type int) as time.Duration value in argument to time.Sleep", "a duration has a unit: write time.Duration(x) * time.Second", "time.Sleep(time.Duration(x) * time.Second)"},
	{"time.Sleep(x * time.Second)", "1:12", "invalid operation: x * time.Second (mismatched types int and time.Duration)", "Go never converts numbers by itself: write time.Duration(x) * time.Second", "time.Sleep(time.Duration(x) * time.Second)"},
	{"make([]int)", "1:1", "invalid operation: make([]int) expects 2 or 3 arguments; found 1", "make([]int, n) makes a slice of n elements", ""},
	{`append(xs, "a")`, "1:12", `cannot use "a" (untyped string constant) as int value in argument to append`, "a string is not a number: strconv.Atoi(s) reads an int, strconv.ParseFloat(s, 64) a float64", ""},
	{"m[1]", "1:3", "cannot use 1 (untyped int constant) as string value in map index", "a number is not a string: write fmt.Sprint(1)", "m[fmt.Sprint(1)]"},
	{"xs[5.0/2]", "1:4", "5.0 / 2 (untyped float constant 2.5) truncated to int", "an integer is needed here", ""},
	{"y := [3]int{1, 2, 3, 4}", "1:22", "index 3 is out of bounds (>= 3)", "the last index is the length minus one", ""},
	{"math.Sqrt(x)", "1:11", "cannot use x (variable of type int) as float64 value in argument to math.Sqrt", "Go never converts numbers by itself: write float64(x)", "math.Sqrt(float64(x))"},
	{"y := \"a\nb\"", "1:6", "this string is never closed", "the closing \" is missing on this line; a string of several lines goes between backquotes (`)", ""},
	{"y := 'a", "1:6", "this quote is never closed", `a string goes between double quotes: "it's"; single quotes are for one character`, ""},
	{"if (x > 3) fmt.Println(x)", "1:1", "the block after if and for goes between { and }", "put it in braces, even if it is a single statement", ""},
	{"var wg sync.WaitGroup\nwg.add(1)", "2:4", "wg.add undefined (type sync.WaitGroup has no field or method add, but does have method Add)", "did you mean Add?", "var wg sync.WaitGroup\nwg.Add(1)"},
	{"3 = x", "1:1", "cannot assign to 3 (neither addressable nor a map index expression)", "only variables can be assigned to, not constants or the values of expressions", ""},
	{`z := map[string]int{"a": 1} y`, "1:29", "y doesn't belong here", "an operator, a comma, a bracket or a new line is missing before it", ""},
	{"z := xs[0] y", "1:12", "y doesn't belong here", "an operator, a comma, a bracket or a new line is missing before it", ""},
	{"var z = 3\nq := z z", "2:8", "z doesn't belong here", "an operator, a comma, a bracket or a new line is missing before it", ""},
	{"func k() { q := 1 q }", "1:19", "q doesn't belong here", "an operator, a comma, a bracket or a new line is missing before it", ""},
	{"loop: x = nothing", "1:11", "undefined: nothing", "first run the cell that defines it; a new variable is defined with :=", ""},
	{"var q **int = 3", "1:15", "cannot use 3 (untyped int constant) as **int value in variable declaration", "a **int is needed here, and this is an int constant", ""},
	{"return [1, 2]", "1:8", "a list needs a type", "write []float64{1, 2.5}", ""},
	{"a.Matmull(a)", "1:3", "a.Matmull undefined (type *tensor.Tensor has no field or method Matmull)", "did you mean Matmul?", "a.Matmul(a)"},
	{"a.Summ()", "1:3", "a.Summ undefined (type *tensor.Tensor has no field or method Summ)", "did you mean Sum?", "a.Sum()"},
	{"a.Reshap(3, 1)", "1:3", "a.Reshap undefined (type *tensor.Tensor has no field or method Reshap)", "did you mean Reshape?", "a.Reshape(3, 1)"},
	{"a.Transpos(0, 1)", "1:3", "a.Transpos undefined (type *tensor.Tensor has no field or method Transpos)", "did you mean Transpose?", "a.Transpose(0, 1)"},
	{"tensor.Zeros(2, 3, dtype=float32)", "1:1", "Go has no named arguments", "write tensor.With(tensor.Float32).Zeros(2, 3)", "tensor.With(tensor.Float32).Zeros(2, 3)"},
	{"tensor.Zeros(2, 3, dtype=tensor.float64)", "1:1", "Go has no named arguments", "write tensor.With(tensor.Float64).Zeros(2, 3)", "tensor.With(tensor.Float64).Zeros(2, 3)"},
	{"tensor.Ones(3, requires_grad=True)", "1:1", "Go has no named arguments", "write tensor.Ones(3).RequireGrad()", "tensor.Ones(3).RequireGrad()"},
	{"a.Sum(dim=0)", "1:1", "Go has no named arguments", "write a.Sum(0)", "a.Sum(0)"},
	{"a.Sum(axis=0, keepdim=True)", "1:1", "Go has no named arguments", "write a.Sum(0, tensor.KeepDim)", "a.Sum(0, tensor.KeepDim)"},
	{"a.Mean(dim=-1, keepdim=True)", "1:1", "Go has no named arguments", "write a.Mean(-1, tensor.KeepDim)", "a.Mean(-1, tensor.KeepDim)"},
	{"a.Softmax(dim=-1)", "1:1", "Go has no named arguments", "write a.Softmax(-1)", "a.Softmax(-1)"},
	{"a.Argmax(dim=1)", "1:1", "Go has no named arguments", "write a.Argmax(1)", "a.Argmax(1)"},
	{`tensor.Randn(2, 3, device="cuda")`, "1:1", "Go has no named arguments", "tensor.With(device).Zeros(2, 3) makes a tensor there, x.To(device) copies one there", ""},
	{"tensor.Of([[1, 2], [3, 4]])", "1:1", "a list needs a type", "write tensor.Of([][]float64{{1, 2}, {3, 4}})", "tensor.Of([][]float64{{1, 2}, {3, 4}})"},
	{"tensor.Of([1, 2, 3])", "1:1", "a list needs a type", "write tensor.Of(1, 2, 3)", "tensor.Of(1, 2, 3)"},
	{"tensor.Of([1.0, 2.0], requires_grad=True)", "1:1", "Go has no named arguments", "write tensor.Of(1.0, 2.0).RequireGrad()", "tensor.Of(1.0, 2.0).RequireGrad()"},
	{"w := tensor.Of([[1, 2], [3, 4]], dtype=tensor.Float32)", "1:6", "Go has no named arguments", "write tensor.With(tensor.Float32).Of([][]float64{{1, 2}, {3, 4}})", "w := tensor.With(tensor.Float32).Of([][]float64{{1, 2}, {3, 4}})"},
	{"a.Reshape((3, 1))", "1:1", "Go has no tuples", "write a.Reshape(3, 1)", "a.Reshape(3, 1)"},
	{"tensor.Zeros((2, 3))", "1:1", "Go has no tuples", "write tensor.Zeros(2, 3)", "tensor.Zeros(2, 3)"},
	{"y := (2, 3)", "1:1", "Go has no tuples", "give each value its own name (a, b := 1, 2), or make a slice ([]int{1, 2})", ""},
	{"(2, 3)", "1:1", "Go has no tuples", "write fmt.Println(2, 3)", "fmt.Println(2, 3)"},
	{"return (x, f)", "1:1", "Go has no tuples", "write return a, b", ""},
	{"a, b = (1, 2)", "1:1", "Go has no tuples", "write a, b := 1, 2", "a, b := 1, 2"},
	{"for (i, v) in enumerate(xs):\n    print(i)", "1:1", "Go has no for … in", "range gives the index and the element: write for i, v := range xs { … }", ""},
	{"try:\n    g(1)\nexcept:\n    pass", "1:1", "Go has no exceptions", "a function that can fail returns an error: if err != nil { … } handles it", ""},
	{"try {\n\tg(1)\n} catch (e) {\n}", "1:1", "Go has no exceptions", "a function that can fail returns an error: if err != nil { … } handles it", ""},
	{"try { g(1) } except { }", "1:1", "Go has no exceptions", "a function that can fail returns an error: if err != nil { … } handles it", ""},
	{"help(a)", "1:1", "undefined: help", "?a in a cell of its own shows the documentation, as Shift+Tab does after the name; Tab after a dot lists what there is", ""},
	{"a.shape()", "1:3", "a.shape undefined (type *tensor.Tensor has no field or method shape, but does have method Shape)", "did you mean Shape?", "a.Shape()"},
	{`"{}".format(x)`, "1:6", `"{}".format undefined (type untyped string has no field or method format)`, `untyped string has no format: write fmt.Sprintf("%v", x)`, `fmt.Sprintf("%v", x)`},
	{"def f2(x, y=2):\n    return x + y", "1:1", "functions begin with func", "parameters and results have types, such as float64; there are no default values: write func f2(x, y float64) float64 { … }", ""},
	{"def f2(x: int) -> int:\n    return x + 1", "1:1", "functions begin with func", "parameters and results have types: write func f2(x int) int { … }", ""},
	{"h := lambda v: v * 2", "1:6", "Go has no lambda", "a function without a name needs types, too: write func(v float64) float64 { return v * 2 }", "h := func(v float64) float64 { return v * 2 }"},
	{"if x > 2 or f < 3 { }", "1:10", "Go writes or as ||", "write if x > 2 || f < 3 { }", "if x > 2 || f < 3 { }"},
	{"if not x { }", "1:4", "Go writes not as !", "write if x == 0 { }", "if x == 0 { }"},
	{"a[1:3, 0]", "1:1", "an index is a single number", "write a.Index(tensor.Between(1, 3), 0)", "a.Index(tensor.Between(1, 3), 0)"},
	{"a[:, 0]", "1:1", "an index is a single number", "write a.Index(tensor.All, 0)", "a.Index(tensor.All, 0)"},
	{"a[..., 0]", "1:1", "an index is a single number", "write a.Index(tensor.Ellipsis, 0)", "a.Index(tensor.Ellipsis, 0)"},
	{"a[0, :]", "1:1", "an index is a single number", "write a.Index(0, tensor.All)", "a.Index(0, tensor.All)"},
	{"a[None, :]", "1:1", "an index is a single number", "write a.Index(tensor.NewAxis, tensor.All)", "a.Index(tensor.NewAxis, tensor.All)"},
	{"a[::2]", "1:1", "a slice has no step in Go", "write a.Index(tensor.All.Step(2))", "a.Index(tensor.All.Step(2))"},
	{"xs[::2]", "1:1", "a slice has no step in Go", "for i := 0; i < len(xs); i += 2 { … } goes in steps", ""},
	{"xs[::-1]", "1:1", "a slice has no step in Go", "slices.Reverse(xs) reverses a slice, slices.Backward(xs) goes through it from the end", ""},
	{"for i in range(len(xs)):\n    print(xs[i])", "1:1", "Go has no for … in", "write for i := range len(xs) { … }", ""},
	{"if x > 1:\n    y = 1\nelif x > 2:\n    y = 2\nelse:\n    y = 3", "1:1", "a block doesn't begin with a colon in Go", "blocks go between { and }, however they are indented: write if x > 1 { … }", ""},
	{`"%d and %s" % (x, s)`, "1:1", "Go has no % for strings", `write fmt.Sprintf("%d and %s", x, s)`, `fmt.Sprintf("%d and %s", x, s)`},
	{`"%s" % s`, "1:1", "Go has no % for strings", `write fmt.Sprintf("%s", s)`, `fmt.Sprintf("%s", s)`},
	{`"{} {:.2f}".format(x, f)`, "1:13", `"{} {:.2f}".format undefined (type untyped string has no field or method format)`, `untyped string has no format: write fmt.Sprintf("%v %.2f", x, f)`, `fmt.Sprintf("%v %.2f", x, f)`},
	{`h := f"{x}"`, "1:6", "Go has no f-strings", `write fmt.Sprintf("%v", x)`, `h := fmt.Sprintf("%v", x)`},
	{"if not xs:\n    pass", "1:1", "a block doesn't begin with a colon in Go", "blocks go between { and }, however they are indented: write if len(xs) == 0 { … }", ""},
	{"a[..., None]", "1:1", "an index is a single number", "write a.Index(tensor.Ellipsis, tensor.NewAxis)", "a.Index(tensor.Ellipsis, tensor.NewAxis)"},
	{"a[::-1]", "1:1", "a slice has no step in Go", "write a.Flip(0)", "a.Flip(0)"},
	{"a[:, 1:3]", "1:1", "an index is a single number", "write a.Index(tensor.All, tensor.Between(1, 3))", "a.Index(tensor.All, tensor.Between(1, 3))"},
	{"f ^ 2", "1:1", "invalid operation: operator ^ not defined on f (variable of type float64)", "^ is exclusive or, bit by bit: write math.Pow(f, 2)", "math.Pow(f, 2)"},
	{"a ^ 2", "1:1", "invalid operation: a ^ 2 (mismatched types *tensor.Tensor and untyped int)", "^ is exclusive or, and not for tensors: write a.Pow(2)", "a.Pow(2)"},
	{"min(xs)", "1:5", "invalid argument: xs (variable of type []int) cannot be ordered", "min and max take values one by one: slices.Max(xs) is the largest in a slice, t.Max() the largest in a tensor", ""},
	{"w := tensor.Of(1.0, 2.0, requires_grad=true)", "1:6", "Go has no named arguments", "write tensor.Of(1.0, 2.0).RequireGrad()", "w := tensor.Of(1.0, 2.0).RequireGrad()"},
	{"with torch.no_grad():\n    b := a.mul(2)", "1:1", "Go has no with", "tensor.NoGrad(func() { … }) runs the code between the braces without gradients", ""},
	{"torch.manual_seed(0)", "1:1", "undefined: torch", "package tensor has what torch has: write tensor.Seed", "tensor.Seed"},
	{"b = torch.cat([a, a], dim=0)", "1:5", "package tensor makes tensors", "write b := tensor.Cat(0, a, a)", "b := tensor.Cat(0, a, a)"},
	{"tensor.Cat([a, a], 0)", "1:1", "a list needs a type", "write tensor.Cat(0, a, a)", "tensor.Cat(0, a, a)"},
	{"a.view(-1, 1)", "1:3", "a.view undefined (cannot refer to unexported method view)", "did you mean View?", "a.View(-1, 1)"},
	{"torch.relu(a)", "1:1", "undefined: torch", "operations are methods of tensors: write a.ReLU()", "a.ReLU()"},
	{"for i, x in enumerate(xs) { }", "1:1", "Go has no for … in", "range gives the index and the element: write for i, x := range xs { … }", "for i, x := range xs { }\n"},
	{"a.Shape() == [3, 1]", "1:1", "slices are compared with a function", "write slices.Equal(a.Shape(), []int{3, 1})", "slices.Equal(a.Shape(), []int{3, 1})"},
	{"a.Shape() == []int{3}", "1:1", "invalid operation: a.Shape() == []int{…} (slice can only be compared to nil)", "slices and maps are compared element by element: write slices.Equal(a.Shape(), []int{3})", "slices.Equal(a.Shape(), []int{3})"},
	{"xs += [4]", "1:1", "slices can't be added", "write xs = append(xs, 4)", "xs = append(xs, 4)"},
	{"del xs[0]", "1:1", "Go has no del", "write xs = slices.Delete(xs, 0, 0+1)", "xs = slices.Delete(xs, 0, 0+1)"},
	{"def __init__(self):\n    self.x = 1", "1:1", "functions begin with func", "a function makes the value: func NewModel() *Model { return &Model{…} }", ""},
	{"if x in xs:\n    pass", "1:1", "a block doesn't begin with a colon in Go", "blocks go between { and }, however they are indented: write if slices.Contains(xs, x) { … }", ""},
	{`if "a" in m { }`, "1:1", "Go has no operator in", `write if _, ok := m["a"]; ok { … }`, "if _, ok := m[\"a\"]; ok { }\n"},
	{"for k in m { fmt.Println(k) }", "1:1", "Go has no for … in", "write for k := range m { … }", "for k := range m { }\n"},
	{"[i for i in range(3)]", "1:1", "Go has no list comprehensions", "make the slice, and append to it in a for loop: for _, x := range xs { ys = append(ys, …) }", ""},
	{"{i: i*i for i in range(3)}", "1:1", "Go has no list comprehensions", "make the slice, and append to it in a for loop: for _, x := range xs { ys = append(ys, …) }", ""},
	{"sum([1, 2, 3])", "1:5", "a list needs a type", "write []float64{1, 2.5}", "[]float64{1, 2.5}"},
	{"sum(x for x in xs)", "1:4", "Go has no list comprehensions", "make the slice, and append to it in a for loop: for _, x := range xs { ys = append(ys, …) }", ""},
	{"math.inf", "1:6", "undefined: math.inf", "write math.Inf(1)", "math.Inf(1)"},
	{`float("inf")`, "1:1", "undefined: float", "write math.Inf(1)", "math.Inf(1)"},
	{`fmt.Println "hi"`, "1:1", "functions are called with ( and )", `write fmt.Println("hi")`, `fmt.Println("hi")`},
	{"int y := 3", "1:1", "the type comes after the name", "write var y int = 3", "var y int = 3"},
	{"y int := 3", "1:1", "a variable with a type begins with var", "write var y int = 3", "var y int = 3"},
	{"if x > 2 then fmt.Println(x) end", "1:1", "Go has no then", "write if x > 2 { … }", "if x > 2 { }\n"},
	{"pip install torch", "1:1", "pip installs packages for Python", "%get path@latest fetches a Go module; tensors, layers and plots are here already", ""},
	{"lambda x: x", "1:1", "Go has no lambda", "a function without a name needs types, too: write func(x float64) float64 { return x }", "func(x float64) float64 { return x }"},
	{"func sq(x float64): float64 { return x }", "1:1", "the result's type follows the parentheses, with no sign in between", "write func sq(x float64) float64 { … }", ""},
	{"func sq(x float64) -> float64 { return x }", "1:1", "the result's type follows the parentheses, with no sign in between", "write func sq(x float64) float64 { … }", ""},
	{"func sq(float64 x) float64 { return x }", "1:17", "x (package-level variable) is not a type", "the type comes after the name: write x float64", ""},
	{"func sq(x) float64 { return x }", "1:9", "x (package-level variable) is not a type", "a type is needed here: each parameter has one, as in func f(x float64)", ""},
	{"func sq(x float64) { return x*x }", "1:29", "too many return values; have (float64); want ()", "say what the function returns before its {, as in func f(x int) int { … }", ""},
	{"f4 := func(v float64) v*v", "1:23", "undefined: v", "first run the cell that defines it; a new variable is defined with :=", ""},
	{"b = tensor.Zeros([2, 3])", "1:5", "a list needs a type", "write b := tensor.Zeros(2, 3)", "b := tensor.Zeros(2, 3)"},
	{"tensor.Zeros(shape=(2, 3))", "1:1", "Go has no named arguments", "write tensor.Zeros(2, 3)", "tensor.Zeros(2, 3)"},
	{"tensor.Arange(0, 10, step=2)", "1:1", "Go has no named arguments", "write tensor.Arange(0, 10, 2)", "tensor.Arange(0, 10, 2)"},
	{"tensor.Linspace(0, 1, steps=5)", "1:1", "Go has no named arguments", "write tensor.Linspace(0, 1, 5)", "tensor.Linspace(0, 1, 5)"},
	{"tensor.Full((2, 3), 7)", "1:1", "Go has no tuples", "write tensor.Full(7, 2, 3)", "tensor.Full(7, 2, 3)"},
	{"tensor.Full((2, 3), fill_value=7)", "1:1", "Go has no named arguments", "write tensor.Full(7, 2, 3)", "tensor.Full(7, 2, 3)"},
	{"tensor.Randn(2, 3).To(dtype=tensor.Float16)", "1:1", "Go has no named arguments", "write tensor.Randn(2, 3).To(tensor.Float16)", "tensor.Randn(2, 3).To(tensor.Float16)"},
	{"a.to(dtype=torch.float16)", "1:1", "Go has no named arguments", "write a.To(tensor.Float16)", "a.To(tensor.Float16)"},
	{"a.Type()", "1:3", "a.Type undefined (type *tensor.Tensor has no field or method Type)", "did you mean Dtype?", "a.Dtype()"},
	{"a.size()", "1:3", "a.size undefined (type *tensor.Tensor has no field or method size, but does have method Size)", "did you mean Shape?", "a.Shape()"},
	{"a.t()", "1:3", "a.t undefined (type *tensor.Tensor has no field or method t)", "did you mean T?", "a.T()"},
	{"a.mean(dim=0)", "1:1", "Go has no named arguments", "write a.Mean(0)", "a.Mean(0)"},
	{"a.Sum(dim=(0, 1))", "1:1", "Go has no named arguments", "write a.Sum(0, 1)", "a.Sum(0, 1)"},
	{"a.reshape((3, 1))", "1:1", "Go has no tuples", "write a.Reshape(3, 1)", "a.Reshape(3, 1)"},
	{"a.unsqueeze(dim=0)", "1:1", "Go has no named arguments", "write a.Unsqueeze(0)", "a.Unsqueeze(0)"},
	{"a @ a.T", "1:3", "Go has no operator @", "write a.Matmul(a.T())", "a.Matmul(a.T())"},
	{"a.T @ a", "1:5", "Go has no operator @", "write a.T().Matmul(a)", "a.T().Matmul(a)"},
	{"a * 2 + 1", "1:1", "invalid operation: a * 2 (mismatched types *tensor.Tensor and untyped int)", "operators don't work on tensors, methods do: write a.Mul(2).Add(1)", "a.Mul(2).Add(1)"},
	{"(a + a) * 2", "1:2", "invalid operation: operator + not defined on a (variable of type *tensor.Tensor)", "operators don't work on tensors, methods do: write a.Add(a).Mul(2)", "a.Add(a).Mul(2)"},
	{"-a + 1", "1:2", "invalid operation: operator - not defined on a (variable of type *tensor.Tensor)", "operators don't work on tensors, methods do: write a.Neg().Add(1)", "a.Neg().Add(1)"},
	{"for i in range(3): print(i)", "1:1", "a block doesn't begin with a colon in Go", "write for i := range 3 { … }: blocks go between { and }", ""},
	{"for i in 3 { }", "1:1", "Go has no for … in", "range gives the index and the element: write for i := range 3 { … }", "for i := range 3 { }\n"},
	{"for i := 0; i < 3; i++:\n    fmt.Println(i)", "1:1", "a block doesn't begin with a colon in Go", "blocks go between { and }: write for i := 0; i < 3; i++ { … }", ""},
	{"if x == 3 fmt.Println(x)", "1:1", "the block after if and for goes between { and }", "put it in braces, even if it is a single statement", ""},
	{"if (x = 3) { }", "1:1", "= assigns and does not compare", "== compares: write if x == 3 { … }", "if x == 3 { }\n"},
	{"var v []int = [1, 2]", "1:15", "a list needs a type", "write []int{1, 2}", "var v []int = []int{1, 2}"},
	{"v := []int(1, 2)", "1:15", "too many arguments in conversion to []int", "the values of a type go between { and }: write []int{1, 2}", "[]int{1, 2}"},
	{"v := [3]int(1, 2, 3)", "1:19", "too many arguments in conversion to [3]int", "the values of a type go between { and }: write [3]int{1, 2, 3}", "[3]int{1, 2, 3}"},
	{"v := []float{1, 2}", "1:8", "undefined: float", "did you mean float64?", "v := []float64{1, 2}"},
	{"v := map[str]int{}", "1:10", "undefined: str", "did you mean string?", "v := map[string]int{}"},
	{"v := {1, 2}", "1:1", "a list needs a type", "write v := []int{1, 2}", "v := []int{1, 2}"},
	{"v := new(map[string]int)\nv[\"a\"] = 1", "2:1", "cannot index v (variable of type *map[string]int)", "new returns a pointer to a map that doesn't exist yet: m := make(map[string]int) makes one", ""},
	{"s + 'c'", "1:1", "invalid operation: s + 'c' (mismatched types string and untyped rune)", `single quotes are for one character, a number: write s + "c"`, `s + "c"`},
	{`s == "a" or s == "b"`, "1:10", "Go writes or as ||", `write s == "a" || s == "b"`, `s == "a" || s == "b"`},
	{"random.random()", "1:1", "undefined: random", "package math/rand/v2 makes random numbers: rand.Float64(), rand.IntN(6)", ""},
	{"random.randint(1, 6)", "1:1", "undefined: random", "package math/rand/v2 makes random numbers: rand.Float64(), rand.IntN(6)", ""},
	{"time.time()", "1:6", "undefined: time.time", "write time.Now", "time.Now"},
	{"os.getcwd()", "1:4", "undefined: os.getcwd", "write os.Getwd", "os.Getwd"},
	{"json.dumps(m)", "1:6", "undefined: json.dumps", "write json.Marshal", "json.Marshal"},
	{"np.array([1, 2, 3])", "1:1", "package tensor makes tensors", "write tensor.Of(1, 2, 3)", "tensor.Of(1, 2, 3)"},
	{"np.arange(10)", "1:1", "undefined: np", "package tensor has what torch has: write tensor.Arange", "tensor.Arange"},
	{"T{size: 1}", "1:3", "unknown field size in struct literal of type T, but does have Size", "did you mean Size?", "T{Size: 1}"},
	{"t := T()", "1:8", "missing argument in conversion to T", "the values of a type go between { and }: write T{}", "T{}"},
	{"type Dog struct { name: string }", "1:23", "no colon goes before a type in Go", "write name string", ""},
	{"type Dog struct { string name }", "1:26", "undefined: name", "the type comes after the name: write name string", ""},
	{"type Dog struct { name string, age int }", "1:30", "fields of a struct are not separated by commas", "on one line, they are separated by semicolons", ""},
	{"interface Shape { Area() float64 }", "1:1", "a type begins with the word type", "write type Shape interface { … }", "type Shape interface { }\n"},
	{"enum Color { Red, Green }", "1:1", "Go has no enum", "const ( Red = iota; Green; Blue ) numbers constants", ""},
	{"x as float64", "1:1", "conversions are written like calls", "write float64(x)", "float64(x)"},
	{`err := os.Open("f")`, "1:8", "assignment mismatch: 1 variable but os.Open returns 2 values", `it returns 2 values, and the error is the second: write _, err := os.Open("f")`, `_, err := os.Open("f")`},
	{"x == 3.5", "1:6", "3.5 (untyped float constant) truncated to int", "an int has no fraction: write float64(x) == 3.5", "float64(x) == 3.5"},
	{"x / 2.5", "1:5", "2.5 (untyped float constant) truncated to int", "an int has no fraction: write float64(x) / 2.5", "float64(x) / 2.5"},
	{"list(range(5))", "1:5", "range comes after for", "for i := range n { … } counts from 0 to n-1", ""},
	{"sorted(xs, reverse=True)", "1:1", "Go has no named arguments", "give the values in the order of the function's parameters", ""},
	{"xs[1, 2]", "1:1", "an index is a single number", "write a[i][j], or t.Index(i, j) for a tensor", ""},
	{`m.get("a", 0)`, "1:3", "m.get undefined (type map[string]int has no field or method get)", "m[k] is the value at k, or zero if there is none; v, ok := m[k] tells you which", ""},
	{`"a" in m`, "1:1", "Go has no operator in", "slices.Contains(xs, x) searches a slice; _, ok := m[k] looks in a map", ""},
	{"a.requires_grad = True", "1:3", "a.requires_grad undefined (type *tensor.Tensor has no field or method requires_grad)", "x.RequireGrad() asks for the gradient of x", ""},
	{"10 ^ f", "1:1", "invalid operation: operator ^ not defined on 10 (constant of type float64)", "^ is exclusive or, bit by bit: write math.Pow(10, f)", "math.Pow(10, f)"},
	{"a.relu", "1:3", "a.relu undefined (type *tensor.Tensor has no field or method relu)", "*tensor.Tensor has no relu: write a.ReLU()", "a.ReLU()"},
	{"w = ((a - a) ** 2).mean()", "1:6", "Go has no operator **", "operators don't work on tensors, methods do: write w := a.Sub(a).Pow(2).Mean()", "w := a.Sub(a).Pow(2).Mean()"},
	{"w = torch.zeros(3, requires_grad=True)", "1:5", "Go has no named arguments", "write w := tensor.Zeros(3).RequireGrad()", "w := tensor.Zeros(3).RequireGrad()"},
	{"F.relu(a)", "1:1", "undefined: F", "operations are methods of tensors: write a.ReLU()", "a.ReLU()"},
	{"torch.softmax(a, 0)", "1:1", "undefined: torch", "operations are methods of tensors: write a.Softmax(0)", "a.Softmax(0)"},
	{"math.sqrt(x)", "1:6", "name sqrt not exported by package math", "its name is math.Sqrt", ""},
	{"a.data", "1:3", "a.data undefined (type *tensor.Tensor has no field or method data)", "*tensor.Tensor has no data: write a.Detach()", "a.Detach()"},
	{`print(f"x = {x}")`, "1:1", "Go has no f-strings", `write fmt.Printf("x = %v\n", x)`, `fmt.Printf("x = %v\n", x)`},
	{`print("%d" % x)`, "1:7", "Go has no % for strings", `write fmt.Sprintf("%d", x)`, `fmt.Sprintf("%d", x)`},
	{"a[0] += 1", "1:1", "cannot index a (variable of type *tensor.Tensor)", "brackets don't work on tensors: write a.Index(0).AddInPlace(1)", "a.Index(0).AddInPlace(1)"},
	{"z := 3 if", "1:8", "'if' doesn't belong here", "an operator, a comma, a bracket or a new line is missing before it", ""},
}

const beforeMistakes = "import \"github.com/lectern-go/lectern/tensor\"\n" +
	"x, f, s, xs, m := 3, 2.5, \"hi\", []int{1, 2}, map[string]int{}\n" +
	"a := tensor.Of(1, 2, 3)\n" +
	"type T struct{ Size int }\n" +
	"func g(n int) int { return n }\n" +
	"var p *T"

var proposal = regexp.MustCompile(`(?:write|did you mean) (.*?)\??$`)

// TestMistakes looks at the message about each of them, and at whether the cell is right once it does as the hint
// says.
func TestMistakes(t *testing.T) {
	nb := newNotebook(t)
	if r := nb.run(beforeMistakes); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	fixes := 0
	for _, c := range mistakes {
		r := nb.s.Rewrite(2, c.cell)
		if len(r.Errors) == 0 {
			t.Errorf("%q has no error", c.cell)
			continue
		}
		e := r.Errors[0]
		if at := fmt.Sprintf("%d:%d", e.Pos.Line, e.Pos.Col); at != c.at || e.Msg != c.msg || e.Hint != c.hint {
			t.Errorf("%q\nat %s: %s\nhint: %s\nwant %s: %s\nhint: %s", c.cell, at, e.Msg, e.Hint, c.at, c.msg, c.hint)
		}
		for _, e := range r.Errors {
			if strings.Contains(e.Msg+e.Hint, "lectern") {
				t.Errorf("%q: %s names what the kernel has added", c.cell, e.Msg)
			}
		}
		if c.fixed == "" {
			if strings.HasPrefix(c.hint, "did you mean") {
				t.Errorf("%q: nothing is checked of %q", c.cell, c.hint)
			}
			continue
		}
		fixes++
		for _, e := range nb.s.Rewrite(2, c.fixed).Errors {
			if !strings.HasSuffix(e.Msg, "is declared and not used") { // in a block that is still empty
				t.Errorf("%q: the proposal does not compile: %s\n%s", c.cell, e.Msg, c.fixed)
			}
		}
		g := proposal.FindStringSubmatch(c.hint)
		if g == nil {
			t.Errorf("%q: no proposal in %q", c.cell, c.hint)
			continue
		}
		text, _, _ := strings.Cut(g[1], "…")
		if !strings.Contains(c.fixed, strings.TrimRight(text, " ")) {
			t.Errorf("%q: proposed is %q, checked is\n%s", c.cell, g[1], c.fixed)
		}
	}
	t.Logf("%d mistakes, %d with a proposal", len(mistakes), fixes)
}

// TestProposalsCompile applies proposals to cells in which they must not be made: a proposal there has to be
// something else, or nothing.
func TestProposalsCompile(t *testing.T) {
	nb := newNotebook(t)
	if r := nb.run(beforeMistakes); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	for _, c := range []struct{ cell, not string }{
		{"var i int = \"s\"", "int("},
		{"var i int = 2.5", "int("},
		{"Nope", "copy"},
		{"Nope{}", "copy"},
		{"cpoy", "copy"}, // a function is no value
		{"y := None", "write"},
		{"\"a\" and \"b\"", "write"},
		{"x + s", "float64"},
		{"for i in nothing:\n    pass", "nothing"},
		{"if x = nothing { }", "nothing"},
		{"xs.append(\"a\")", "append(xs"},
	} {
		r := nb.s.Rewrite(2, c.cell)
		if len(r.Errors) == 0 {
			t.Errorf("%q has no error", c.cell)
			continue
		}
		if h := r.Errors[0].Hint; strings.Contains(h, c.not) {
			t.Errorf("%q: the hint is %q", c.cell, h)
		}
	}
}

// TestNoMistake: right Go stays right, however much it looks like a habit from elsewhere.
func TestNoMistake(t *testing.T) {
	nb := newNotebook(t)
	if r := nb.run(beforeMistakes); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	for _, cell := range []string{
		"package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\tfmt.Println(\"hi\")\n}",
		"import \"fmt\"\nimport \"os\"\nx",
		"while := 3\nwhile + 1",
		"not := func(b bool) bool { return !b }\nnot(true)",
		"switch x {\ncase 3:\n\tfmt.Println(`while True:`)\ndefault:\n}",
		"loop:\n\tfor {\n\t\tbreak loop\n\t}",
		"var q **T = &p\nq",
		"// it's # a comment with 'quotes' and \"one\nx",
		"y := `\nif x:\n  print \"hi\"\n`\ny",
		"x = x *\n\t2",
		"type pair[K comparable, V any] struct {\n\tkey K\n\tval V\n}\npair[string, int]{\"a\", 1}",
		"'a' + '\\''",
		"/* a */ x /* b */",
		"y := 7 // 2",
	} {
		if r := nb.s.Rewrite(2, cell); len(r.Errors) > 0 {
			t.Errorf("%q: %+v", cell, r.Errors)
		}
	}
}

func TestDistinct(t *testing.T) {
	at := func(line, col int, msg string) Error { return Error{Pos: Pos{1, line, col}, Msg: msg} }
	s := newNotebook(t).s
	got := s.explained([]Error{at(1, 1, "undefined: i"), at(1, 5, "undefined: i"), at(2, 1, "undefined: i"), at(3, 1, "a"), at(3, 1, "a"), at(3, 2, "a")}, s)
	for i := range got {
		got[i].Hint, got[i].row = "", ""
	}
	if want := []Error{at(1, 1, "undefined: i"), at(2, 1, "undefined: i"), at(3, 1, "a"), at(3, 2, "a")}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name, names, want string
	}{
		{"cuont", "count copy", "count"}, {"Nope", "copy rune nil", ""}, {"Zeroes", "Zeros Ones", "Zeros"}, {"ToUper", "ToUpper ToLower", "ToUpper"}, {"x", "y z", ""}, {"ab", "abc", ""},
		{"None", "rune", ""}, {"println", "Println", "Println"}, {"Printn", "Print Println Printf", "Println"}, {"strngs", "strings string", "strings"}, {"日木", "日本 日", ""},
	} {
		if got := nearest(c.name, strings.Fields(c.names), 0); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzExplain: an explanation never panics, and never says that something is wrong at a place outside the cell.
func FuzzExplain(f *testing.F) {
	for _, c := range mistakes {
		f.Add(c.cell)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		nb := newNotebook(t)
		for _, e := range nb.s.Rewrite(1, cell).Errors {
			if e.Pos.Line > strings.Count(cell, "\n")+1 || e.Pos.Line < 0 {
				t.Errorf("%q: line %d: %s", cell, e.Pos.Line, e.Msg)
			}
		}
		Complete(cell)
	})
}
