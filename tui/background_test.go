package tui

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// The lists of tasks and sessions show state and ports, follow changes, and stop, archive and open with one key.
func TestBackground_Lists(t *testing.T) {
	e := sample()
	exit := 3
	e.tasks = []lathe.BackgroundTask{
		{ID: "job_1", Kind: lathe.ShellTask, State: lathe.TaskRunning, Title: "npm run dev", Ports: []int{5173}},
		{ID: "job_2", Kind: lathe.ShellTask, State: lathe.TaskFailed, Title: "make\nsecond line", Exit: &exit},
		{ID: "job_3", Kind: lathe.ShellTask, State: lathe.TaskEnded, Title: "sleep \x1b[31m9"},
	}
	e.board = []lathe.BoardEntry{
		{Session: "ses_9", Title: "Finished", State: lathe.BoardDone, Last: "All is well.", Model: "acme/m-1"},
		{Session: "ses_8", Title: "Asks", State: lathe.BoardNeedsYou, Directory: "/w/other", Branch: "topic", Asks: 1},
	}
	onStage(t, e, inSample(), func(s *stage) {
		s.slash("tasks")
		s.sees("Background tasks", "npm run dev", "running · port 5173", "failed (exit 3)", "ended with lathe")
		s.lacks("second line", "\x1b[31m9")
		s.press("ctrl+d", "ctrl+d")
		if got := s.engine.stopped; len(got) != 1 || got[0] != "job_1" {
			t.Errorf("stopped %q", got)
		}
		s.press("enter")
		s.sees("output of job_1")
		s.lacks("\x1b[31m", "\x1b]0;title")
		s.press("esc", "esc")
		s.slash("board")
		s.sees("Board", "needs you", "Asks", "done", "Finished", "All is well.", "topic")
		s.engine.mu.Lock()
		s.engine.board = s.engine.board[:1]
		s.engine.mu.Unlock()
		s.pass(1500e6)
		s.lacks("Asks")
		s.press("esc")
		s.engine.mu.Lock()
		s.engine.statuses = map[lathe.SessionID]lathe.Status{sampleID: {Type: lathe.Busy}}
		s.engine.mu.Unlock()
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Busy}})
		s.press("ctrl+b")
		if got := s.engine.stopped; len(got) != 2 || got[1] != "moved "+string(sampleID) {
			t.Errorf("moved %q", got)
		}
		s.sees("/tasks lists them")
	})
}

// The board peeks into a session and answers its requests, also those of its subagents, with one key. Enter alone decides
// nothing.
func TestBoard_PeekAndAnswer(t *testing.T) {
	e := sample()
	child := e.sessions[1]
	child.ID, child.Parent = "ses_child", "ses_2"
	e.sessions = append(e.sessions, child)
	e.board = []lathe.BoardEntry{{Session: "ses_2", Title: "Write a parser", State: lathe.BoardNeedsYou, Branch: "topic", Asks: 2}}
	e.messages["ses_2"] = e.messages[sampleID]
	onStage(t, e, inSample(), func(s *stage) {
		s.slash("board")
		s.sees("needs you", "Write a parser", "topic", "peek", "answer", "stop", "archive")
		s.press("ctrl+o")
		s.sees("Write a parser", "> ")
		s.press("esc")
		s.sees("Board")
		s.press("ctrl+y")
		s.sees("asks nothing")
		s.engine.mu.Lock()
		s.engine.asks = []lathe.Fact{
			&lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{ID: "per_0", Session: "ses_3", Permission: "bash", Patterns: []string{"of another"}}},
			&lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{ID: "per_1", Session: "ses_child", Permission: "bash", Patterns: []string{"rm \x1b[31m-r dist"}}},
			&lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{ID: "que_1", Session: "ses_2", Questions: []lathe.Question{{Question: "Which?", Options: []lathe.Option{{Label: "Red"}, {Label: "once"}}}}}},
		}
		s.engine.mu.Unlock()
		s.press("ctrl+y")
		s.sees("bash: rm", "1 more after it", "Allow once", "Reject", "Open the session")
		s.lacks("\x1b[31m-r", "of another")
		s.press("up", "enter") // the cursor is on the last one
		s.engine.mu.Lock()
		s.engine.asks = s.engine.asks[2:]
		s.engine.mu.Unlock()
		s.press("ctrl+y")
		s.sees("Which?", "Red", "Open the session")
		s.press("home", "down", "enter")
		if got := strings.Join(s.engine.was(), "\n"); !strings.Contains(got, "reply per_1 reject") || !strings.Contains(got, "answer que_1 [[once]]") {
			t.Errorf("sent %q", got)
		}
	})
}
