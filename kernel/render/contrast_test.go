package render

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// pairs are all colors of text and the grounds that they can stand on.
// 4.5 is what WCAG AA asks of text, 3 of things that are not text, such as the edge of a field.
var pairs = []struct {
	text, grounds string
	least         float64
}{
	{"--text", "--bg --surface --raised --hover --mark --good-bg --turn-bg --bad-bg --g1 --g2 --g3 --g4 --g5 --g6 --g7", 4.5},
	{"--bg", "--text", 4.5}, // reverse video
	{"--muted", "--bg --surface --raised --hover --good-bg --turn-bg --bad-bg", 4.5},
	{"--accent", "--bg --surface --raised --hover --good-bg --turn-bg", 4.5},
	{"--on-accent", "--accent", 4.5},
	{"--good", "--bg --surface --good-bg", 4.5},
	{"--turn", "--turn-bg", 4.5},
	{"--bad", "--bad-bg", 4.5},
	{"--h-key --h-str --h-num --h-com --h-typ --h-fun --h-bui --h-del", "--surface", 4.5},
	{"--a1 --a2 --a3 --a4 --a5 --a6", "--bg --turn-bg --bad-bg --good-bg", 4.5},
	{"--edge", "--bg --surface", 3},
}

var declaration = regexp.MustCompile(`(--[\w-]+):\s*(#[0-9a-f]{6});`)

func TestContrast(t *testing.T) {
	light, rest, ok := strings.Cut(styleSheet, "@media screen and (prefers-color-scheme: dark)")
	dark, _, ok2 := strings.Cut(rest, "\n}\n")
	if !ok || !ok2 {
		t.Fatal("the style sheet has no dark part")
	}
	used := map[string]bool{}
	for _, p := range pairs {
		for _, v := range strings.Fields(p.text + " " + p.grounds) {
			used[v] = true
		}
	}
	for scheme, css := range map[string]string{"light": light, "dark": dark} {
		colors := map[string]string{}
		for _, m := range declaration.FindAllStringSubmatch(css, -1) {
			colors[m[1]] = m[2]
		}
		lowest := math.Inf(1)
		for _, p := range pairs {
			for _, text := range strings.Fields(p.text) {
				for _, ground := range strings.Fields(p.grounds) {
					if colors[text] == "" || colors[ground] == "" {
						t.Fatalf("%s: %s or %s is not set", scheme, text, ground)
					}
					r := contrast(t, colors[text], colors[ground])
					if r < p.least {
						t.Errorf("%s: %s on %s has contrast %.2f, want %.1f", scheme, text, ground, r, p.least)
					}
					if p.least == 4.5 {
						lowest = min(lowest, r)
					}
				}
			}
		}
		t.Logf("%s: the lowest contrast of text is %.2f", scheme, lowest)
		for v := range colors {
			if !used[v] && v != "--line" && v != "--turn-edge" && v != "--bad-edge" { // decoration only
				t.Errorf("%s: the color %s is not in the table of pairs", scheme, v)
			}
		}
	}
	// Any other color in the style sheet would stay the same in the dark.
	_, rules, _ := strings.Cut(rest, "\n}\n")
	for _, m := range regexp.MustCompile(`[^}]*#[0-9a-f]{3,8}\b[^}]*}`).FindAllString(rules, -1) {
		if !strings.Contains(m, ".paper") && !strings.Contains(m, "background: #ffffff; }") {
			t.Errorf("a color without a variable: %s", m)
		}
	}
}

// contrast is WCAG's ratio of relative luminances.
func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, color string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(v uint64) float64 {
		c := float64(v&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}
