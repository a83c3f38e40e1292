package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// Old outputs of tools go when a tool has run, by the age of the file; others stay.
func TestTurn_OldOutputsGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, "-- model --\ncall print {\"lines\":1}\nfinish tool-calls\n--\ntext \"Printed.\"\nfinish stop\n"), modeltest.Chat)
		dir := filepath.Join(p.data, "outputs")
		p.ok(os.MkdirAll(dir, 0o755))
		for name, age := range map[string]time.Duration{"tool_old": 8 * 24 * time.Hour, "tool_new": 6 * 24 * time.Hour, "other": 8 * 24 * time.Hour} {
			p.ok(os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			at := p.now().Std().Add(-age)
			p.ok(os.Chtimes(filepath.Join(dir, name), at, at))
		}
		_, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("print")})
		p.ok(err)
		synctest.Wait()
		left, err := os.ReadDir(dir)
		p.ok(err)
		got := ""
		for _, e := range left {
			got += e.Name() + " "
		}
		if got != "other tool_new " {
			t.Errorf("there are %s", got)
		}
	})
}
