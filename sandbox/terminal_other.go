//go:build !unix

package sandbox

import "errors"

// errNoTerminal says that there are no terminals here.
var errNoTerminal = errors.New("terminals are not available on this system yet; use the shell of your editor, or run lathe on Linux or macOS")

func (r *Runner) terminal(Command, int, int) (*Terminal, error) { return nil, errNoTerminal }

// Resize fails: there are no terminals here.
func (t *Terminal) Resize(int, int) error { return errNoTerminal }
