package tool

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// Background lets a call continue after its result, as a background task of its session.
type Background interface {
	// Check refuses where no further task may begin.
	Check(ctx context.Context) error
	// Moved is closed when the user moves the call to the background.
	Moved() <-chan struct{}
	// Add makes work a task of the session. The session gets one message when the work ends.
	Add(ctx context.Context, w Work) (lathe.TaskID, error)
}

// Work is a command that continues after its call.
type Work struct {
	Title string          // its command line
	Log   string          // the file with its output
	Stop  func()          // ends it; Done is closed soon after
	Done  <-chan struct{} // closed when it has ended
	End   func() WorkEnd  // how it ended, once Done is closed
	Ports func() []int    // that it listens on; safe for use by many goroutines
}

// WorkEnd is how a command in the background ended.
type WorkEnd struct {
	Exit   int    // -1 if there is none
	Signal string // that ended it; "" where none did
	Text   string // the end of its output, for the model
}
