// Package assignment contains only the tests of CS336's first assignment
// (stanford-cs336/assignment1-basics, April 2025, MIT license in testdata), each written
// in Go under its own name, with the assignment's fixtures and tolerances: somebody
// else's idea of what a tokenizer, a Transformer, an optimizer and a checkpoint must do.
//
//	the assignment's file    tests  here                   what is compared with
//	test_train_bpe.py            2  train_bpe_test.go      its merges and vocabulary of corpus.en
//	test_tokenizer.py           23  tokenizer_test.go      ids of tiktoken with the assignment's vocabulary
//	test_model.py               13  model_test.go          below
//	test_nn_utils.py             3  nn_utils_test.go       PyTorch's values
//	test_optimizer.py            2  optimizer_test.go      PyTorch's weights, the assignment's rates
//	test_serialization.py        1  serialization_test.go  what was saved
//	test_data.py                 1  data_test.go           the bounds of its own statistics
//
// Four tests of test_model.py need no weights and use the assignment's own arrays or
// PyTorch's. Nine need a model that is not published (ts_tests/model.pt): they use the
// two reference models of internal/oracle instead, which PyTorch computed in float64
// (lm_small and lm_odd), whole, cut off and in parts; layers that those files don't
// cover (linear, embedding, rmsnorm, attention without positions) are compared with
// loops over numbers. The two memory tests need a text of 5 MB, which is made of the
// sample's sentences; memory means what is live on Go's heap.
package assignment
