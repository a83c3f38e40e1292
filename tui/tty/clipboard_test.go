package tty

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestClipboard(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the clipboard programs in this test are for Linux")
	}
	for _, tt := range []struct{ env, programs, want string }{
		{"WAYLAND_DISPLAY DISPLAY", "wl-copy xclip", "wl-copy"},
		{"WAYLAND_DISPLAY DISPLAY", "xsel", "xsel --clipboard --input"},
		{"DISPLAY", "wl-copy xclip xsel", "xclip -selection clipboard"},
		{"WSL_DISTRO_NAME", "clip.exe", "clip.exe"},
		{"DISPLAY", "", ""},
		{"", "xclip", ""},
		{"DISPLAY SSH_CONNECTION", "xclip", ""},
		{"DISPLAY TMUX", "xclip tmux", "xclip -selection clipboard"},
		{"TMUX SSH_TTY", "xclip tmux", "tmux load-buffer -w -"},
	} {
		set, there := strings.Fields(tt.env), strings.Fields(tt.programs)
		ways, _ := clipboard(func(name string) string {
			if slices.Contains(set, name) {
				return "1"
			}
			return ""
		})
		got := ""
		if i := slices.IndexFunc(ways, func(way []string) bool { return slices.Contains(there, way[0]) }); i >= 0 {
			got = strings.Join(ways[i], " ")
		}
		if got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// What is in the clipboard is read by what the machine has for it, pictures first.
func TestClipboardReads(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the clipboard programs in this test are for Linux")
	}
	bin := t.TempDir()
	for name, body := range map[string]string{"wl-paste": `[ "$1" = --type ] && exit 1; printf text`, "xclip": `printf '\211PNG\r\n\032\n1234'`} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for env, want := range map[string]string{"WAYLAND_DISPLAY": "text/plain; charset=utf-8", "DISPLAY": "image/png"} {
		paste := Paster(func(name string) string { return map[string]string{env: "1"}[name] })
		if mime, data := paste(t.Context()); mime != want || len(data) == 0 {
			t.Errorf("%s: %s %q", env, mime, data)
		}
	}
	if Paster(func(name string) string { return map[string]string{"DISPLAY": "1", "SSH_TTY": "1"}[name] }) != nil {
		t.Error("over a connection from elsewhere it reads a clipboard")
	}
}
