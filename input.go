package lathe

// Input is a request from outside to a session. Sealed. Inputs are durable once
// admitted; the runner of the session acts on them.
type Input interface{ input() }

type (
	// Submission is a [Prompt] that was admitted: a user message that waits for its place in the
	// history. The engine has resolved agent and model and expanded what it refers to.
	Submission struct {
		Message  Message // with its parts
		Delivery Delivery
		NoReply  bool // no answer is wanted
		// Digest stands for the words as they were sent: the same message id with the same
		// digest is a repetition and harmless, with another one it is a conflict.
		Digest string
		// Task says for whom the session works on it from now on.
		Task Task
	}
	// PermissionAnswer answers a permission request.
	PermissionAnswer struct {
		Ask     AskID
		Reply   Reply
		Message string // the user's reason for a rejection; not on the wire
		// Unattended says that no person rejected: no user could answer.
		Unattended bool
		// ForSession saves the patterns for the session and its subagents; Reply is Once then.
		ForSession bool
		Patterns   []string // saved instead of those of the request; nil for these
	}
	// QuestionAnswer answers a question; an empty list of answers with Reject set dismisses it.
	QuestionAnswer struct {
		Ask     AskID
		Answers [][]string
		Reject  bool
	}
	// Cancel ends the running turn. Queued prompts pause until the next prompt or Resume.
	Cancel struct{}
	// Resume continues paused prompts and an interrupted turn.
	Resume struct{}
)

// Delivery says when a prompt takes its place.
type Delivery string

// The ways to deliver a prompt.
const (
	Steer Delivery = "steer" // before the next step, the default
	Queue Delivery = "queue" // when the session would become idle, one at a time
)

// Task is what a child session works for.
type Task int

// The kinds of tasks.
const (
	NoTask     Task = iota // a person's prompt, say
	Awaited                // a call of the parent waits for its end
	Background             // a prompt reports its end to the parent
)

func (Submission) input()       {}
func (PermissionAnswer) input() {}
func (QuestionAnswer) input()   {}
func (Cancel) input()           {}
func (Resume) input()           {}
