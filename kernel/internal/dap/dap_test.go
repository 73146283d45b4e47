package dap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"testing"
)

// adapter answers the requests that come over a connection.
func adapter(t *testing.T, conn net.Conn, answer func(seq int, command string) []string) {
	br := bufio.NewReader(conn)
	for {
		h, err := textproto.NewReader(br).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, err := strconv.Atoi(h.Get("Content-Length"))
		b := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(br, b)
		}
		var m struct {
			Seq     int
			Command string
		}
		if err == nil {
			err = json.Unmarshal(b, &m)
		}
		if err != nil {
			t.Error(err)
			return
		}
		for _, text := range answer(m.Seq, m.Command) {
			fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(text), text)
		}
	}
}

func TestClient(t *testing.T) {
	ours, theirs := net.Pipe()
	c := NewClient(ours)
	defer c.Close()
	go adapter(t, theirs, func(seq int, command string) []string {
		switch command {
		case "threads":
			return []string{`{"type":"event","event":"output"}`, fmt.Sprintf(`{"type":"response","request_seq":%d,"success":true,"body":{"n":3}}`, seq)}
		case "attach":
			return []string{fmt.Sprintf(`{"type":"response","request_seq":%d,"success":false,"message":"no","body":{"error":{"format":"no: it may not"}}}`, seq)}
		case "next":
			return []string{fmt.Sprintf(`{"type":"response","request_seq":%d,"success":false,"message":"running"}`, seq)}
		}
		theirs.Close()
		return nil
	})
	ctx := context.Background()
	var got struct{ N int }
	if err := c.Call(ctx, "threads", nil, &got); err != nil || got.N != 3 {
		t.Errorf("threads: %v, %v", got, err)
	}
	if e := <-c.Events(); e.Event != "output" {
		t.Errorf("event %q", e.Event)
	}
	for command, want := range map[string]string{"attach": "no: it may not", "next": "running"} {
		var no *Refusal
		if err := c.Call(ctx, command, nil, nil); !errors.As(err, &no) || no.Reason != want {
			t.Errorf("%s: %v, want %s", command, err, want)
		}
	}
	if err := c.Call(ctx, "die", nil, nil); err != errEnded {
		t.Errorf("while it ends: %v", err)
	}
	if _, ok := <-c.Events(); ok {
		t.Error("an event after the end")
	}
	if err := c.Call(ctx, "threads", nil, nil); err != errEnded {
		t.Errorf("afterwards: %v", err)
	}
}

// A message that is none ends the connection rather than fill the memory.
func TestBrokenMessages(t *testing.T) {
	for _, text := range []string{"Content-Length: x\r\n\r\n{}", "Content-Length: -1\r\n\r\n", "Content-Length: 99999999999\r\n\r\n{}", "Content-Length: 2\r\n\r\n[]"} {
		ours, theirs := net.Pipe()
		c := NewClient(ours)
		go io.WriteString(theirs, text)
		if e, ok := <-c.Events(); ok {
			t.Errorf("%q: event %v", text, e)
		}
		c.Close()
	}
}
