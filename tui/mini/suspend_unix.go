//go:build unix

package mini

import (
	"os"
	"os/signal"
	"syscall"
)

// suspend stops the process until the shell continues it, as Ctrl-Z does.
func suspend() {
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCONT)
	defer signal.Stop(woken)
	if syscall.Kill(0, syscall.SIGTSTP) == nil {
		<-woken
	}
}
