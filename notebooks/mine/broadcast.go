// Exercise 06.4, by Lectern. (5bbf8cadba6d)

package mine

// Broadcast is the function broadcast of exercise 06.4.
func Broadcast(a, b []int) []int {
	shape := make([]int, max(len(a), len(b)))
	for i := range shape { // counts from the last axis back
		sizeA, sizeB := 1, 1
		if i < len(a) {
			sizeA = a[len(a)-1-i]
		}
		if i < len(b) {
			sizeB = b[len(b)-1-i]
		}
		if sizeA == 1 {
			sizeA = sizeB
		}
		if sizeB != 1 && sizeB != sizeA {
			return nil
		}
		shape[len(shape)-1-i] = sizeA
	}
	return shape
}
