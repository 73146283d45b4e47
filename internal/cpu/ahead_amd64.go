package cpu

// ahead is how many bytes before they are written the vector loops ask for results. A store waits for the whole line,
// and processors of Intel, which foresee what will be read, do not foresee that. Those of AMD do, and asking costs an
// eighth more time for an addition there; see MEASURED.md.
//
//lint:ignore U1000 the assembly reads it
var ahead = 512

func init() {
	if vendor() == "AuthenticAMD" {
		ahead = 0
	}
}

// vendor returns the name by which the maker of the processor calls itself.
func vendor() string {
	var name [12]byte
	cpuid(0, &name)
	return string(name[:])
}

// cpuid asks the processor for a leaf of what it knows of itself, and returns EBX, EDX and ECX,
// in the order of the vendor's name.
func cpuid(leaf uint32, to *[12]byte)
