package ask_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

func names() []string {
	return []string{
		"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "pgup", "pgdown", "space", "backspace", "delete",
		"ctrl+f", "ctrl+c", "ctrl+w", "ctrl+u", "ctrl+k", "alt+f", "1", "2", "3", "4", "9", "h", "j", "k", "l", "g", "G", "x", "日",
	}
}

func makers() map[string]func(t *rapid.T) region {
	m := styletest.Hostile()
	return map[string]func(t *rapid.T) region{
		"permission": func(t *rapid.T) region {
			text := rapid.SampledFrom(m).Draw(t, "text")
			name := rapid.SampledFrom([]string{"edit", "bash", "sandbox", "external_directory", "doom_loop", "task", "webfetch", "read", "glob", "lsp", "other\x1b[2J"}).Draw(t, "permission")
			meta, err := json.Marshal(map[string]any{"command": text, "diff": text, "filepath": text, "reason": text, "description": text, "url": text, "tool": text, "input": map[string]string{text: text}, "pattern": text, "directories": []string{text}})
			if err != nil {
				t.Fatal(err)
			}
			p := ask.NewPermission(styletest.Keys(t), &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{
				Permission: name, Patterns: []string{text}, Always: rapid.SampledFrom([][]string{nil, {text}, {"*"}}).Draw(t, "always"), Metadata: meta,
			}}, ask.Options{From: text})
			p.SetWaiting(3)
			return p
		},
		"question": func(t *rapid.T) region {
			var list []lathe.Question
			for range rapid.IntRange(0, 4).Draw(t, "questions") {
				q := lathe.Question{
					Question: rapid.SampledFrom(m).Draw(t, "question"), Header: rapid.SampledFrom(m).Draw(t, "header"),
					Multiple: lathe.FlagOf(rapid.Bool().Draw(t, "multiple")), Custom: lathe.FlagOf(rapid.Bool().Draw(t, "custom")),
				}
				for range rapid.IntRange(0, 12).Draw(t, "options") {
					q.Options = append(q.Options, lathe.Option{Label: rapid.SampledFrom(m).Draw(t, "label"), Description: rapid.SampledFrom(m).Draw(t, "description")})
				}
				list = append(list, q)
			}
			return ask.NewQuestion(styletest.Keys(t), &lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{Questions: list}})
		},
	}
}

// Whatever is asked and whatever is pressed, the region stands and stays within its width.
func TestRegions_AnyKeys(t *testing.T) {
	for name, mk := range makers() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := mk(t)
				now := start
				r.StartGuard(now)
				for range rapid.IntRange(1, 30).Draw(t, "steps") {
					now = now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "wait")) * time.Millisecond)
					switch rapid.IntRange(0, 9).Draw(t, "what") {
					case 0:
						if out := r.Paste(rapid.SampledFrom(styletest.Hostile()).Draw(t, "paste")); out != (ask.None{}) {
							t.Fatalf("a paste came to %#v", out)
						}
					case 1:
						r.Click(rapid.IntRange(-2, 130).Draw(t, "x"), rapid.IntRange(-2, 40).Draw(t, "y"), now)
					case 2:
						r.Wheel(rapid.IntRange(-50, 50).Draw(t, "dy"))
					default:
						r.Key(styletest.Press(rapid.SampledFrom(names()).Draw(t, "key")), now)
					}
					look(t, r, rapid.SampledFrom([]int{20, 21, 40, 80, 120}).Draw(t, "width"), rapid.IntRange(3, 40).Draw(t, "height"))
				}
			})
		})
	}
}

// A command or a question of a megabyte costs its length once; were it the square, this would not end.
func TestRegions_Megabyte(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	words := strings.Repeat("ab 日本 \x1b ", 1<<16)
	for _, text := range []string{long, words} {
		p := bash(t, text)
		q := question(t, lathe.Question{Question: text, Header: text, Options: []lathe.Option{{Label: text, Description: text}}})
		for _, r := range []region{p, q} {
			if text := frame(t, r, 80, 30); !strings.Contains(text, "more lines below") {
				t.Errorf("%T does not say that there is more:\n%s", r, text)
			}
		}
	}
}

func BenchmarkPermission_Frame(b *testing.B) {
	for name, command := range map[string]string{"short": "git push", "megabyte": strings.Repeat("echo one two three\n", 1<<16)} {
		p := bash(b, command)
		th := style.Default(true)
		p.View(th, 120, 40)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.View(th, 120, 40)
			}
		})
	}
}

func BenchmarkPermission_Open(b *testing.B) {
	th := style.Default(true)
	long := strings.Repeat("x", 1<<20)
	for b.Loop() {
		bash(b, long).View(th, 120, 40)
	}
}
