// Package plots draws charts: loss curves, schedules, rooflines, histograms. It
// builds on gonum/plot for axes and layout and writes the SVG itself, so that
// text and axes take the color of the page, light or dark. Diagrams, which need no
// axes, are in package diagram, which is cheaper for a notebook cell to link.
//
// Every chart is a [diagram.Figure]: a notebook shows it, its SVG method returns it as
// a file, and its title describes it for readers who can't see it. Series differ in
// color and in the dashes of their lines. The same values always give the same bytes.
//
// For a curve that grows while a model trains, redraw the chart in the same display:
//
//	live := show.NewLive()
//	for step := range steps {
//		...
//		losses = append(losses, loss.Item())
//		if step%10 == 0 {
//			live.Value(plots.Loss(plots.Run("lr 0.1", losses)))
//		}
//	}
package plots
