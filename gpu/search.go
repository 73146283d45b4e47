//go:build linux && cgo

package gpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Libraries are looked for where the system's loader looks, then in the usual
// places of drivers and toolkits, then in Python environments, whose wheels
// bring cuBLASLt and NVRTC. A variable that names a file overrides the search.

// driverFiles returns where the driver may be. The file without a number belongs to
// toolkits, which also contain a stub that only says that it isn't the driver.
func driverFiles() []string {
	if named := os.Getenv("LECTERN_CUDA_LIB"); named != "" {
		return []string{named}
	}
	files := []string{"libcuda.so.1"}
	for _, folder := range append(slices.Clip(systemFolders), "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/run/opengl-driver/lib") {
		files = append(files, filepath.Join(folder, "libcuda.so.1"))
	}
	return files
}

var systemFolders = []string{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"}

// libraryFiles returns where a library of the toolkit may be: newer major versions
// first, but none newer than the driver if its version is known.
func libraryFiles(variable, name string, driverVersion int, soVersions []string, wheel string) []string {
	if named := os.Getenv(variable); named != "" {
		return []string{named}
	}
	folders := toolkitFolders()
	packages := pythonFolders()
	var files []string
	for _, so := range soVersions {
		var major int
		fmt.Sscanf(so, "%d", &major)
		if driverVersion > 0 && major > driverVersion/1000 {
			continue
		}
		file := name + ".so." + so
		files = append(files, file)
		for _, folder := range folders {
			files = append(files, filepath.Join(folder, file))
		}
		for _, folder := range packages {
			files = append(files, filepath.Join(folder, "nvidia", fmt.Sprintf("cu%d", major), "lib", file),
				filepath.Join(folder, "nvidia", wheel, "lib", file))
		}
	}
	return existing(files)
}

// existing leaves out paths that don't exist; bare names are for the loader.
func existing(files []string) []string {
	return slices.DeleteFunc(files, func(file string) bool {
		if filepath.Base(file) == file {
			return false
		}
		_, err := os.Stat(file)
		return err != nil
	})
}

func toolkitFolders() []string {
	var roots []string
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if root := os.Getenv(variable); root != "" {
			roots = append(roots, root)
		}
	}
	roots = append(roots, "/usr/local/cuda")
	versions, _ := filepath.Glob("/usr/local/cuda-*")
	slices.Reverse(versions) // newer ones first
	roots = append(append(roots, versions...), "/opt/cuda")
	var folders []string
	for _, root := range roots {
		for _, below := range []string{"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"} {
			folders = append(folders, filepath.Join(root, below))
		}
	}
	return append(folders, systemFolders...)
}

// pythonFolders returns the site-packages of Python environments.
func pythonFolders() []string {
	var roots []string
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if root := os.Getenv(variable); root != "" {
			roots = append(roots, root)
		}
	}
	if python := os.Getenv("LECTERN_PYTHON"); python != "" {
		roots = append(roots, filepath.Dir(filepath.Dir(python)))
	}
	if python, err := exec.LookPath("python3"); err == nil {
		roots = append(roots, filepath.Dir(filepath.Dir(python)))
		if python, err = filepath.EvalSymlinks(python); err == nil {
			roots = append(roots, filepath.Dir(filepath.Dir(python)))
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, ".local"))
	}
	environments, _ := filepath.Glob("/opt/*/.venv")
	roots = append(append(roots, environments...), "/opt/conda", "/usr/local", "/usr")
	var folders []string
	for _, root := range roots {
		for _, packages := range []string{"site-packages", "dist-packages"} {
			found, _ := filepath.Glob(filepath.Join(root, "lib", "python3*", packages))
			folders = append(folders, found...)
		}
	}
	return folders
}
