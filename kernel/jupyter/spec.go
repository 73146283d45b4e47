package jupyter

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Spec is a kernelspec: how a kernel is started and interrupted (the file kernel.json of its folder).
type Spec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode,omitempty"` // "signal" (also when empty) or "message"
	Env           map[string]string `json:"env,omitempty"`
	Metadata      map[string]any    `json:"metadata,omitempty"`

	Dir string `json:"-"` // the folder that the spec was read from; {resource_dir} in Argv
}

// ReadSpec reads the kernel.json in dir.
func ReadSpec(dir string) (*Spec, error) {
	path := filepath.Join(dir, "kernel.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("jupyter: kernelspec: %w", err)
	}
	s := &Spec{Dir: dir}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("jupyter: kernelspec %s: %w", path, err)
	}
	if len(s.Argv) == 0 {
		return nil, fmt.Errorf("jupyter: kernelspec %s: argv is empty: it must name the kernel's program", path)
	}
	if s.InterruptMode != "" && s.InterruptMode != "signal" && s.InterruptMode != "message" {
		return nil, fmt.Errorf(`jupyter: kernelspec %s: interrupt_mode %q: it must be "signal" or "message"`, path, s.InterruptMode)
	}
	return s, nil
}

// Command returns the arguments with {connection_file} and {resource_dir} filled in, and the environment:
// env (as os.Environ gives it) overridden by the spec's, in which ${NAME} stands for a variable of env.
func (s *Spec) Command(connectionFile string, env []string) (argv, environ []string) {
	fill := strings.NewReplacer("{connection_file}", connectionFile, "{resource_dir}", s.Dir)
	for _, a := range s.Argv {
		argv = append(argv, fill.Replace(a))
	}
	outer := make(map[string]string, len(env))
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		outer[k] = v
		if _, over := s.Env[k]; !over {
			environ = append(environ, kv)
		}
	}
	for k, v := range s.Env {
		environ = append(environ, k+"="+expand(v, outer))
	}
	return argv, environ
}

// expand replaces ${NAME} by env's value and leaves names alone that env lacks, as Jupyter does.
func expand(v string, env map[string]string) string {
	var b strings.Builder
	for {
		i := strings.Index(v, "${")
		if i < 0 {
			break
		}
		j := strings.IndexByte(v[i:], '}')
		if j < 0 {
			break
		}
		b.WriteString(v[:i])
		if val, ok := env[v[i+2:i+j]]; ok {
			b.WriteString(val)
		} else {
			b.WriteString(v[i : i+j+1])
		}
		v = v[i+j+1:]
	}
	b.WriteString(v)
	return b.String()
}
