package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/client"
)

// A server locks the files that decide for as long as the client holds its request, not longer, and refuses hostile
// requests without a lock.
func TestUntil_HeldByConnection(t *testing.T) {
	t.Parallel()
	change := `call read {"filePath":"check.sh"}` + "\nfinish tool-calls\n--\n" + `call write {"filePath":"check.sh","content":"exit 0\n"}` + "\nfinish tool-calls\n--\ntext \"Done.\"\nfinish stop\n"
	const most = 20
	home, _ := viewHome(t, strings.Repeat(change+"--\n", most)+change)
	check := filepath.Join(home, "p", "check.sh")
	reset := func() {
		if err := os.WriteFile(check, []byte("exit 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reset()
	s := startServe(t, home, []string{`LATHE_PERMISSION={"*":"allow"}`, "LATHE_SERVER_PASSWORD=word"}, "--port", "0")
	defer s.end()
	s.key = "word"
	c, err := client.New(s.url, client.Options{Password: "word"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	rec, err := c.Create(t.Context(), filepath.Join(home, "p"), lathe.NewSession{Title: "T"})
	if err != nil {
		t.Fatal(err)
	}
	prompt := func() lathe.Prompt {
		return lathe.Prompt{Parts: []lathe.Part{{Body: &lathe.Text{Text: "weaken the check"}}}}
	}
	weakened := func(p lathe.Prompt) bool {
		reset()
		if _, err := c.Prompt(t.Context(), rec.ID, p); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(check)
		return err == nil && string(text) == "exit 0\n"
	}
	p := prompt()
	release, err := c.BeginUntil(t.Context(), rec.Directory, api.UntilSpec{Command: "sh check.sh"}, &p)
	if err != nil {
		t.Fatal(err)
	}
	if weakened(p) {
		t.Error("the model changed a locked file")
	}
	if r, err := c.CheckUntil(t.Context(), rec.ID); err != nil || r.Verdict != api.UntilAgain || r.Run != 1 || r.Exit != 1 || len(r.Prompt) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	release()
	attempts := 1
	for ; !weakened(prompt()); attempts++ { // the server notices in a moment
		if attempts == most-1 {
			t.Fatal("the file is still locked")
		}
	}
	for body, want := range map[string]int{
		`{}`: 400, `{"command":"true"}`: 400, `{"command":" ","parts":[{"type":"text","text":"x"}]}`: 400, `{"command":"true","tries":-1,"parts":[{"type":"text","text":"x"}]}`: 400,
		`{"command":"true","tries":100000,"parts":[{"type":"text","text":"x"}]}`: 400, `{"command":"` + strings.Repeat("a", 70<<10) + `","parts":[{"type":"text","text":"x"}]}`: 400,
		`{"sessionID":"../../x"}`: 400, `{"sessionID":"ses_e0f6505b4ffeAELvsQQxiTA5Sw"}`: 404, `[`: 400, `{"parts":"x"}`: 400,
	} {
		s.ask(want, nil, "POST", "/lathe/until", body)
	}
	s.key = ""
	s.ask(401, nil, "POST", "/lathe/until", `{"command":"true","parts":[{"type":"text","text":"x"}]}`)
	s.ask(401, nil, "POST", "/lathe/session/"+string(rec.ID)+"/until", "")
}
