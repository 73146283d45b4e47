package rewrite

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Calls as Python writes them: options by name, lists and tuples in brackets without a type, and slices in indices.

// An argument is one of a call's.
type argument struct {
	key, value string // key is "" for a value without a name
}

// arguments cuts what is between the parentheses of a call at its commas.
func arguments(code string) (list []argument) {
	masked := mask(code)
	depth, from := 0, 0
	add := func(to int) {
		text := strings.TrimSpace(code[from:to])
		from = to + 1
		if text == "" {
			return
		}
		if g := re(`^(NAME)\s*=\s*([^=\s].*)$`).FindStringSubmatch(text); g != nil {
			list = append(list, argument{g[1], g[2]})
		} else {
			list = append(list, argument{"", text})
		}
	}
	for i := range len(masked) {
		switch masked[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				add(i)
			}
		}
	}
	add(len(code))
	return list
}

// enclosed returns the text between brackets that enclose all of a text.
func enclosed(text, open, end string) (inside string, ok bool) {
	inside, ok = strings.CutPrefix(text, open)
	if !ok || !strings.HasSuffix(inside, end) {
		return "", false
	}
	inside = inside[:len(inside)-len(end)]
	depth := 0
	for _, r := range mask(inside) {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return "", false // (a) + (b)
			}
		}
	}
	return inside, true
}

// pythonDtypes are the names of types of elements that differ from ours by more than their first letter.
var pythonDtypes = map[string]string{"float": "Float32", "double": "Float64", "half": "Float16", "bfloat16": "BFloat16", "int": "Int64", "long": "Int64", "short": "Int16", "bool": "Bool"}

// option says what to write for a named argument. The value may go among the others, or into what the
// call begins or ends with.
func option(a argument, callee string) (value, with, after, hint string) {
	name := a.value[strings.LastIndexByte(a.value, '.')+1:]
	name = strings.Trim(name, `"'`)
	yes := a.value == "True" || a.value == "true"
	pick := func(is bool, value string) string {
		if is {
			return value
		}
		return ""
	}
	switch a.key {
	case "dtype":
		with = pythonDtypes[name]
		if with == "" && name != "" {
			with = strings.ToUpper(name[:1]) + name[1:]
		}
		return "", "tensor." + with, "", "tensor.With(tensor.Float64).Zeros(2, 3) makes a tensor of another type, x.To(tensor.Float64) converts one"
	case "device":
		with = a.value
		if name == "cpu" {
			with = "tensor.CPU"
		} else if strings.HasPrefix(name, "cuda") {
			with = "gpu.GetDevice(0)"
		}
		return "", with, "", "tensor.With(device).Zeros(2, 3) makes a tensor there, x.To(device) copies one there"
	case "requires_grad":
		return "", "", pick(yes, ".RequireGrad()"), "x.RequireGrad() asks for the gradient of x"
	case "dim", "axis", "dims", "axes":
		return a.value, "", "", "axes are plain arguments: x.Sum(0), x.Sum(0, 1)"
	case "keepdim", "keepdims":
		return pick(yes, "tensor.KeepDim"), "", "", "tensor.KeepDim goes after the axes: x.Sum(0, tensor.KeepDim)"
	case "unbiased":
		return pick(!yes, "tensor.Biased"), "", "", "tensor.Biased goes after the axes: x.Var(0, tensor.Biased)"
	case "correction":
		return pick(a.value == "0", "tensor.Biased"), "", "", "tensor.Biased goes after the axes: x.Var(0, tensor.Biased)"
	case "retain_graph":
		return pick(yes, "tensor.Retain()"), "", "", "loss.Backward(tensor.Retain()) keeps the graph"
	case "create_graph":
		return pick(yes, "tensor.CreateGraph()"), "", "", "loss.Backward(tensor.CreateGraph()) makes a graph of the gradients, too"
	case "gradient":
		return "tensor.WithGrad(" + a.value + ")", "", "", "y.Backward(tensor.WithGrad(g)) starts from g"
	case "bias":
		if yes {
			return "nn.WithBias", "", "", "nn.NewLinear(3, 2, nn.WithBias) has a bias"
		}
		return "nn.NoBias", "", "", "nn.NewLinear(3, 2, nn.NoBias) has no bias"
	case "sep", "end":
		return "", "", "", "fmt.Print(a, b) doesn't end the line, and fmt.Printf(\"%v, %v\\n\", a, b) puts whatever you like between them"
	}
	if strings.HasPrefix(callee, "optim.") && a.key != "lr" {
		value := strings.Trim(a.value, "()")
		if yes {
			value = ""
		}
		return "optim." + camel(a.key) + "(" + value + ")", "", "", "options come after the other arguments: optim.NewSGD(parameters, 0.1, optim.Momentum(0.9))"
	}
	return goWords(a.value), "", "", "give the values in the order of the function's parameters"
}

// camel writes weight_decay as WeightDecay.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// pythonNames are what the library calls functions of PyTorch and NumPy whose names differ by more than a capital.
var pythonNames = map[string]string{"tensor": "Of", "array": "Of", "asarray": "Of", "Tensor": "Of", "concat": "Cat", "concatenate": "Cat", "manual_seed": "Seed", "clip": "Clamp"}

// pythonCall explains a call with arguments that are Python's, on which the parser has stumbled.
func (m pythonHabit) pythonCall(line int, text string) bool {
	at, open := m.callAround(line, text)
	if at < 0 {
		return false
	}
	end := closing(m.masked, open)
	c := newPythonCall(m.src.Code[at:open], arguments(m.src.Code[open+1:end]))
	for _, a := range c.args {
		if last := c.add(m.mistake, a); last {
			break
		}
	}
	if c.msg == "" {
		return false
	}
	if c.foreign && (c.makes || c.msg == untypedList) {
		c.msg = "package tensor makes tensors"
	}
	texts := c.texts()
	if c.msg == untypedList && c.before != "tensor" && len(m.propose(at, end+1, texts...)) == 0 {
		return false
	}
	m.e.Msg = c.msg
	m.move(at, end+1)
	if why := pythonPackages[c.before]; why != "" {
		c.hint = why
	}
	m.e.Hint = m.write("", at, end+1, c.hint, texts...)
	return true
}

// callAround is where the innermost call in a line begins around the mistake, and where its parenthesis opens; at is -1
// if there is none.
func (m pythonHabit) callAround(line int, text string) (at, open int) {
	at = -1
	for _, g := range re(`(?:NAME\.)*NAME\(`).FindAllStringIndex(text, -1) {
		if end := closing(m.masked, line+g[1]-1); line+g[1] <= m.off && m.off <= end && end <= line+len(text) {
			at = line + g[0] // the innermost is the last
		}
	}
	if at < 0 {
		return -1, 0
	}
	open = at + strings.IndexByte(m.masked[at:], '(')
	at = chainStart(m.masked, at)
	if re(`^(?:func|if|for|while|switch|return|def|elif|class|type|isinstance)$`).MatchString(m.src.Code[at:open]) || re(`(?:^|\s)(?:func|def|class)\s+$`).MatchString(m.masked[line:at]) {
		return -1, 0
	}
	return at, open
}

const (
	namedArguments = "Go has no named arguments"
	untypedList    = "a list needs a type"
)

// A pythonCall is a call with arguments that are Python's on its way to Go.
type pythonCall struct {
	callee       string
	before, name string // its parts: a package or value, and a function
	foreign      bool   // before was a package of Python's
	makes        bool   // it makes a tensor of what it is given
	args         []argument

	values    []string   // the arguments in Go; "\x00" for each of lists
	lists     [][]string // how the lists among them may be written
	with      []string   // options of tensor.With
	after     string     // what follows the call
	msg, hint string     // msg is "" if there is nothing of Python's
}

func newPythonCall(callee string, args []argument) *pythonCall {
	c := &pythonCall{callee: callee, name: callee, args: args}
	if shape := regexp.MustCompile(`^[(\[].*[)\]]$`); re(`(?i)\bfull$`).MatchString(callee) && len(args) > 1 && args[0].key == "" && shape.MatchString(args[0].value) {
		args[0], args[1] = args[1], args[0] // the value comes first here
	}
	if dot := strings.LastIndexByte(callee, '.'); dot >= 0 {
		c.before, c.name = callee[:dot], callee[dot+1:]
	}
	if c.foreign = slices.Contains([]string{"torch", "np", "numpy", "tf", "jnp"}, c.before); c.foreign {
		c.before = "tensor"
	}
	c.makes = c.before == "tensor" && (pythonNames[c.name] == "Of" || c.name == "Of" || c.name == "of")
	return c
}

// say notes a mistake, and what to do about it: only the first is shown.
func (c *pythonCall) say(msg, hint string) {
	if c.msg == "" {
		c.msg, c.hint = msg, hint
	}
}

// add adds an argument. last is true if the others are part of it.
func (c *pythonCall) add(m *mistake, a argument) (last bool) {
	if a.key != "" {
		value, with, after, hint := option(a, c.callee)
		if c.msg != namedArguments {
			c.msg, c.hint = namedArguments, hint
		}
		if with != "" {
			c.with = append(c.with, with)
		}
		c.after += after
		if a.value = value; value == "" {
			return false
		}
	}
	if inside, ok := enclosed(a.value, "(", ")"); ok && len(arguments(inside)) > 1 || ok && strings.HasSuffix(inside, ",") { // a shape
		c.say("Go has no tuples", "give the values one by one: tensor.Zeros(2, 3), x.Reshape(3, 2)")
		c.addEach(inside)
		return false
	}
	inside, ok := enclosed(a.value, "[", "]")
	if !ok {
		c.values = append(c.values, a.value)
		return false
	}
	c.say(untypedList, "write []float64{1, 2.5}")
	if c.before == "tensor" && re(`^(?i:cat|concat|concatenate|stack)$`).MatchString(c.name) { // the axis comes first here
		axis := "0"
		for _, b := range c.args {
			if b.key == "dim" || b.key == "axis" || b.key == "" && re(`^-?\d+$`).MatchString(b.value) {
				axis = b.value
			}
		}
		c.values = []string{axis}
		c.addEach(inside)
		c.hint = "tensor.Cat(0, a, b) joins them along axis 0"
		return true
	}
	c.lists = append(c.lists, m.habit().typed(inside, c.makes && len(c.values) == 0))
	c.values = append(c.values, "\x00")
	return false
}

// addEach adds what is between brackets as arguments of their own.
func (c *pythonCall) addEach(inside string) {
	for _, v := range arguments(inside) {
		c.values = append(c.values, v.value)
	}
}

// texts are the ways in which Go may have the call, the likely ones first.
func (c *pythonCall) texts() (texts []string) {
	names := []string{c.name}
	if strings.ToUpper(c.name[:1]) != c.name[:1] && c.before != "" {
		names = []string{strings.ToUpper(c.name[:1]) + c.name[1:], c.name}
	}
	if n := pythonNames[c.name]; n != "" && c.before == "tensor" {
		names = []string{n}
	}
	list, after := slices.Clone(c.values), c.after
	switch {
	case len(c.with) == 0 || c.before == "tensor":
	case c.before == "nn":
		list = append(list, c.with...)
	case strings.EqualFold(c.name, "to"): // a method
		list = append(list, c.with...)
	default:
		after += ".To(" + strings.Join(c.with, ", ") + ")"
	}
	for _, name := range names {
		begin := name
		switch {
		case len(c.with) > 0 && c.before == "tensor":
			begin = "tensor.With(" + strings.Join(c.with, ", ") + ")." + name
		case c.before != "":
			begin = c.before + "." + name
		}
		for i := range 5 {
			text, most := begin+"("+strings.Join(list, ", ")+")"+after, 0
			for _, l := range c.lists {
				text = strings.Replace(text, "\x00", l[min(i, len(l)-1)], 1)
				most = max(most, len(l))
			}
			if i == 0 || i < most {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// chainStart returns where the expression begins that a call at at continues: all of x.Matmul(w).
func chainStart(masked string, at int) int {
	for at > 0 && masked[at-1] == '.' {
		i, depth := at-2, 0
		for ; i >= 0; i-- {
			switch c := masked[i]; {
			case c == ')' || c == ']':
				depth++
			case c == '(' || c == '[':
				depth--
			}
			if c := masked[i]; depth < 0 || depth == 0 && !strings.ContainsRune("_.)]([\"", rune(c)) && !isDigitOrLetter(c) {
				break
			}
		}
		if i+1 >= at-1 {
			break
		}
		at = i + 1
	}
	return at
}

func isDigitOrLetter(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// typed returns how a Python list may be written in Go; as the values alone if it is all that tensor.Of gets.
func (m pythonHabit) typed(inside string, of bool) []string {
	if rows := arguments(inside); len(rows) > 0 && strings.HasPrefix(rows[0].value, "[") {
		kind, depth := "[]float64{", 1
		text := strings.ReplaceAll(strings.ReplaceAll(inside, "[", "{"), "]", "}")
		for rest := rows[0].value; strings.HasPrefix(rest, "["); rest = strings.TrimSpace(rest[1:]) {
			depth++
		}
		return []string{strings.Repeat("[]", depth-1) + kind + text + "}"}
	}
	if of {
		return []string{inside}
	}
	return []string{inside, "[]int{" + inside + "}", "[]float64{" + inside + "}", "[]string{" + inside + "}", "[]any{" + inside + "}"}
}

// pythonIndex returns what Tensor.Index takes for an index of Python's.
func pythonIndex(item string) string {
	item = strings.TrimSpace(item)
	switch item {
	case ":", "::":
		return "tensor.All"
	case "...":
		return "tensor.Ellipsis"
	case "None", "np.newaxis", "newaxis", "nil":
		return "tensor.NewAxis"
	}
	depth, parts, from := 0, []string{}, 0
	for i, r := range item {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ':':
			if depth == 0 {
				parts, from = append(parts, strings.TrimSpace(item[from:i])), i+1
			}
		}
	}
	if len(parts) == 0 {
		return item
	}
	if parts = append(parts, strings.TrimSpace(item[from:])); len(parts) == 2 {
		parts = append(parts, "")
	}
	text := "tensor.Between(" + parts[0] + ", " + parts[1] + ")"
	switch {
	case parts[0] == "" && parts[1] == "":
		text = "tensor.All"
	case parts[0] == "":
		text = "tensor.Until(" + parts[1] + ")"
	case parts[1] == "":
		text = "tensor.From(" + parts[0] + ")"
	}
	if parts[2] != "" {
		text += ".Step(" + parts[2] + ")"
	}
	return text
}

// indexItems is pythonIndex of several.
func indexItems(code string) string {
	var items []string
	for _, a := range arguments(code) {
		items = append(items, pythonIndex(a.value))
	}
	return strings.Join(items, ", ")
}

// pythonTypes are Python's names of Go's types.
var pythonTypes = map[string]string{"int": "int", "float": "float64", "str": "string", "bool": "bool", "list": "[]float64", "List[int]": "[]int", "List[float]": "[]float64",
	"list[int]": "[]int", "list[float]": "[]float64", "list[str]": "[]string", "dict": "map[string]int", "torch.Tensor": "*tensor.Tensor", "Tensor": "*tensor.Tensor", "np.ndarray": "*tensor.Tensor"}

var defLine = regexp.MustCompile(`^\s*(?:async\s+)?def\s+([\pL_][\pL\d_]*)\s*\((.*)\)\s*(?:->\s*([^:]+?)\s*)?:`)

// goHeader turns the first line of a Python function into Go's, or returns "". Where no type is said, it is float64.
func goHeader(line string) string {
	g := defLine.FindStringSubmatch(line)
	if g == nil {
		return ""
	}
	var params []string
	for _, a := range arguments(g[2]) {
		name, _, _ := strings.Cut(a.value, "=")
		if a.key != "" { // a default value
			name = a.key
		}
		name, typ, _ := strings.Cut(name, ":")
		if typ = pythonTypes[strings.TrimSpace(typ)]; typ == "" {
			typ = "float64"
		}
		params = append(params, strings.TrimSpace(name)+" "+typ)
	}
	for i := 0; i+1 < len(params); i++ { // x, y float64
		name, typ, _ := strings.Cut(params[i], " ")
		if _, next, _ := strings.Cut(params[i+1], " "); next == typ {
			params[i] = name
		}
	}
	result := " " + pythonTypes[g[3]]
	switch {
	case g[3] == "None" || g[3] == "" && len(params) == 0:
		result = ""
	case result == " ":
		result = " float64"
	}
	return "func " + g[1] + "(" + strings.Join(params, ", ") + ")" + result + " {"
}
