package numbers

import (
	"math"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/x448/float16"
)

// Code returns the code of x as a type stores it in memory, rounded as in conversions.
func Code(d device.Type, bytes int, x float64) uint64 {
	switch d {
	case device.Float64:
		return math.Float64bits(x)
	case device.Float32:
		return uint64(math.Float32bits(float32(x)))
	case device.Float16:
		return uint64(float16.Fromfloat32(float32(x)).Bits())
	}
	var code [8]byte
	Storer[float64](d)(unsafe.Pointer(&code), []float64{x})
	return InMemory(unsafe.Pointer(&code), bytes)
}

// InMemory reads a code of several bytes as it lies in memory.
func InMemory(p unsafe.Pointer, bytes int) uint64 {
	switch bytes {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// Value returns the number for a code.
func Value(d device.Type, code uint64) float64 {
	switch d {
	case device.Float64:
		return math.Float64frombits(code)
	case device.Float32:
		return float64(math.Float32frombits(uint32(code)))
	case device.Float16:
		return float64(float16.Frombits(uint16(code)).Float32())
	case device.BFloat16:
		return float64(BFloat16Value(uint16(code)))
	case device.Float8E4M3:
		return float64(E4M3Values[code])
	case device.Float8E5M2:
		return float64(E5M2Values[code])
	case device.Int64:
		return float64(int64(code))
	case device.Int32:
		return float64(int32(code))
	case device.Int16:
		return float64(int16(code))
	case device.Int8:
		return float64(int8(code))
	}
	return float64(uint8(code))
}
