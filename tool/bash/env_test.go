//go:build unix

package bash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/internal/environ"
)

func TestScrub(t *testing.T) {
	known := []string{"ANTHROPIC_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_REGION", "GOOGLE_CLOUD_PROJECT", "HF_TOKEN"}
	tests := map[string]bool{ // whether it stays
		"PATH": true, "HOME": true, "KEYBOARD": true, "GITHUB_TOKEN": true, "DATABASE_PASSWORD": true, "SSH_AUTH_SOCK": true,
		"ANTHROPIC_API_KEY": false, "ANTHROPIC_AUTH_TOKEN": false, "ANTHROPIC_BASE_URL": true, "anthropic_key": false,
		"AWS_ACCESS_KEY_ID": false, "AWS_SECRET_ACCESS_KEY": false, "AWS_SESSION_TOKEN": false, "AWS_REGION": true,
		"GOOGLE_CLOUD_PROJECT": true, "GOOGLE_MAPS_KEY": true, "HF_TOKEN": false, "HF_HOME": true,
		"LATHE_SERVER_PASSWORD": false, "LATHE_DATA": true, "OPENCODE_API_KEY": false, "OPENCODE_CONFIG": true, "AWS_KEPT_KEY": true,
	}
	var env, want []string
	for name, stays := range tests {
		env = append(env, name+"=x")
		if stays {
			want = append(want, name+"=x")
		}
	}
	before := slices.Clone(env)
	got := Scrub(env, known, []string{"AWS_KEPT_KEY"})
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(env, before) {
		t.Error("the environment that was given was changed")
	}
}

func TestChooseShell(t *testing.T) {
	dir := t.TempDir()
	program := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bash, zsh, fish, nu := program("bin/bash"), program("opt/zsh"), program("opt/fish"), program("opt/nu")
	plain := filepath.Join(dir, "opt", "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=/none:" + dir + "/bin"}
	for _, tt := range []struct {
		preferred string
		foreign   bool
		env       []string
		want      string
	}{
		{zsh, false, env, zsh},
		{"bash", false, env, bash},
		{"", false, env, bash},
		{fish, false, env, bash},
		{nu, false, env, bash},
		{fish, true, env, fish},
		{nu, true, env, nu},
		{filepath.Join(dir, "none"), false, env, bash},
		{plain, false, env, bash},
		{"relative/zsh", false, env, bash},
		{"", false, nil, "/bin/sh"},
	} {
		if tt.want == "/bin/sh" && strings.HasPrefix(chooseShell("", nil, false).path, "/bin/z") {
			continue // macOS
		}
		if got := chooseShell(tt.preferred, tt.env, tt.foreign); got.path != tt.want || got.kind != filepath.Base(tt.want) {
			t.Errorf("%q, foreign %v: %+v; want %s", tt.preferred, tt.foreign, got, tt.want)
		}
	}
}

func TestShellArgs(t *testing.T) {
	for path, want := range map[string][]string{
		"/bin/sh":                 {"-c", "x"},
		"/usr/bin/fish":           {"-c", "x"},
		"/opt/pwsh.exe":           {"-NoLogo", "-NoProfile", "-NonInteractive", "-Command", "x"},
		"/windows/system/CMD.EXE": {"/d", "/s", "/c", "x"},
	} {
		if diff := cmp.Diff(want, shellAt(path).args("x")); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	for path, want := range map[string]bool{"/bin/sh": true, "/bin/bash": true, "/bin/zsh": true, "/bin/fish": false, "/x/pwsh": false, "": false} {
		if got := shellAt(path).posix(); path != "" && got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestWithoutTerminal(t *testing.T) {
	env := []string{"EDITOR=vim", "TERM=xterm", "NO_COLOR=", "A=b"}
	got := withoutTerminal(env)
	for name, want := range map[string]string{"EDITOR": "true", "TERM": "dumb", "NO_COLOR": "", "A": "b", "GIT_TERMINAL_PROMPT": "0"} {
		n := 0
		for _, v := range got {
			if strings.HasPrefix(v, name+"=") {
				n++
			}
		}
		if value := environ.Variable(got, name); value != want || n != 1 {
			t.Errorf("%s is %q, %d times", name, value, n)
		}
	}
}
