package cpu

import (
	"os"
	"regexp"
	"testing"
)

// TestVendor asks Linux, which asks in the same way.
func TestVendor(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skipf("only Linux says who made the processor: %v", err)
	}
	m := regexp.MustCompile(`vendor_id\s*:\s*(\S+)`).FindSubmatch(info)
	if m == nil {
		t.Fatalf("no vendor in\n%.300s", info)
	}
	if got := vendor(); got != string(m[1]) {
		t.Errorf("%q instead of %q", got, m[1])
	}
}
