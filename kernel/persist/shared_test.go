package persist

import (
	"os"
	"testing"
)

// What a library's package might hold.
var (
	theirTable = [8]int{1, 2, 3}
	theirFile  = struct {
		f *os.File
		n int
	}{nil, 7}
	theirEmpty = &struct{}{}
)

func TestPointersIntoVariablesOfLibraries(t *testing.T) {
	folder(t)
	Same("&x.table", &theirTable, "&x.file", &theirFile, "x.empty", theirEmpty)
	defer func() { libraryVars, lowVars, endVars = nil, ^uintptr(0), 0 }()
	defer func(old [8]int) { theirTable = old }(theirTable)
	theirFile.f = os.NewFile(9999, "none")
	defer func() { theirFile.f = nil }()
	whole, element, part := &theirTable, &theirTable[5], theirTable[1:3]
	inFile, empty := &theirFile.n, theirEmpty
	theirTable[5] = 50
	if out := define(t, "whole", &whole, "element", &element, "part", &part, "inFile", &inFile, "empty", &empty); out != "" {
		t.Fatalf("notes: %s", out)
	}
	theirTable, theirFile.n = [8]int{}, 8 // as another process has them
	whole, element, part, inFile, empty = nil, nil, nil, nil, nil
	newCell(t)
	restore(t, nil, "element", &element)
	if element != &theirTable[5] || *element != 50 || theirTable[1] != 2 {
		t.Errorf("element %p of %p holds %d, the table %v: want 50 there, and the rest", element, &theirTable, *element, theirTable)
	}
	newCell(t)
	restore(t, nil, "whole", &whole, "part", &part, "inFile", &inFile, "empty", &empty)
	if whole != &theirTable || len(part) != 2 || cap(part) != 7 || &part[0] != &theirTable[1] || empty != theirEmpty {
		t.Errorf("whole %p of %p, part %p of %p with %d of %d", whole, &theirTable, part, &theirTable[1], len(part), cap(part))
	}
	if inFile != &theirFile.n || *inFile != 8 {
		t.Errorf("%d in a variable that can't be kept, want the process's own 8", *inFile)
	}
	libraryVars, lowVars, endVars = nil, ^uintptr(0), 0
	newCell(t)
	Reg[[8]int]()
	restore(t, nil, "element", &element)
	if element == &theirTable[5] || *element != 50 {
		t.Errorf("without its package the element holds %d, want a copy of 50", *element)
	}
}
