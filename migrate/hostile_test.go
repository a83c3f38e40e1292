package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/migrate"
)

// prompt and reply are two lines of Claude Code.
const (
	prompt = `{"type":"user","message":{"role":"user","content":"Hello"},"uuid":"u1","timestamp":"2026-11-18T05:00:00.000Z","cwd":"/x"}`
	reply  = `{"type":"assistant","message":{"id":"m1","model":"c","content":[{"type":"text","text":"Hi"}]},"uuid":"u2","timestamp":"2026-11-18T05:00:01.000Z","cwd":"/x"}`
)

func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// openers read a single file of each program that has files.
func openers() map[string]func(string) (migrate.Session, error) {
	return map[string]func(string) (migrate.Session, error){
		"x.jsonl": migrate.ClaudeFile, "rollout-x.jsonl": migrate.CodexFile, "session-x.jsonl": migrate.GeminiFile, "session-x.json": migrate.GeminiFile,
		"checkpoint-x.json": migrate.GeminiFile,
	}
}

// Whatever a file has between two good lines, the good ones are read, and no ID or name leads elsewhere.
func TestHostile_Transcripts(t *testing.T) {
	bad := []string{
		"", "null", "7", "[]", "{}", "\x00\xff\xfe", `{"type":7}`, `{"type":"user"}`, `{"type":"assistant","message":{"content":7}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"none","content":"x"}]}}`,
		`{"type":"user","message":{"content":[7,null,{"type":"image","source":{"type":"base64"}},{"type":"../../x"}]},"timestamp":"2026-11-18T05:00:00.500Z"}`,
		`{"type":"assistant","message":{"id":"../../m","model":"<synthetic>","content":[{"type":"tool_use","id":"../../etc","name":"../../bin/sh","input":[1]}]},"timestamp":"0001-01-01T00:00:00Z"}`,
		`{"type":"summary","summary":"\u001b[31mred\u0007"}`, strings.Repeat("[", 100_000), `{"type":"` + strings.Repeat("x", 10_000) + `"}`,
		`{"payload":{"type":"function_call","name":"shell","arguments":"not JSON","call_id":"c"},"type":"response_item"}`,
		`{"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]},"type":"response_item","timestamp":"9999-01-01T00:00:00Z"}`,
		`{"id":"a","type":"gemini","toolCalls":[{"id":"","name":"","args":7,"result":7,"status":"success"}]}`, `{"$rewindTo":"none"}`, `{"$set":{"messages":[7,{"id":"b","type":"user","content":"x"}]}}`,
	}
	for name, open := range openers() {
		for i, line := range bad {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				s, err := open(file(t, name, prompt+"\n"+line+"\n"+reply+"\n"))
				if err != nil {
					t.Fatal(err)
				}
				texts := 0
				rec, err := s.Read(t.Context(), migrate.Input{Add: func(m lathe.Message) error {
					texts += checkMessage(t, m)
					return nil
				}})
				if err != nil && !migrate.IsEmpty(err) {
					t.Fatal(err)
				}
				if strings.ContainsAny(rec.Title, "\x1b\x07\n") {
					t.Errorf("title %q", rec.Title)
				}
				if name == "x.jsonl" && texts < 2 {
					t.Errorf("%d of the two good lines were read", texts)
				}
			})
		}
	}
}

// checkMessage checks IDs and names, and counts texts.
func checkMessage(t *testing.T, m lathe.Message) (texts int) {
	t.Helper()
	if err := errors.Join(lathe.CheckID(lathe.PrefixMessage, string(m.ID)), lathe.CheckID(lathe.PrefixSession, string(m.Session))); err != nil {
		t.Error(err)
	}
	for _, p := range m.Parts {
		if err := lathe.CheckID(lathe.PrefixPart, string(p.ID)); err != nil {
			t.Error(err)
		}
		switch b := p.Body.(type) {
		case *lathe.Text:
			texts++
		case *lathe.ToolCall:
			if err := errors.Join(lathe.CheckID("", b.Tool), lathe.CheckID("", b.CallID)); err != nil || b.State.Status() == "pending" || b.State.Status() == "running" {
				t.Errorf("call %q of %q, %s: %v", b.CallID, b.Tool, b.State.Status(), err)
			}
		default:
		}
	}
	return texts
}

// A record that is too long is read past, not kept, and the records around it are read.
func TestHostile_LongRecord(t *testing.T) {
	long := `{"type":"user","message":{"content":"` + strings.Repeat("x", 33<<20) + `"}}`
	s, err := migrate.ClaudeFile(file(t, "x.jsonl", prompt+"\n"+long+"\n"+reply))
	if err != nil {
		t.Fatal(err)
	}
	x, skipped := read(t, s)
	if len(x.Messages) != 2 || skipped["too long"] != 1 {
		t.Errorf("%d messages, left out %s", len(x.Messages), skipped)
	}
}

// Every beginning of a transcript can be read, and gives the beginning of the messages with the same IDs.
func TestCutAnywhere(t *testing.T) {
	for _, tool := range []migrate.Tool{migrate.Claude, migrate.Codex, migrate.Gemini} {
		t.Run(string(tool), func(t *testing.T) {
			s := found(t, tool)[0]
			whole, _ := read(t, s)
			text, err := os.ReadFile(s.From)
			if err != nil {
				t.Fatal(err)
			}
			open := map[migrate.Tool]func(string) (migrate.Session, error){migrate.Claude: migrate.ClaudeFile, migrate.Codex: migrate.CodexFile, migrate.Gemini: migrate.GeminiFile}[tool]
			for n := 1; n < len(text); n += 97 {
				cut, err := open(file(t, filepath.Base(s.From), string(text[:n])))
				if err != nil {
					t.Fatal(err)
				}
				i := 0
				_, err = cut.Read(context.Background(), migrate.Input{Add: func(m lathe.Message) error {
					if i >= len(whole.Messages) || m.ID != whole.Messages[i].ID {
						t.Errorf("cut at %d: message %d is %s", n, i, m.ID)
					}
					i++
					return nil
				}})
				if err != nil && !migrate.IsEmpty(err) {
					t.Fatalf("cut at %d: %v", n, err)
				}
			}
		})
	}
}

// A cancel ends a long read.
func TestRead_Canceled(t *testing.T) {
	s, err := migrate.ClaudeFile(file(t, "x.jsonl", strings.Repeat(prompt+"\n", 10_000)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := s.Read(ctx, migrate.Input{Add: func(lathe.Message) error { return nil }}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// A compaction becomes one of lathe, so that the history before it is not sent again.
func TestClaude_Compaction(t *testing.T) {
	summary := `{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"We said hello."},"uuid":"u3","timestamp":"2026-11-18T05:00:02.000Z"}`
	s, err := migrate.ClaudeFile(file(t, "x.jsonl", prompt+"\n"+reply+"\n"+summary+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	x, _ := read(t, s)
	if len(x.Messages) != 4 {
		t.Fatalf("%d messages", len(x.Messages))
	}
	if _, ok := x.Messages[2].Parts[0].Body.(*lathe.Compaction); !ok {
		t.Errorf("%T", x.Messages[2].Parts[0].Body)
	}
	if a := x.Messages[3].Data.(*lathe.Assistant); !a.Summary.On() || a.Parent != x.Messages[2].ID {
		t.Errorf("%+v", a)
	}
}

// Gemini CLI takes messages back and replaces them; only those that count are read.
func TestGemini_Log(t *testing.T) {
	user := func(id, text string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-11-18T05:00:00.000Z","type":"user","content":%q}`, id, text)
	}
	log := strings.Join([]string{
		`{"sessionId":"s","startTime":"2026-11-18T05:00:00.000Z"}`, user("1", "one"), user("2", "two"), user("3", "three"), `{"$rewindTo":"2"}`, user("4", "four"), user("1", "one again"),
		`{"$set":{"lastUpdated":"2026-11-18T05:00:01.000Z"}}`,
	}, "\n")
	s, err := migrate.GeminiFile(file(t, "session-x.jsonl", log))
	if err != nil {
		t.Fatal(err)
	}
	x, _ := read(t, s)
	var got []string
	for _, m := range x.Messages {
		got = append(got, m.Parts[0].Body.(*lathe.Text).Text)
	}
	if fmt.Sprint(got) != "[one again four]" {
		t.Error(got)
	}
}

// OpenCode's older versions have a file for each record.
func TestOpenCode_Storage(t *testing.T) {
	data := t.TempDir()
	for name, text := range map[string]string{
		"storage/session/p/ses_1.json":     `{"id":"ses_1","directory":"/x","title":"Old","time":{"created":1,"updated":2}}`,
		"storage/message/ses_1/msg_1.json": `{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}}`,
		"storage/message/ses_1/msg_2.json": `{"id":"msg_2"`,
		"storage/part/msg_1/prt_1.json":    `{"id":"prt_1","messageID":"msg_1","sessionID":"ses_1","type":"text","text":"Hello"}`,
	} {
		path := filepath.Join(data, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := migrate.OpenCodeSessions(t.Context(), data)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	x, skipped := read(t, list[0])
	if len(x.Messages) != 1 || len(x.Messages[0].Parts) != 1 || x.Info.Title != "Old" || skipped.Total() != 1 {
		t.Errorf("%+v, left out %s", x, skipped)
	}
}

// A transcript that puts everything into one answer is passed on in pieces, so that no length of it is held. The usage that
// each record repeats counts once.
func TestHostile_OneAnswer(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	line := func(format string) func(int) string {
		return func(i int) string { return fmt.Sprintf(strings.ReplaceAll(format, "TEXT", text), i) }
	}
	for name, c := range map[string]struct {
		file string
		open func(string) (migrate.Session, error)
		line func(int) string
	}{
		"texts of Claude Code":  {"x.jsonl", migrate.ClaudeFile, line(`{"type":"assistant","message":{"id":"m1","model":"c","content":[{"type":"text","text":"%d TEXT"}],"usage":{"input_tokens":7,"output_tokens":3}},"timestamp":"2026-11-18T05:00:01.000Z"}`)},
		"calls without results": {"x.jsonl", migrate.ClaudeFile, line(`{"type":"assistant","message":{"id":"m1","model":"c","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"TEXT"}}]},"timestamp":"2026-11-18T05:00:01.000Z"}`)},
		"texts of Codex":        {"rollout-x.jsonl", migrate.CodexFile, line(`{"timestamp":"2026-11-18T05:00:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%d TEXT"}]}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, n, limit := []string{prompt}, 12, 6<<20
			if strings.HasPrefix(name, "calls") { // which wait for their results, up to a point
				n, limit = 20, 18<<20
			}
			for i := range n {
				lines = append(lines, c.line(i))
			}
			s, err := c.open(file(t, c.file, strings.Join(lines, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			parts, most := 0, 0
			var used lathe.Tokens
			_, err = s.Read(t.Context(), migrate.Input{Add: func(m lathe.Message) error {
				size := 0
				for _, p := range m.Parts {
					switch b := p.Body.(type) {
					case *lathe.Text:
						size += len(b.Text)
					case *lathe.ToolCall:
						size += len(b.State.(*lathe.Failed).Input)
					case *lathe.StepFinish:
						used = used.Add(b.Tokens)
						continue
					default:
						continue
					}
					if m.Data.Role() == "assistant" {
						parts++
					}
				}
				most = max(most, size)
				return nil
			}})
			if err != nil || parts != n || most > limit {
				t.Errorf("%d parts, at most %d MB at once, %v", parts, most>>20, err)
			}
			if strings.HasPrefix(name, "texts of Claude") && (used.Input != 7 || used.Output != 3) {
				t.Errorf("used %+v", used)
			}
		})
	}
}

// A value of a chat that is too long to hold ends the read; messages before it stay.
func TestHostile_LongValue(t *testing.T) {
	text := `{"messages":[{"id":"1","type":"user","content":"Hello"},{"id":"2","type":"user","content":"` + strings.Repeat("x", 40<<20) + `"}]}`
	s, err := migrate.GeminiFile(file(t, "session-x.json", text))
	if err != nil {
		t.Fatal(err)
	}
	x, skipped := read(t, s)
	if len(x.Messages) != 1 || skipped["incomplete"] != 1 {
		t.Errorf("%d messages, left out %s", len(x.Messages), skipped)
	}
}

// Calls of Claude Code's tools become those of lathe's where the arguments correspond.
func TestClaude_Tools(t *testing.T) {
	for name, c := range map[string][3]string{
		"Edit":           {`{"file_path":"/x/a","old_string":"o","new_string":"n"}`, "edit", `{"filePath":"/x/a","oldString":"o","newString":"n"}`},
		"Write":          {`{"file_path":"/x/a","content":"c"}`, "write", `{"filePath":"/x/a","content":"c"}`},
		"Read":           {`{"file_path":"/x/a"}`, "read", `{"filePath":"/x/a"}`},
		"Agent":          {`{"prompt":"p"}`, "task", `{"prompt":"p"}`},
		"MultiEdit":      {`{"file_path":"/x/a","edits":[]}`, "MultiEdit", `{"file_path":"/x/a","edits":[]}`},
		"NotebookEdit":   {`{"notebook_path":"/x/a"}`, "NotebookEdit", `{"notebook_path":"/x/a"}`},
		"mcp__gh__issue": {`{"n":1}`, "gh_issue", `{"n":1}`},
	} {
		call := fmt.Sprintf(`{"type":"assistant","message":{"id":"m1","model":"c","content":[{"type":"tool_use","id":"t1","name":%q,"input":%s}]},"uuid":"u2","timestamp":"2026-11-18T05:00:01.000Z"}`, name, c[0])
		s, err := migrate.ClaudeFile(file(t, "x.jsonl", prompt+"\n"+call))
		if err != nil {
			t.Fatal(err)
		}
		x, _ := read(t, s)
		got := x.Messages[1].Parts[1].Body.(*lathe.ToolCall)
		if input := string(got.State.(*lathe.Failed).Input); got.Tool != c[1] || input != c[2] {
			t.Errorf("%s is %s %s", name, got.Tool, input)
		}
	}
}
