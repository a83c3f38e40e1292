package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// stage is what the program runs on: a home and its own project, a long session in its store,
// and a model.
type stage struct {
	program, home, project string
	session                lathe.SessionID
	model                  *provider
}

func newStage(ctx context.Context, program string, parts int) (_ *stage, err error) {
	s := &stage{}
	if s.program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	if s.home, err = os.MkdirTemp("", "tuibench-"); err != nil {
		return nil, err
	}
	s.project = filepath.Join(s.home, "project")
	if err = os.MkdirAll(s.project, 0o700); err == nil {
		s.model, err = startProvider(ctx)
	}
	if err == nil {
		err = s.fill(ctx, parts)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// fill takes the long session in.
func (s *stage) fill(ctx context.Context, parts int) error {
	x := lathetest.Long(parts)
	s.session = x.Info.ID
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	cmd := s.command(ctx, "import")
	cmd.Stdin = bytes.NewReader(data)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("import: %w: %s", err, out)
	}
	// A search finishes the index of what was imported, which would be measured as the work of a program at rest.
	if out, err := s.command(ctx, "session", "search", "nothing-of-this-name").CombinedOutput(); err != nil {
		return fmt.Errorf("search: %w: %s", err, out)
	}
	return nil
}

func (s *stage) close() {
	if s.model != nil {
		s.model.close()
	}
	_ = os.RemoveAll(s.home)
}

// settings name the model and allow what is done here. Checks of an answer would ask the model once more.
const settings = `{"model": "bench/m", "permission": {"*": "allow"}, "checks": {"todos": false, "checklist": false, "unverified": false},
"provider": {"bench": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "%s", "apiKey": "none"}, "models": {"m": {"tool_call": true}}}}}`

func (s *stage) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Dir = s.project
	for _, v := range cmd.Environ() {
		if !strings.HasPrefix(v, "SSH_") { // over a connection it would not ask where frames end
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=", "TERM_PROGRAM=tuibench", "HOME="+s.home,
		"XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=",
		"LATHE_DATA="+filepath.Join(s.home, "data"), "LATHE_CONFIG_CONTENT="+fmt.Sprintf(settings, s.model.url()))
	return cmd
}
