//go:build unix

package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// globalsReference stands for the variables at the top level of cells; Delve counts its references from 1000.
const globalsReference = 1

// scopes are the variables of a function, and those at the top level of cells.
func (c *debuggedCell) scopes(ctx context.Context, req *debugRequest) (any, error) {
	var a struct {
		FrameID int `json:"frameId"`
	}
	if err := req.read(&a); err != nil {
		return nil, err
	}
	locals, err := c.localScope(ctx, a.FrameID)
	if err != nil {
		return nil, err
	}
	return map[string]any{"scopes": []map[string]any{
		{"name": "Locals", "variablesReference": locals, "expensive": false},
		{"name": "Globals", "variablesReference": globalsReference, "expensive": false},
	}}, nil
}

func (c *debuggedCell) localScope(ctx context.Context, frame int) (reference int, err error) {
	if !c.stands() {
		return 0, errRuns
	}
	var r struct {
		Scopes []struct {
			Reference int `json:"variablesReference"`
		}
	}
	if err := c.client.Call(ctx, "scopes", map[string]any{"frameId": frame}, &r); err != nil {
		return 0, err
	}
	if len(r.Scopes) == 0 {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locals[r.Scopes[0].Reference] = true
	return r.Scopes[0].Reference, nil
}

// variables are those of a scope, or the parts of one.
func (c *debuggedCell) variables(ctx context.Context, req *debugRequest) (any, error) {
	var a struct {
		Reference int `json:"variablesReference"`
	}
	if err := req.read(&a); err != nil {
		return nil, err
	}
	list, err := c.variablesOf(ctx, a.Reference, req.Arguments)
	if err != nil {
		return nil, err
	}
	return map[string]any{"variables": list}, nil
}

func (c *debuggedCell) variablesOf(ctx context.Context, reference int, arguments any) ([]debugVariable, error) {
	if reference == globalsReference {
		return c.globals(ctx), nil
	}
	r := struct{ Variables []debugVariable }{[]debugVariable{}}
	if reference == 0 {
		return r.Variables, nil
	}
	if err := c.client.Call(ctx, "variables", arguments, &r); err != nil {
		return nil, err
	}
	c.mu.Lock()
	local := c.locals[reference]
	c.mu.Unlock()
	if local {
		r.Variables = slices.DeleteFunc(r.Variables, func(v debugVariable) bool {
			return strings.HasPrefix(v.Name, "lectern") || strings.HasPrefix(v.Name, "~")
		})
	}
	return r.Variables, nil
}

// globals are the variables at the top level of cells that the program has.
func (c *debuggedCell) globals(ctx context.Context) []debugVariable {
	list := []debugVariable{}
	names := slices.Concat(c.e.r.Restores, c.e.r.Defines)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		for _, prefix := range []string{"main.", "main." + rewrite.HiddenPrefix} {
			if v, err := c.evaluate(ctx, prefix+name, 0); err == nil {
				list = append(list, debugVariable{Name: name, Value: v.Result, Type: v.Type, Reference: v.Reference, Indexed: v.Indexed, Named: v.Named, EvaluateName: prefix + name})
				break
			}
		}
	}
	return list
}

// allVariables are those of the frame where the cell stands.
func (c *debuggedCell) allVariables(ctx context.Context) (any, error) {
	c.mu.Lock()
	frames := c.frames
	c.mu.Unlock()
	list := c.globals(ctx)
	if len(frames) > 0 {
		locals, err := c.localScope(ctx, frames[0].ID)
		if err == nil {
			more, err := c.variablesOf(ctx, locals, map[string]any{"variablesReference": locals})
			if err == nil {
				list = append(list, more...)
			}
		}
	}
	return map[string]any{"variables": list}, nil
}

// An evaluated is what an expression comes to.
type evaluated struct {
	Result    string `json:"result"`
	Type      string `json:"type"`
	Reference int    `json:"variablesReference"`
	Indexed   int    `json:"indexedVariables"`
	Named     int    `json:"namedVariables"`
}

// evaluate evaluates an expression in a frame; 0 is the one where the cell stands.
func (c *debuggedCell) evaluate(ctx context.Context, expression string, frame int) (v evaluated, err error) {
	c.mu.Lock()
	if frame == 0 && len(c.frames) > 0 {
		frame = c.frames[0].ID
	}
	c.mu.Unlock()
	err = c.client.Call(ctx, "evaluate", map[string]any{"expression": expression, "frameId": frame, "context": "repl"}, &v)
	return v, err
}

// evaluateThere answers a request to evaluate an expression.
func (c *debuggedCell) evaluateThere(ctx context.Context, req *debugRequest) (any, error) {
	var a struct {
		Expression string
		FrameID    int `json:"frameId"`
	}
	if err := req.read(&a); err != nil {
		return nil, err
	}
	if !c.stands() {
		return nil, errRuns
	}
	return c.evaluate(ctx, a.Expression, a.FrameID)
}

// forward lets Delve answer a request.
func (c *debuggedCell) forward(ctx context.Context, req *debugRequest) (any, error) {
	if !c.stands() {
		return nil, errRuns
	}
	var body json.RawMessage
	err := c.client.Call(ctx, req.Command, req.Arguments, &body)
	return body, err
}
