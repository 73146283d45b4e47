package jupyter_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A frame above its channel's limit ends the connection before anything of it is stored; one within it is awaited.
func TestFramesHaveLimits(t *testing.T) {
	info, err := jupyter.NewConnectionInfo() // ports, which anybody on the machine can reach
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(jupyter.LimitVariable, "3")
	s, err := jupyter.Listen(info)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		name, kind string
		port       int
		limit      uint64
	}{
		{"shell", "DEALER", info.ShellPort, 3 << 20}, {"control", "DEALER", info.ControlPort, 3 << 20}, {"stdin", "DEALER", info.StdinPort, 1 << 20},
		{"heartbeat", "REQ", info.HBPort, 4 << 10}, {"iopub", "SUB", info.IOPubPort, 4 << 10},
	} {
		for _, size := range []uint64{c.limit + 1, 1 << 46, 1<<64 - 1} {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.port))
			if err != nil {
				t.Fatal(err)
			}
			greeting := make([]byte, 64)
			greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
			copy(greeting[12:], "NULL")
			ready := "\x05READY\x0bSocket-Type\x00\x00\x00" + string(rune(len(c.kind))) + c.kind
			conn.Write(append(append(greeting, 4, byte(len(ready))), ready...))
			conn.Write(binary.BigEndian.AppendUint64([]byte{2}, size))
			conn.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := io.Copy(io.Discard, conn); err != nil {
				if e, ok := err.(net.Error); ok && e.Timeout() {
					t.Errorf("%s: a frame of %d bytes is waited for", c.name, size)
				}
			}
			conn.Close()
		}
	}
	for _, text := range []string{"0", "-1", "many", "99999999"} {
		t.Setenv(jupyter.LimitVariable, text)
		if _, err := jupyter.Listen(info); err == nil {
			t.Errorf("%s=%s is taken", jupyter.LimitVariable, text)
		}
	}
}
