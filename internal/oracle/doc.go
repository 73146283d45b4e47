// Package oracle runs the library against cases whose answers were computed by
// other programs: PyTorch, NumPy, einops, minbpe, tiktoken and the safetensors crate.
//
// The cases of one subject are a family, in one file: testdata/views.json.gz and so on.
// The environment variable LECTERN_ORACLE names another folder to read instead, with the
// same file names and schema, plain (views.json, assets/gpt2.ranks) or gzipped.
//
// generate/primitives.py writes the family "primitives" from the rows of package elementwise, and has no list itself:
// run LECTERN_PYTHON=... go test ./internal/oracle -run TestPrimitives -update. generate/operations.py writes the
// family "operations". Both need torch. Every operation of package tensor must have answers, or a reason why not in
// every_test.go.
//
// To add a family, write FAMILY_test.go in package oracle_test:
//
//	func TestViews(t *testing.T) {
//		oracle.Run(t, "views", oracle.Ops{
//			"view_chain":  viewChain,
//			"view_mutate": viewMutate,
//		})
//	}
//
//	func viewChain(c *oracle.Case) (any, error) {
//		var args struct{ Steps []step }
//		c.DecodeArgs(&args)         // strict: an argument that we do not know fails the case
//		x := toTensor(c.Inputs[0])  // Input has Dtype, Shape and Data
//		...
//		return map[string]any{"shape": y.Shape(), "data": values(y), "is_contiguous": true}, nil
//	}
//
// An op function returns what the library answered, in any of these forms, and Run compares it
// with the case (see Diff): numbers, strings, bools, nil, slices, maps with string keys,
// oracle.Tensor, or oracle.Check for answers that need their own comparison. Errors of the library
// are returned as errors (library panics with typed values must be caught by the function, for example
// with tensor.Try); any panic that reaches Run fails the case.
//
//	return nil, oracle.At(i, err)          // an error at step or statement i, compared with at_step
//	return nil, oracle.ErrNotOffered       // allowed only in cases marked optional
//	return oracle.Check(func() error {...}), nil
//
// Run one case with: go test ./internal/oracle -run TestViews/view-g-0012 -v
package oracle
