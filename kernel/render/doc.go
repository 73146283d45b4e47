// Package render turns executed notebooks into a folder of HTML pages, one per notebook, and an index.
//
// Every page is self-contained: style, script, pictures, formulas and the search
// index of the whole course are inside it, and its content security policy lets
// it load nothing else. The same notebooks always give the same bytes.
//
// Cell tags that it knows:
//
//	hide-input   the source is folded, the outputs are shown
//	solution     the cell is folded under "Show a solution"
//	pytorch      the cell is folded under "The same in PyTorch"
//	explanation  the cell is folded under "What you should have seen"
//	recorded     the cell is folded under "On an H100"
//	exercise     the cell is marked as the reader's turn
//	measured     a line below says that the reader's numbers will differ
//
// A folded Markdown cell may be one <details> element as well, for programs that don't know tags; it is folded once.
//
// Not everything in a notebook is trusted equally. Markdown is text: of raw HTML in it
// only harmless elements pass, without event handlers. HTML outputs come from
// a kernel that ran the author's code and are kept; only links to javascript: are
// cut, and tags are balanced so that no output can break the page around it. An output with scripts is put into a
// frame, which can't reach the page or lead it elsewhere. Pictures of Markdown are files in the notebook's folder, of
// kinds that are known; an SVG among them is parsed and keeps what draws.
//
// With Options.Untrusted no author is trusted: outputs are treated as Markdown's raw
// HTML is, an SVG output becomes a picture of its own, nothing is taken from the
// notebook's folder, and the page's policy names the one script that may run.
//
// Every figure needs alternative text. It is taken from the alt
// field of the output's metadata (of the MIME type or of the whole output), or
// from the SVG's aria-label or title. A figure without one is an error, as is a
// formula that package mathml does not know.
package render
