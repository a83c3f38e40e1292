package lathe

// BackgroundTask is work that continues while its session does something else: a command, a subagent, or a whole
// session that no call waits for.
type BackgroundTask struct {
	ID        TaskID    `json:"id"`
	Kind      TaskKind  `json:"kind"`
	State     TaskState `json:"state"`
	Session   SessionID `json:"sessionID"` // that started it and is told its end; of a whole session its own
	Title     string    `json:"title"`     // the command line, or the title of the session
	Directory string    `json:"directory"`
	Log       string    `json:"log,omitempty"`   // the file with the output of a command
	Ports     []int     `json:"ports,omitempty"` // TCP ports that it listens on, while it runs
	Exit      *int      `json:"exit,omitempty"`  // its exit code, if it has one
	Signal    string    `json:"signal,omitempty"`
	Started   Time      `json:"started"`
	Ended     Time      `json:"ended,omitempty"` // 0 while it runs, and when nobody saw the end
}

// TaskKind is the kind of a background task.
type TaskKind string

// The kinds of background tasks.
const (
	ShellTask   TaskKind = "shell"   // a command of the tool bash
	AgentTask   TaskKind = "agent"   // a subagent that reports to its parent
	SessionTask TaskKind = "session" // a session at work
)

// TaskState says how far a background task is.
type TaskState string

// The states of background tasks.
const (
	TaskRunning   TaskState = "running"
	TaskCompleted TaskState = "completed" // a command with exit code 0
	TaskFailed    TaskState = "failed"    // another exit code, or a signal
	TaskStopped   TaskState = "stopped"   // by a person
	TaskEnded     TaskState = "ended with lathe"
)

// TaskOutput is the end of what a background task has printed.
type TaskOutput struct {
	Task BackgroundTask `json:"task"`
	Text string         `json:"text"`
	Size int64          `json:"size"` // of the whole, in bytes
}
