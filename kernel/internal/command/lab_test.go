package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// fakeLabVar makes a test binary JupyterLab. Its value is the address of the test, which it tells its port before it
// listens there, and which says when to.
const fakeLabVar = "LECTERN_FAKE_LAB"

// fakeLab turns the process into JupyterLab, as far as lab looks at it, if a test has started it as such.
func fakeLab() {
	address := os.Getenv(fakeLabVar)
	if address == "" {
		return
	}
	fail := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
		os.Exit(1)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	port, static := 0, ""
	for _, arg := range os.Args {
		if text, ok := strings.CutPrefix(arg, "--ServerApp.port="); ok {
			port, _ = strconv.Atoi(text)
		}
		if dir, ok := strings.CutPrefix(arg, "--ServerApp.extra_static_paths="); ok {
			static = dir
		}
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		fail("%v", err)
	}
	fmt.Fprintln(c, port)
	word, _ := bufio.NewReader(c).ReadString('\n')
	if word == "wrong\n" {
		fail("something else is wrong")
	}
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil || word == "taken\n" {
		fail("[C] ERROR: the Jupyter server could not be started because port %d is not available.", port)
	}
	go http.Serve(l, http.StripPrefix("/static/", http.FileServer(http.Dir(static))))
	<-stop
	l.Close()
	os.Exit(0)
}

// A labAtDoor is such a JupyterLab that is about to listen at its port.
type labAtDoor struct {
	port int
	c    net.Conn
}

// say lets it "go" on, or end because the port is "taken", or for something else that is "wrong".
func (l labAtDoor) say(word string) {
	fmt.Fprintln(l.c, word)
	l.c.Close()
}

// labDoor waits for all of a test's.
func labDoor(t *testing.T) <-chan labAtDoor {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	t.Setenv(fakeLabVar, l.Addr().String())
	door := make(chan labAtDoor)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			text, _ := bufio.NewReader(c).ReadString('\n')
			port, _ := strconv.Atoi(strings.TrimSpace(text))
			door <- labAtDoor{port, c}
		}
	}()
	return door
}

var labAddress = regexp.MustCompile(`^JupyterLab: http://127\.0\.0\.1:(\d+)/lab/tree/\?token=`)

// servedLab serves a folder. It returns the ports that lab says its JupyterLab has, and what becomes of it; stop is
// Ctrl-C.
func servedLab(t *testing.T, root string, port int) (ports <-chan int, ended <-chan error, stop func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, out := io.Pipe()
	w := &workspace{root: root, stdout: out, stderr: io.Discard}
	said, end := make(chan int, 10), make(chan error, 1)
	go func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if m := labAddress.FindStringSubmatch(lines.Text()); m != nil {
				p, _ := strconv.Atoi(m[1])
				said <- p
			}
		}
		close(said)
	}()
	go func() {
		err := (jupyterLab{w}).serveLab(ctx, &labProgram{[]string{self}, "test"}, root, port, false, "")
		out.Close()
		end <- err
	}()
	return said, end, cancel
}

// comeUp lets all that come to their ports go on until one is said to be there.
func comeUp(door <-chan labAtDoor, ports <-chan int) int {
	for {
		select {
		case lab := <-door:
			lab.say("go")
		case port := <-ports:
			return port
		}
	}
}

// A port that was free may be another program's when JupyterLab comes to it. That program is not taken for our
// JupyterLab, which gets another one.
func TestLabPortIsTakenMeanwhile(t *testing.T) {
	for name, answer := range map[string]func(l net.Listener, asked func()){
		"silent": func(l net.Listener, asked func()) {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				asked()
			}
		},
		"answers": func(l net.Listener, asked func()) {
			http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, "welcome")
				asked()
			}))
		},
	} {
		t.Run(name, func(t *testing.T) { takenMeanwhile(t, answer) })
	}
}

// takenMeanwhile has a stranger at the port that JupyterLab comes to.
func takenMeanwhile(t *testing.T, answer func(l net.Listener, asked func())) {
	door := labDoor(t)
	ports, ended, stop := servedLab(t, t.TempDir(), 0)
	var taken int
	for taken == 0 {
		var lab labAtDoor
		select {
		case lab = <-door:
		case err := <-ended:
			t.Fatalf("lab ended before its JupyterLab came up: %v", err)
		}
		if stranger, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", lab.port)); err == nil {
			defer stranger.Close()
			taken = lab.port
			asked := make(chan struct{})
			go answer(stranger, sync.OnceFunc(func() { close(asked) }))
			<-asked
			lab.say("go")
		} else { // another program was faster
			lab.say("taken")
		}
	}
	port := comeUp(door, ports)
	if port <= taken {
		t.Errorf("JupyterLab is said to be at %d; %d was taken before it came there", port, taken)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if port, more := <-ports; more {
		t.Errorf("it is said to be at %d, too", port)
	}

	// A port that was asked for is the only one.
	ports, ended, _ = servedLab(t, t.TempDir(), port)
	var err error
	select {
	case lab := <-door:
		lab.say("taken")
		err = <-ended
	case err = <-ended:
	}
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d is not free", port)) || !strings.Contains(err.Error(), "choose another with -port") {
		t.Errorf("a port that was asked for: %v", err)
	}
	if port, more := <-ports; more {
		t.Errorf("JupyterLab is said to be at %d", port)
	}
}

// JupyterLab that ends because of its port is told from one that ends for another reason, whether the port is free
// again or not.
func TestLabEndsBecauseOfItsPort(t *testing.T) {
	w := &workspace{root: t.TempDir(), stdout: io.Discard, stderr: io.Discard}
	if err := os.MkdirAll(w.state("jupyter"), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	door := labDoor(t)
	for _, word := range []string{"taken", "wrong"} {
		end := make(chan error, 1)
		go func() {
			const port = 0 // which is always free
			_, err := (jupyterLab{w}).startLab(t.Context(), &labProgram{[]string{self}, "test"}, port, labArgs(port, false, w.root, ""), os.Environ(), w.root)
			end <- err
		}()
		lab := <-door
		lab.say(word)
		err := <-end
		var taken *portTaken
		if errors.As(err, &taken) != (word == "taken") || word == "wrong" && !strings.Contains(fmt.Sprint(err), "something else is wrong") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// Two that begin at the same time find the same port free. Both come up.
func TestTwoLabsAtTheSameTime(t *testing.T) {
	door := labDoor(t)
	root := t.TempDir()
	ports, ended, stop := servedLab(t, root, 0)
	ports2, ended2, stop2 := servedLab(t, root, 0)
	a, b := <-door, <-door
	for a.port != b.port { // another program had the port when one of them looked
		if a.port > b.port {
			a, b = b, a
		}
		a.say("taken")
		a = <-door
	}
	a.say("go")
	b.say("go")
	one := make(chan int)
	go func() { one <- comeUp(door, ports) }()
	if two := comeUp(door, ports2); two == <-one {
		t.Errorf("both are said to be at %d", two)
	}
	stop()
	stop2()
	if err := errors.Join(<-ended, <-ended2); err != nil {
		t.Error(err)
	}
}

func TestChoosePort(t *testing.T) {
	p := firstPort
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", p))
	for err != nil {
		p++
		l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", p))
	}
	defer l.Close()
	if next, err := choosePort(0, p); err != nil || next <= p {
		t.Errorf("while %d is taken, %d is chosen, %v", p, next, err)
	}
	var taken *portTaken
	if _, err := choosePort(p, 0); !errors.As(err, &taken) {
		t.Errorf("a port that is taken: %v", err)
	}
}
