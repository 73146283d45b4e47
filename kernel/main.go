// Command kernel sets up the Go kernel of the lessons and runs, checks, renders and opens notebooks: go run ./kernel
// help lists what it does.
//
// The work is done in kernel/cmd/lectern, whose packages take Go most of a minute to compile for the first time. This
// program imports next to nothing, so it is ready at once; it builds that one, and says so meanwhile.
package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const command = "./kernel/cmd/lectern"

func main() {
	here, err := os.Getwd()
	root := here
	for err == nil && !isFile(filepath.Join(root, "kernel", "cmd", "lectern", "main.go")) {
		if root == filepath.Dir(root) {
			say("kernel: this runs only in a checkout of Lectern; elsewhere, install the command: go install github.com/lectern-go/lectern/kernel/cmd/lectern@latest\n")
			os.Exit(1)
		}
		root = filepath.Dir(root)
	}
	if err != nil {
		say("kernel: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Setenv("LECTERN_COMMAND", "go run ./kernel") // how the user has called it
	goTool := goCommand()
	bin := filepath.Join(root, ".lectern", "bin")
	if !writable(bin) { // another user's checkout
		rel, err := filepath.Rel(here, filepath.Join(root, command))
		if err != nil {
			say("kernel: " + err.Error() + "\n")
			os.Exit(1)
		}
		become(goTool, "go", "run", "."+string(filepath.Separator)+rel)
	}
	program := filepath.Join(bin, "lectern"+suffix())
	if code := build(goTool, root, program); code != 0 {
		os.Exit(code)
	}
	become(program, program)
}

// writable reports whether files can be made in a folder, which it makes.
func writable(dir string) bool {
	if os.MkdirAll(dir, 0o755) != nil {
		return false
	}
	f, err := os.CreateTemp(dir, "try-")
	if err != nil {
		return false
	}
	f.Close()
	os.Remove(f.Name())
	return true
}

// patience is how long something may take in silence, as in kernel/internal/command. The first build
// takes longer, which is said at once.
const patience = 1500 * time.Millisecond

// build builds the command and returns go's exit status.
func build(goTool, root, program string) int {
	began := time.Now()
	terminal := false
	if info, err := os.Stderr.Stat(); err == nil {
		terminal = info.Mode()&os.ModeCharDevice != 0
	}
	elapsed := func() string { return strconv.Itoa(int(time.Since(began).Seconds()+0.5)) + " s" }
	const what = "Build the command"
	wait := patience
	if !isFile(program) {
		wait = 0
	}
	done, ended := make(chan bool), make(chan bool)
	go func() {
		shown, tick := false, time.NewTicker(time.Second)
		first := time.After(wait)
		for {
			select {
			case <-first:
				shown = true
				if !terminal {
					say(what + " (the first time takes about a minute) ...\n")
				}
			case <-tick.C:
				if shown && terminal {
					say("\r\x1b[K" + what + " (the first time takes about a minute) ... " + elapsed())
				}
			case <-done:
				if shown && terminal {
					say("\r\x1b[K")
				}
				if shown {
					say(what + ": " + elapsed() + "\n")
				}
				close(ended)
				return
			}
		}
	}()
	// With Go's temporary files beside the program, the program is replaced in one step: others may be about to run it.
	env := append(os.Environ(), "GOTMPDIR="+filepath.Dir(program))
	code := run(goTool, root, env, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program, command)
	close(done)
	<-ended
	return code
}

// run runs a program in a folder and returns its exit status. What it prints goes to the standard error.
func run(path, dir string, env []string, args ...string) int {
	p, err := os.StartProcess(path, args, &os.ProcAttr{Dir: dir, Env: env, Files: []*os.File{os.Stdin, os.Stderr, os.Stderr}})
	if err != nil {
		say("kernel: " + err.Error() + "\n")
		return 1
	}
	state, err := p.Wait()
	if err != nil {
		say("kernel: " + err.Error() + "\n")
		return 1
	}
	return state.ExitCode()
}

// become has a program take this one's place, with the arguments of this one after its own. Where the system can't do
// that, the program runs as a child.
func become(path string, args ...string) {
	args = append(args, os.Args[1:]...)
	err := syscall.Exec(path, args, os.Environ())
	if runtime.GOOS != "windows" {
		say("kernel: " + path + ": " + err.Error() + "\n")
		os.Exit(1)
	}
	p, err := os.StartProcess(path, args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err == nil {
		var state *os.ProcessState
		if state, err = p.Wait(); err == nil {
			os.Exit(state.ExitCode())
		}
	}
	say("kernel: " + err.Error() + "\n")
	os.Exit(1)
}

// goCommand finds the go command. Package os/exec does that, too, but would have to be compiled before.
func goCommand() string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if path := filepath.Join(dir, "go"+suffix()); isFile(path) {
			return path
		}
	}
	say("kernel: the go command is not in PATH; install Go from go.dev\n")
	os.Exit(1)
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func suffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

func say(text string) { os.Stderr.WriteString(text) }
