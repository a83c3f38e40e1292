package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// cmdOthers puts the files of other programs, which are those of package migrate's tests, where the programs have them, for a
// project in the folder shop.
func cmdOthers(ts *testscript.TestScript, _ bool, _ []string) {
	work := ts.Getenv("WORK")
	from := filepath.Join(sourceDir(ts), "..", "..", "migrate", "testdata")
	moved := func(text []byte) string {
		return strings.ReplaceAll(string(text), "/home/dev/shop", filepath.ToSlash(filepath.Join(work, "shop")))
	}
	ts.Check(os.MkdirAll(filepath.Join(work, "shop", ".crush"), 0o755))
	ts.Check(os.MkdirAll(filepath.Join(work, ".local", "share", "opencode"), 0o755))
	for _, tool := range []string{"claude", "codex", "gemini"} {
		root := filepath.Join(from, tool)
		ts.Check(filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			to := filepath.Join(work, "."+tool, strings.TrimPrefix(name, root))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			return os.WriteFile(to, []byte(moved(text)), 0o644)
		}))
	}
	for name, to := range map[string]string{"opencode.sql": ".local/share/opencode/opencode.db", "crush.sql": "shop/.crush/crush.db"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		ts.Check(err)
		c, err := sqlite.OpenConn(filepath.Join(work, filepath.FromSlash(to)))
		ts.Check(err)
		script := strings.NewReplacer("BEGIN TRANSACTION;", "", "COMMIT;", "").Replace(moved(text))
		ts.Check(sqlitex.ExecuteScript(c, script, nil))
		ts.Check(c.Close())
	}
}

// sourceDir is the folder of this package: scripts run elsewhere.
func sourceDir(ts *testscript.TestScript) string {
	dir, err := os.Getwd()
	ts.Check(err)
	return dir
}
