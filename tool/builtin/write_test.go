package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

func TestWrite_New(t *testing.T) {
	d := tooltest.NewHost(t)
	r := d.Must(builtin.Write(builtin.WriteConfig{}), tooltest.Input{"filePath": "a/b/f.txt", "content": "x\ny\n"})
	path := filepath.Join(d.Dir, "a/b/f.txt")
	want := tool.Result{ // its sum is that of sha256sum
		Title: "a/b/f.txt", Output: "Created " + path + ": 2 lines, 4 bytes.",
		Metadata: json.RawMessage(fmt.Sprintf(`{"diagnostics":{},"filepath":%q,"exists":false,"lathe":{"seen":{%[1]q:"09834d488008f5f1"}}}`, path)),
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if got := d.Content("a/b/f.txt"); got != "x\ny\n" {
		t.Errorf("%q", got)
	}
	diff := fmt.Sprintf("Index: %s\n%s\n--- %[1]s\n+++ %[1]s\n@@ -0,0 +1,2 @@\n+x\n+y\n", path, strings.Repeat("=", 67))
	meta, err := json.Marshal(struct {
		Path string `json:"filepath"`
		Diff string `json:"diff"`
	}{path, diff})
	if err != nil {
		t.Fatal(err)
	}
	asked := []tool.Permission{{Name: "edit", Patterns: []string{"a/b/f.txt"}, Always: []string{"*"}, Metadata: meta}}
	if diff := cmp.Diff(asked, d.Asked); diff != "" {
		t.Error(diff)
	}
	published := []lathe.Fact{&lathe.FileEdited{File: path}, &lathe.FileWatched{File: path, Event: "add"}}
	if diff := cmp.Diff(published, d.Published); diff != "" {
		t.Error(diff)
	}
}

func TestWrite_Over(t *testing.T) {
	tests := []struct{ name, old, content, want, says string }{
		{"plain", "a\n", "b\nc\n", "b\nc\n", ": 1 → 2 lines, 4 bytes."},
		{"to nothing", "a\n", "", "", ": 1 → 0 lines, 0 bytes."},
		{"no final newline", "a\n", "b", "b", ": 1 → 1 line, 1 byte."},
		{"mark stays", "\ufeffa\n", "b\n", "\ufeffb\n", ": 1 → 1 line, 5 bytes."},
		{"mark given", "\ufeffa\n", "\ufeffb\n", "\ufeffb\n", ": 1 → 1 line, 5 bytes."},
		{"new mark", "a\n", "\ufeffb\n", "\ufeffb\n", ": 1 → 1 line, 5 bytes."},
		{"CRLF stays", "a\r\nb\r\n", "c\nd\n", "c\r\nd\r\n", ": 2 → 2 lines, 6 bytes. Its line ends are CRLF, as before."},
		{"CRLF given", "a\r\nb\r\n", "c\r\nd\n", "c\r\nd\n", ": 2 → 2 lines, 5 bytes."},
		{"CRLF into LF", "a\n", "c\r\nd\r\n", "c\r\nd\r\n", ": 1 → 2 lines, 6 bytes."},
		{"mixed ends", "a\r\nb\n", "c\nd\n", "c\nd\n", ": 2 → 2 lines, 4 bytes."},
		{"elision", "a\nb\nc\nd\n", "a\n// ... rest unchanged\n", "a\n// ... rest unchanged\n", `: 4 → 2 lines, 24 bytes. Warning: the line "// ... rest unchanged" stands in the file as it is, and what it stands for is gone. Write the file again with those lines if they were to stay.`},
		{"elision that was there", "// ... rest\n", "a\nb\n... the rest of us\n", "a\nb\n... the rest of us\n", ": 1 → 3 lines, 23 bytes."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			path := d.Put("f", tt.old)
			r := d.Must(builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": path, "content": tt.content})
			if got := d.Content("f"); got != tt.want || r.Output != "Overwrote "+path+tt.says || !strings.Contains(string(r.Metadata), `"exists":true`) {
				t.Errorf("%q, %s", got, r.Output)
			}
			if diff := cmp.Diff(&lathe.FileWatched{File: path, Event: "change"}, d.Published[1]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWrite_Refused(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("dir/f", "")
	d.Put("f", "keep")
	for name, tt := range map[string]struct {
		input tooltest.Input
		says  string
	}{
		"directory":    {tooltest.Input{"filePath": "dir", "content": ""}, "is a directory. Name a file in it."},
		"below a file": {tooltest.Input{"filePath": "f/x", "content": ""}, "is a file, not a directory"},
		"device":       {tooltest.Input{"filePath": "/dev/null", "content": ""}, "is a device, not a regular file"},
		"no content":   {tooltest.Input{"filePath": "f"}, `"content": required, missing`},
	} {
		_, err := d.Run(builtin.Write(builtin.WriteConfig{AllowStale: true}), tt.input)
		var f *tool.Failure
		if !errors.As(err, &f) || !strings.Contains(f.Text, tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.Refuse = "edit"
	if _, err := d.Run(builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": "f", "content": "x"}); lathe.CodeOf(err) != lathe.Rejected || d.Content("f") != "keep" {
		t.Errorf("%v, %s", err, d.Content("f"))
	}
	if len(d.Published) != 0 {
		t.Error(d.Published)
	}
}

func TestWrite_Outside(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Link(d.Out, "way")
	d.Link(filepath.Join(d.Out, "new"), "dangling")
	d.Refuse = "external_directory"
	for _, name := range []string{"../outside/x", "way/x", "way/deep/x", "dangling", filepath.Join(d.Out, "x")} {
		d.Asked = nil
		_, err := d.Run(builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": name, "content": "bad"})
		if lathe.CodeOf(err) != lathe.Rejected || len(d.Asked) != 1 || !strings.HasPrefix(d.Asked[0].Patterns[0], d.Out) {
			t.Errorf("%s: %v, %v", name, err, d.Asked)
		}
	}
	if list, err := os.ReadDir(d.Out); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	d.Refuse = ""
	d.Must(builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": "dangling", "content": "allowed"})
	if got := d.Content(filepath.Join(d.Out, "new")); got != "allowed" {
		t.Error(got)
	}
	if info, err := os.Lstat(filepath.Join(d.Dir, "dangling")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the symlink was replaced", err)
	}
}

// Between the question and the write the user may take long, and others continue.
func TestWrite_ChangedWhileAsking(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("d/f", "old")
	d.Put(filepath.Join(d.Out, "f"), "secret")
	d.OnAsk = func(tool.Permission) { d.Put("d/f", "theirs") }
	if _, err := d.Run(builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": "d/f", "content": "mine"}); err == nil || !strings.Contains(err.Error(), "while you waited for the permission") || d.Content("d/f") != "theirs" {
		t.Errorf("%v, %s", err, d.Content("d/f"))
	}
	d.OnAsk = func(tool.Permission) {
		_ = os.Rename(filepath.Join(d.Dir, "d"), filepath.Join(d.Dir, "away"))
		d.Link(d.Out, "d")
	}
	if _, err := d.Run(builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": "d/f", "content": "mine"}); err == nil || !strings.Contains(err.Error(), "was replaced while in use") {
		t.Error(err)
	}
	d.OnAsk = func(tool.Permission) { d.Put("new", "theirs") }
	if _, err := d.Run(builtin.Write(builtin.WriteConfig{AllowStale: true}), tooltest.Input{"filePath": "new", "content": "mine"}); err == nil || d.Content("new") != "theirs" {
		t.Errorf("%v, %s", err, d.Content("new"))
	}
	if got := d.Content(filepath.Join(d.Out, "f")); got != "secret" {
		t.Error(got)
	}
}

func TestWrite_UnseenChange(t *testing.T) {
	seen := builtin.NewReadTracker()
	read, write := builtin.Read(builtin.ReadConfig{Tracker: seen}), builtin.Write(builtin.WriteConfig{Tracker: seen})
	call := tooltest.Input{"filePath": "f", "content": "mine\n"}
	refused := func(t *testing.T, d *tooltest.Host, says string) {
		t.Helper()
		before := d.Content("f")
		_, err := d.Run(write, call)
		var f *tool.Failure
		if !errors.As(err, &f) || !strings.Contains(f.Text, "has changed since you last read or wrote it ("+says) || d.Content("f") != before {
			t.Errorf("got %v, %s", err, d.Content("f"))
		}
	}
	t.Run("never read", func(t *testing.T) {
		d := tooltest.NewHost(t)
		d.Put("f", "old")
		var f *tool.Failure
		if _, err := d.Run(write, call); !errors.As(err, &f) || !strings.Contains(f.Text, "Read it first") || d.Content("f") != "old" {
			t.Errorf("got %v, %s", err, d.Content("f"))
		}
		d.Must(read, tooltest.Input{"filePath": "f"})
		d.Must(write, call)
	})
	t.Run("never read, and empty", func(t *testing.T) {
		d := tooltest.NewHost(t)
		d.Put("f", "")
		d.Must(write, call)
	})
	t.Run("made by itself", func(t *testing.T) {
		d := tooltest.NewHost(t)
		d.Must(write, call)
		d.Must(write, tooltest.Input{"filePath": "f", "content": "mine again\n"})
	})
	t.Run("read in this step", func(t *testing.T) {
		d := tooltest.NewHost(t)
		d.Put("f", "old")
		d.Must(read, tooltest.Input{"filePath": "f"})
		d.Put("f", "theirs")
		refused(t, d, "something outside")
		d.Must(read, tooltest.Input{"filePath": "f", "limit": 1})
		d.Must(write, call)
		d.Must(write, call)
	})
	t.Run("read in an earlier step", func(t *testing.T) {
		d := tooltest.NewHost(t)
		d.Put("f", "old")
		d.Next("read", tooltest.Input{}, d.Must(read, tooltest.Input{"filePath": "f"}))
		d.Put("f", "theirs")
		refused(t, d, "something outside")
		d.Next("bash", tooltest.Input{"command": "go fmt ./..."}, tool.Result{})
		refused(t, d, `perhaps by your command "go fmt ./..."`)
		unchecked := builtin.Write(builtin.WriteConfig{Tracker: seen, AllowStale: true})
		d.Must(unchecked, call)
	})
	t.Run("written, then put back", func(t *testing.T) {
		d := tooltest.NewHost(t)
		d.Next("write", call, d.Must(write, call))
		d.Put("f", "theirs")
		refused(t, d, "something outside")
		d.Put("f", "mine\n")
		d.Must(write, tooltest.Input{"filePath": "f", "content": "next"})
	})
	t.Run("only what is newest counts", func(t *testing.T) {
		d := tooltest.NewHost(t)
		d.Put("f", "one")
		d.Next("read", tooltest.Input{}, d.Must(read, tooltest.Input{"filePath": "f"}))
		d.Put("f", "two")
		d.Next("read", tooltest.Input{}, d.Must(read, tooltest.Input{"filePath": "f"}))
		d.Must(write, call)
	})
	t.Run("through a symlink", func(t *testing.T) {
		d := tooltest.NewHost(t)
		d.Put("f", "old")
		d.Link("f", "alias")
		d.Next("read", tooltest.Input{}, d.Must(read, tooltest.Input{"filePath": "alias"}))
		d.Put("f", "theirs")
		refused(t, d, "something outside")
	})
	t.Run("removed", func(t *testing.T) {
		d := tooltest.NewHost(t)
		path := d.Put("f", "old")
		d.Must(read, tooltest.Input{"filePath": "f"})
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		d.Must(write, call)
	})
	t.Run("too large to be remembered", func(t *testing.T) {
		d := tooltest.NewHost(t)
		d.Put("f", "old")
		d.Next("read", tooltest.Input{}, d.Must(read, tooltest.Input{"filePath": "f"}))
		d.Put("f", strings.Repeat("x\n", 6<<20))
		refused(t, d, "something outside")
		d.Next("read", tooltest.Input{}, d.Must(read, tooltest.Input{"filePath": "f", "limit": 2}))
		d.Must(write, call)
	})
}

// Sessions that write one file at the same time: each result is whole, and none is lost
// without a word.
func TestWrite_ManyAtOnce(t *testing.T) {
	seen := builtin.NewReadTracker()
	d := tooltest.NewHost(t)
	write := builtin.Write(builtin.WriteConfig{Tracker: seen, AllowStale: true})
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i := range 16 {
		wg.Go(func() {
			c := d.Call
			c.Session = lathe.SessionID(fmt.Sprint("ses_", i))
			c.Input = json.RawMessage(fmt.Sprintf(`{"filePath":"f","content":%q}`, strings.Repeat(fmt.Sprint(i%10), 10_000)))
			_, err := write.Run(t.Context(), &c)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if !strings.Contains(err.Error(), "while you waited") {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := d.Content("f")
	if done == 0 || len(got) != 10_000 || strings.Trim(got, got[:1]) != "" {
		t.Errorf("%d done, %d bytes", done, len(got))
	}
}
