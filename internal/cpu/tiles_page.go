//go:build js && lectern_cell

package cpu

import (
	"encoding/binary"
	"syscall/js"
	"unsafe"
)

// Go's compiler writes no vector instructions for WebAssembly, so a program in a page assembles its kernels itself, as
// a separate module that works in the program's memory. The page runs that module: see kernel/live/assets/machine.js.
// A browser without such instructions refuses the module.

// runTile calls one of the two kernels: of float32, or of float64 if wide is 1.
//
//go:wasmimport lectern tile
func runTile(args unsafe.Pointer, rows, wide int32)

// detect asks the page whether the kernels run there.
func detect() []Level {
	assemble := js.Global().Get("lecternAssemble")
	if assemble.IsUndefined() {
		return []Level{Generic}
	}
	module := tileModule()
	bytes := js.Global().Get("Uint8Array").New(len(module))
	js.CopyBytesToJS(bytes, module)
	if !assemble.Invoke(bytes).Bool() {
		return []Level{Generic}
	}
	return []Level{Generic, SIMD128}
}

var tiles32 = [...]tile{
	Generic: {2, 4, 4, tileGo[float32]},
	SIMD128: {simdRows, 8, 8, tileSIMD[float32]},
}

var tiles64 = [...]tile{
	Generic: {2, 4, 4, tileGo[float64]},
	SIMD128: {simdRows, 4, 4, tileSIMD[float64]},
}

func tileSIMD[T float32 | float64](x *tileArgs, rows int) {
	if unsafe.Sizeof(T(0)) == 8 {
		inWhole[T](x, rows, 4, func(x *tileArgs, rows int) { runTile(unsafe.Pointer(x), int32(rows), 1) })
	} else {
		inWhole[T](x, rows, 8, func(x *tileArgs, rows int) { runTile(unsafe.Pointer(x), int32(rows), 0) })
	}
}

// simdRows is how many rows a tile has. With two vectors for each there are twelve vectors of sums, which leaves
// enough registers for a step.
const simdRows = 6

// Instructions of WebAssembly; those for vectors follow a vectorPrefix.
const (
	opLoop, opEnd, opBranchIf              = 0x03, 0x0b, 0x0d
	opIf                                   = 0x04
	opGet, opSet                           = 0x20, 0x21
	opLoad, opConst                        = 0x28, 0x41
	opLess, opAdd, opSub, opMul            = 0x49, 0x6a, 0x6b, 0x6c
	noType                                 = 0x40
	vectorPrefix                           = 0xfd
	vLoad, vStore                          = 0, 11
	vSplat32, vSplat64                     = 9, 10 // load a number into all lanes
	vAdd32, vMul32, vAdd64, vMul64         = 228, 230, 240, 242
	typeI32, typeV128                      = 0x7f, 0x7b
	sectionTypes, sectionImports           = 1, 2
	sectionFunctions, sectionExports       = 3, 7
	sectionCode                            = 10
	kindFunction, kindMemory, typeFunction = 0, 2, 0x60
)

// tileModule is a module that imports a memory and exports the kernels as tile32 and tile64.
func tileModule() []byte {
	m := wasm("\x00asm\x01\x00\x00\x00")
	m.section(sectionTypes, wasm{1, typeFunction, 2, typeI32, typeI32, 0})
	m.section(sectionImports, wasm{1}.text("lectern").text("memory").add(kindMemory, 0, 0))
	m.section(sectionFunctions, wasm{2, 0, 0})
	m.section(sectionExports, wasm{2}.text("tile32").add(kindFunction, 0).text("tile64").add(kindFunction, 1))
	code := wasm{2}
	for _, body := range []wasm{tileCode(4, vSplat32, vAdd32, vMul32), tileCode(8, vSplat64, vAdd64, vMul64)} {
		code = append(code.number(len(body)), body...)
	}
	m.section(sectionCode, code)
	return m
}

// wasm is a part of a module, as it is written.
type wasm []byte

func (w wasm) add(b ...byte) wasm { return append(w, b...) }

// number writes an unsigned number.
func (w wasm) number(n int) wasm { return binary.AppendUvarint(w, uint64(n)) }

func (w wasm) text(s string) wasm { return append(w.number(len(s)), s...) }

func (w *wasm) section(kind byte, content wasm) {
	*w = append(w.add(kind).number(len(content)), content...)
}

// tileCode is the kernel for numbers of size bytes: function(args, rows), where args are tileArgs and B is read in two
// whole vectors.
func tileCode(size, splat, add, mul int) wasm {
	const ( // variables; a row's pointer into A is pointer+row
		args, rows, b, aCol, bStride, k, step, pointer = 0, 1, 2, 3, 4, 5, 6, 7
		left                                           = pointer + simdRows // vectors from here on
		right                                          = left + 1
		sum                                            = right + 2
	)
	w := wasm{2}.number(left - 2).add(typeI32).number(sum + 2*simdRows - left).add(typeV128)
	field := func(offset uintptr) { w = w.add(opGet, args, opLoad, 2).number(int(offset)) }
	set := func(variable byte, offset uintptr) { field(offset); w = w.add(opSet, variable) }
	// pointers puts the address of each row into its pointer. Missing rows are replaced by the last one.
	pointers := func(first, stride uintptr) {
		set(step, stride)
		field(first)
		w = w.add(opSet, pointer)
		for i := byte(1); i < simdRows; i++ {
			w = w.add(opGet, pointer+i-1, opGet, step, opConst, i, opGet, rows, opLess, opMul, opAdd, opSet, pointer+i)
		}
	}
	forward := func(variable, by byte) { w = w.add(opGet, variable, opGet, by, opAdd, opSet, variable) }
	vector := func(op int, operand ...int) {
		w = w.add(vectorPrefix).number(op)
		for _, n := range operand { // alignment and offset
			w = w.number(n)
		}
	}
	get := func(variable int) { w = w.add(opGet, byte(variable)) }
	term := func() {
		for v := range 2 {
			get(b)
			vector(vLoad, 2, 16*v)
			w = w.add(opSet, byte(right+v))
		}
		forward(b, bStride)
		for i := range simdRows {
			get(pointer + i)
			vector(splat, 2, 0)
			w = w.add(opSet, left)
			forward(byte(pointer+i), aCol)
			for v := range 2 {
				get(sum + 2*i + v)
				get(left)
				get(right + v)
				vector(mul)
				vector(add)
				w = w.add(opSet, byte(sum+2*i+v))
			}
		}
	}
	// times repeats n terms while there are that many.
	times := func(n byte) {
		w = w.add(opConst, n-1, opGet, k, opLess, opIf, noType, opLoop, noType)
		for range n {
			term()
		}
		w = w.add(opGet, k, opConst, n, opSub, opSet, k, opConst, n-1, opGet, k, opLess, opBranchIf, 0, opEnd, opEnd)
	}

	var x tileArgs
	set(b, unsafe.Offsetof(x.b))
	set(aCol, unsafe.Offsetof(x.aCol))
	set(bStride, unsafe.Offsetof(x.bStride))
	set(k, unsafe.Offsetof(x.k))
	pointers(unsafe.Offsetof(x.a), unsafe.Offsetof(x.aRow))
	times(4)
	times(1)
	pointers(unsafe.Offsetof(x.c), unsafe.Offsetof(x.cStride))
	field(unsafe.Offsetof(x.add))
	w = w.add(opIf, noType)
	for i := range 2 * simdRows { // all before the first is stored, as rows may be there twice
		get(sum + i)
		get(pointer + i/2)
		vector(vLoad, 2, i%2*16)
		vector(add)
		w = w.add(opSet, byte(sum+i))
	}
	w = w.add(opEnd)
	for i := range 2 * simdRows {
		get(pointer + i/2)
		get(sum + i)
		vector(vStore, 2, i%2*16)
	}
	return w.add(opEnd)
}
