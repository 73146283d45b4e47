// Package checkpoint stores tensors in files: in the safetensors format, which
// other tools read, and as checkpoints of a training run, from which it continues bit for bit.
//
// A safetensors file is 8 bytes with the length of a header, the header, which
// is JSON and says for each tensor its dtype, shape and place, and then the
// elements. [Open] maps such a file into memory: a tensor of it costs nothing
// until its elements are read. [WriteFile] writes one.
//
// A [Store] is a folder of checkpoints. Save adds one and removes old ones;
// Resume loads the newest that is whole. A file that is being written has
// another name until all of it is on the disk, so a crash at any moment leaves the
// earlier checkpoints and never half of one.
//
// Nothing here executes what a file contains, and nothing is allocated because
// a header says so: sizes are checked against the file first.
package checkpoint
