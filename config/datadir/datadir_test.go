package datadir

import "testing"

func TestBaseFolder(t *testing.T) {
	for _, c := range []struct {
		system, variable string
		env              map[string]string
		want             string
	}{
		{"linux", "XDG_DATA_HOME", map[string]string{"HOME": "/h"}, "/h/.local/share"},
		{"linux", "XDG_STATE_HOME", map[string]string{"HOME": "/h"}, "/h/.local/state"},
		{"linux", "XDG_STATE_HOME", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s"},
		{"linux", "XDG_DATA_HOME", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "rel"}, "/h/.local/share"},
		{"darwin", "XDG_DATA_HOME", map[string]string{"HOME": "/h"}, "/h/Library/Application Support"},
		{"windows", "XDG_DATA_HOME", map[string]string{"LOCALAPPDATA": "/l"}, "/l"},
		{"windows", "XDG_STATE_HOME", map[string]string{"USERPROFILE": "/u"}, "/u/AppData/Local"},
		{"linux", "XDG_CACHE_HOME", map[string]string{"HOME": "/h"}, "/h/.cache"},
		{"linux", "XDG_CACHE_HOME", map[string]string{"HOME": "/h", "XDG_CACHE_HOME": "/c"}, "/c"},
		{"darwin", "XDG_CACHE_HOME", map[string]string{"HOME": "/h"}, "/h/Library/Caches"},
		{"windows", "XDG_CACHE_HOME", map[string]string{"LOCALAPPDATA": "/l"}, "/l"},
		{"linux", "XDG_DATA_HOME", nil, ""},
	} {
		got, err := baseFolder(func(name string) string { return c.env[name] }, c.variable, c.system)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %s %v: %q, %v; want %q", c.system, c.variable, c.env, got, err, c.want)
		}
	}
}
