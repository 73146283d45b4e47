//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// The hash is that by which JupyterLab names cells: the numbers are what its own function returns.
func TestMurmur2(t *testing.T) {
	for text, want := range map[string]uint32{
		"": 3990065800, "a": 2167009006, "ab": 2805137849, "abc": 3350977461,
		"x := 1\nfor i := range 3 {\n\tx += i\n}": 545027320, "s := \"日本語 😀\"": 1074626606, "fmt.Println(\"ÿþ\")\r\n": 2928293767,
	} {
		if got := murmur2(text, hashSeed); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestStatementLine(t *testing.T) {
	const code = "x := 1\n\n// a comment\nfor x < 3 {\n\tx++\n}\n\n/* two\nlines */ y := `a\nb`\n\n"
	for line, want := range map[int]int{1: 1, 2: 4, 3: 4, 4: 4, 5: 5, 6: 9, 8: 9, 9: 9, 10: 10, 11: 11} {
		if got := statementLine(code, line); got != want {
			t.Errorf("line %d: %d, want %d", line, got, want)
		}
	}
}

// A front is a front end with a debugger, as JupyterLab's is.
type front struct {
	*lab
	seq     int
	events  chan map[string]any
	printed chan struct{}
	cell    chan ran
}

type ran struct {
	outs []out
	r    jupyter.Result
	err  error
}

func startFront(t *testing.T) *front {
	t.Helper()
	bin, err := tools()
	need(t, err)
	need(t, debugging())
	f := &front{events: make(chan map[string]any, 1000), printed: make(chan struct{}, 1), cell: make(chan ran, 1)}
	f.lab = startLabSeen(t, bin, t.TempDir(), []string{offlineVar + "=1"}, func(m *jupyter.Message) {
		var ev map[string]any
		if m.Header.Type == "debug_event" && m.DecodeContent(&ev) == nil {
			f.events <- ev
		}
		if m.Header.Type == "stream" {
			select {
			case f.printed <- struct{}{}:
			default:
			}
		}
	})
	return f
}

// ask sends a request and returns the reply.
func (f *front) ask(command string, arguments any) (body map[string]any, ok bool, message string) {
	f.t.Helper()
	f.seq++
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	m, err := f.k.Debug(ctx, map[string]any{"type": "request", "seq": f.seq, "command": command, "arguments": arguments})
	if err != nil {
		f.t.Fatal(command, ": ", err)
	}
	var c struct {
		Type       string
		RequestSeq int `json:"request_seq"`
		Command    string
		Success    bool
		Message    string
		Body       map[string]any
	}
	if err := json.Unmarshal(m.Content, &c); err != nil {
		f.t.Fatal(err)
	}
	if m.Header.Type != "debug_reply" || c.Type != "response" || c.RequestSeq != f.seq || c.Command != command || c.Body == nil {
		f.t.Errorf("%s is answered by %s %s", command, m.Header.Type, m.Content)
	}
	return c.Body, c.Success, c.Message
}

// must is ask for what has to succeed.
func (f *front) must(command string, arguments any) map[string]any {
	f.t.Helper()
	body, ok, message := f.ask(command, arguments)
	if !ok {
		f.t.Fatalf("%s: %s", command, message)
	}
	return body
}

// begin starts debugging as JupyterLab does.
func (f *front) begin() {
	f.t.Helper()
	f.must("debugInfo", map[string]any{})
	f.must("initialize", map[string]any{"clientID": "jupyterlab", "adapterID": "lectern", "pathFormat": "path", "linesStartAt1": true, "columnsStartAt1": true})
	f.must("attach", map[string]any{})
	f.must("configurationDone", map[string]any{})
}

// mark sets the breakpoints of a cell and returns its path.
func (f *front) mark(code string, lines ...int) string {
	f.t.Helper()
	path := f.must("dumpCell", map[string]any{"code": code})["sourcePath"].(string)
	points := []map[string]any{}
	for _, l := range lines {
		points = append(points, map[string]any{"line": l})
	}
	set := f.must("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": points, "sourceModified": false})["breakpoints"].([]any)
	if len(set) != len(lines) {
		f.t.Errorf("%d breakpoints are set of %d", len(set), len(lines))
	}
	return path
}

// start runs a cell; finish waits for its end.
func (f *front) start(code string) {
	go func() {
		outs, r, err := f.try(code, jupyter.ExecuteOptions{Timeout: 10 * time.Minute})
		f.cell <- ran{outs, r, err}
	}()
}

func (f *front) finish() (string, jupyter.Result) {
	f.t.Helper()
	for {
		select {
		case c := <-f.cell:
			if c.err != nil {
				f.t.Fatalf("%v: %s", c.err, flat(c.outs))
			}
			outs := slices.DeleteFunc(c.outs, func(o out) bool { return o.kind == "debug_event" })
			return flat(outs), c.r
		case ev := <-f.events:
			if ev["event"] == "stopped" {
				f.t.Fatalf("stopped: %v", ev)
			}
		}
	}
}

// stop waits until the cell stands still and says where: the functions of the stack with their lines.
func (f *front) stop() (reason, stack string) {
	f.t.Helper()
	for {
		select {
		case ev := <-f.events:
			if ev["event"] != "stopped" {
				continue
			}
			body := ev["body"].(map[string]any)
			return body["reason"].(string), f.stack(body["threadId"])
		case c := <-f.cell:
			f.t.Fatalf("the cell has ended: %v, %s", c.err, flat(c.outs))
		case <-time.After(patience):
			f.t.Fatal("the cell does not stop")
		}
	}
}

func (f *front) stack(thread any) string {
	f.t.Helper()
	var list []string
	for _, fr := range f.frames(thread) {
		list = append(list, fmt.Sprintf("%v:%v", fr["name"], fr["line"]))
	}
	return strings.Join(list, " ")
}

func (f *front) frames(thread any) (list []map[string]any) {
	f.t.Helper()
	for _, fr := range f.must("stackTrace", map[string]any{"threadId": thread})["stackFrames"].([]any) {
		list = append(list, fr.(map[string]any))
	}
	return list
}

// scope lists the variables of the frame where the cell stands: name=value.
func (f *front) scope(name string) string {
	f.t.Helper()
	top := f.frames(1)[0]
	for _, s := range f.must("scopes", map[string]any{"frameId": top["id"]})["scopes"].([]any) {
		if s := s.(map[string]any); s["name"] == name {
			return variableList(f.must("variables", map[string]any{"variablesReference": s["variablesReference"]}))
		}
	}
	f.t.Fatalf("there is no scope %s", name)
	return ""
}

func variableList(body map[string]any) string {
	var list []string
	for _, v := range body["variables"].([]any) {
		v := v.(map[string]any)
		list = append(list, fmt.Sprintf("%v=%v", v["name"], v["value"]))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// at checks a stop.
func (f *front) at(wantReason, wantStack string) {
	f.t.Helper()
	if reason, stack := f.stop(); reason != wantReason || stack != wantStack {
		f.t.Fatalf("stopped for %s at %s, want %s at %s", reason, stack, wantReason, wantStack)
	}
}

// goOn gives a command that lets the cell go on.
func (f *front) goOn(command string) {
	f.t.Helper()
	f.must(command, map[string]any{"threadId": 1})
}

func TestDebugger(t *testing.T) {
	t.Parallel()
	needLong(t)
	f := startFront(t)
	info := f.must("debugInfo", map[string]any{})
	if info["isStarted"] != false || info["hashMethod"] != "Murmur2" {
		t.Errorf("debugInfo: %v", info)
	}
	if _, ok, message := f.ask("stackTrace", map[string]any{"threadId": 1}); ok || message == "" {
		t.Error("a stack before anybody debugs")
	}
	const first = `type point struct{ x, y int }

func length(p point) float64 {
	sum := p.x*p.x + p.y*p.y
	return math.Sqrt(float64(sum))
}
kept := []int{1, 2, 3}`
	f.run(first)
	f.begin()

	// Variables of earlier cells, without a cell that runs.
	if got := variableList(f.must("inspectVariables", map[string]any{})); !strings.HasPrefix(got, "kept=") {
		t.Errorf("inspectVariables: %s", got)
	}

	// A breakpoint in the cell: variables, steps over a line, into a function of an earlier cell and out of it.
	const second = `total := 0
for i, k := range kept {
	total += i * k
}
p := point{3, 4}

far := length(p)
fmt.Println("far", far)
total`
	path := f.mark(second, 3)
	if want := fmt.Sprint(info["tmpFilePrefix"], murmur2(second, hashSeed), info["tmpFileSuffix"]); path != want {
		t.Errorf("the cell's path is %s, its hash says %s", path, want)
	}
	f.start(second)
	f.at("breakpoint", "cell [2]:3")
	if got := f.frames(1)[0]["source"].(map[string]any)["path"]; got != path {
		t.Errorf("stopped in %v, want %s", got, path)
	}
	f.goOn("continue")
	f.at("breakpoint", "cell [2]:3")
	if got, want := f.scope("Locals"), "i=1 k=2"; got != want {
		t.Errorf("locals %s, want %s", got, want)
	}
	if got, want := f.scope("Globals"), "far=0 kept=[]int len: 3, cap: 3, [1,2,3] p=main.point {x: 0, y: 0} total=0"; got != want {
		t.Errorf("globals %s, want %s", got, want)
	}
	if v := f.must("evaluate", map[string]any{"expression": "kept[2] + k", "frameId": f.frames(1)[0]["id"], "context": "repl"}); v["result"] != "5" {
		t.Errorf("evaluated: %v", v)
	}
	if _, ok, message := f.ask("evaluate", map[string]any{"expression": "nothing", "context": "repl"}); ok || message == "" {
		t.Errorf("evaluated what is not there: %s", message)
	}
	if v := f.must("richInspectVariables", map[string]any{"variableName": "total"}); fmt.Sprint(v["data"]) != "map[text/plain:0]" {
		t.Errorf("inspected: %v", v)
	}
	f.mark(second) // no breakpoint any more
	f.goOn("next")
	f.at("step", "cell [2]:2")
	f.mark(second, 6) // an empty line: the next one is meant
	f.goOn("continue")
	f.at("breakpoint", "cell [2]:7")
	if got := f.scope("Globals"); !strings.Contains(got, "p=main.point {x: 3, y: 4} total=8") {
		t.Errorf("globals %s", got)
	}
	f.goOn("stepIn")
	f.at("step", "length:3 cell [2]:7")
	f.goOn("next")
	f.at("step", "length:4 cell [2]:7")
	f.goOn("next")
	f.at("step", "length:5 cell [2]:7")
	if got := f.scope("Locals"); !strings.Contains(got, "sum=25") {
		t.Errorf("locals of length: %s", got)
	}
	f.goOn("stepOut")
	f.at("step", "cell [2]:7")
	f.goOn("next")
	f.at("step", "cell [2]:8")
	f.goOn("stepIn") // Println is none of the user's
	f.at("step", "cell [2]:9")
	f.goOn("next") // beyond the end
	if outs, r := f.finish(); r.Status != "ok" || outs != "[stdout]far 5\n[result]8" {
		t.Fatalf("%s: %s", r.Status, outs)
	}

	if got, want := variableList(f.must("inspectVariables", map[string]any{})), "far=5 kept=[]int len: 3, cap: 3, [1,2,3] p=main.point {x: 3, y: 4} total=8"; got != want {
		t.Errorf("inspectVariables: %s, want %s", got, want)
	}

	// A breakpoint in a function of an earlier cell; values live on.
	f.mark(second)
	f.mark(first, 4)
	f.start("total += 1\nlength(point{6, 8}) + far")
	f.at("breakpoint", "length:4 cell [3]:2")
	f.goOn("continue")
	if outs, r := f.finish(); r.Status != "ok" || outs != "[result]15" {
		t.Fatalf("%s: %s", r.Status, outs)
	}

	// A mistake in a cell is what it always is.
	if outs, r := f.run("total = nosuchthing"); r.Status != "error" || !strings.Contains(flat(outs), "nosuchthing") {
		t.Errorf("%s: %s", r.Status, flat(outs))
	}

	// Nobody stops at a panic unless asked to.
	const crash = "index := 5\nkept[index] = 1"
	if outs, r := f.run(crash); r.Status != "error" || !strings.Contains(flat(outs), "index out of range") {
		t.Errorf("%s: %s", r.Status, flat(outs))
	}
	f.must("setExceptionBreakpoints", map[string]any{"filters": []string{"panic"}})
	f.start(crash)
	f.at("exception", "cell [6]:2")
	f.goOn("continue")
	if outs, r := f.finish(); r.Status != "error" || !strings.Contains(outs, "index out of range") {
		t.Errorf("%s: %s", r.Status, outs)
	}

	// Disconnected in the middle, the cell runs on, and the next one as always.
	f.mark(first)
	const third = "n := 1\nn++\nn++\nn"
	f.mark(third, 2, 3)
	f.start(third)
	f.at("breakpoint", "cell [7]:2")
	f.must("disconnect", map[string]any{"restart": false, "terminateDebuggee": false})
	if outs, r := f.finish(); r.Status != "ok" || outs != "[result]3" {
		t.Errorf("%s: %s", r.Status, outs)
	}
	if outs, _ := f.run(third + " + total"); flat(outs) != "[result]12" {
		t.Errorf("afterwards: %s", flat(outs))
	}
	if info := f.must("debugInfo", map[string]any{}); info["isStarted"] != false || len(info["breakpoints"].([]any)) > 0 || len(info["stoppedThreads"].([]any)) > 0 {
		t.Errorf("debugInfo: %v", info)
	}
}

// A cell that stands still, or runs under the debugger, obeys an interrupt, and what it had is kept.
func TestDebuggerInterrupted(t *testing.T) {
	t.Parallel()
	needLong(t)
	f := startFront(t)
	f.begin()
	const code = "n := 1\nn++\ntime.Sleep(time.Hour)"
	f.mark(code, 3)
	f.start(code)
	f.at("breakpoint", "cell [1]:3")
	f.k.Interrupt()
	if outs, r := f.finish(); r.Status != "error" || !strings.Contains(outs, "interrupted") {
		t.Errorf("%s: %s", r.Status, outs)
	}
	if outs, _ := f.run("n"); flat(outs) != "[result]2" {
		t.Errorf("afterwards: %s", flat(outs))
	}

	// A pause shows where a cell is that runs, and what it has.
	const loop = "m := 0\nfor m < 1_000_000 {\n\tif m++; m == 10 {\n\t\tfmt.Println(\"go\")\n\t}\n\ttime.Sleep(time.Millisecond)\n}"
	select {
	case <-f.printed: // notes on cells before
	default:
	}
	f.start(loop)
	<-f.printed
	f.must("pause", map[string]any{"threadId": 1})
	reason, stack := f.stop()
	if reason != "pause" || !strings.HasPrefix(stack, "cell [3]:") {
		t.Errorf("stopped for %s at %s", reason, stack)
	}
	if got := f.scope("Globals"); !strings.HasPrefix(got, "m=") || got == "m=0" {
		t.Errorf("globals %s", got)
	}
	f.goOn("continue")
	f.k.Interrupt()
	if outs, r := f.finish(); r.Status != "error" || !strings.Contains(outs, "interrupted") {
		t.Errorf("%s: %s", r.Status, outs)
	}
	if outs, _ := f.run("m > 0"); flat(outs) != "[result]true" {
		t.Errorf("afterwards: %s", flat(outs))
	}
}
