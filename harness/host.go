package harness

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/lathe-agent/lathe/model/auth"
)

// Host is what surrounds a program: the directory and the environment that config is read from, and where
// warnings go.
type Host struct {
	Dir     string              // whose project it is about
	Trust   bool                // it may run what its config says
	Pure    bool                // no plugins are loaded
	Version string              // of the program
	Env     func(string) string // one variable
	Environ func() []string     // all of them
	Now     func() time.Time
	Log     *slog.Logger
	Notices io.Writer               // what people are told beside a result
	Logins  []auth.Method           // how one can log in without a key
	Browse  func(page string) error // opens a page in the user's browser
}

// Notify tells people something beside the result.
func (a *Host) Notify(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Notices, format+"\n", args...)
}

// agent is how the program calls itself to other machines.
func (a *Host) agent() string { return "lathe/" + a.Version }

// WithDir is the same surroundings for another directory.
func (a *Host) WithDir(dir string) *Host {
	other := *a
	other.Dir = dir
	return &other
}
