package sandbox

import "time"

// Monitor looks after files that one command may change. It is used by several goroutines.
type Monitor interface {
	// Prepare completes the profile right before the command is started. After an error nothing
	// is started, and Check is called for [AllGone].
	Prepare(*Profile) error
	// Check is called at each [Phase]. Its result at the end of the command is for the user and
	// the model; at other moments it is ignored.
	Check(Phase) []string
}

// Phase is one in the life of a command.
type Phase int

const (
	// CommandEnded: the command itself has ended, or its run was given up. Processes may be left.
	CommandEnded Phase = iota
	// StillRunning comes about every second until nothing of the command is left.
	StillRunning
	// AllGone: nothing of it is left. It comes once, also when the command was not started.
	AllGone
)

// checkTime is how often a keeper looks while processes run.
const checkTime = time.Second

// keep waits for the end of a tree, and has its keeper look meanwhile and at the end.
func keep(t tree, k Monitor, left <-chan struct{}) {
	if k == nil {
		select {
		case <-t.gone():
		case <-left:
		}
		return
	}
	defer k.Check(AllGone)
	tick := time.NewTicker(checkTime)
	defer tick.Stop()
	for {
		select {
		case <-t.gone():
			return
		case <-left:
			return
		case <-tick.C:
			k.Check(StillRunning)
		}
	}
}

// startMonitored starts a command once its keeper is ready.
func (r *Runner) startMonitored(c Command, s streams) (t tree, err error) {
	k := c.Profile.Monitor
	if k == nil {
		return r.start(c, s)
	}
	r.warm(c)
	if err = k.Prepare(&c.Profile); err == nil {
		t, err = r.start(c, s)
	}
	if err != nil {
		k.Check(AllGone)
	}
	return t, err
}
