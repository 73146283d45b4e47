package accounting

// Intensity returns the arithmetic intensity of a computation: FLOPs per byte
// moved. 0 bytes give 0.
func Intensity(flops, bytes float64) float64 {
	if bytes == 0 {
		return 0
	}
	return flops / bytes
}
