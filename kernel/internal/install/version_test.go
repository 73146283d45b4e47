package install

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, tt := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{}, "devel"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "devel"},
		{debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, "v0.1.0"},
		{debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.20261123000000-c60ecf34d1a2+dirty"}}, "v0.1.1-0.20261123000000-c60ecf34d1a2+dirty"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{setting("vcs.revision", "c60ecf34d1a2b3c4d5"), setting("vcs.modified", "true")}}, "devel-c60ecf34d1a2+dirty"},
		{debug.BuildInfo{Settings: []debug.BuildSetting{setting("vcs.revision", "c60e"), setting("vcs.modified", "false")}}, "devel-c60e"},
	} {
		if got := versionOf(&tt.info); got != tt.want {
			t.Errorf("%+v is %s, want %s", tt.info, got, tt.want)
		}
	}
}
