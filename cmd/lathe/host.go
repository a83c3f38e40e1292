package main

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/lathe-agent/lathe/model/auth"
)

// hostEnv is what surrounds a program: the directory and the environment that config is read from, and where
// warnings go.
type hostEnv struct {
	dir     string              // whose project it is about
	trust   bool                // it may run what its config says
	pure    bool                // no plugins are loaded
	version string              // of the program
	env     func(string) string // one variable
	environ func() []string     // all of them
	now     func() time.Time
	log     *slog.Logger
	notices io.Writer               // what people are told beside a result
	logins  []auth.Method           // how one can log in without a key
	browse  func(page string) error // opens a page in the user's browser
}

// remark tells people something beside the result.
func (h *hostEnv) remark(format string, args ...any) {
	_, _ = fmt.Fprintf(h.notices, format+"\n", args...)
}

// in is the same surroundings for another directory.
func (h *hostEnv) in(dir string) *hostEnv {
	other := *h
	other.dir = dir
	return &other
}
