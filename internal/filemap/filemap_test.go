package filemap

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrivateWritesStayOutOfTheFile(t *testing.T) {
	path := file(t, []byte("hello"))
	m, err := Open(path, Private)
	if err != nil {
		t.Fatal(err)
	}
	m.Data[0] = 'j'
	if got, _ := os.ReadFile(path); !bytes.Equal(got, []byte("hello")) {
		t.Errorf("the file became %q", got)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestSharedWritesAreInTheFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are copied, not mapped, on this system")
	}
	path := file(t, []byte("hello"))
	m, err := Open(path, Shared)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Data[0] = 'j'
	if got, _ := os.ReadFile(path); string(got) != "jello" {
		t.Errorf("the file became %q", got)
	}
}

func TestEmptyAndAbsentFiles(t *testing.T) {
	m, err := Open(file(t, nil), ReadOnly)
	if err != nil || len(m.Data) != 0 {
		t.Errorf("empty file: %v, %d bytes", err, len(m.Data))
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), ReadOnly); !os.IsNotExist(err) {
		t.Errorf("absent file: got %v", err)
	}
	if _, err := Open(t.TempDir(), ReadOnly); err == nil {
		t.Error("a folder was mapped")
	}
}

func TestGuardTurnsALostPageIntoAnError(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are copied, not mapped, on this system")
	}
	path := file(t, make([]byte, 1<<16))
	m, err := Open(path, ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	sum := byte(0)
	err = Guard(func() { sum += m.Data[1<<15] })
	if err == nil || !strings.Contains(err.Error(), "shortened") {
		t.Errorf("reading a lost page: got %v (%d)", err, sum)
	}
	if err := Guard(func() {}); err != nil {
		t.Errorf("nothing wrong: got %v", err)
	}
}
