package main

import (
	"runtime/debug"
	"testing"
)

func TestBuildOf(t *testing.T) {
	tests := map[string]struct {
		info *debug.BuildInfo
		want build
	}{
		"nothing known": {nil, build{"devel", "unknown"}},
		"without version control": {
			&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}},
			build{"devel", "unknown"},
		},
		"a release": {
			&debug.BuildInfo{
				Main:     debug.Module{Version: "v1.2.3"},
				Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}},
			},
			build{"v1.2.3", "abc"},
		},
		"a changed work tree": {
			&debug.BuildInfo{
				Main:     debug.Module{Version: "v1.2.4-0.2026"},
				Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}},
			},
			build{"v1.2.4-0.2026", "abc+changes"},
		},
	}
	for name, tt := range tests {
		if got := buildOf(tt.info, tt.info != nil); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
