package install

import (
	"runtime/debug"
	"strings"
)

// stamped is set by the linker in programs that setup builds: they are as new as the command that builds them.
var stamped string

// VersionFlag is the linker's flag that tells another program this version.
func VersionFlag() string {
	return "-X=github.com/lectern-go/lectern/kernel/internal/install.stamped=" + Version()
}

// Version is the version of the module that the program was built from, such as v0.1.0, or devel where Go hasn't
// recorded it, as go run doesn't.
func Version() string {
	if stamped != "" {
		return stamped
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; strings.HasPrefix(v, "v") {
		return v
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = "-" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	return "devel" + revision + dirty
}
