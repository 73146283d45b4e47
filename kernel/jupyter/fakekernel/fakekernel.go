// Package fakekernel is a kernel that does what the code of a cell tells it to, for tests of what happens when a
// kernel misbehaves. The code is a script, one command per line:
//
//	print TEXT        a line on stdout
//	env NAME          the value of an environment variable, on stdout
//	err TEXT          a line on stderr
//	many N            N lines on stdout, a message each
//	show MIME TEXT    display_data
//	update ID TEXT    display_data or update_display_data with a display_id
//	clear             clear_output with wait
//	value TEXT        execute_result
//	page TEXT         a page in the reply
//	sleep DURATION    obeys an interrupt
//	wait              for an interrupt, which may have come before
//	touch FILE        makes FILE
//	until FILE        waits until FILE is there
//	hang              reacts to nothing
//	ask PROMPT        input_request; prints the answer
//	fail TEXT         an error output; ends the cell
//	panic LINE TEXT   what GoNB prints for a panic at the line of the cell, then an error
//	compile LINE TEXT what GoNB answers to code that does not compile
//	die STATUS        the process exits at once
//	close CHANNEL     closes shell or iopub, and lives on
//	child FILE        starts a process of a group of its own that lives on, and writes its process ID to FILE
package fakekernel

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// Variable is the environment variable under which a test binary turns into a fake kernel, see [Hook].
const Variable = "LECTERN_FAKE_KERNEL"

// Hook turns the process into a fake kernel if it was started by a [Spec], and never returns then. Call it first in
// TestMain.
func Hook() {
	switch os.Getenv(Variable) {
	case "kernel":
		if err := Serve(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "child":
		time.Sleep(time.Hour)
		os.Exit(0)
	}
}

// Spec returns the kernelspec that starts the running test binary as a fake kernel. interruptMode is "message" or
// "signal".
func Spec(interruptMode string) (*jupyter.Spec, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &jupyter.Spec{
		Argv: testenv.Argv(self, "{connection_file}"), DisplayName: "Fake", Language: "script",
		InterruptMode: interruptMode, Env: map[string]string{Variable: "kernel"},
	}, nil
}

type kernel struct {
	s         *jupyter.Sockets
	count     int
	interrupt chan struct{}
	answers   chan string
	page      string // for the reply
}

// Serve is the fake kernel: it returns after a shutdown request.
func Serve(connectionFile string) error {
	info, err := jupyter.ReadConnectionFile(connectionFile)
	if err != nil {
		return err
	}
	s, err := jupyter.Listen(info)
	if err != nil {
		return err
	}
	defer s.Close()
	k := &kernel{s: s, interrupt: make(chan struct{}, 1), answers: make(chan string, 1)}
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, os.Interrupt)
	go func() {
		for range sig {
			k.stop()
		}
	}()
	failed := make(chan error, 3)
	end := make(chan struct{})
	var once sync.Once
	go func() {
		failed <- each(s.Control, func(m *jupyter.Message) error {
			switch m.Header.Type {
			case "interrupt_request":
				k.stop()
				return s.Control.Send(m.Reply("interrupt_reply", map[string]string{"status": "ok"}))
			case "shutdown_request":
				err := s.Control.Send(m.Reply("shutdown_reply", map[string]string{"status": "ok"}))
				once.Do(func() { close(end) })
				return err
			}
			return nil
		})
	}()
	go func() {
		failed <- each(s.Stdin, func(m *jupyter.Message) error {
			var c struct{ Value string }
			if err := m.DecodeContent(&c); err != nil {
				return err
			}
			k.answers <- c.Value
			return nil
		})
	}()
	go func() { failed <- each(s.Shell, k.shell) }()
	select {
	case err := <-failed:
		return err
	case <-end:
		return nil
	}
}

func each(s *jupyter.Socket, do func(*jupyter.Message) error) error {
	for {
		m, err := s.Recv()
		if jupyter.Broken(err) {
			return err
		}
		if err != nil {
			continue
		}
		if err := do(m); err != nil {
			return err
		}
	}
}

func (k *kernel) stop() {
	select {
	case k.interrupt <- struct{}{}:
	default:
	}
}

func (k *kernel) publish(parent *jupyter.Message, msgType string, content any) {
	m := parent.Reply(msgType, content)
	m.Identities = [][]byte{[]byte("kernel." + msgType)}
	k.s.IOPub.Send(m)
}

type object = map[string]any

func (k *kernel) shell(m *jupyter.Message) error {
	k.publish(m, "status", object{"execution_state": "busy"})
	defer k.publish(m, "status", object{"execution_state": "idle"})
	switch m.Header.Type {
	case "kernel_info_request":
		return k.s.Shell.Send(m.Reply("kernel_info_reply", object{
			"status": "ok", "protocol_version": jupyter.ProtocolVersion, "implementation": "fake",
			"language_info": object{"name": "script", "file_extension": ".txt"},
		}))
	case "execute_request":
		var c struct{ Code string }
		if err := m.DecodeContent(&c); err != nil {
			return err
		}
		k.count++
		k.publish(m, "execute_input", object{"code": c.Code, "execution_count": k.count})
		reply := object{"status": "ok", "execution_count": k.count, "user_expressions": object{}}
		for i, line := range strings.Split(c.Code, "\n") {
			if err := k.do(m, line); err != nil {
				e := object{"ename": "ERROR", "evalue": err.Error(), "traceback": []string{fmt.Sprintf("line %d: %v", i+1, err)}}
				k.publish(m, "error", e)
				for key, v := range e {
					reply[key] = v
				}
				reply["status"] = "error"
				break
			}
		}
		if k.page != "" {
			reply["payload"] = []object{{"source": "page", "start": 0, "data": object{"text/plain": k.page}}}
			k.page = ""
		}
		return k.s.Shell.Send(m.Reply("execute_reply", reply))
	}
	return nil
}

func (k *kernel) do(m *jupyter.Message, line string) error {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	stream := func(name, text string) { k.publish(m, "stream", object{"name": name, "text": text}) }
	data := func(mime, text string) object {
		return object{"data": object{mime: text}, "metadata": object{}, "transient": object{}}
	}
	arg, tail, _ := strings.Cut(rest, " ")
	switch verb {
	case "":
	case "print":
		stream("stdout", rest+"\n")
	case "env":
		stream("stdout", os.Getenv(rest)+"\n")
	case "count": // how many cells have run
		stream("stdout", fmt.Sprintf("%d\n", k.count))
	case "err":
		stream("stderr", rest+"\n")
	case "many":
		n, _ := strconv.Atoi(rest)
		for i := range n {
			stream("stdout", fmt.Sprintf("%d\n", i))
		}
	case "show":
		k.publish(m, "display_data", data(arg, tail))
	case "update":
		c := data("text/plain", tail)
		c["transient"] = object{"display_id": arg}
		k.publish(m, "display_data", c)
		c["data"] = object{"text/plain": tail + " (updated)"}
		k.publish(m, "update_display_data", c)
	case "clear":
		k.publish(m, "clear_output", object{"wait": true})
	case "value":
		c := data("text/plain", rest)
		c["execution_count"] = k.count
		k.publish(m, "execute_result", c)
	case "page":
		k.page = rest
	case "sleep":
		d, err := time.ParseDuration(rest)
		if err != nil {
			return err
		}
		select {
		case <-k.interrupt: // left over from an earlier cell
		default:
		}
		select {
		case <-time.After(d):
		case <-k.interrupt:
			return errors.New("signal: interrupt")
		}
	case "wait":
		<-k.interrupt
		return errors.New("signal: interrupt")
	case "touch":
		return os.WriteFile(rest, nil, 0o600)
	case "until":
		for {
			if _, err := os.Stat(rest); err == nil {
				return nil
			}
			time.Sleep(10 * time.Millisecond)
		}
	case "hang":
		signal.Ignore(os.Interrupt)
		select {}
	case "ask":
		q := m.Reply("input_request", object{"prompt": rest, "password": false})
		if err := k.s.Stdin.Send(q); err != nil {
			return err
		}
		select {
		case a := <-k.answers:
			stream("stdout", a+"\n")
		case <-k.interrupt:
			return errors.New("signal: interrupt")
		}
	case "fail":
		return errors.New(rest)
	case "panic":
		stream("stderr", "panic: "+tail+"\n\ngoroutine 1 [running]:\nmain.main()\n\t \x1b[7m[[ Cell ["+strconv.Itoa(k.count)+"] Line "+arg+" ]]\x1b[0m /tmp/gonb_1/main.go:9 +0x18\nexit status 2\n")
		return errors.New("exit status 2")
	case "compile":
		return fmt.Errorf("# gonb_1\n/tmp/gonb_1/main.go:%s:2: %s", arg, tail)
	case "die":
		code, _ := strconv.Atoi(rest)
		fmt.Fprintln(os.Stderr, "fatal: told to die")
		os.Exit(code)
	case "close":
		map[string]*jupyter.Socket{"shell": k.s.Shell, "iopub": k.s.IOPub}[rest].Close()
		select {}
	case "child":
		return startChild(rest)
	default:
		return fmt.Errorf("unknown command %q", verb)
	}
	return nil
}

// startChild starts a process that outlives the cell, and writes its number into a file.
func startChild(file string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := testenv.Command(self)
	c.Env = append(os.Environ(), Variable+"=child")
	c.SysProcAttr = newGroup()
	if err := c.Start(); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.Itoa(c.Process.Pid)), 0o600)
}
