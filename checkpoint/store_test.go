package checkpoint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// weights is a part of a few tensors and a number, all of which depend on step.
type weights struct {
	tensors map[string]*tensor.Tensor
	Step    int
}

func weightsOf(step, size int) *weights {
	w := &weights{tensors: map[string]*tensor.Tensor{}, Step: step}
	for i := range 3 {
		w.tensors[fmt.Sprint("layers.", i)] = tensor.Full(float64(step*10+i), size)
	}
	return w
}

func (w *weights) SaveState() (map[string]*tensor.Tensor, any) { return w.tensors, w }

func (w *weights) LoadState(tensors map[string]*tensor.Tensor, values []byte) error {
	w.tensors = map[string]*tensor.Tensor{}
	for name, t := range tensors {
		w.tensors[name] = t.Clone()
	}
	return Values(w).LoadState(nil, values)
}

// check fails unless w is all of what weightsOf made for a step.
func (w *weights) check(t *testing.T, step, size int) {
	t.Helper()
	want := weightsOf(step, size)
	if w.Step != step || len(w.tensors) != len(want.tensors) {
		t.Fatalf("step %d with %d tensors, want step %d with %d", w.Step, len(w.tensors), step, len(want.tensors))
	}
	for name, x := range want.tensors {
		if !tensor.Equal(w.tensors[name], x) {
			t.Fatalf("step %d: %s differs", step, name)
		}
	}
}

func mustSave(t *testing.T, s Store, step int) string {
	t.Helper()
	path, err := s.Save(step, Parts{"model": weightsOf(step, 8)})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSaveAndResume(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "new", "run")}
	if _, err := s.Resume(Parts{}); !errors.Is(err, ErrNone) {
		t.Fatalf("before the first save: got %v, want ErrNone", err)
	}
	g := tensor.NewGenerator(3)
	tensor.With(g).Rand(5)
	epoch := 4
	if _, err := s.Save(12, Parts{"model": weightsOf(12, 8), "random": Binary(g), "epoch": Values(&epoch)}); err != nil {
		t.Fatal(err)
	}
	next := tensor.With(g).Rand(5)

	var w weights
	other, got := tensor.NewGenerator(9), 0
	resumed, err := s.Resume(Parts{"model": &w, "random": Binary(other), "epoch": Values(&got)})
	if err != nil || resumed.Step != 12 || got != 4 {
		t.Fatalf("resumed %+v, epoch %d: %v", resumed, got, err)
	}
	w.check(t, 12, 8)
	if again := tensor.With(other).Rand(5); !tensor.Equal(again, next) {
		t.Error("the generator did not go on where it was")
	}
}

func TestOldCheckpointsAreRemovedAndStrangersKept(t *testing.T) {
	s := Store{Dir: t.TempDir(), Keep: 2}
	for _, name := range []string{"notes.txt", "step-x.safetensors", ".step-0000000009.safetensors.partial-77"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []int{9, 10, 100, 11} { // going back and on, as after a resume
		mustSave(t, s, step)
	}
	all, err := s.List()
	if err != nil || len(all) != 2 || all[0].Step != 11 || all[1].Step != 100 {
		t.Errorf("left %v (%v), want steps 11 and 100", all, err)
	}
	entries, _ := os.ReadDir(s.Dir)
	if len(entries) != 4 {
		t.Errorf("the folder holds %v, want the two checkpoints and two strangers", entries)
	}
}

func TestDamagedCheckpointsArePassedOver(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	mustSave(t, s, 1)
	whole, err := os.ReadFile(mustSave(t, s, 2))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir, "step-0000000002.safetensors")
	damaged := map[string][]byte{"cut": whole[:len(whole)-1], "empty": nil, "longer": append(whole[:len(whole):len(whole)], 0)}
	for _, at := range []int{8 + 20, len(whole) - 1, bytes.Index(whole, []byte("lectern.step")) + 16} {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1
		damaged[fmt.Sprint("bit flipped at ", at)] = flipped
	}
	for name, content := range damaged {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Fatal(err)
			}
			var w weights
			resumed, err := s.Resume(Parts{"model": &w})
			if err != nil || resumed.Step != 1 || len(resumed.Skipped) != 1 {
				t.Fatalf("got %+v, %v; want step 1 and one reason", resumed, err)
			}
			w.check(t, 1, 8)
		})
	}
	if err := os.Remove(filepath.Join(s.Dir, "step-0000000001.safetensors")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resume(Parts{"model": &weights{}}); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("only a damaged one left: got %v, want its reason", err)
	}
}

func TestPartsThatDoNotFitAreNamed(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	mustSave(t, s, 1)
	var w weights
	_, err := s.Resume(Parts{"model": &w, "scaler": &weights{}})
	if err == nil || !strings.Contains(err.Error(), `no part "scaler"; it has model`) || w.tensors != nil {
		t.Errorf("got %v, model loaded: %v", err, w.tensors != nil)
	}
	if _, err := s.Save(2, Parts{"a.b": &w}); err == nil {
		t.Error("a part with a dot in its name was saved")
	}
	if _, err := s.Save(2, Parts{"f": Values(func() {})}); err == nil || !strings.Contains(err.Error(), `part "f"`) {
		t.Errorf("a value that JSON can't hold: got %v", err)
	}
	if _, err := s.Save(2, Parts{"model": nil}); err == nil || !strings.Contains(err.Error(), `part "model" is nil`) {
		t.Errorf("saving a part that is nil: got %v", err)
	}
	if _, err := s.Resume(Parts{"model": nil}); err == nil || !strings.Contains(err.Error(), `part "model" is nil`) {
		t.Errorf("loading a part that is nil: got %v", err)
	}
	if _, err := (Store{}).Save(2, Parts{"model": &w}); err == nil || !strings.Contains(err.Error(), "Dir") {
		t.Errorf("a Store without a folder: got %v", err)
	}
}

// saveForEver saves steps until it is killed, and says so on stdout: a line for each
// piece of a file and one for each step. After the given number of lines it waits, if
// there is one. The test below runs it in a process of its own.
func saveForEver(dir string, from, hold int) {
	said := 0
	say := func(what ...any) {
		fmt.Println(what...)
		if said++; said == hold {
			io.Copy(io.Discard, os.Stdin) // open as long as the test lives
		}
	}
	s := Store{Dir: dir, Keep: 2}
	for step := from; ; step++ {
		_, err := s.save(step, Parts{"model": weightsOf(step, killSize)}, func(w io.Writer, tensors map[string]*tensor.Tensor, metadata map[string]string) error {
			return Write(pieces{w, say}, tensors, metadata)
		})
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		say("saved", step)
	}
}

// pieces passes on what is written to it in pieces, and says when each is in the file.
type pieces struct {
	w   io.Writer
	say func(...any)
}

func (p pieces) Write(b []byte) (n int, err error) {
	for piece := range slices.Chunk(b, pieceSize) {
		wrote, err := p.w.Write(piece)
		if n += wrote; err != nil {
			return n, err
		}
		p.say("piece")
	}
	return n, nil
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("LECTERN_TEST_SAVE_IN"); dir != "" {
		from, _ := strconv.Atoi(os.Getenv("LECTERN_TEST_SAVE_FROM"))
		hold, _ := strconv.Atoi(os.Getenv("LECTERN_TEST_SAVE_HOLD"))
		saveForEver(dir, from, hold)
	}
	os.Exit(m.Run())
}

const (
	killSize  = 40_000   // elements of each of three tensors
	pieceSize = 32 << 10 // bytes: 16 pieces to a file, with its header
	linesEach = 17       // of saveForEver for a step
)

// A process that saves all the time is killed at places spread over its saves: half of
// the times it waits there, half of the times it is somewhere behind. After each, the
// newest checkpoint is whole and at most one step behind what was reported as saved.
func TestKilledWhileSaving(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := Store{Dir: t.TempDir(), Keep: 2}
	if _, err := s.Save(0, Parts{"model": weightsOf(0, killSize)}); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	reached, partials := 0, 0
	for kill := range kills {
		lines := 1 + random.IntN(2*linesEach)
		held := kill%2 == 0
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "LECTERN_TEST_SAVE_IN="+s.Dir, "LECTERN_TEST_SAVE_FROM="+strconv.Itoa(reached+1))
		if held {
			cmd.Env = append(cmd.Env, "LECTERN_TEST_SAVE_HOLD="+strconv.Itoa(lines))
		}
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said, reported, inFile := 0, reached, false
		for in := bufio.NewScanner(out); in.Scan(); {
			if step, ok := strings.CutPrefix(in.Text(), "saved "); ok {
				reported, _ = strconv.Atoi(step)
			} else if in.Text() != "piece" {
				t.Errorf("kill %d: %s", kill, in.Text())
			}
			inFile = in.Text() == "piece"
			if said++; said == lines {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		if said < lines {
			t.Fatalf("kill %d: the process ended by itself after %d lines: %v", kill, said, cmd.ProcessState)
		}
		parts, _ := filepath.Glob(filepath.Join(s.Dir, ".step-*"))
		if len(parts) > 0 {
			partials++
		}
		if held && (len(parts) > 0) != inFile {
			t.Errorf("kill %d: in the middle of a file: %v; left behind: %v", kill, inFile, parts)
		}
		var w weights
		resumed, err := s.Resume(Parts{"model": &w})
		if err != nil || len(resumed.Skipped) > 0 {
			t.Fatalf("kill %d: %v, skipped %v", kill, err, resumed.Skipped)
		}
		if resumed.Step < reported || held && resumed.Step > reported {
			t.Fatalf("kill %d: step %d was reported as saved, the newest is %d", kill, reported, resumed.Step)
		}
		w.check(t, resumed.Step, killSize)
		reached = resumed.Step
	}
	t.Logf("%d kills, %d of them in the middle of a file, %d checkpoints", kills, partials, reached)
	if reached == 0 || partials == 0 {
		t.Error("no kill fell between the start and the end of a save: the test shows nothing")
	}
}
