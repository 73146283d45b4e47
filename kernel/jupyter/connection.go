package jupyter

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// ConnectionInfo is the content of a connection file: where a kernel's five sockets are and the key that signs messages.
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

// NewConnectionInfo returns a connection on 127.0.0.1 with a random key and five ports that were free a moment ago.
func NewConnectionInfo() (ConnectionInfo, error) {
	c := ConnectionInfo{IP: "127.0.0.1", Transport: "tcp", Key: NewID(), SignatureScheme: "hmac-sha256"}
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

func (c *ConnectionInfo) ports() []*int {
	return []*int{&c.ShellPort, &c.IOPubPort, &c.StdinPort, &c.ControlPort, &c.HBPort}
}

// ReadConnectionFile reads and checks a connection file.
func ReadConnectionFile(path string) (ConnectionInfo, error) {
	var c ConnectionInfo
	b, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("jupyter: connection file: %w", err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("jupyter: connection file %s: %w", path, err)
	}
	if c.Transport == "" {
		c.Transport = "tcp"
	}
	if c.IP == "" {
		c.IP = "127.0.0.1"
	}
	if c.Transport != "tcp" {
		return c, fmt.Errorf("jupyter: connection file %s: transport %q is not supported; use tcp", path, c.Transport)
	}
	if c.Key != "" && c.SignatureScheme != "" && c.SignatureScheme != "hmac-sha256" {
		return c, fmt.Errorf("jupyter: connection file %s: signature scheme %q is not supported; use hmac-sha256", path, c.SignatureScheme)
	}
	for i, p := range c.ports() {
		if *p <= 0 || *p > 65535 {
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
	f, err := os.CreateTemp(filepath.Dir(path), ".connection-*")
	if err != nil {
		return fmt.Errorf("jupyter: connection file: %w", err)
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(append(b, '\n')); err != nil {
		f.Close()
		return fmt.Errorf("jupyter: connection file: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("jupyter: connection file: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("jupyter: connection file: %w", err)
	}
	return nil
}

func (c *ConnectionInfo) endpoint(port int) string {
	host := c.IP
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("tcp://%s:%d", host, port)
}
