package tui

import (
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
