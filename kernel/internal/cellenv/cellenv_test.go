package cellenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

// hostile is a shell that is set up for something else altogether.
func hostile(t *testing.T) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "env")
	text := "GOOS=plan9\nGOWORK=off\nGOEXPERIMENT=nosuch\nGOFLAGS=-mod=vendor\n# GOAMD64=v9\nGOTOOLCHAIN=go1.99.9\nGOPRIVATE=example.org\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "GOENV="+file, "GO111MODULE=off", "GOARCH=386", "GOROOT=/nowhere", "GODEBUG=gctrace=1", "CGO_ENABLED=2",
		"GOFLAGS=-mod=mod -race", "GOTOOLCHAIN=go1.98.7", "GOPROXY=https://proxy.invalid", "GOFIPS140=nosuch")
}

func TestTheShellChangesNothing(t *testing.T) {
	names := []string{"GOOS", "GOARCH", "GOWORK", "GOEXPERIMENT", "GOFLAGS", "GOROOT", "GOVERSION", "GO111MODULE", "GODEBUG", "CGO_ENABLED", "GOTOOLCHAIN", "GOPROXY", "GOCACHE", "GOMODCACHE", "GOFIPS140"}
	ask := func(env []string) string {
		cmd := exec.Command("go", append([]string{"env"}, names...)...)
		cmd.Dir, cmd.Env = t.TempDir(), env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go env: %v\n%s", err, out)
		}
		return string(out)
	}
	plain := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return k == "GOENV" || slices.Contains(ours, k)
	})
	want, got := ask(Offline(append(plain, "GOENV=off"))), ask(Offline(hostile(t)))
	if got != want {
		t.Errorf("with another shell\n%s\nwant\n%s", got, want)
	}
	if !strings.HasPrefix(got, runtime.GOOS+"\n"+runtime.GOARCH+"\n") {
		t.Errorf("cells are compiled for %s", got)
	}
	for _, kv := range []string{"GOPROXY=https://proxy.invalid", "GOPRIVATE=example.org", "GOTOOLCHAIN=local"} {
		if !slices.Contains(Online(hostile(t)), kv) {
			t.Errorf("downloads don't see %s", kv)
		}
	}
	if slices.Contains(Online(append(os.Environ(), "LECTERN_GOPROXY=${GOPROXY}")), "GOPROXY=${GOPROXY}") {
		t.Error("a variable that nobody has set is taken for a proxy")
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
