// Exercise 20.5, by Lectern. (184335c86ab1)

package mine

import (
	"encoding/binary"
	"math"
	"slices"
)

// Load is the function load of exercise 20.5.
func Load(file []byte) (names []string, values [][]float64, ok bool) {
	u32, u64, ok := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64, true
	cut := func(size int) (piece []byte) { // a count, and what it counts
		ok = ok && len(file) >= 4 && int(u32(file)) <= (len(file)-4)/size
		if ok {
			end := 4 + int(u32(file))*size
			piece, file = file[4:end], file[end:]
		}
		return piece
	}
	for len(file) > 0 {
		name, numbers := cut(1), cut(8)
		if !ok {
			return nil, nil, false
		}
		list := []float64{}
		for b := range slices.Chunk(numbers, 8) {
			list = append(list, math.Float64frombits(u64(b)))
		}
		names, values = append(names, string(name)), append(values, list)
	}
	return names, values, true
}
