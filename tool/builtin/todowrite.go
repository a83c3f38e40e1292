package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
)

//go:embed todowrite.md
var todoText string

// TodoConfig configures the todowrite tool.
type TodoConfig struct {
	// JSON makes the output the whole list as JSON, for clients that read it there. The
	// metadata has it in any case.
	JSON bool
}

type todoInput struct {
	Todos []todoEntry `json:"todos" jsonschema:"the whole list"`
}

type todoEntry struct {
	Content  string `json:"content" jsonschema:"what is to be done: login rejects expired tokens"`
	Status   string `json:"status" jsonschema:"pending, in_progress, completed or cancelled"`
	Priority string `json:"priority,omitempty" jsonschema:"high, medium or low"`
}

// TodoWrite returns the tool that keeps the session's list.
func TodoWrite(cfg TodoConfig) tool.Tool {
	spec := tool.Spec{Name: "todowrite", Description: strings.TrimSpace(todoText)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in todoInput) (tool.Result, error) {
		list := []lathe.Todo{}
		var faults args.Faults
		for i, e := range in.Todos {
			if strings.TrimSpace(e.Content) == "" {
				faults = append(faults, args.Fault{Path: fmt.Sprintf("todos[%d].content", i), Problem: "is empty; describe the task, or omit the entry"})
			}
			list = append(list, lathe.Todo{Content: e.Content, Status: todoStatus(e.Status), Priority: cmp.Or(e.Priority, "medium")})
		}
		if len(faults) > 0 {
			return tool.Result{}, tool.InvalidArguments("todowrite", faults)
		}
		if err := c.Host.Ask(ctx, tool.Permission{Name: "todowrite", Patterns: []string{"*"}, Always: []string{"*"}}); err != nil {
			return tool.Result{}, err
		}
		if err := c.Host.SetTodos(ctx, list); err != nil {
			return tool.Result{}, err
		}
		meta, err := json.Marshal(todoMeta{list})
		if err != nil {
			return tool.Result{}, err
		}
		res := tool.Result{Title: fmt.Sprintf("%d todos", len(list)-countTodos(list, "completed")), Metadata: meta}
		if !cfg.JSON {
			res.Output = todoWords(list, lastTodos(c.Host.History()))
			return res, nil
		}
		out, err := json.MarshalIndent(list, "", "  ")
		res.Output = string(out)
		return res, err
	})
}

type todoMeta struct {
	Todos []lathe.Todo `json:"todos"`
}

// todoStatus is the list's word for a status; an unknown one stays.
func todoStatus(word string) string {
	switch args.Normalize(word) {
	case "pending", "todo", "open", "new", "notstarted", "planned", "":
		return "pending"
	case "inprogress", "doing", "active", "current", "started", "ongoing", "working", "running":
		return "in_progress"
	case "completed", "complete", "done", "finished", "closed", "resolved":
		return "completed"
	case "cancelled", "canceled", "skipped", "dropped", "obsolete", "abandoned":
		return "cancelled"
	}
	return word
}

func countTodos(list []lathe.Todo, status string) int {
	n := 0
	for _, t := range list {
		if t.Status == status {
			n++
		}
	}
	return n
}

// lastTodos is the list as an earlier call left it; nil if there was none.
func lastTodos(history []lathe.Message) []lathe.Todo {
	for _, m := range slices.Backward(history) {
		for _, p := range slices.Backward(m.Parts) {
			call, ok := p.Body.(*lathe.ToolCall)
			if !ok || call.Tool != "todowrite" {
				continue
			}
			done, ok := call.State.(*lathe.Completed)
			var meta todoMeta
			if ok && json.Unmarshal(done.Metadata, &meta) == nil {
				return meta.Todos
			}
		}
	}
	return nil
}

// todoWords is one line, and the list where entries came, went or moved: then the model had
// better see what it has now.
func todoWords(list, before []lathe.Todo) string {
	if len(list) == 0 {
		return "The list is empty now."
	}
	out := fmt.Sprintf("%d of %d done", countTodos(list, "completed"), len(list))
	var now []string
	for _, t := range list {
		if t.Status == "in_progress" {
			now = append(now, phrase.Clip(t.Content))
		}
	}
	switch {
	case len(now) > 0:
		out += ", now: " + strings.Join(now, "; ")
	case countTodos(list, "pending") > 0:
		out += ", none in progress"
	}
	if len(now) > 1 {
		out += fmt.Sprintf(". %d are in progress: keep one, and set the others to pending", len(now))
	}
	out += "."
	sameEntry := func(a, b lathe.Todo) bool { return a.Content == b.Content }
	if before == nil || slices.EqualFunc(list, before, sameEntry) {
		return out
	}
	for _, t := range list {
		out += fmt.Sprintf("\n- %s: %s", t.Status, phrase.Clip(t.Content))
	}
	return out
}
