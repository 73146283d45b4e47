package render

import "testing"

func TestTerminal(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "a < b & \"c\"", "a &lt; b &amp; &#34;c&#34;"},
		{"color", "\x1b[31mred\x1b[0m plain", `<span class="af1">red</span> plain`},
		{"bold and color", "\x1b[1;32mok\x1b[m", `<span class="af2 ab">ok</span>`},
		{"bright is plain", "\x1b[94mx\x1b[39my", `<span class="af4">x</span>y`},
		{"ground hides the color", "\x1b[31;44mx", `<span class="ag4">x</span>`},
		{"reverse", "\x1b[7mx\x1b[27my", `<span class="ar">x</span>y`},
		{"reverse of a color", "\x1b[7;31mx", `<span class="ag1">x</span>`},
		{"256 colors", "\x1b[38;5;196mx", `<span class="af1">x</span>`},
		{"true color", "\x1b[38;2;0;170;10mx", `<span class="af2">x</span>`},
		{"color over lines", "\x1b[31ma\nb\x1b[0m", "<span class=\"af1\">a</span>\n<span class=\"af1\">b</span>"},
		{"carriage return", "working 10%\rworking 100%", "working 100%"},
		{"shorter overwrite", "abcdef\rxy", "xycdef"},
		{"line end of Windows", "a\r\nb", "a\nb"},
		{"erase to the end", "abcdef\rxy\x1b[K", "xy"},
		{"erase the line", "abc\r\x1b[2Kx", "x"},
		{"backspace", "abc\b\bX", "aXc"},
		{"link and title", "\x1b]8;;http://x\x1b\\text\x1b]0;t\x07", "text"},
		{"cursor movement", "a\x1b[2Ab", "ab"},
		{"unfinished", "a\x1b[31", "a"},
		{"escape at the end", "a\x1b", "a"},
		{"control characters", "a\x00b\x07", "a␀b␇"},
		{"not UTF-8", "a\xffb", "a\ufffdb"},
		{"wide characters", "\x1b[33m世界\x1b[0m🌍", `<span class="af3">世界</span>🌍`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := terminal(tt.text); got != tt.want {
				t.Errorf("terminal(%q)\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

func FuzzTerminal(f *testing.F) {
	f.Add("\x1b[38;5;196mx\r\x1b[K\b")
	f.Fuzz(func(t *testing.T, s string) {
		got := terminal(s)
		if b := balance(got); b != got {
			t.Errorf("terminal(%q) = %q is not balanced", s, got)
		}
	})
}
