package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// gnuBytes are the instructions of the kernel for tiles as the GNU assembler 2.40 writes them.
var gnuBytes = map[string]string{
	"LDTILECFG (R14)":             "c4c2784906",     // ldtilecfg (%r14)
	"TILELOADD (R10)(AX*1) T0":    "c4c27b4b0402",   // tileloadd (%r10,%rax,1),%tmm0
	"TILELOADD 64(R10)(AX*1) T1":  "c4c27b4b4c0240", // tileloadd 0x40(%r10,%rax,1),%tmm1
	"TILELOADD (R11)(AX*1) T2":    "c4c27b4b1403",   // tileloadd (%r11,%rax,1),%tmm2
	"TILELOADD 64(R11)(AX*1) T3":  "c4c27b4b5c0340", // tileloadd 0x40(%r11,%rax,1),%tmm3
	"TILEZERO T0":                 "c4e27b49c0",     // tilezero %tmm0
	"TILEZERO T1":                 "c4e27b49c8",     // tilezero %tmm1
	"TILEZERO T2":                 "c4e27b49d0",     // tilezero %tmm2
	"TILEZERO T3":                 "c4e27b49d8",     // tilezero %tmm3
	"TILELOADD (SI)(R8*1) T4":     "c4a27b4b2406",   // tileloadd (%rsi,%r8,1),%tmm4
	"TILELOADD (DX)(R12*1) T6":    "c4a27b4b3422",   // tileloadd (%rdx,%r12,1),%tmm6
	"TILELOADD 64(DX)(R12*1) T7":  "c4a27b4b7c2240", // tileloadd 0x40(%rdx,%r12,1),%tmm7
	"TILELOADD (R15)(R8*1) T5":    "c4827b4b2c07",   // tileloadd (%r15,%r8,1),%tmm5
	"TDPBF16PS T6, T4, T0":        "c4e24a5cc4",     // tdpbf16ps %tmm6,%tmm4,%tmm0
	"TDPBF16PS T7, T4, T1":        "c4e2425ccc",     // tdpbf16ps %tmm7,%tmm4,%tmm1
	"TDPBF16PS T6, T5, T2":        "c4e24a5cd5",     // tdpbf16ps %tmm6,%tmm5,%tmm2
	"TDPBF16PS T7, T5, T3":        "c4e2425cdd",     // tdpbf16ps %tmm7,%tmm5,%tmm3
	"TILESTORED (R10)(AX*1) T0":   "c4c27a4b0402",   // tilestored %tmm0,(%r10,%rax,1)
	"TILESTORED 64(R10)(AX*1) T1": "c4c27a4b4c0240", // tilestored %tmm1,0x40(%r10,%rax,1)
	"TILESTORED (R11)(AX*1) T2":   "c4c27a4b1403",   // tilestored %tmm2,(%r11,%rax,1)
	"TILESTORED 64(R11)(AX*1) T3": "c4c27a4b5c0340", // tilestored %tmm3,0x40(%r11,%rax,1)
	"TILERELEASE":                 "c4e27849c0",     // tilerelease
}

var byteLine = regexp.MustCompile(`\$0x([0-9a-f]{2})`)

// kernelLines returns the text of the kernel for tiles, as the generator writes it.
func kernelLines() []string {
	a := new(asm)
	amxKernels(a)
	_, text, _ := strings.Cut(a.assembly(), "TEXT ·tilesBF16AMX")
	return strings.Split(text, "\n")[1:]
}

func TestTileInstructionsAreThoseOfTheGNUAssembler(t *testing.T) {
	seen := 0
	for _, line := range kernelLines() {
		code, text, found := strings.Cut(line, " // ")
		if !found {
			continue
		}
		bytes := ""
		for _, b := range byteLine.FindAllStringSubmatch(code, -1) {
			bytes += b[1]
		}
		if want := gnuBytes[text]; bytes != want {
			t.Errorf("%s is %s, want %q", text, bytes, want)
		}
		seen++
	}
	if seen != len(gnuBytes) {
		t.Errorf("%d instructions on tiles, want %d", seen, len(gnuBytes))
	}
}

// machine runs the kernel for tiles: the few instructions that are in it, from the text and the
// bytes that the generator writes.
type machine struct {
	memory     []byte // from address 0 on
	args       int64  // address of the arguments
	config     int64  // address of the configuration
	r          [16]int64
	zero       bool // what the last operation gave
	tiles      [8][16][64]byte
	configured bool
	steps      int
}

func (m *machine) run(lines []string) error {
	labels := map[string]int{}
	for i, line := range lines {
		if name, ok := strings.CutSuffix(line, ":"); ok {
			labels[name] = i
		}
	}
	for at := 0; at < len(lines); at++ {
		if m.steps++; m.steps > 100000 {
			return fmt.Errorf("no end")
		}
		line := strings.TrimSpace(lines[at])
		if line == "" || strings.HasSuffix(line, ":") || strings.HasPrefix(line, "PCALIGN") {
			continue
		}
		if strings.HasPrefix(line, "BYTE") {
			var code []byte
			for _, b := range byteLine.FindAllStringSubmatch(strings.Split(line, " // ")[0], -1) {
				v, _ := strconv.ParseUint(b[1], 16, 8)
				code = append(code, byte(v))
			}
			if err := m.tile(code); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		operands := strings.Split(rest, ", ")
		to := operands[len(operands)-1]
		switch name {
		case "RET":
			return nil
		case "JMP":
			at = labels[to]
		case "JEQ":
			if m.zero {
				at = labels[to]
			}
		case "JNZ":
			if !m.zero {
				at = labels[to]
			}
		case "MOVQ":
			m.r[registerNumbers[to]] = m.value(operands[0])
		case "LEAQ":
			if operands[0] != "·amxConfig<>(SB)" {
				return fmt.Errorf("unknown operand in %q", line)
			}
			m.r[registerNumbers[to]] = m.config
		case "ADDQ", "SHLQ", "DECQ", "TESTQ":
			r, v := &m.r[registerNumbers[to]], int64(1)
			if len(operands) == 2 {
				v = m.value(operands[0])
			}
			result := map[string]int64{"ADDQ": *r + v, "SHLQ": *r << (v & 63), "DECQ": *r - 1, "TESTQ": *r & v}[name]
			m.zero = result == 0
			if name != "TESTQ" {
				*r = result
			}
		default:
			return fmt.Errorf("unknown instruction %q", line)
		}
	}
	return fmt.Errorf("no RET")
}

// value reads a register, a constant, the argument or memory.
func (m *machine) value(operand string) int64 {
	if n, ok := strings.CutPrefix(operand, "$"); ok {
		v, err := strconv.ParseInt(n, 0, 64)
		if err != nil {
			panic(err)
		}
		return v
	}
	if operand == "args+0(FP)" {
		return m.args
	}
	if displacement, base, ok := strings.Cut(strings.TrimSuffix(operand, ")"), "("); ok {
		d, _ := strconv.ParseInt("0"+displacement, 10, 64)
		return int64(binary.LittleEndian.Uint64(m.memory[m.r[registerNumbers[base]]+d:]))
	}
	n, ok := registerNumbers[operand]
	if !ok {
		panic("unknown operand " + operand)
	}
	return m.r[n]
}

// tile decodes and runs an instruction on tiles, after the manual: VEX, opcode, ModRM, SIB, displacement.
func (m *machine) tile(code []byte) error {
	if code[0] != 0xc4 || code[1]&31 != 2 || code[2]&0x84 != 0 {
		return fmt.Errorf("no VEX prefix of map 0F38, 128 bits and W 0")
	}
	index, base := int(^code[1]>>6&1)<<3, int(^code[1]>>5&1)<<3
	v, prefix, op := int(^code[2]>>3&15), code[2]&3, code[3]
	mod, reg, rm := code[4]>>6, int(code[4]>>3&7), int(code[4]&7)
	if code[1]&0x80 == 0 {
		return fmt.Errorf("a register above 7")
	}
	var address, stride int64
	length := 5
	if mod != 3 {
		if rm == 4 {
			sib := code[5]
			index, base = index|int(sib>>3&7), base|int(sib&7)
			stride = m.r[index] << (sib >> 6)
			length++
		} else {
			base |= rm
		}
		address = m.r[base]
		if mod == 1 {
			address += int64(int8(code[length]))
			length++
		}
	}
	if length != len(code) || mod == 2 {
		return fmt.Errorf("%d bytes, of which %d are understood", len(code), length)
	}
	kind := [3]int{int(prefix), int(op), int(mod / 3)}
	if !m.configured && kind != [3]int{0, 0x49, 0} {
		return fmt.Errorf("tiles are not configured")
	}
	switch kind {
	case [3]int{0, 0x49, 0}: // LDTILECFG
		want := make([]byte, 64)
		want[0] = 1
		for i := range 8 {
			want[16+2*i], want[48+i] = 64, 16
		}
		if string(m.memory[address:address+64]) != string(want) {
			return fmt.Errorf("configuration % x", m.memory[address:address+64])
		}
		m.configured = true
	case [3]int{0, 0x49, 1}: // TILERELEASE
		m.configured = false
	case [3]int{3, 0x49, 1}: // TILEZERO
		m.tiles[reg] = [16][64]byte{}
	case [3]int{3, 0x4b, 0}: // TILELOADD
		for row := range int64(16) {
			copy(m.tiles[reg][row][:], m.memory[address+row*stride:][:64])
		}
	case [3]int{2, 0x4b, 0}: // TILESTORED
		for row := range int64(16) {
			copy(m.memory[address+row*stride:][:64], m.tiles[reg][row][:])
		}
	case [3]int{2, 0x5c, 1}: // TDPBF16PS
		half := func(tile, row, n int) float32 {
			return math.Float32frombits(uint32(binary.LittleEndian.Uint16(m.tiles[tile][row][2*n:])) << 16)
		}
		for i := range 16 {
			for j := range 16 {
				to := m.tiles[reg][i][4*j:]
				var even, odd float32
				for k := range 16 {
					even += half(rm, i, 2*k) * half(v, k, 2*j)
					odd += half(rm, i, 2*k+1) * half(v, k, 2*j+1)
				}
				sum := math.Float32frombits(binary.LittleEndian.Uint32(to)) + (even + odd)
				binary.LittleEndian.PutUint32(to, math.Float32bits(sum))
			}
		}
	default:
		return fmt.Errorf("unknown instruction: prefix %d, opcode %#x, mod %d", prefix, op, mod)
	}
	return nil
}

// TestKernelForTiles runs the kernel on a machine made of Go, and compares with a product that is computed plainly. The
// numbers are whole, so that all sums are exact.
func TestKernelForTiles(t *testing.T) {
	for _, k := range []int{1, 2, 3, 33} { // steps
		for _, tiles := range []int{1, 3} { // with one, rows of A lie far apart
			for _, add := range []uint64{0, 1} {
				const config, argsAt, aAt = 64, 128, 1024
				aRow, aStep := 64, amxStep
				if tiles == 1 {
					aRow, aStep = 64*k+12, 64
				}
				cRow := 128*tiles + 20
				bAt := aAt + 32*aRow + k*amxStep
				cAt := bAt + tiles*k*amxStep
				m := &machine{memory: make([]byte, cAt+32*cRow+64), args: argsAt, config: config}
				m.memory[config] = 1
				for i := range 8 {
					m.memory[config+16+2*i], m.memory[config+48+i] = 64, 16
				}
				for offset, v := range map[int]int{amxA: aAt, amxARow: aRow, amxAStep: aStep, amxB: bAt, amxC: cAt, amxCRow: cRow, amxK: k, amxTiles: tiles, amxAdd: int(add)} {
					binary.LittleEndian.PutUint64(m.memory[argsAt+offset:], uint64(v))
				}
				a := func(i, p int) float32 { return float32((i*5+p*3)%7 - 3) }
				b := func(p, j int) float32 { return float32((p*2+j*11)%5 - 2) }
				half := func(at int, x float32) {
					binary.LittleEndian.PutUint16(m.memory[at:], uint16(math.Float32bits(x)>>16))
				}
				for p := range 32 * k {
					for i := range 32 {
						half(aAt+p/32*aStep+i*aRow+p%32*2, a(i, p))
					}
					for j := range 32 * tiles {
						half(bAt+(j/32*k+p/32)*amxStep+p%32/2*128+j%32*4+p%2*2, b(p, j))
					}
				}
				c := func(i, j int) []byte { return m.memory[cAt+i*cRow+4*j:][:4] }
				for i := range 32 {
					for j := range 32*tiles + 5 { // five beyond the tiles
						binary.LittleEndian.PutUint32(c(i, j), math.Float32bits(float32(i+j)))
					}
				}
				if err := m.run(kernelLines()); err != nil {
					t.Fatal(err)
				}
				if m.configured {
					t.Fatal("tiles are not released")
				}
				for i := range 32 {
					for j := range 32*tiles + 5 {
						want := float32(0)
						if add == 1 || j >= 32*tiles {
							want = float32(i + j)
						}
						for p := range 32 * k {
							if j < 32*tiles {
								want += a(i, p) * b(p, j)
							}
						}
						if got := math.Float32frombits(binary.LittleEndian.Uint32(c(i, j))); got != want {
							t.Fatalf("k %d, %d tiles, add %d: element (%d, %d) is %v, want %v", k, tiles, add, i, j, got, want)
						}
					}
				}
			}
		}
	}
}
