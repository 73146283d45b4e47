// Exercise 20.4, by Lectern. (e7d8c5a779ea)

package mine

import (
	"encoding/binary"
	"math"
)

// Save is the function save of exercise 20.4.
func Save(names []string, values [][]float64) []byte {
	var file []byte
	for i, name := range names {
		file = binary.LittleEndian.AppendUint32(file, uint32(len(name)))
		file = append(file, name...)
		n := uint32(len(values[i]))
		file = binary.LittleEndian.AppendUint32(file, n)
		for _, v := range values[i] {
			bits := math.Float64bits(v)
			file = binary.LittleEndian.AppendUint64(file, bits)
		}
	}
	return file
}
