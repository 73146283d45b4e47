//go:build tools

// Package uses names what cells may import from GoNB: its display and widget protocol. The module belongs to the
// workspace in which cells are compiled, so that those packages are at hand, in the version of the pinned GoNB, without
// being requirements of the lessons' module.
package uses

import (
	_ "github.com/janpfeifer/gonb/cache"
	_ "github.com/janpfeifer/gonb/gonbui"
	_ "github.com/janpfeifer/gonb/gonbui/comms"
	_ "github.com/janpfeifer/gonb/gonbui/dom"
	_ "github.com/janpfeifer/gonb/gonbui/plotly"
	_ "github.com/janpfeifer/gonb/gonbui/protocol"
	_ "github.com/janpfeifer/gonb/gonbui/wasm"
	_ "github.com/janpfeifer/gonb/gonbui/widgets"
)
