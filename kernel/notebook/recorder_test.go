package notebook

import (
	"fmt"
	"strings"
	"testing"
)

// show writes outputs as one line each.
func show(c *Cell) string {
	var b strings.Builder
	for _, o := range c.Outputs {
		fmt.Fprintf(&b, "%s%s %q;", o.Type, o.Name, o.Plain()+o.EValue)
	}
	return b.String()
}

func TestRecorder(t *testing.T) {
	type msg struct{ kind, content string }
	stream := func(name, text string) msg { return msg{"stream", fmt.Sprintf(`{"name":%q,"text":%q}`, name, text)} }
	display := func(kind, id, text string) msg {
		return msg{kind, fmt.Sprintf(`{"data":{"text/plain":%q},"metadata":{},"transient":{"display_id":%q}}`, text, id)}
	}
	for _, c := range []struct {
		name string
		in   []msg
		want string
	}{
		{"neighboring texts merge", []msg{stream("stdout", "a"), stream("stdout", "b"), stream("stderr", "c"), stream("stdout", "d")},
			`streamstdout "ab";streamstderr "c";streamstdout "d";`},
		{"a display parts texts", []msg{stream("stdout", "a"), display("display_data", "", "x"), stream("stdout", "b")},
			`streamstdout "a";display_data "x";streamstdout "b";`},
		{"update by id", []msg{display("display_data", "1", "x"), display("display_data", "2", "y"), display("update_display_data", "1", "z"), display("update_display_data", "9", "w")},
			`display_data "z";display_data "y";`},
		{"clear now", []msg{stream("stdout", "a"), {"clear_output", `{"wait":false}`}, stream("stdout", "b")}, `streamstdout "b";`},
		{"clear at the next output", []msg{stream("stdout", "a"), {"clear_output", `{"wait":true}`}, stream("stdout", "b")}, `streamstdout "b";`},
		{"clear that nothing follows", []msg{stream("stdout", "a"), {"clear_output", `{"wait":true}`}}, `streamstdout "a";`},
		{"error and status", []msg{{"status", `{"execution_state":"idle"}`}, {"error", `{"ename":"E","evalue":"bad","traceback":["l"]}`}}, `error "bad";`},
		{"result", []msg{{"execute_result", `{"data":{"text/plain":["a\n","b"]},"execution_count":3}`}}, `execute_result "a\nb";`},
	} {
		var r Recorder
		cell := &Cell{Type: "code", Outputs: []*Output{{Type: "stream", Text: "old"}}, Count: 7}
		r.Begin(cell)
		for _, m := range c.in {
			if err := r.Add(m.kind, []byte(m.content)); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if got := show(cell); got != c.want {
			t.Errorf("%s: got %s want %s", c.name, got, c.want)
		}
		if cell.Count != 0 {
			t.Errorf("%s: the old execution count stayed", c.name)
		}
	}
}

func TestRecorderUpdatesAnEarlierCell(t *testing.T) {
	var r Recorder
	a, b := &Cell{Type: "code"}, &Cell{Type: "code"}
	add := func(kind, text string) {
		t.Helper()
		if err := r.Add(kind, []byte(fmt.Sprintf(`{"data":{"text/plain":%q},"transient":{"display_id":"p"}}`, text))); err != nil {
			t.Fatal(err)
		}
	}
	r.Begin(a)
	add("display_data", "0%")
	r.Begin(b)
	add("update_display_data", "100%")
	if show(a) != `display_data "100%";` || show(b) != "" {
		t.Errorf("got %s and %s", show(a), show(b))
	}
}

func TestRecorderRefusesWhatItCannotRead(t *testing.T) {
	var r Recorder
	r.Begin(&Cell{Type: "code"})
	if err := r.Add("stream", []byte(`{"text":3}`)); err == nil || !strings.Contains(err.Error(), "stream message") {
		t.Errorf("got %v", err)
	}
}
