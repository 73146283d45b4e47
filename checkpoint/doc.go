// Package checkpoint stores tensors in files: in the safetensors format, which
// other tools read, and as checkpoints of a training run, from which it continues bit for bit.
//
// A safetensors file consists of 8 bytes with the length of a header, the header,
// which is JSON and gives the dtype, shape and place of each tensor, and then the
// elements. [Open] maps such a file into memory: a tensor of it costs nothing until
// its elements are read. [WriteFile] writes one.
//
// A [Store] is a folder of checkpoints. Save adds one and removes old ones;
// Resume loads the newest intact one. A file that is being written has another name
// until all of it is on disk, so a crash at any moment leaves the earlier checkpoints
// and never half of one.
//
// Nothing here executes what a file contains, and no header can make it allocate
// memory: sizes are checked against the file first.
package checkpoint
