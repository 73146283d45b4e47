package jupyter

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestMessageRoundTrip(t *testing.T) {
	key := []byte("secret")
	m := NewMessage("session", "execute_request", map[string]any{"code": "a := \"世界\""})
	m.Header.Extra = map[string]json.RawMessage{"subshell_id": json.RawMessage(`"s1"`)}
	m.Parent = Header{ID: "p", Type: "q"}
	m.Identities = [][]byte{[]byte("router"), {0, 1}}
	m.Buffers = [][]byte{{1, 2, 3}, {}}
	m.Metadata = json.RawMessage(`{"a":1}`)
	frames, err := m.Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(frames, key)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, m) {
		t.Errorf("round trip:\n got %+v\nwant %+v", got, m)
	}
	again, err := got.Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, frames) {
		t.Errorf("a decoded message is encoded to other frames:\n got %q\nwant %q", again, frames)
	}
}

// The signature was computed with Python's hmac module: hmac.new(b"key", b'{"a":1}{}{}{"b":2}', "sha256").hexdigest().
func TestSignAgainstPython(t *testing.T) {
	parts := [][]byte{[]byte(`{"a":1}`), []byte("{}"), []byte("{}"), []byte(`{"b":2}`)}
	const want = "0206f42f4ae2a48f6054ab91271f90c100f7022f55fb1f23de6377624d533752"
	if got := Sign(parts, []byte("key")); got != want {
		t.Errorf("Sign: got %s, want %s", got, want)
	}
	if got := Sign(parts, nil); got != "" {
		t.Errorf("Sign without a key: got %q, want nothing", got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	key := []byte("secret")
	good := func() [][]byte {
		f, err := NewMessage("s", "status", nil).Encode(key)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		name   string
		change func([][]byte) [][]byte
		want   string
	}{
		{"another content", func(f [][]byte) [][]byte { f[5] = []byte(`{"x":1}`); return f }, "wrong signature"},
		{"no signature", func(f [][]byte) [][]byte { f[1] = nil; return f }, "wrong signature"},
		{"no delimiter", func(f [][]byte) [][]byte { return f[1:] }, "delimiter"},
		{"too few parts", func(f [][]byte) [][]byte { return f[:5] }, "4 parts"},
		{"nothing", func([][]byte) [][]byte { return nil }, "delimiter"},
		{"header is no object", func(f [][]byte) [][]byte {
			f[2] = []byte(`[1]`)
			f[1] = []byte(Sign(f[2:6], key))
			return f
		}, "header"},
	} {
		_, err := Decode(c.change(good()), key)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.want)
		}
	}
	f := good()
	f[5] = []byte(`{"x":1}`)
	if _, err := Decode(f, key); !errors.Is(err, ErrSignature) {
		t.Errorf("a changed message: got %v, want ErrSignature", err)
	}
	if _, err := Decode(good(), nil); err != nil {
		t.Errorf("without a key a signature is not checked, yet: %v", err)
	}
}

func TestConnectionFile(t *testing.T) {
	private := filepath.Join(t.TempDir(), "p")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kernel-1.json")
	for _, dirs := range [][]string{nil, {"", private + strings.Repeat("/long", 40)}, {"", private}} {
		c, err := NewConnectionInfo(dirs...)
		if err != nil {
			t.Fatal(err)
		}
		want := ConnectionInfo{Transport: "tcp", IP: "127.0.0.1"}
		if len(dirs) == 2 && dirs[1] == private && runtime.GOOS != "windows" {
			want = ConnectionInfo{Transport: "ipc", IP: c.IP}
			if filepath.Dir(c.IP) != private {
				t.Errorf("sockets at %s, want them in %s", c.IP, private)
			}
			// Each has files of its own: those of a killed kernel are not in the way of the next.
			if other, err := NewConnectionInfo(private); err != nil || other.IP == c.IP {
				t.Errorf("a second connection in the folder: %+v, %v", other, err)
			}
		}
		if c.Transport != want.Transport || c.IP != want.IP {
			t.Errorf("%q: got %+v, want transport %s at %s", dirs, c, want.Transport, want.IP)
		}
		seen := map[int]bool{}
		for _, p := range c.ports() {
			if *p == 0 || seen[*p] {
				t.Errorf("ports %+v: each must be set and different", c)
			}
			seen[*p] = true
		}
		if err := c.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		got, err := ReadConnectionFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != c {
			t.Errorf("read back: got %+v, want %+v", got, c)
		}
	}
	for _, bad := range []struct{ text, want string }{
		{`{`, "unexpected end"},
		{`{"transport":"epgm"}`, `transport "epgm"`},
		{`{"transport":"ipc"}`, "ipc needs an ip"},
		{`{"transport":"ipc","ip":"/x/s","shell_port":-1}`, "shell_port is -1"},
		{`{"transport":"tcp","key":"k","signature_scheme":"hmac-md5"}`, "hmac-md5"},
		{`{"shell_port":1,"iopub_port":0}`, "iopub_port is 0"},
		{`{"shell_port":65536}`, "shell_port is 65536"},
	} {
		if err := os.WriteFile(path, []byte(bad.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadConnectionFile(path); err == nil || !strings.Contains(err.Error(), bad.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error with %q and the file's name", bad.text, err, bad.want)
		}
	}
}

func TestSpecCommand(t *testing.T) {
	dir := t.TempDir()
	spec := `{"argv":["k","-c={connection_file}","{resource_dir}/x"],"display_name":"K","language":"go","env":{"PATH":"/tools:${PATH}","A":"${NONE}-${A","B":"b"}}`
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSpec(dir)
	if err != nil {
		t.Fatal(err)
	}
	argv, env := s.Command("/c.json", []string{"PATH=/bin", "HOME=/h", "A=1"})
	if want := []string{"k", "-c=/c.json", dir + "/x"}; !reflect.DeepEqual(argv, want) {
		t.Errorf("argv: got %q, want %q", argv, want)
	}
	got := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if _, twice := got[k]; twice {
			t.Errorf("variable %s is set twice: %q", k, env)
		}
		got[k] = v
	}
	want := map[string]string{"PATH": "/tools:/bin", "HOME": "/h", "A": "${NONE}-${A", "B": "b"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("environment: got %v, want %v", got, want)
	}
}

func TestReadSpecRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, bad := range []struct{ text, want string }{
		{`{`, "unexpected end"},
		{`{"argv":[]}`, "argv is empty"},
		{`{"argv":["k"],"interrupt_mode":"shout"}`, "shout"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(bad.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSpec(dir); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: got %v, want an error with %q", bad.text, err, bad.want)
		}
	}
}

// FuzzConnection checks that a connection file of any content gives a connection that can be written and read again,
// or an error.
func FuzzConnection(f *testing.F) {
	for _, transport := range []string{"tcp", "ipc", ""} {
		f.Add(`{"ip":"/a b/s","transport":"` + transport + `","shell_port":1,"iopub_port":2,"stdin_port":3,"control_port":4,"hb_port":5,"key":"k","signature_scheme":"hmac-sha256","kernel_name":"x"}`)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConnection("kernel-1.json", []byte(text))
		if err != nil {
			return
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parseConnection("kernel-1.json", b); err != nil || again != c {
			t.Fatalf("%q: read as %+v, written, and read as %+v (%v)", text, c, again, err)
		}
		for _, p := range c.ports() {
			network, address := c.address(*p)
			if network != map[string]string{"tcp": "tcp", "ipc": "unix"}[c.Transport] || !strings.HasSuffix(address, strconv.Itoa(*p)) {
				t.Fatalf("%q: address %s %s", text, network, address)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	frames, err := NewMessage("s", "status", nil).Encode([]byte("k"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frames[2], frames[3], frames[4], frames[5])
	f.Add([]byte("{"), []byte("null"), []byte(""), []byte("[]"))
	f.Fuzz(func(t *testing.T, header, parent, metadata, content []byte) {
		parts := [][]byte{header, parent, metadata, content}
		in := append([][]byte{[]byte(delimiter), []byte(Sign(parts, []byte("k")))}, parts...)
		m, err := Decode(in, []byte("k"))
		if err != nil {
			return
		}
		out, err := m.Encode([]byte("k"))
		if err != nil {
			t.Fatalf("decoded, but not encoded again: %v", err)
		}
		if _, err := Decode(out, []byte("k")); err != nil {
			t.Fatalf("encoded, but not decoded again: %v", err)
		}
	})
}
