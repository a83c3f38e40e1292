package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
)

// allowing is a session that allows everything and remembers nothing.
type allowing struct{}

func (allowing) Ask(context.Context, ...tool.Permission) error { return nil }
func (allowing) AskUser(context.Context, []lathe.Question) ([][]string, error) {
	return nil, nil
}
func (allowing) Progress(string, json.RawMessage)             {}
func (allowing) SetTodos(context.Context, []lathe.Todo) error { return nil }
func (allowing) Publish(lathe.Fact)                           {}
func (allowing) Delegate(context.Context, tool.Assignment) (tool.Report, error) {
	return tool.Report{}, nil
}
func (allowing) History() []lathe.Message                               { return nil }
func (allowing) AskParent(context.Context, string) (string, error)      { return "", nil }
func (allowing) Background() tool.Background                            { return nil }
func (allowing) PlanFile() string                                       { return "" }
func (allowing) SwitchAgent(context.Context, string, string) error      { return nil }
func (allowing) Allowed(tool.Permission) bool                           { return true }
func (allowing) BeginChange(context.Context, ...string) (func(), error) { return func() {}, nil }

// BenchmarkEdit edits a file of 5 MB and a small one, with permission, diff and write.
func BenchmarkEdit(b *testing.B) {
	for _, size := range []int{5 << 20, 10 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			dir := b.TempDir()
			var text strings.Builder
			for i := 0; text.Len() < size; i++ {
				fmt.Fprintf(&text, "\tvalue%d := compute(%d)\n", i, i)
			}
			if err := os.WriteFile(filepath.Join(dir, "f.go"), []byte(text.String()), 0o644); err != nil {
				b.Fatal(err)
			}
			edit := builtin.Edit(builtin.EditConfig{Tracker: builtin.NewReadTracker()})
			words := [2]string{"value77 := compute(77)", "value77 := reckon(77)"}
			for b.Loop() {
				input, err := json.Marshal(map[string]string{"filePath": "f.go", "oldString": words[0], "newString": words[1]})
				if err != nil {
					b.Fatal(err)
				}
				c := tool.Call{Session: "ses_1", Message: "msg_1", Dir: dir, Root: dir, Input: input, Host: allowing{}}
				if _, err := edit.Run(context.Background(), &c); err != nil {
					b.Fatal(err)
				}
				words[0], words[1] = words[1], words[0]
			}
		})
	}
}
