// Package tooltest has small tools for tests of code that runs tools: each does one thing that
// a runner must handle, and is deterministic.
//
// They have no state and may run at the same time; they wait only on timers and contexts, so
// that they work in a bubble of testing/synctest. Start at All.
package tooltest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// All returns one of each but Command and Bash, in the order of their functions here.
func All() []tool.Tool { return slices.Clone(all()) }

// all has no state between calls, and preparing schemas takes time, so tests share it.
var all = sync.OnceValue(func() []tool.Tool {
	return []tool.Tool{
		Write(), Wait(), Ask(), Question(), Fail(), Print(), Show(), Todo(), Picture(), Panic(),
	}
})

// Write returns a tool that asks for the permission edit and writes a file below the call's
// directory.
func Write() tool.Tool {
	type input struct {
		Path    string `json:"path" jsonschema:"the file, relative to the directory: notes/a.txt"`
		Content string `json:"content" jsonschema:"the whole text of the file"`
	}
	spec := tool.Spec{Name: "write", Description: "Write a file.", Permission: "edit"}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in input) (tool.Result, error) {
		if !filepath.IsLocal(in.Path) {
			return tool.Result{}, tool.Failf("%q is not below the directory; give a path relative to it.", in.Path)
		}
		meta, err := json.Marshal(struct {
			Path string `json:"filepath"`
		}{in.Path})
		if err != nil {
			return tool.Result{}, err
		}
		err = c.Host.Ask(ctx, tool.Permission{Name: "edit", Patterns: []string{in.Path}, Always: []string{"*"}, Metadata: meta})
		if err != nil {
			return tool.Result{}, err
		}
		path := filepath.Join(c.Dir, in.Path)
		done, err := c.Host.BeginChange(ctx, path)
		if err != nil {
			return tool.Result{}, err
		}
		defer done()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return tool.Result{}, tool.Failf("cannot write %s: %w", in.Path, err)
		}
		if err := os.WriteFile(path, []byte(in.Content), 0o644); err != nil {
			return tool.Result{}, tool.Failf("cannot write %s: %w", in.Path, err)
		}
		out := fmt.Sprintf("Wrote %s: %d bytes.", in.Path, len(in.Content))
		return tool.Result{Title: in.Path, Output: out, Metadata: meta}, nil
	})
}

// Command returns a tool that asks for the permission bash and writes and removes files below the
// call's directory without telling which, as a command does.
func Command() tool.Tool {
	type input struct {
		Write  map[string]string `json:"write,omitempty" jsonschema:"texts by file"`
		Remove []string          `json:"remove,omitempty" jsonschema:"files that go"`
	}
	spec := tool.Spec{Name: "command", Description: "Changes files.", Permission: "bash", Anywhere: true}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in input) (tool.Result, error) {
		if err := c.Host.Ask(ctx, tool.Permission{Name: "bash", Patterns: []string{"command"}, Always: []string{"*"}}); err != nil {
			return tool.Result{}, err
		}
		for path, text := range in.Write {
			path = filepath.Join(c.Dir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return tool.Result{}, tool.Failf("cannot write: %w", err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return tool.Result{}, tool.Failf("cannot write: %w", err)
			}
		}
		for _, path := range in.Remove {
			if err := os.Remove(filepath.Join(c.Dir, path)); err != nil {
				return tool.Result{}, tool.Failf("cannot remove: %w", err)
			}
		}
		return tool.Result{Title: "command", Output: "Done."}, nil
	})
}

// Bash returns a tool by the name of the real one that runs nothing: a call brings its output
// and exit code along. Its result has the form of the real one's.
func Bash() tool.Tool {
	type input struct {
		Command string `json:"command" jsonschema:"the command line: go test ./..."`
		Output  string `json:"output,omitempty" jsonschema:"what it prints: ok"`
		Exit    int    `json:"exit,omitempty" jsonschema:"how it ends: 1"`
	}
	spec := tool.Spec{Name: "bash", Description: "Pretends to run a command.", Anywhere: true}
	return tool.Define(spec, func(_ context.Context, _ *tool.Call, in input) (tool.Result, error) {
		meta, err := json.Marshal(struct {
			Output string `json:"output"`
			Exit   int    `json:"exit"`
		}{in.Output, in.Exit})
		if err != nil {
			return tool.Result{}, err
		}
		out := in.Output
		if out == "" {
			out = "(no output)"
		}
		if in.Exit != 0 {
			out += fmt.Sprintf("\n\nexit %d", in.Exit)
		}
		return tool.Result{Title: in.Command, Output: out, Metadata: meta}, nil
	})
}

// Wait returns a tool that waits for a time or until it is canceled. A stubborn one does not
// hear the cancellation for a while more, and then has a result all the same.
func Wait() tool.Tool {
	type input struct {
		MS       int `json:"ms" jsonschema:"how long to wait, in milliseconds: 200"`
		Stubborn int `json:"stubborn,omitempty" jsonschema:"how many milliseconds to go on after a cancellation: 50"`
	}
	spec := tool.Spec{Name: "wait", Description: "Waits."}
	return tool.Define(spec, func(ctx context.Context, _ *tool.Call, in input) (tool.Result, error) {
		done := tool.Result{Title: "wait", Output: fmt.Sprintf("Waited %d ms.", in.MS)}
		if sleep(ctx, in.MS) {
			return done, nil
		}
		if in.Stubborn == 0 {
			return tool.Result{}, context.Cause(ctx)
		}
		sleep(context.WithoutCancel(ctx), in.Stubborn)
		done.Output = fmt.Sprintf("Continued for %d ms after the cancellation.", in.Stubborn)
		return done, nil
	})
}

// sleep reports whether the time passed before ctx ended.
func sleep(ctx context.Context, ms int) bool {
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Ask returns a tool that asks for any permission.
func Ask() tool.Tool {
	type input struct {
		Permission string   `json:"permission" jsonschema:"the permission: bash"`
		Patterns   []string `json:"patterns" jsonschema:"what it is for: git status"`
		Always     []string `json:"always,omitempty" jsonschema:"what always would allow: git *"`
		Outside    string   `json:"outside,omitempty" jsonschema:"a folder outside the project"`
	}
	spec := tool.Spec{Name: "ask", Description: "Asks for a permission."}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in input) (tool.Result, error) {
		all := []tool.Permission{{Name: in.Permission, Patterns: in.Patterns, Always: in.Always}}
		if in.Outside != "" {
			all = append(all, tool.Permission{Name: "external_directory", Patterns: []string{in.Outside}, Always: []string{in.Outside}})
		}
		err := c.Host.Ask(ctx, all...)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Title: in.Permission, Output: "Allowed."}, nil
	})
}

// Question returns a tool that asks the user one question.
func Question() tool.Tool {
	type input struct {
		Question string   `json:"question" jsonschema:"what to ask: Which port?"`
		Options  []string `json:"options,omitempty" jsonschema:"choices: 80, 8080"`
		Multiple bool     `json:"multiple,omitempty" jsonschema:"whether several may be chosen: false"`
	}
	spec := tool.Spec{Name: "question", Description: "Asks the user."}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in input) (tool.Result, error) {
		q := lathe.Question{Question: in.Question, Header: in.Question}
		for _, o := range in.Options {
			q.Options = append(q.Options, lathe.Option{Label: o, Description: o})
		}
		if in.Multiple {
			q.Multiple = lathe.Yes
		}
		answers, err := c.Host.AskUser(ctx, []lathe.Question{q})
		if err != nil {
			return tool.Result{}, err
		}
		meta, err := json.Marshal(struct {
			Answers [][]string `json:"answers"`
		}{answers})
		if err != nil {
			return tool.Result{}, err
		}
		var flat []string
		for _, a := range answers {
			flat = append(flat, a...)
		}
		return tool.Result{Title: in.Question, Output: "Answer: " + strings.Join(flat, ", "), Metadata: meta}, nil
	})
}

// Fail returns a tool that fails with the text it is given.
func Fail() tool.Tool {
	type input struct {
		Text string `json:"text" jsonschema:"the text of the failure: no such file"`
	}
	spec := tool.Spec{Name: "fail", Description: "Fails."}
	return tool.Define(spec, func(_ context.Context, _ *tool.Call, in input) (tool.Result, error) {
		return tool.Result{}, tool.Failf("%s", in.Text)
	})
}

// Print returns a tool that prints numbered lines.
func Print() tool.Tool {
	type input struct {
		Lines int `json:"lines" jsonschema:"how many lines: 3000"`
		Width int `json:"width,omitempty" jsonschema:"how long each is at least, in characters: 80"`
	}
	spec := tool.Spec{Name: "print", Description: "Print lines."}
	return tool.Define(spec, func(_ context.Context, _ *tool.Call, in input) (tool.Result, error) {
		var out strings.Builder
		for i := range in.Lines {
			if i > 0 {
				out.WriteByte('\n')
			}
			line := fmt.Sprintf("line %d", i+1)
			out.WriteString(line + strings.Repeat(".", max(0, in.Width-len(line))))
		}
		return tool.Result{Title: fmt.Sprintf("%d lines", in.Lines), Output: out.String()}, nil
	})
}

// Show returns a tool that shows its progress several times, with the step as title and
// metadata.
func Show() tool.Tool {
	type input struct {
		Times int `json:"times" jsonschema:"how often to show progress: 3"`
		MS    int `json:"ms,omitempty" jsonschema:"how long to wait after each time, in milliseconds: 10"`
	}
	spec := tool.Spec{Name: "show", Description: "Show progress."}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in input) (tool.Result, error) {
		for i := range in.Times {
			c.Host.Progress(fmt.Sprintf("step %d", i+1), json.RawMessage(fmt.Sprintf(`{"step":%d}`, i+1)))
			if in.MS > 0 && !sleep(ctx, in.MS) {
				return tool.Result{}, context.Cause(ctx)
			}
		}
		meta := json.RawMessage(fmt.Sprintf(`{"step":%d}`, in.Times))
		return tool.Result{Title: "shown", Output: fmt.Sprintf("Showed %d steps.", in.Times), Metadata: meta}, nil
	})
}

// Todo returns a tool that replaces the session's list.
func Todo() tool.Tool {
	type item struct {
		Content  string `json:"content" jsonschema:"what is to be done: write the test"`
		Status   string `json:"status" enum:"pending,in_progress,completed,cancelled" jsonschema:"how far it is: pending"`
		Priority string `json:"priority,omitempty" enum:"high,medium,low" jsonschema:"how much it matters: medium"`
	}
	type input struct {
		Todos []item `json:"todos" jsonschema:"the whole list"`
	}
	spec := tool.Spec{Name: "todo", Description: "Set the list of todos."}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in input) (tool.Result, error) {
		list := make([]lathe.Todo, 0, len(in.Todos))
		open := 0
		for _, t := range in.Todos {
			if t.Priority == "" {
				t.Priority = "medium"
			}
			if t.Status != "completed" && t.Status != "cancelled" {
				open++
			}
			list = append(list, lathe.Todo{Content: t.Content, Status: t.Status, Priority: t.Priority})
		}
		if err := c.Host.SetTodos(ctx, list); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Title: fmt.Sprintf("%d todos", open), Output: fmt.Sprintf("%d of %d open.", open, len(list))}, nil
	})
}

// picture is a PNG of one gray pixel.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

// Picture returns a tool that attaches a small PNG.
func Picture() tool.Tool {
	type input struct {
		Name string `json:"name,omitempty" jsonschema:"the name of the file: dot.png"`
	}
	spec := tool.Spec{Name: "picture", Description: "Attaches a picture."}
	return tool.Define(spec, func(_ context.Context, _ *tool.Call, in input) (tool.Result, error) {
		if in.Name == "" {
			in.Name = "dot.png"
		}
		file := &lathe.File{Mime: "image/png", URL: "data:image/png;base64," + picture, Filename: in.Name}
		size := base64.StdEncoding.DecodedLen(len(picture))
		return tool.Result{
			Title: in.Name, Output: fmt.Sprintf("A picture of about %d bytes.", size),
			Attachments: []*lathe.File{file},
		}, nil
	})
}

// Panic returns a tool that panics.
func Panic() tool.Tool {
	type input struct {
		Text string `json:"text,omitempty" jsonschema:"what to panic with: boom"`
	}
	spec := tool.Spec{Name: "panic", Description: "Panics."}
	return tool.Define(spec, func(_ context.Context, _ *tool.Call, in input) (tool.Result, error) {
		panic("tooltest: " + in.Text)
	})
}

// Shell returns a tool that stands for the one that runs commands: it asks for the permission
// bash and prints what would be run. The command false fails.
func Shell() tool.Tool {
	type input struct {
		Command string `json:"command" jsonschema:"the command line: go test ./..."`
	}
	return tool.Define(tool.Spec{Name: "bash", Description: "Run a command."}, func(ctx context.Context, c *tool.Call, in input) (tool.Result, error) {
		if err := c.Host.Ask(ctx, tool.Permission{Name: "bash", Patterns: []string{in.Command}, Always: []string{in.Command}}); err != nil {
			return tool.Result{}, err
		}
		if in.Command == "false" {
			return tool.Result{}, tool.Failf("exit 1")
		}
		return tool.Result{Title: in.Command, Output: "[" + in.Command + "]\n"}, nil
	})
}
