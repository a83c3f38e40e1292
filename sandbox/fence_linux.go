package sandbox

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/internal/fence"
)

// A fenced command may run until a limit on the clock of the machine, which its launcher reads too. The process that
// started it sends later limits for as long as it may. If that process is stopped, cut off or dead, no message is
// needed for the end.

const (
	beatWord = "until "
	// fenceLook is how often a launcher looks at the clock. A timer would not count the time of a suspended machine.
	fenceLook = 100 * time.Millisecond
)

// errLate is the error of a command whose limit passed before it started.
var errLate = errors.New("the command was not started: this node lost its lease in the database before it could begin")

// launchTimes are the grace and the limit of a command as an argument of the launcher.
func launchTimes(grace, until time.Duration) string {
	s := strconv.FormatInt(grace.Milliseconds(), 10)
	if until > 0 {
		s += "@" + strconv.FormatInt(int64(until), 10)
	}
	return s
}

func parseTimes(s string) (grace, until time.Duration, err error) {
	ms, limit, fenced := strings.Cut(s, "@")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err == nil && fenced {
		var u int64
		u, err = strconv.ParseInt(limit, 10, 64)
		until = time.Duration(u)
	}
	return time.Duration(n) * time.Millisecond, until, err
}

// beatOrder is the order to run until a later time.
func beatOrder(until time.Duration) order {
	return order(beatWord + strconv.FormatInt(int64(until), 10))
}

// until returns the time of such an order, 0 for any other.
func (o order) until() time.Duration {
	text, ok := strings.CutPrefix(string(o), beatWord)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}

// isLate reports whether the limit has passed.
func (l *launcher) isLate() bool { return l.until > 0 && fence.Now() >= l.until }

// watchFence returns ticks for a fenced command, none for others.
func (l *launcher) watchFence() (ticks <-chan time.Time, stop func()) {
	if l.until == 0 {
		return nil, func() {}
	}
	t := time.NewTicker(fenceLook)
	return t.C, t.Stop
}

// enforceFence kills all processes at the limit, without a grace: from now on another node may work.
func (l *launcher) enforceFence() {
	if l.isLate() {
		l.killing = time.Now()
		l.signal(unix.SIGKILL)
	}
}
