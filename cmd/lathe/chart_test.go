package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/cli/install"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/cli/stats"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// A chart is never wider than its screen, whatever is in it, and names give way last.
func TestChart_Width(t *testing.T) {
	c := layout.Chart{Head: []string{"Name", "First", "Second", "Third"}, Rows: []layout.Bar{
		{Name: "a-rather-long-name-of-a-thing/日本語のモデル", Cells: []string{"1", "1,234,567", "12 (3%)"}, Value: 3},
		{Name: "b", Cells: []string{"$1,234.56", "1", ""}, Value: 0.001},
		{Name: "none", Cells: []string{"0", "0", "0"}, Value: 0},
	}}
	for screen := 20; screen <= 200; screen++ {
		var out bytes.Buffer
		if err := c.Write(&out, screen, func(s string) string { return s }); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if termtext.Columns(line) > screen {
				t.Fatalf("%d columns on a screen of %d: %s", termtext.Columns(line), screen, line)
			}
		}
		if got := strings.Count(out.String(), "█"); screen >= 40 && (got < layout.MinBar || got > layout.MaxBar) {
			t.Errorf("the longest bar has %d columns on a screen of %d:\n%s", got, screen, out.String())
		}
		if screen >= 40 && !strings.Contains(out.String(), "▏") {
			t.Errorf("a little is not shown on a screen of %d:\n%s", screen, out.String())
		}
	}
}

func TestChart_Figures(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 9999: "9,999", 10_000: "10.0K", 99_949: "99.9K", 99_950: "100K", 999_499: "999K", 999_500: "1.0M", 12_345_678: "12.3M", 5e15: "5000T"} {
		if got := stats.FormatCount(n); got != want {
			t.Errorf("short(%d) is %s, not %s", n, got, want)
		}
	}
	for share, want := range map[float64]string{0: "0%", 0.001: "0.1%", 0.0099: "1%", 0.5: "50%", 1: "100%"} {
		if got := stats.FormatPercent(share); got != want {
			t.Errorf("percent(%g) is %s, not %s", share, got, want)
		}
	}
	for ms, want := range map[int64]string{0: "0s", 12: "12ms", 1234: "1.2s", 61_000: "1m1s", 7_260_000: "2h01m", 4_000_000_000: "1,111h06m"} {
		if got := stats.FormatDuration(ms); got != want {
			t.Errorf("took(%d) is %s, not %s", ms, got, want)
		}
	}
}

// The location of a program shows how it was installed.
func TestUpgrade_Placed(t *testing.T) {
	needUnix(t)
	checkout, other := t.TempDir(), t.TempDir()
	for dir, module := range map[string]string{checkout: install.ModulePath, other: "example.test/other"} {
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+module+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, built, variable, method, upgrade string
	}{
		{"/home/dev/go/bin/lathe", "(devel)", "", "go", "go install " + install.ModulePath + "/cmd/lathe@v1.2.3"},
		{"/opt/tools/lathe", "(devel)", "GOBIN=/opt/tools", "go", "go install"},
		{"/opt/gopath/bin/lathe", "(devel)", "GOPATH=/x:/opt/gopath", "go", "go install"},
		{"/opt/tools/lathe", "v0.3.0", "", "go", "go install"},
		{"/opt/tools/lathe", "(devel)", "", "binary", "lathe upgrade 1.2.3"},
		{"/opt/tools/lathe", "", "GOBIN=tools", "binary", "lathe upgrade 1.2.3"},
		{"/opt/homebrew/bin/lathe", "", "", "brew", "brew upgrade lathe"},
		{"/usr/local/Cellar/lathe/1/bin/lathe", "v1", "", "brew", "brew upgrade lathe"},
		{"/nix/store/abc-lathe/bin/lathe", "", "", "nix", "nix profile upgrade lathe"},
		{"/usr/bin/lathe", "v1", "", "package", "use your package manager"},
		{"/usr/bin/lathe", "", "/var/lib/dpkg/info/lathe.list=x", "deb", "curl -fLO URL && sudo apt install ./FILE"},
		{"/usr/bin/lathe", "", "/var/lib/rpm/rpmdb.sqlite=x", "rpm", "sudo rpm -U URL"},
		{"/usr/bin/lathe", "", "/lib/apk/db/installed=C:Q1\nP:lathe\nV:1\n", "apk", "wget URL && sudo apk add"},
		{"/usr/bin/lathe", "", "/lib/apk/db/installed=P:lathe-doc\n", "package", "use your package manager"},
		{"/usr/local/bin/lathe", "", "/usr/share/lathe/container=", "container", "docker pull ghcr.io/lathe-agent/lathe:1.2.3"},
		{"/usr/local/bin/lathe", "", "", "binary", "lathe upgrade 1.2.3"},
		{"/home/dev/scoop/apps/lathe/current/lathe", "", "", "scoop", "scoop update lathe"},
		{"/usr/local/lib/node_modules/@lathe-agent/lathe/node_modules/@lathe-agent/lathe-linux-x64/bin/lathe", "", "", "npm", "npm install -g @lathe-agent/lathe@1.2.3"},
		{"/home/dev/app/node_modules/@lathe-agent/lathe-linux-x64/bin/lathe", "", "", "npm", "npm --prefix /home/dev/app install @lathe-agent/lathe@1.2.3"},
		{"/home/dev/.npm/_npx/1/node_modules/@lathe-agent/lathe-linux-x64/bin/lathe", "", "", "npm", "npx @lathe-agent/lathe@1.2.3"},
		{"/home/dev/.bun/install/global/node_modules/@lathe-agent/lathe-linux-x64/bin/lathe", "", "", "bun", "bun add -g @lathe-agent/lathe@1.2.3"},
		{"/home/dev/.local/share/pnpm/global/5/node_modules/x/bin/lathe", "", "", "pnpm", "pnpm add -g @lathe-agent/lathe@1.2.3"},
		{checkout + "/bin/lathe", "(devel)", "", "source", "git -C " + checkout + " pull && make -C "},
		{other + "/lathe", "", "", "binary", "lathe upgrade 1.2.3"},
	} {
		env := func(name string) string {
			key, value, _ := strings.Cut(c.variable, "=")
			if key == name {
				return value
			}
			return ""
		}
		read := func(path string) ([]byte, error) {
			if name, text, _ := strings.Cut(c.variable, "="); name == path {
				return []byte(text), nil
			}
			if strings.HasSuffix(path, "go.mod") {
				return os.ReadFile(path)
			}
			return nil, os.ErrNotExist
		}
		got := install.Location{Path: c.path, Real: c.path, Built: c.built, Env: env, Home: "/home/dev", Read: read}.Installation("1.2.3")
		if got.Method != c.method || !strings.HasPrefix(got.Upgrade, c.upgrade) || got.Remove == "" || got.Versions == "" {
			t.Errorf("%s (%s, %s): %+v", c.path, c.built, c.variable, got)
		}
	}
}

func TestUpgrade_ShellWord(t *testing.T) {
	for path, want := range map[string]string{"/a/b-c.d": "/a/b-c.d", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "": "''", "/a;b": "'/a;b'", "/$x": "'/$x'"} {
		if got := termtext.ShellWord(path); got != want {
			t.Errorf("%q is %s, not %s", path, got, want)
		}
	}
}

// Colour is for screens: bars and titles have it there, and nowhere else.
func TestStats_Color(t *testing.T) {
	var plainOut bytes.Buffer
	c := layout.Chart{Head: []string{"Day", "Cost"}, Rows: []layout.Bar{{Name: "2025-03-10", Cells: []string{"$1"}, Value: 1}}}
	v := &stats.View{Color: true}
	if err := c.Write(&plainOut, 40, v.Paint); err != nil {
		t.Fatal(err)
	}
	if got, want := plainOut.String(), "\x1b[36m██████████████████████\x1b[0m\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%q", got)
	}
	home := t.TempDir()
	must(t, home, "import", sample(t, "work.json"))
	if out := must(t, home, "stats"); strings.Contains(out, "\x1b") || !strings.Contains(out, "█") {
		t.Errorf("%q", out)
	}
}
