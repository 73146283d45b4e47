// Package optim changes parameters so that a loss becomes smaller: optimizers,
// learning-rate schedules, gradient clipping and loss scaling.
//
//	opt := optim.NewAdamW(nn.Parameters(model), 1e-3, optim.WeightDecay(0.1))
//	for x, y := range batches {
//		nn.MSE(model.Forward(x), y).Backward()
//		optim.ClipGradNorm(nn.Parameters(model), 1)
//		opt.Step()
//		opt.ZeroGrad(true)
//	}
//
// Each algorithm is the previous one plus one idea: SGD follows the gradient,
// momentum averages it, AdaGrad divides each component by how large it has been,
// RMSProp forgets about the distant past, Adam has both averages, AdamW decays
// weights apart from the gradient. Their formulas are beside their code, in
// algorithms.go.
//
// An update is one pass over the memory of a parameter, its gradient and its state, on
// all cores. Parameters of small floats are computed in float32 and have float32
// state; [MasterWeights] also keeps a float32 copy of them, without which steps
// smaller than half of the last digit are lost.
//
// A Step panics if a parameter has no gradient, and names it, since that nearly always
// means that something is wrong; [Optimizer.AllowUnused] makes it skip such
// parameters. Mistakes of the caller are a [*tensor.Error]: of kind tensor.ErrValue
// for settings, tensor.ErrGrad for gradients that are missing.
package optim
