// Package nn has what models are made of: layers, initial values, losses, and
// functions that find the parameters of a model.
//
// # Models
//
// A model is a pointer to a struct. Its fields hold parameters, which are
// tensors, and other models: alone, in slices, arrays or maps, or behind
// interfaces. Nothing is registered: the functions of this package look through the
// exported fields in order.
//
//	type Block struct {
//		Norm *nn.LayerNorm
//		Up   *nn.Linear
//		Mask *tensor.Tensor `nn:",buffer"`
//	}
//
//	nn.Parameters(block)   // norm.weight, norm.bias, up.weight, up.bias
//	nn.StateDict(block)    // these and mask
//	nn.To(block, tensor.BFloat16)
//	nn.Eval(block)
//
// Names are the fields' names in snake case, joined by dots; elements of slices
// and maps have their index or key. A tag gives another name; "buffer" in a tag
// says that a tensor is part of the state but not trained, and nn:"-" leaves a field
// out. An embedded struct adds no name of its own.
//
// A model in an unexported field would be missed, so it is refused with an
// explanation, as is a model that contains itself.
//
// # Values
//
// Layers hold no functions or channels, so that a notebook can keep them from one
// cell to the next. Random numbers come from the generator given as an option,
// tensor.NewGenerator(seed), or else from the default one. [Part] saves the generators
// in exported fields of layers with the model.
package nn
