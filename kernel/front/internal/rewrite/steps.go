package rewrite

func (w *work) traceSteps() {}
