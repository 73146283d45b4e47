package command

import "testing"

func TestSamePath(t *testing.T) {
	const path = `<path d="M1.5 20L3 4"/>`
	for other, want := range map[string]bool{
		path:                           true,
		`<path d="M1.6 20L3 4"/>`:      true,
		`<path d="M1.7 20L3 4"/>`:      false,
		`<path d="M1.5 20L3 4 5"/>`:    false,
		`<path d="M1.5 20L3 4" f=""/>`: false,
	} {
		if got := samePath(path, other); got != want {
			t.Errorf("%s: %v", other, got)
		}
	}
}
