package lathe

// BoardEntry is a session as the board shows it: what it is doing, without its messages.
type BoardEntry struct {
	Session   SessionID  `json:"id"`
	Title     string     `json:"title"`
	State     BoardState `json:"state"`
	Project   string     `json:"projectID"`
	Directory string     `json:"directory"`
	Branch    string     `json:"branch,omitempty"` // checked out in the directory
	Agent     string     `json:"agent,omitempty"`
	Model     string     `json:"model,omitempty"` // provider/model
	Cost      Money      `json:"cost"`            // of the session, without its subagents
	Last      string     `json:"last,omitempty"`  // the last line that the model wrote, its error, or what it asks
	Asks      int        `json:"asks,omitempty"`  // open requests, also of subagents
	Created   Time       `json:"created"`
	Updated   Time       `json:"updated"`
}

// BoardState is what a session is doing.
type BoardState string

// The states of sessions, in the order of the board.
const (
	BoardNeedsYou    BoardState = "needs you"   // a permission or a question waits for an answer
	BoardRunning     BoardState = "running"     // it or one of its subagents is at work
	BoardQueued      BoardState = "queued"      // a prompt waits that no process has started
	BoardAway        BoardState = "place away"  // it has work, and no running node of the cluster has its directory
	BoardInterrupted BoardState = "interrupted" // its process ended during a turn, which can be resumed
	BoardFailed      BoardState = "failed"      // its last answer ended with an error
	BoardDone        BoardState = "done"
)

// BoardStates lists the states in the order of the board.
func BoardStates() []BoardState {
	return []BoardState{BoardNeedsYou, BoardRunning, BoardQueued, BoardAway, BoardInterrupted, BoardFailed, BoardDone}
}

// BoardQuery selects sessions for the board. Subagents have no entry.
type BoardQuery struct {
	Sessions []SessionID // only these; nil for all
	Archived bool        // archived ones too
	Limit    int         // of the most recently changed; 0 is 1000
}
