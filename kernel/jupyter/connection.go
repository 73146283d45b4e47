package jupyter

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/kernel/internal/private"
)

// ConnectionInfo is the content of a connection file: where a kernel's five sockets are and the key that signs
// messages.
//
// With the transport "tcp" they are ports of IP. Every user of a machine can reach the ports of 127.0.0.1 and read
// iopub, which lets anybody in; the key only keeps them from sending. With "ipc" a socket is a file, IP-PORT
// as Jupyter names it, and the permissions of its folder say who can reach it.
type ConnectionInfo struct {
	IP              string `json:"ip"`
	Transport       string `json:"transport"`
	ShellPort       int    `json:"shell_port"`
	IOPubPort       int    `json:"iopub_port"`
	StdinPort       int    `json:"stdin_port"`
	ControlPort     int    `json:"control_port"`
	HBPort          int    `json:"hb_port"`
	Key             string `json:"key"`
	SignatureScheme string `json:"signature_scheme"`
	KernelName      string `json:"kernel_name,omitempty"`
}

// NewConnectionInfo returns a connection with a random key, by the ipc transport: its sockets will be files in the
// first of the folders dirs whose path leaves room for them in a socket's address (see [FitsSockets]). The folder has
// to be private, that is, closed to all other users. If there is no such folder, and on Windows, where ZeroMQ's clients
// have no ipc, it uses five ports of 127.0.0.1 that were free a moment ago.
func NewConnectionInfo(dirs ...string) (ConnectionInfo, error) {
	c := ConnectionInfo{Key: NewID(), SignatureScheme: "hmac-sha256"}
	for _, dir := range dirs {
		if dir == "" || !FitsSockets(dir) {
			continue
		}
		if err := private.Check(dir); err != nil {
			return c, fmt.Errorf("jupyter: folder for sockets: %w", err)
		}
		c.Transport, c.IP = "ipc", filepath.Join(dir, socketName())
		for i, p := range c.ports() {
			*p = i + 1
		}
		return c, nil
	}
	c.Transport, c.IP = "tcp", "127.0.0.1"
	// All five listeners stay open until the last port is known, or the system may hand out one of them twice.
	for _, p := range c.ports() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return c, fmt.Errorf("jupyter: no free port on 127.0.0.1: %w", err)
		}
		defer l.Close()
		*p = l.Addr().(*net.TCPAddr).Port
	}
	return c, nil
}

// socketName begins the names of the sockets' files; a dash and a number follow. It differs each time, since a kernel
// that was killed leaves its files behind, and not every kernel clears them away for the next one in that folder.
func socketName() string { return "s" + rand.Text()[:8] }

// addressLimit is how long the path of a socket may be: 104 bytes with the final zero on macOS, 108 on Linux.
const addressLimit = 103

// FitsSockets reports whether sockets can be files in dir: on this system, and with a path of that length.
func FitsSockets(dir string) bool {
	return runtime.GOOS != "windows" && len(filepath.Join(dir, socketName()))+len("-1") <= addressLimit
}

func (c *ConnectionInfo) ports() []*int {
	return []*int{&c.ShellPort, &c.IOPubPort, &c.StdinPort, &c.ControlPort, &c.HBPort}
}

// ReadConnectionFile reads and checks a connection file.
func ReadConnectionFile(path string) (ConnectionInfo, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return ConnectionInfo{}, fmt.Errorf("jupyter: connection file: %w", err)
	}
	return parseConnection(path, b)
}

func parseConnection(path string, b []byte) (ConnectionInfo, error) {
	var c ConnectionInfo
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("jupyter: connection file %s: %w", path, err)
	}
	if c.Transport == "" {
		c.Transport = "tcp"
	}
	if c.IP == "" && c.Transport == "tcp" {
		c.IP = "127.0.0.1"
	}
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return c, fmt.Errorf("jupyter: connection file %s: transport %q is not supported; use tcp or ipc", path, c.Transport)
	}
	if c.Transport == "ipc" && c.IP == "" {
		return c, fmt.Errorf("jupyter: connection file %s: transport ipc needs an ip, with which the sockets' paths begin", path)
	}
	if c.Key != "" && c.SignatureScheme != "" && c.SignatureScheme != "hmac-sha256" {
		return c, fmt.Errorf("jupyter: connection file %s: signature scheme %q is not supported; use hmac-sha256", path, c.SignatureScheme)
	}
	for i, p := range c.ports() {
		if *p <= 0 || *p > 65535 && c.Transport == "tcp" {
			name := []string{"shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"}[i]
			return c, fmt.Errorf("jupyter: connection file %s: %s is %d, not a port", path, name, *p)
		}
	}
	return c, nil
}

// WriteFile writes the connection file, readable by the user alone since it holds the key.
func (c ConnectionInfo) WriteFile(path string) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("jupyter: connection file %s: %w", path, err)
	}
	if err := atomicfile.Replace(path, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("jupyter: connection file: %w", err)
	}
	return nil
}

// address returns what net.Listen and net.Dial take for a port.
func (c *ConnectionInfo) address(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", c.socket(port)
	}
	host := strings.Trim(c.IP, "[]")
	if host == "*" { // ZeroMQ's word for all interfaces
		host = ""
	}
	return "tcp", net.JoinHostPort(host, strconv.Itoa(port))
}

// socket is the file of a socket of the ipc transport.
func (c *ConnectionInfo) socket(port int) string { return fmt.Sprintf("%s-%d", c.IP, port) }

// socketsVar is the variable that tells a kernel that its sockets are open files, and which is the first of them.
const socketsVar = "LECTERN_SOCKETS"

// open listens on all sockets, for a kernel that gets them as files.
func (c *ConnectionInfo) open() (files []*os.File, err error) {
	defer func() {
		for _, f := range files {
			if err != nil {
				f.Close()
			}
		}
	}()
	for _, port := range c.ports() {
		network, address := c.address(*port)
		l, err := net.Listen(network, address)
		if err != nil {
			return files, fmt.Errorf("jupyter: listen on %s: %w", address, err)
		}
		if u, ok := l.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false)
		}
		f, err := l.(interface{ File() (*os.File, error) }).File()
		l.Close()
		if err != nil {
			return files, fmt.Errorf("jupyter: listen on %s: %w", address, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// listen makes the socket of a port, or takes the one that is open as a file, counted from first; 0 is none.
func (c *ConnectionInfo) listen(port *int, first int) (net.Listener, error) {
	if first > 0 {
		f := os.NewFile(uintptr(first+slices.Index(c.ports(), port)), "socket")
		defer f.Close()
		return net.FileListener(f)
	}
	c.clearSocket(*port)
	network, address := c.address(*port)
	l, err := net.Listen(network, address)
	if err == nil && network == "unix" {
		// The folder was chosen elsewhere, and may be open to others.
		if err = os.Chmod(address, 0o600); err != nil {
			l.Close()
		}
	}
	return l, err
}

// clearSocket removes a socket's file that a killed kernel has left, as a restart finds it. A socket on which a process
// still listens stays.
func (c *ConnectionInfo) clearSocket(port int) {
	if c.Transport != "ipc" {
		return
	}
	path := c.socket(port)
	if i, err := os.Lstat(path); err != nil || i.Mode()&os.ModeSocket == 0 {
		return
	}
	if l, err := net.Dial("unix", path); err == nil {
		l.Close()
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		os.Remove(path)
	}
}
