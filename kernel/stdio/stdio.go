// Package stdio leads the standard output of a notebook's cell straight to the kernel.
//
// Without it, output passes through GoNB, which hands it on in pieces of up to 32 KB and replaces a character that is cut in two by question
// marks. The package also undoes what the kernel sets for the compiler's sake alone. The kernel imports it into every cell for its effect,
// so it must stay light. Outside a notebook it does nothing.
package stdio

// Var is the environment variable that names the pipe that the kernel reads.
const Var = "LECTERN_STDOUT"
