package persist

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// files are those in the folders for kept values. They are listed once, and then known: a listing asks about every
// file, which in a web page takes many calls.
type files struct {
	dirs   []string
	sizes  map[string]int       // by name, as in Group.Arrays: 0/g12 is file g12 of the first folder
	arrays map[uintptr][]string // files that were read into memory at this address, or written from there
}

// listFiles lists what lies in folders.
func listFiles(dirs []string) files {
	f := files{dirs: dirs, sizes: map[string]int{}, arrays: map[uintptr][]string{}}
	for i, d := range dirs {
		entries, err := os.ReadDir(d)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				f.sizes[strconv.Itoa(i)+"/"+e.Name()] = int(info.Size())
			}
		}
	}
	return f
}

// used adds up their bytes.
func (f *files) used() (n int64) {
	for _, size := range f.sizes {
		n += int64(size)
	}
	return n
}

// add notes a file that has been written.
func (f *files) add(name string, size int) { f.sizes[name] = size }

// place notes that an array lies in memory as it does in its file.
func (f *files) place(name string, address uintptr) {
	f.arrays[address] = append(f.arrays[address], name)
}

// unchanged returns the file of an array that still has the bytes that were read from there or written to it.
func (f *files) unchanged(address uintptr, size int) (name string, ok bool) {
	for _, name := range f.arrays[address] {
		if n, ok := f.sizes[name]; ok && n == size && sameFile(f.path(name), memory(address, size)) {
			return name, true
		}
	}
	return "", false
}

func (f *files) path(name string) string {
	i, file, _ := strings.Cut(name, "/")
	n, _ := strconv.Atoi(i)
	return filepath.Join(f.dirs[n], file)
}

// sweep removes groups and arrays that nothing refers to.
func (f *files) sweep(needed map[string]bool) {
	for name := range f.sizes {
		_, file, _ := strings.Cut(name, "/")
		if group := name == "0/"+file && file[0] == 'g'; group && !needed[file] || file[0] == 'a' && !needed[name] {
			os.Remove(f.path(name))
			delete(f.sizes, name)
		}
	}
	for address, names := range f.arrays {
		kept := names[:0]
		for _, name := range names {
			if _, ok := f.sizes[name]; ok {
				kept = append(kept, name)
			}
		}
		if f.arrays[address] = kept; len(kept) == 0 {
			delete(f.arrays, address)
		}
	}
}
