// Package data reads what models are trained on: files of token ids, mapped into
// memory so that they may be far larger than memory, and NumPy's .npy and .npz.
//
//	tokens, err := data.OpenTokens("train.bin", data.Uint16)
//	x, err := tokens.GetBatch(4, 128, generator) // [4 128], from random places
//
// A [Loader] goes through a whole file in a shuffled order, and a [Prefetcher] does so
// ahead of time. Both know their position, so a run can continue where it stopped.
package data
