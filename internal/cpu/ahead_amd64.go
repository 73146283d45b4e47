package cpu

// ahead is how many bytes ahead the vector loops prefetch the memory that they will write. A store waits for the
// whole line, and Intel's processors, which predict reads, do not predict that. AMD's do, and prefetching makes an
// addition an eighth slower there; see MEASURED.md.
//
//lint:ignore U1000 the assembly reads it
var ahead = 512

func init() {
	if vendor() == "AuthenticAMD" {
		ahead = 0
	}
}

// vendor returns the name that the processor's manufacturer uses for itself.
func vendor() string {
	var name [12]byte
	cpuid(0, &name)
	return string(name[:])
}

// cpuid asks the processor for one leaf of its own description, and returns EBX, EDX and ECX,
// in the order of the vendor's name.
func cpuid(leaf uint32, to *[12]byte)
