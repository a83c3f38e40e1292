//go:build !unix

package tty

import "os"

// Device is the keyboard of this process, whatever its streams are.
const Device = "CONIN$"

// Restorer has nothing to do here: the console looks after itself.
type Restorer struct{ ResetProgress bool }

// NewRestorer is for the terminal of these streams.
func NewRestorer(_, _ *os.File, _ string) Restorer { return Restorer{} }

// Start does nothing.
func (Restorer) Start() error { return nil }

// Stop does nothing.
func (Restorer) Stop() {}

// Detach does nothing.
func (Restorer) Detach() {}

// Restore is never meant.
func Restore([]string) bool { return false }
