//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/front/internal/rewrite"
)

// get fetches modules for %get path@version into the module beside the lessons. It is the only thing that may use the network, and it changes
// nothing but that module and the user's module cache.
func (e *execution) get(c rewrite.Command) *failure {
	if len(c.Args) == 0 {
		return &failure{name: "usage", value: "write %get path@version, such as %get golang.org/x/text@latest",
			lines: []string{"write %get path@version, such as %get golang.org/x/text@latest"}}
	}
	for _, a := range c.Args {
		if strings.HasPrefix(a, "-") || !modulePattern.MatchString(a) {
			msg := fmt.Sprintf("%q is not path@version", a)
			return &failure{name: "usage", value: msg, lines: []string{red + msg + reset}}
		}
	}
	ctx, cancel := context.WithTimeout(e.ctx, 10*time.Minute)
	defer cancel()
	args := []string{"get"}
	for _, a := range c.Args {
		if !strings.Contains(a, "@") {
			a += "@latest"
		}
		args = append(args, a)
	}
	said, err := e.goCommand(ctx, getModule(e.k.c), append(networkEnv(os.Environ()), "GOWORK=off"), args...)
	if err == nil {
		// The workspace of the cells joins this module and the lessons'; what it needs to know of both must be at hand before cells, which
		// never use the network, are compiled in it.
		list := []string{"list", "-deps"}
		for _, a := range c.Args {
			path, _, _ := strings.Cut(a, "@")
			list = append(list, path+"/...")
		}
		said, err = e.goCommand(ctx, e.k.f.check(), networkEnv(os.Environ()), list...)
	}
	switch {
	case e.ctx.Err() != nil:
		return &failure{name: "interrupted", value: "%get was interrupted", lines: []string{red + "%get was interrupted" + reset}}
	case err != nil:
		msg := fmt.Sprintf("%s could not be fetched", strings.Join(c.Args, " "))
		return &failure{name: "get", value: msg, lines: append([]string{red + msg + reset}, said[max(0, len(said)-8):]...)}
	}
	e.k.packages.Refetch()
	for _, a := range c.Args {
		path, _, _ := strings.Cut(a, "@")
		e.stream("stdout", fmt.Sprintf("ready: import %q\n", path))
	}
	return nil
}

// goCommand runs the go command and shows what it says about its progress.
func (e *execution) goCommand(ctx context.Context, dir string, env []string, args ...string) (said []string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { killGroup(cmd.Process.Pid); return nil }
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(pipe)
	for {
		line, rerr := r.ReadString('\n')
		if line = strings.TrimRight(line, "\n"); line != "" {
			said = append(said, line)
			if strings.HasPrefix(line, "go: ") && !strings.Contains(line, ": reading ") {
				e.stream("stdout", line+"\n") // "go: downloading …", as it happens
			}
		}
		if rerr != nil {
			break
		}
	}
	return said, cmd.Wait()
}

var modulePattern = regexp.MustCompile(`^[A-Za-z0-9][\w.~/-]*(@[\w.~+-]+)?$`)

// networkEnv is the environment for the go command when it may use the network: the user's own settings instead of those that make cells fast.
func networkEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		switch {
		case k == "GOPROXY" && v == "off", k == "GOSUMDB" && v == "off", k == "GOFLAGS", k == "GOWORK":
		case k == "LECTERN_GOPROXY": // the user's own, which the kernelspec has put aside
			if v != "" && !strings.HasPrefix(v, "${") {
				out = append(out, "GOPROXY="+v)
			}
		default:
			out = append(out, kv)
		}
	}
	return append(out, "GOFLAGS=-buildvcs=false")
}
