// Command gen writes the assembly of package cpu: z_*.s and the Go declarations beside them. Run it with go
// generate in the package's folder; with -dir it writes elsewhere, for the test that compares the two.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", ".", "where to write")
	flag.Parse()
	for name, text := range files() {
		if err := os.WriteFile(filepath.Join(*dir, name), []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// files returns the content of every generated file.
func files() map[string]string {
	all := map[string]string{}
	for name, write := range map[string]func(*asm){
		"z_matmul_amd64":   matmulKernels,
		"z_pack_amd64":     packKernels,
		"z_vector_amd64":   vectorKernels,
		"z_vector64_amd64": vector64Kernels,
		"z_dots_amd64":     dotKernels,
		"z_sort_amd64":     sortKernels,
		"z_matmul_arm64":   neonKernels,
		"z_amx_amd64":      amxKernels,
	} {
		a := new(asm)
		write(a)
		all[name+".s"], all[name+".go"] = a.assembly(), a.declarations()
	}
	return all
}
