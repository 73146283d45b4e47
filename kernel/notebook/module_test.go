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

// What the kernel notes for the moment is in no notebook that we read.
func TestStaleNotesAreLeftOut(t *testing.T) {
	display := func(metadata string) string {
		return `{"output_type": "display_data", "data": {"text/plain": "note: ..."}, "metadata": ` + metadata + `}`
	}
	n, err := Parse("a.ipynb", []byte(`{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"id": "a", "cell_type": "code", "source": "x := 1", "metadata": {},
		"execution_count": 1, "outputs": [`+display(`{"`+StaleNote+`": true}`)+`, `+display(`{}`)+`]}]}`))
	if err != nil || len(n.Cells[0].Outputs) != 1 || n.Cells[0].Outputs[0].Metadata[StaleNote] != nil {
		t.Errorf("%v, outputs %v", err, n.Cells[0].Outputs)
	}
}
