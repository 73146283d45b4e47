package notebook

import (
	"reflect"
	"testing"
)

func TestModule(t *testing.T) {
	record := func(path string) Object { return Object{"modules": []any{path + " v1.0.0"}} }
	output := func(path string) *Output {
		return &Output{Type: "display_data", Data: Object{"text/plain": "ready"}, Metadata: Object{OutputModule: record(path)}}
	}
	n := &Notebook{}
	var got struct{ Modules []string }
	if n.Module(&got) {
		t.Error("an empty notebook records something")
	}
	n.KeepModule()
	if n.Metadata != nil {
		t.Errorf("an empty notebook gets metadata: %v", n.Metadata)
	}
	n.Metadata = Object{"lectern": Object{"minutes": 60, "module": record("old")}}
	printed := &Output{Type: "stream", Name: "stdout", Text: "a"}
	n.Cells = []*Cell{{Type: "code", Count: 7, Outputs: []*Output{output("late"), printed}}, {Type: "code", Count: 3, Outputs: []*Output{output("early")}}, {Type: "markdown"}}
	if !n.Module(&got) || !reflect.DeepEqual(got.Modules, []string{"late v1.0.0"}) {
		t.Errorf("it records %q, want what the cell that ran last says", got.Modules)
	}
	n.KeepModule()
	if len(n.Cells[0].Outputs) != 1 || n.Cells[0].Outputs[0] != printed || len(n.Cells[1].Outputs) != 0 {
		t.Errorf("outputs: %v %v", n.Cells[0].Outputs, n.Cells[1].Outputs)
	}
	if about := n.Metadata["lectern"].(Object); about["minutes"] != 60 || !reflect.DeepEqual(about["module"], record("late")) {
		t.Errorf("its metadata: %v", about)
	}
}
