package harness

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/lathe-agent/lathe/model/auth"
)

// Host is the environment of a program: its directory and variables, which the config is read from, and the writer
// for warnings.
type Host struct {
	Dir     string              // whose project it is about
	Trust   bool                // it may run what its config says
	Pure    bool                // no plugins are loaded
	Version string              // of the program
	Env     func(string) string // one variable
	Environ func() []string     // all of them
	Now     func() time.Time
	Log     *slog.Logger
	Notices io.Writer               // notes for people, apart from the result
	Logins  []auth.Method           // logins without an API key
	Browse  func(page string) error // opens a page in the user's browser
}

// Notify prints a note for people, apart from the result.
func (a *Host) Notify(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Notices, format+"\n", args...)
}

// agent returns the User-Agent of the program.
func (a *Host) agent() string { return "lathe/" + a.Version }

// WithDir returns the same host for another directory.
func (a *Host) WithDir(dir string) *Host {
	other := *a
	other.Dir = dir
	return &other
}
