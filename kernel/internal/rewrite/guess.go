package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/spelling"
)

// A name that means nothing is gone, belongs to another language, or is a slip of the pen. A proposal for it must be of
// the kind that the place requires, so the cell is checked with it.

// wanted is what a name's place requires.
type wanted int

const (
	aValue wanted = iota
	aCall
	aType
	aPackage
)

// A wrongName is a mistake in a name that does not exist, or exists in another form.
type wrongName struct{ *mistake }

func (m *mistake) name() wrongName { return wrongName{m} }

// wants looks at what is around the name at [lo, hi).
func (m wrongName) wants(lo, hi int) wanted {
	after := strings.TrimLeft(m.masked[hi:], " ")
	line, _ := m.lineAt(lo)
	before := strings.TrimRight(m.masked[line:lo], " *")
	switch {
	case strings.HasPrefix(after, "("):
		return aCall
	case strings.HasPrefix(after, "."):
		return aPackage
	case strings.HasPrefix(after, "{") && !re(`^\s*(if|for|switch)\b`).MatchString(before):
		return aType
	case strings.HasSuffix(before, "]") && !re(`[\pL\d_)\]]\[[^\[\]]*\]$`).MatchString(before): // []T, map[K]T
		return aType
	case re(`\bvar\s+NAME(?:\s*,\s*NAME)*$`).MatchString(before), re(`\b(?:chan|make\(|new\()$`).MatchString(before):
		return aType
	case strings.HasPrefix(before, "func") && !strings.Contains(before, "{"):
		return aType
	case re(`^\s*NAME\s+\*?$`).MatchString(m.masked[line:lo]) && !re(`^\s*(return|defer|go|case|if|for|switch|else|range|import|package)\b`).MatchString(before): // a field
		return aType
	}
	return aValue
}

// candidates are the names that can be used where something of a kind is wanted.
func (m wrongName) candidates(w wanted) []string {
	var names []string
	if w != aType {
		for _, vs := range []map[string]variable{m.s.vars, m.next.vars} {
			for n := range vs {
				names = append(names, n)
			}
		}
		ts := tokens(m.src.Code)
		own := assigned(ts)
		for i, t := range ts { // and parameters of the cell itself
			if t.tok == token.IDENT && i+1 < len(ts) && ts[i+1].tok == token.IDENT {
				own[t.lit] = true
			}
		}
		names = slices.AppendSeq(names, maps.Keys(own))
	}
	for d := range m.next.eachDecl() {
		if d.text != nil {
			continue // a function literal of ours
		}
		if w != aType && d.tok != token.TYPE || w == aType && d.tok == token.TYPE || w == aCall {
			names = append(names, d.names...)
		}
	}
	for _, n := range types.Universe.Names() {
		_, isType := types.Universe.Lookup(n).(*types.TypeName)
		_, isFunc := types.Universe.Lookup(n).(*types.Builtin)
		if isType && (w == aType || w == aCall) || isFunc && w == aCall || !isType && !isFunc && w == aValue {
			names = append(names, n)
		}
	}
	if w == aPackage {
		for n := range m.s.imports {
			names = append(names, n)
		}
		names = append(names, m.s.packages.Names()...)
	}
	return names
}

// mean asks whether the text at [lo, hi) was to be name, if that works.
func (m wrongName) mean(lo, hi int, names ...string) string {
	if t := m.propose(lo, hi, names...); t != "" {
		return "did you mean " + t + "?"
	}
	return ""
}

// undefined explains a name that means nothing.
func (m wrongName) undefined(name string) string {
	for _, x := range []*Session{m.next, m.s} {
		if why := x.gone[name]; why != "" {
			if path := m.s.packages.ByName(name); path != "" {
				why += fmt.Sprintf(". import %q brings the package of that name back", path)
			}
			return why
		}
	}
	if pkg, sym, ok := strings.Cut(name, "."); ok {
		if p := m.packageNamed(pkg); p != nil {
			lo := m.off
			if strings.HasPrefix(m.src.Code[lo:], name) { // or else the name after the dot
				lo += len(pkg) + 1
			}
			if t := pythonMembers[name]; t != "" {
				return m.write("", lo-len(pkg)-1, lo+len(sym), "write "+t, t)
			}
			if near := nearest(sym, exported(p.Scope().Names()), 0); near != "" && m.mean(lo, lo+len(sym), near) != "" {
				return fmt.Sprintf("did you mean %s.%s?", pkg, near)
			}
			return fmt.Sprintf("Tab after %s. lists what the package has", pkg)
		}
		return ""
	}
	for n, src := range m.s.sources { // a cell that failed before it was defined
		for _, it := range split(src.Code) {
			if d := parseDecl(src, it); d != nil && slices.Contains(d.names, name) && m.s.decls[name] == nil {
				return fmt.Sprintf("cell [%d] declares it, but did not run to its end", n)
			}
		}
	}
	const first = "first run the cell that defines it"
	if m.src.Code == "" || !strings.HasPrefix(m.src.Code[m.off:], name) {
		return first
	}
	lo, hi := m.off, m.off+len(name)
	if h := m.turned(lo, hi); h != "" {
		return h
	}
	if h := m.foreign(name, lo, hi); h != "" {
		return h
	}
	w := m.wants(lo, hi)
	if near := nearest(name, m.candidates(w), 0); near != "" {
		if h := m.mean(lo, hi, near); h != "" {
			return h
		}
	}
	start, end := m.lineAt(lo)
	if eq := re(`^\s*(?:for\s+)?NAME(?:\s*,\s*NAME)*\s*(=)[^=]`).FindStringSubmatchIndex(m.masked[start:end] + " "); eq != nil && lo < start+eq[2] {
		at := start + eq[2]
		return m.write("a new variable is defined with :=", start, end, first+"; a new variable is defined with :=",
			strings.TrimLeft(m.src.Code[start:at]+":="+m.src.Code[at+1:end], " \t"))
	}
	switch w {
	case aType:
		return "there is no such type: first run the cell that declares it, with type " + name + " …"
	case aCall:
		return "there is no such function: first run the cell that declares it"
	}
	return first + "; a new variable is defined with :="
}

// turned explains a name that follows its type.
func (m wrongName) turned(lo, hi int) string {
	line, _ := m.lineAt(lo)
	g := re(`(?:[{(,;]|^)\s*(int|string|float64|float32|bool|byte|any|float|str|double)\s+$`).FindStringSubmatchIndex(m.masked[line:lo])
	if g == nil {
		return ""
	}
	typ := m.src.Code[line+g[2] : line+g[3]]
	if t := pythonTypes[typ]; t != "" {
		typ = t
	}
	return m.write("the type comes after the name", line+g[2], hi, "", m.src.Code[lo:hi]+" "+typ)
}

// pythonMembers are what to use for what Python's packages have under other names.
var pythonMembers = map[string]string{"time.time": "time.Now", "json.dumps": "json.Marshal", "json.loads": "json.Unmarshal", "os.listdir": "os.ReadDir", "os.getcwd": "os.Getwd",
	"math.inf": "math.Inf(1)", "math.nan": "math.NaN()", "os.path": "filepath", "time.perf_counter": "time.Now"}

// foreign explains names of Python and JavaScript.
func (m wrongName) foreign(name string, lo, hi int) string {
	switch name {
	case "None", "null", "NULL", "nullptr", "Nil", "undefined":
		return m.write("Go's word for it is nil", lo, hi, "Go has nil, for pointers, slices, maps, functions and interfaces only", "nil")
	case "True", "False", "TRUE", "FALSE":
		return m.write("", lo, hi, "Go writes true and false", strings.ToLower(name))
	case "self", "this":
		return "the receiver has the name that the method gives it: in func (m *Model) Step() it is m"
	case "pass":
		return "an empty block is { }: leave pass out"
	case "let", "elif", "def", "lambda", "while", "print":
		return ""
	case "try", "except":
		return noExceptions + ": a function that can fail returns an error"
	case "console":
		return "fmt.Println(…) prints"
	case "torch", "np", "numpy", "tf", "F", "jnp":
		return m.torch(lo, hi)
	}
	line, _ := m.lineAt(lo)
	end := closing(m.masked, hi)
	if why := pythonPackages[name]; why != "" && strings.HasPrefix(m.masked[hi:], ".") {
		return why
	}
	if t := pythonTypes[name]; t != "" && end < 0 {
		return m.mean(lo, hi, t)
	}
	if end < 0 || line > lo {
		return ""
	}
	return m.foreignCall(name, lo, end, m.src.Code[hi+1:end])
}

// foreignCall explains calls of functions that Python and JavaScript have, at [lo, end].
func (m wrongName) foreignCall(name string, lo, end int, args string) string {
	call := func(why, hint string, fixes ...string) string {
		for i, f := range fixes {
			fixes[i] = strings.ReplaceAll(f, "ARGS", args)
		}
		return m.write(why, lo, end+1, hint, fixes...)
	}
	switch name {
	case "str", "repr":
		return call("", "fmt.Sprint(x) turns any value into a string", "fmt.Sprint(ARGS)")
	case "float", "double":
		if text := strings.Trim(args, `"'`); strings.TrimLeft(text, "+-") == "inf" {
			return call("", "math.Inf(1) is infinity", map[bool]string{true: "math.Inf(-1)", false: "math.Inf(1)"}[text[0] == '-'])
		}
		return call("", "float64(x) converts a number; strconv.ParseFloat(s, 64) reads a string", "float64(ARGS)")
	case "abs", "sqrt", "exp", "log", "sin", "cos", "tan", "pow", "floor", "ceil", "round":
		f := "math." + strings.ToUpper(name[:1]) + name[1:]
		return call("", f+" is for float64", f+"(ARGS)", f+"(float64(ARGS))")
	case "display":
		return call("", "show.Value(x) shows a value", "show.Value(ARGS)")
	case "printf", "sprintf", "Printf", "Sprintf", "Println", "Print", "puts", "echo":
		f := map[string]string{"printf": "fmt.Printf", "sprintf": "fmt.Sprintf", "puts": "fmt.Println", "echo": "fmt.Println"}[name]
		if f == "" {
			f = "fmt." + name
		}
		return call("", f+" prints", f+"(ARGS)")
	case "range":
		return "range comes after for: for i := range n { … }"
	case "input", "raw_input":
		return "fmt.Scanln(&x) reads from the keyboard"
	case "type":
		return call("", `fmt.Printf("%T\n", x) prints the type of x`, `fmt.Printf("%T\n", ARGS)`)
	case "sum":
		return "go through the slice: for _, x := range xs { total += x }; a tensor has t.Sum()"
	case "sorted":
		return call("", "slices.Sorted(slices.Values(xs)) gives a sorted copy, slices.Sort(xs) sorts in place", "slices.Sorted(slices.Values(ARGS))")
	case "reversed":
		return "slices.Reverse(xs) reverses a slice in place"
	case "list", "dict", "set", "tuple":
		return "make a slice ([]int{1, 2}) or a map (map[string]int{\"a\": 1})"
	case "help", "dir":
		if args = strings.TrimSpace(args); args != "" && re(`^(?:NAME\.)*NAME$`).MatchString(args) {
			return "?" + args + " in a cell of its own shows the documentation, as Shift+Tab does after the name; Tab after a dot lists what there is"
		}
		return "?x in a cell of its own shows the documentation of x, as Shift+Tab does after the name"
	case "vars", "locals", "globals":
		return "%vars in a cell of its own lists the variables"
	case "id":
		return call("", `fmt.Printf("%p\n", &x) prints where x is in memory`, `fmt.Sprintf("%p", ARGS)`, `fmt.Sprintf("%p", &ARGS)`)
	case "isinstance":
		return "a variable never changes its type; v, ok := x.(T) asks what an interface holds"
	case "exit", "quit":
		return call("", "os.Exit(0) ends the cell", "os.Exit(ARGS)", "os.Exit(0)")
	case "enumerate", "zip":
		return "for i, x := range xs { … } gives the index and the element"
	case "open":
		return call("Go's files are in package os, and opening one may fail", "os.Open(name) opens a file, os.ReadFile(name) reads it whole", "os.Open(ARGS)")
	case "sleep":
		return "time.Sleep(2 * time.Second) waits"
	case "chr", "ord":
		return "string(rune(65)) is \"A\", and s[0] is the first byte of a string"
	case "any", "all":
		return "slices.ContainsFunc(xs, f) tells whether f holds for any of them"
	case "Exception", "Error", "ValueError":
		return call("", "errors.New(\"what went wrong\") makes an error", "errors.New(ARGS)")
	}
	return ""
}

// torch explains what follows the name of PyTorch's package, or NumPy's, at [lo, hi).
func (m wrongName) torch(lo, hi int) string {
	sym := identifierAt(m.src.Code[min(hi+1, len(m.src.Code)):])
	if sym == "" {
		return pythonPackages["torch"]
	}
	name := camel(sym)
	if n := pythonNames[sym]; n != "" {
		name = n
	}
	end := hi + 1 + len(sym)
	if h := m.write("package tensor has what torch has", lo, end, "", "tensor."+name); h != "" {
		return h
	}
	if c := closing(m.masked, end); c >= 0 { // torch.relu(x) is a method here
		args := arguments(m.src.Code[end+1 : c])
		for _, method := range m.members("", "*tensor.Tensor") {
			if len(args) > 0 && args[0].key == "" && strings.EqualFold(method, name) {
				var rest []string
				for _, a := range args[1:] {
					rest = append(rest, a.value)
				}
				return m.write("operations are methods of tensors", lo, c+1, "operations are methods of tensors: x."+method+"(…)", atomic(args[0].value)+"."+method+"("+strings.Join(rest, ", ")+")")
			}
		}
	}
	return pythonPackages["torch"]
}

// methods of Python's and JavaScript's lists, dictionaries and strings; X is the value, ARGS the text in the
// parentheses.
var methods = map[string][]string{
	"append": {"X = append(X, ARGS)"}, "push": {"X = append(X, ARGS)"}, "add": {"X = append(X, ARGS)", "X[ARGS] = true"}, "extend": {"X = append(X, ARGS...)"},
	"pop": {"X = X[:len(X)-1]"}, "length": {"len(X)"}, "len": {"len(X)"}, "size": {"len(X)"}, "count": {"strings.Count(X, ARGS)", "len(X)"}, "Len": {"len(X)"},
	"sort": {"slices.Sort(X)"}, "reverse": {"slices.Reverse(X)"}, "index": {"slices.Index(X, ARGS)", "strings.Index(X, ARGS)"}, "find": {"strings.Index(X, ARGS)"},
	"includes": {"slices.Contains(X, ARGS)", "strings.Contains(X, ARGS)"}, "contains": {"slices.Contains(X, ARGS)", "strings.Contains(X, ARGS)"},
	"copy": {"slices.Clone(X)", "maps.Clone(X)"}, "clear": {"clear(X)"}, "insert": {"X = slices.Insert(X, ARGS)"},
	"keys": {"slices.Sorted(maps.Keys(X))"}, "values": {"slices.Collect(maps.Values(X))"}, "items": nil, "get": {"X[ARGS]"},
	"upper": {"strings.ToUpper(X)"}, "lower": {"strings.ToLower(X)"}, "toUpperCase": {"strings.ToUpper(X)"}, "toLowerCase": {"strings.ToLower(X)"},
	"strip": {"strings.TrimSpace(X)"}, "trim": {"strings.TrimSpace(X)"}, "split": {"strings.Split(X, ARGS)", "strings.Fields(X)"},
	"join": {"strings.Join(ARGS, X)", "strings.Join(X, ARGS)"}, "replace": {"strings.ReplaceAll(X, ARGS)"},
	"startswith": {"strings.HasPrefix(X, ARGS)"}, "endswith": {"strings.HasSuffix(X, ARGS)"}, "format": {"fmt.Sprintf(X, ARGS)"}, "Error": nil,
	"item": {"X.Item()"}, "numpy": {"X.Floats()"}, "tolist": {"X.Floats()"}, "mm": {"X.Matmul(ARGS)"}, "dot": {"X.Matmul(ARGS)"}, "unsqueeze_": {"X.Unsqueeze(ARGS)"},
	"ndim": {"X.Dim()"}, "numel": {"X.Len()"}, "astype": {"X.To(ARGS)"}, "requires_grad_": {"X.RequireGrad()"}, "mul_": {"X.MulInPlace(ARGS)"}, "add_": {"X.AddInPlace(ARGS)"},
	"sub_": {"X.SubInPlace(ARGS)"}, "zero_": {"X.Zero()"}, "masked_fill": {"X.MaskedFill(ARGS)"}, "log_softmax": {"X.LogSoftmax(ARGS)"}, "relu": {"X.ReLU()"}, "gelu": {"X.GELU()"},
	"data": {"X.Detach()"}, "cuda": {"X.To(gpu.GetDevice(0))"}, "cpu": {"X.To(tensor.CPU)"},
}

// selector explains a field or method that does not exist.
func (m wrongName) selector(x, name, typ string) string {
	hint := typ + " has no " + name + ": Tab after the dot lists what it has"
	if o := types.Universe.Lookup(typ); o != nil || strings.HasPrefix(typ, "[") || strings.HasPrefix(typ, "map[") {
		hint = "a value of type " + typ + " has no methods"
	}
	if m.src.Code == "" {
		return hint
	}
	lo, hi := m.off, m.off+len(name) // of the name; the expression is before the dot
	if !strings.HasPrefix(m.src.Code[lo:], name) {
		return hint
	}
	switch {
	case !isTensor(typ):
	case name == "size" && strings.HasPrefix(m.masked[hi:], "()"):
		return m.mean(lo, hi, "Shape")
	case name == "requires_grad":
		return "x.RequireGrad() asks for the gradient of x"
	}
	if g := didYouMean.FindStringSubmatch(m.e.Msg); g != nil {
		near := []string{g[2]}
		if g[1] == "method" && !strings.HasPrefix(m.masked[hi:], "(") {
			near = []string{g[2] + "()"}
		}
		if h := m.mean(lo, hi, near...); h != "" {
			return h
		}
		return "its name is " + near[0]
	}
	start := lo - 1 - len(x)
	if x == "string" && start >= 0 {
		if h := m.mean(start, hi, "strings."+name); h != "" {
			return h
		}
	}
	if start < 0 || m.src.Code[start:lo-1] != x {
		return hint
	}
	end, args := hi, ""
	if c := closing(m.masked, hi); c >= 0 {
		end, args = c+1, m.src.Code[hi+1:c]
	}
	var fixes []string
	if name == "format" && strings.HasPrefix(x, "\"") {
		format, _ := goFormat(x)
		fixes = append(fixes, "fmt.Sprintf("+format+", "+args+")")
	}
	for _, f := range methods[name] {
		fixes = append(fixes, strings.NewReplacer("X", x, "ARGS", args).Replace(f))
	}
	if h := m.write(hint, start, end, "", fixes...); h != "" {
		return strings.Replace(h, ": Tab after the dot lists what it has", "", 1)
	}
	if name == "get" && strings.HasPrefix(typ, "map[") {
		return "m[k] is the value at k, or zero if there is none; v, ok := m[k] tells you which"
	}
	if name == "items" || name == "keys" || name == "values" {
		return "for k, v := range m { … } goes through a map"
	}
	if near := nearest(name, m.members(x, typ), 0); near != "" {
		if h := m.mean(lo, hi, near, near+"()"); h != "" {
			return h
		}
	}
	return hint
}

// packageNamed is the package that a name means, or nil.
func (m wrongName) packageNamed(name string) *types.Package {
	p, err := m.s.packages.Import(cmp.Or(m.s.imports[name], m.s.packages.ByName(name)))
	if err != nil {
		return nil
	}
	return p
}

// members are the names of the fields and methods of a type that Go has written.
func (m wrongName) members(x, typ string) (names []string) {
	base := strings.TrimLeft(typ, "*")
	if pkg, sym, ok := strings.Cut(base, "."); ok {
		if p := m.packageNamed(pkg); p != nil {
			if o := p.Scope().Lookup(sym); o != nil {
				set := types.NewMethodSet(types.NewPointer(o.Type()))
				for i := range set.Len() {
					if n := set.At(i).Obj().Name(); token.IsExported(n) {
						names = append(names, n)
					}
				}
				if st, ok := o.Type().Underlying().(*types.Struct); ok {
					for i := range st.NumFields() {
						if st.Field(i).Exported() {
							names = append(names, st.Field(i).Name())
						}
					}
				}
			}
		}
		return names
	}
	names = m.fields(base)
	for key := range m.next.decls {
		if t, method, ok := strings.Cut(key, "."); ok && t == base {
			names = append(names, method)
		}
	}
	return names
}

// fields are the names of the fields of a struct that a cell has declared.
func (m wrongName) fields(typ string) (names []string) {
	if d := m.next.decls[typ]; d != nil && d.tok == token.TYPE {
		f, _, err := parsePart(d.src.Code[d.lo:d.hi], parser.SkipObjectResolution)
		if err != nil {
			return nil
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if st, ok := n.(*ast.StructType); ok {
				for _, field := range st.Fields.List {
					for _, id := range field.Names {
						names = append(names, id.Name)
					}
				}
			}
			return true
		})
	}
	return names
}

// closing returns the offset of the ) that belongs to the ( at at, or -1.
func closing(masked string, at int) int {
	if at >= len(masked) || masked[at] != '(' {
		return -1
	}
	depth := 0
	for i := at; i < len(masked); i++ {
		switch masked[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// identifierAt returns the identifier that code begins with.
func identifierAt(code string) string {
	for i, r := range code {
		if r != '_' && !token.IsIdentifier("x"+string(r)) {
			return code[:i]
		}
	}
	return code
}

func exported(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !token.IsExported(n) })
}

// nearest returns the name that is at most a slip away from what was written, or "". The limit on slips depends on the
// length, unless it is given.
func nearest(name string, names []string, limit int) string {
	n := utf8.RuneCountInString(name)
	if limit == 0 {
		limit = 1 + n/5
	}
	best, least := "", limit+1
	slices.Sort(names)
	for _, c := range names {
		if c == name || strings.HasPrefix(c, "lectern") || c == "" {
			continue
		}
		d := spelling.Distance(strings.ToLower(name), strings.ToLower(c))
		if d > 0 && (n < 3 || utf8.RuneCountInString(c) < 3) || 2*d >= n+1 && d > 0 {
			continue // as good as any other
		}
		if d < least || d == least && best != "" && slip(name, c) < slip(name, best) {
			best, least = c, d
		}
	}
	return best
}

// slip ranks what may have gone wrong between a name and what was written, the likeliest first: letters left out,
// swapped, added, or others.
func slip(name, c string) int {
	letters := func(s string) string {
		b := []byte(strings.ToLower(s))
		slices.Sort(b)
		return string(b)
	}
	switch {
	case len(c) > len(name):
		return 0
	case letters(c) == letters(name):
		return 1
	case len(c) < len(name):
		return 2
	}
	return 3
}
