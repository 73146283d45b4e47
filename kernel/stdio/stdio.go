// Package stdio leads the standard output of a notebook's cell straight to the kernel.
//
// Without it, output passes through GoNB, which hands it on in pieces of up to 32 KB and replaces a character that is cut in two by question
// marks. It also undoes what the kernel sets for the compiler's sake alone. The kernel imports this package into every cell for its effect; it links nothing that printing does not link anyway. Outside a notebook it does
// nothing.
package stdio

// Var is the environment variable that names the pipe that the kernel reads.
const Var = "LECTERN_STDOUT"
