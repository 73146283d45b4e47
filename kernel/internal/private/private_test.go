//go:build unix

package private

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrivate(t *testing.T) {
	base := t.TempDir()
	good, err := MkdirTemp(base, "good-")
	if err != nil {
		t.Fatal(err)
	}
	mode := func(name string, m os.FileMode) string {
		p := filepath.Join(base, name)
		if err := os.Mkdir(p, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, m); err != nil {
			t.Fatal(err)
		}
		return p
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, path, want string }{
		{"own and closed", good, ""},
		{"readable by the group", mode("g", 0o750), "others may use it (its mode is 0750"},
		{"enterable by all", mode("o", 0o711), "others may use it"},
		{"writable by all", mode("w", 0o702), "others may use it"},
		{"link to a private folder", link, "symbolic link"},
		{"file", file, "not a folder"},
		{"nothing", filepath.Join(base, "none"), "no such file"},
	} {
		err := Check(tt.path)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
		if e := new(*Error); tt.want != "" && tt.name != "nothing" && !errors.As(err, e) {
			t.Errorf("%s: got %T, want an Error", tt.name, err)
		}
	}
	if os.Geteuid() == 0 { // only root can give a folder away
		other := mode("other", 0o700)
		if err := os.Chown(other, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if err := Check(other); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
			t.Errorf("another user's folder: got %v", err)
		}
	}
}
