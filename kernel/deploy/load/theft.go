package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// tryTheft lets the first student try what no student may do: read another's folder, sockets and values, write to what
// all share, use another's server. The cells run like everything of a student's: as the student.
func (h *hub) tryTheft(ctx context.Context, students []*student) error {
	thief := students[0]
	tries := []string{
		`touch ` + filepath.Join(h.root, "stolen"),
		`touch ` + filepath.Join(h.root, ".lectern", "bin", "stolen"),
		`touch "$GOMODCACHE/stolen"`,
		`touch "$GOCACHE/stolen" "$GOCACHE/00/stolen"`,
		`cat ` + filepath.Join(h.folder, "state", "cookie_secret"),
		`cat ` + filepath.Join(h.folder, "config.py"),
		`ls -d /dev/shm/lectern-kernel-* /tmp/lectern-kernel-* /tmp/lectern-hub-* | while read d; do [ -O "$d" ] || ls "$d"; done 2>/dev/null | grep .`,
	}
	if len(students) > 1 {
		victim := filepath.Join(h.folder, "home", students[1].name)
		tries = append(tries, "ls "+victim, "cat "+filepath.Join(victim, thief.lesson.path), "touch "+filepath.Join(victim, "stolen"))
	}
	// New packages can still be compiled, into a cache of the student's own.
	const builds = "!cd $(mktemp -d) && go mod init example.org/mine && printf 'package mine\\n\\nimport \"github.com/lectern-go/lectern/tensor\"\\n\\nvar X = tensor.Arange(3)\\n' >mine.go && go mod edit -require=github.com/lectern-go/lectern@v0.0.0 -replace=github.com/lectern-go/lectern=\"$LECTERN_ROOT\" && cp \"$LECTERN_ROOT/go.sum\" . && GOFLAGS=-mod=mod GOPROXY=off go build ."
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if r, err := thief.run(patient, "!id -un | grep -qx "+thief.name); err != nil || r["status"] != "ok" {
		return fmt.Errorf("the cells of %s do not run as that user: %v %v", thief.name, r, err)
	}
	if r, err := thief.run(patient, builds); err != nil || r["status"] != "ok" {
		return fmt.Errorf("a student can't compile a package: %v %v", r, err)
	}
	for _, try := range tries {
		r, err := thief.run(patient, "!"+try)
		if err != nil {
			return err
		}
		if r["status"] != "error" {
			return fmt.Errorf("a student can do what must be refused: %s", try)
		}
	}
	if len(students) > 1 {
		address := students[1].base + "api/contents/" + thief.lesson.path
		if a, err := thief.send(request(ctx, "GET", address, nil)); err == nil && strings.HasPrefix(a.path, "/user/") {
			return fmt.Errorf("a student can read another's files at %s", address)
		}
	}
	return nil
}
