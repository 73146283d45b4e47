package persist

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// mappedAt returns the mapping that holds a whole block, or nil.
func mappedAt(b *block) *mapping {
	for i := range mappings {
		m := &mappings[i]
		lo := reflect.ValueOf(m.mem).Pointer()
		if shared && b.lo >= lo && b.hi <= lo+uintptr(len(m.mem)) {
			return m
		}
	}
	return nil
}

// Save writes all variables that the cell restored or defined, as they are at this moment. It may be called from any
// goroutine, and more than once.
func Save() { save(false) }

// save is Save; ended says that the cell's program has come to its end, and nothing of it goes on. Locks that it holds
// then are locked in later cells, too: those will unlock them. A lock held by something that was cut off would never be
// free again, so it is restored unlocked, with a note.
func save(ended bool) {
	mu.Lock()
	defer mu.Unlock()
	if len(dirs) == 0 {
		return
	}
	written = false
	for _, add := range later {
		add()
	}
	learnZone()
	defer func() {
		if r := recover(); r != nil { // a value that another goroutine was changing
			note("", fmt.Sprintf("the values of this cell were not kept: %v", r))
		}
	}()
	s := look(ended)
	if !s.fits() { // once more, without what isn't essential
		cellstate.SetOverLimit(true)
		defer cellstate.SetOverLimit(false)
		s = look(ended)
	}
	s.write()
	for _, name := range s.freed {
		note("", fmt.Sprintf("a lock in %s was held when the cell was cut off, and is restored unlocked", name))
	}
	manifest.Saves++
	for _, e := range cellstate.Entries() {
		if b := e.Save(); b != nil {
			manifest.States[e.Name] = b
		} else {
			delete(manifest.States, e.Name)
		}
	}
	needed := manifest.live()
	if err := manifest.write(dirs[0]); err != nil {
		note("", fmt.Sprintf("the values of this cell were not kept: %v", err))
		return
	}
	written = true
	stored.sweep(needed)
	for id := range loaded {
		if !needed[groupName(id)] {
			delete(loaded, id)
		}
	}
}

// saving is one call to Save.
type saving struct {
	vars   []*variable // those that can be kept
	bytes  []int64
	blocks []block
	groups [][]int
	states map[place]reflect.Value
	short  map[place]bool // see collector
	maps   map[uintptr]mapCopy
	ended  bool               // see save
	locks  map[place]int      // see lockState; shared like states
	freed  []string           // variables with locks that come back unlocked
	own    [][]string         // the cells' own types that the variables hold
	files  map[uintptr]string // arrays written by this call
	used   int64              // bytes in the folders
}

func look(ended bool) *saving {
	s := newSaving()
	s.ended = ended
	s.look()
	return s
}

func newSaving() *saving {
	return &saving{states: map[place]reflect.Value{}, short: map[place]bool{}, maps: map[uintptr]mapCopy{}, locks: map[place]int{}}
}

// fits reports whether the arrays that are to be written stay within the limit.
func (s *saving) fits() bool {
	n := stored.used()
	for i := range s.blocks {
		if b := &s.blocks[i]; b.elem == nil && b.size() >= inline && mappedAt(b) == nil {
			n += int64(b.size())
		}
	}
	return n <= limit
}

// look finds out what can be kept, which memory the variables share, and which of them form groups.
func (s *saving) look() {
	var blocks []block
	var maps [][]uintptr
	for _, v := range vars {
		c := newCollector(len(s.vars), s)
		if err := c.try(v.p); err != nil {
			forget(v, err)
			continue
		}
		if c.freed {
			s.freed = append(s.freed, v.name)
		}
		s.vars = append(s.vars, v)
		s.bytes = append(s.bytes, c.bytes)
		s.own = append(s.own, sorted(c.own))
		blocks = append(blocks, c.blocks...)
		maps = append(maps, c.maps)
	}
	s.blocks = merge(blocks, func(a, b *block) {
		x, y := s.vars[a.users[0]].name, s.vars[b.users[0]].name
		note(x+" "+y, fmt.Sprintf("%s and %s share memory that they see as different types; later cells get separate copies", x, y))
	})
	set := newSets(len(s.vars))
	for _, b := range s.blocks {
		for _, u := range b.users[1:] {
			set.join(u, b.users[0])
		}
	}
	owner := map[uintptr]int{}
	for i, ms := range maps {
		for _, m := range ms {
			if o, ok := owner[m]; ok {
				set.join(i, o)
			}
			owner[m] = i
		}
	}
	byRoot := map[int][]int{}
	for i := range s.vars {
		r := set.find(i)
		byRoot[r] = append(byRoot[r], i)
	}
	for i := range s.vars { // in the order of the variables, so that numbers are always the same
		if g := byRoot[i]; g != nil {
			s.groups = append(s.groups, g)
		}
	}
}

// forget drops a variable and says why, unless that has been said.
func forget(v *variable, err error) {
	delete(manifest.Vars, v.name)
	if strings.HasPrefix(v.name, cellstate.WidgetsName) {
		note(v.name, fmt.Sprintf("the widgets of this cell will not react: what they call can't be kept: %v", err))
		return
	}
	if what, ok := settingNames[v.name]; ok {
		note(what, fmt.Sprintf("%s ends with this cell: %v. A function whose name begins with init_ runs in every cell", what, err))
		return
	}
	note(v.name, fmt.Sprintf("%s (%s) is not remembered by later cells: %v", v.name, typeText(v.p.Type().Elem()), err))
}

// note tells the user something once for each name.
func note(name, text string) {
	if manifest.Notes[name] != text {
		fmt.Fprintln(os.Stderr, "note: "+text)
	}
	if name != "" {
		manifest.Notes[name] = text
	}
}

// write writes each group, or leaves it if its file is still right.
func (s *saving) write() {
	s.files, s.used = map[uintptr]string{}, stored.used()
	for _, members := range s.groups {
		var names []string
		var ps []reflect.Value
		for _, i := range members {
			names = append(names, s.vars[i].name)
			ps = append(ps, s.vars[i].p)
		}
		e := s.encoder()
		b, err := e.group(names, ps)
		id := 0
		if err == nil {
			id, err = s.groupFile(b)
		}
		if err != nil {
			for _, i := range members {
				forget(s.vars[i], err)
			}
			continue
		}
		manifest.Groups[id] = Group{Vars: names, Arrays: sorted(e.arrays), Regs: sorted(e.regs), Links: sorted(e.links), Funcs: e.functionIDs(), Shared: sorted(e.shared)}
		for _, i := range members {
			v := s.vars[i]
			t := v.p.Type().Elem()
			manifest.Vars[v.name] = Var{Group: id, Type: source(t), Sig: signature(t), Bytes: s.bytes[i], Data: dataOf(v.p.Elem()), Shape: shapeOf(v.p.Elem()), Types: s.own[i]}
			delete(manifest.Notes, v.name)
		}
	}
}

func (s *saving) encoder() *encoder {
	return &encoder{blocks: s.blocks, states: s.states, short: s.short, maps: s.maps, locks: s.locks, array: s.array}
}

// groupFile returns the number of a file with these bytes: the one that they were read from, or a new one.
func (s *saving) groupFile(b []byte) (int, error) {
	for id, old := range loaded {
		if bytes.Equal(old, b) {
			return id, nil
		}
	}
	manifest.Next++
	id := manifest.Next
	if err := s.claim(len(b)); err != nil {
		return 0, err
	}
	err := writeFile(filepath.Join(dirs[0], groupName(id)), b)
	if err == nil {
		stored.add("0/"+groupName(id), len(b))
		loaded[id] = b
	}
	return id, err
}

// array returns the file of a block, with the start and size of its memory. A block in mapped memory has its file
// already.
func (s *saving) array(b *block) (name string, lo uintptr, size int, err error) {
	if m := mappedAt(b); m != nil {
		return m.name, reflect.ValueOf(m.mem).Pointer(), len(m.mem), nil
	}
	size = int(b.size())
	if name, ok := s.files[b.lo]; ok {
		return name, b.lo, size, nil
	}
	if name, ok := stored.unchanged(b.lo, size); ok {
		s.files[b.lo] = name
		return name, b.lo, size, nil
	}
	if err := s.claim(size); err != nil {
		return "", 0, 0, err
	}
	manifest.Next++
	err = errors.New("there is no folder for it")
	for i, d := range dirs {
		if i < len(dirs)-1 && free(d)/8 < int64(size) {
			continue // a memory disk takes memory from the cells themselves
		}
		name = "a" + strconv.Itoa(manifest.Next)
		if err = writeArray(filepath.Join(d, name), memory(b.lo, size)); err == nil {
			name = strconv.Itoa(i) + "/" + name
			stored.add(name, size)
			stored.place(name, b.lo)
			s.files[b.lo] = name
			return name, b.lo, size, nil
		}
		os.Remove(filepath.Join(d, name))
	}
	return "", 0, 0, err
}

// claim counts n more bytes, unless they would exceed the limit.
func (s *saving) claim(n int) error {
	if s.used+int64(n) > limit {
		return fmt.Errorf("with it (%d kB) the kept values would exceed the limit of %d kB; the environment variable %s sets the limit in bytes", n>>10, limit>>10, LimitVar)
	}
	s.used += int64(n)
	return nil
}
