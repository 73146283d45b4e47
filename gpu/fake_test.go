//go:build linux && cgo

package gpu

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/fakecuda"
)

// fakeCard returns device 0 of a fake driver for one test. settings are
// environment variables, as in FAKECUDA_MEMORY=1048576.
func fakeCard(t testing.TB, settings ...string) *card {
	t.Helper()
	useFake(t, settings...)
	c, err := open(0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func useFake(t testing.TB, settings ...string) {
	t.Helper()
	fakecuda.Use(t)
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		t.Setenv(name, value)
	}
	forget()
	t.Cleanup(forget)
}

// forget lets the next use of the package look for devices again, and gives back
// what the last ones held, since the fake driver stays.
func forget() {
	for _, c := range cuda.cards {
		if c == nil || c.lost.Load() != nil {
			continue
		}
		if c.products.workspace != 0 {
			(&held{card: c, at: c.products.workspace, size: int(c.products.size)}).release()
		}
		if c.counters.at != 0 {
			(&held{card: c, at: c.counters.at, size: 4 * mostCounters}).release()
		}
		c.collect()
	}
	cuda = &system{}
}

// inChild runs a test in a process of its own, since a failure that loses the
// device loses it to the process. It reports whether this is that process, in
// which the test does its work.
func inChild(t *testing.T, settings ...string) bool {
	t.Helper()
	if os.Getenv("GPU_TEST_CHILD") != "" {
		return true
	}
	for name, value := range fakecuda.Environment(t) {
		settings = append(settings, name+"="+value)
	}
	runChild(t, settings)
	return false
}

func runChild(t *testing.T, settings []string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=10m")
	child.Env = append(append(os.Environ(), "GPU_TEST_CHILD=1"), settings...)
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

func mustNot(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError checks that an error says all of some things.
func wantError(t testing.TB, err error, said ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want one that says %q", said)
		return
	}
	for _, s := range said {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q doesn't say %q", err, s)
		}
	}
}
