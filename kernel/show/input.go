package show

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/lectern-go/lectern/kernel/internal/inband"
)

// InputVar is the environment variable in which the kernel says where a cell's typed lines arrive.
const InputVar = "LECTERN_INPUT"

// Stdin is the standard input of a cell: reading from it asks the user for a line in the notebook. Outside a notebook
// it is os.Stdin. The kernel lets cells that read os.Stdin read this instead.
var Stdin io.Reader = &input{}

var (
	inputPath = os.Getenv(InputVar)
	lines     = sync.OnceValue(func() *bufio.Reader { return bufio.NewReader(Stdin) })
)

func init() { os.Unsetenv(InputVar) }

type input struct {
	mu      sync.Mutex
	pipe    *os.File
	pending int // bytes of the current line that have not been read yet
	end     bool
}

// Read asks for a line and waits for it.
func (in *input) Read(p []byte) (int, error) {
	if !inband.On() || inputPath == "" {
		return os.Stdin.Read(p)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.end || len(p) == 0 {
		return 0, io.EOF
	}
	if in.pipe == nil {
		// Opened for writing too, or the pipe would end between two lines.
		f, err := os.OpenFile(inputPath, os.O_RDWR, 0)
		if err != nil {
			return 0, fmt.Errorf("show: no input: %w", err)
		}
		in.pipe = f
	}
	if in.pending == 0 {
		inband.Send("input")
		var head [5]byte // a flag for the end of the input, and the length of the line
		if _, err := io.ReadFull(in.pipe, head[:]); err != nil {
			return 0, err
		}
		if head[0] == 0 {
			in.end = true
			return 0, io.EOF
		}
		in.pending = int(head[1])<<24 | int(head[2])<<16 | int(head[3])<<8 | int(head[4])
	}
	n, err := in.pipe.Read(p[:min(len(p), in.pending)])
	in.pending -= n
	return n, err
}

// Scan is fmt.Scan on [Stdin].
func Scan(a ...any) (int, error) { return fmt.Fscan(lines(), a...) }

// Scanln is fmt.Scanln on [Stdin].
func Scanln(a ...any) (int, error) { return fmt.Fscanln(lines(), a...) }

// Scanf is fmt.Scanf on [Stdin].
func Scanf(format string, a ...any) (int, error) { return fmt.Fscanf(lines(), format, a...) }
