package tensor_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

// Go compiles the methods of generic types anew for each package that names a type which leads to them, by a field or
// by what a method takes, used or not. A cell of a notebook is such a package, and is compiled while its reader waits.
func TestUsersCompileLittle(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: ", err)
	}
	if _, err := os.ReadFile(filepath.Join("testdata", "user", "main.go")); err != nil { // go test notes what it reads itself
		t.Fatal(err)
	}
	archive, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", "./testdata/user").Output()
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := exec.Command("go", "tool", "nm", strings.TrimSpace(string(archive))).Output()
	if err != nil {
		t.Fatal(err)
	}
	const most = 31 // main itself, and the nodes of graphs
	if list := regexp.MustCompile(` T (.*)`).FindAllString(string(symbols), -1); len(list) == 0 || len(list) > most {
		t.Errorf("a program that has a tensor compiles %d functions, at most %d are wanted: is there something generic in what a method of Tensor takes?\n%s", len(list), most, strings.Join(list, "\n"))
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "testdata/user") }
