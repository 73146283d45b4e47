// Package accounting says what a computation costs: floating-point operations,
// bytes, memory and time, predicted by a formula and measured beside it.
//
// # Where things are
//
//   - count.go: [Count] runs a function and reports the FLOPs and bytes of every
//     operation, forward and backward separately.
//   - memory.go: [Track] follows the bytes held, by their purpose:
//     parameters, gradients, optimizer state, activations, data.
//   - napkin.go: the estimates that fit on a napkin - days of training, the
//     largest model, a compute-optimal one, cost - each with its derivation.
//     transformer.go does the same for a Transformer.
//   - hardware.go: what manufacturers state; peak.go: what this computer's own
//     floating-point units can do, measured.
//   - timing.go: [TimeMatmul] and [MFU]; roofline.go: arithmetic intensity.
//
// FLOPs (a count) are numbers of type int or float64; FLOP/s (a speed) are
// float64 and their names say PerSecond. A multiplication and an addition are
// two FLOPs; so is one fused multiply-add.
//
// Results have a String method that shows how they came about, and an HTML method for
// notebooks.
package accounting
