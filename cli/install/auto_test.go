package install

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/harness"
)

// "autoupdate" asks for releases at most once a day, and not at all by default.
func TestAutoUpdate_Notify(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		ext := ".tar.gz"
		if runtime.GOOS == "windows" {
			ext = ".zip"
		}
		_, _ = io.WriteString(w, strings.Repeat("0", 64)+"  lathe_2.0.0_"+runtime.GOOS+"_"+runtime.GOARCH+ext+"\n")
	}))
	t.Cleanup(server.Close)
	home, now := t.TempDir(), time.Unix(1_800_000_000, 0)
	env := map[string]string{
		"HOME": home, "USERPROFILE": home, "LATHE_DATA": filepath.Join(home, "data"), "XDG_CONFIG_HOME": filepath.Join(home, "config"), "LATHE_RELEASES_URL": server.URL,
	}
	a := cli.NewApp(harness.Host{
		Dir: home, Version: "1.9.0", Env: func(name string) string { return env[name] }, Environ: func() []string { return nil },
		Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Notices: io.Discard,
	})
	for _, c := range []struct {
		settings, disable, version string
		later                      time.Duration
		told                       bool
		asked                      int
	}{
		{`{}`, "", "1.9.0", 0, false, 0},
		{`{"autoupdate": false}`, "", "1.9.0", 0, false, 0},
		{`{"autoupdate": "notify"}`, "1", "1.9.0", 0, false, 0},
		{`{"autoupdate": "notify"}`, "", "1.9.0", 0, true, 1},
		{`{"autoupdate": "notify"}`, "", "1.9.0", time.Hour, true, 1},
		{`{"autoupdate": true}`, "", "2.0.0", time.Hour, false, 1},
		{`{"autoupdate": true}`, "", "2.0.0", 23 * time.Hour, false, 2},
		{`{"autoupdate": "notify"}`, "", "2.1.0", 25 * time.Hour, false, 3},
	} {
		path := filepath.Join(home, "config", "lathe", "lathe.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		env["LATHE_DISABLE_AUTOUPDATE"], a.Version, now = c.disable, c.version, now.Add(c.later)
		f, err := autoUpdate(t.Context(), a)
		told, _ := f.(*lathe.UpdateAvailable)
		if err != nil || (told != nil) != c.told || c.told && told.Version != "2.0.0" || asked != c.asked {
			t.Errorf("%+v: %+v, %v, asked %d times", c, f, err, asked)
		}
	}
}
