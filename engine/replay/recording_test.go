package replay_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/engine/replay"
)

// The requests of every provider tell the same calls and results. Each request repeats the earlier ones.
func TestReadRecording(t *testing.T) {
	for name, bodies := range map[string][]string{
		"chat": {
			`{"messages":[{"role":"system","content":"Working directory: /home/a \"b\"\nMore"},{"role":"user","content":"go"}]}`,
			`{"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},{"id":"2","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"2","content":[{"type":"text","text":"b"}]},{"role":"tool","tool_call_id":"1","content":"a"}]}`,
			`{"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},{"id":"2","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"2","content":"[Old tool result content cleared]"},{"role":"tool","tool_call_id":"1","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"webfetch","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"c"},{"role":"assistant","tool_calls":[{"id":"3","function":{"name":"bash","arguments":"{}"}}]}]}`,
		},
		"anthropic": {
			`{"system":"Working directory: /home/a \"b\"\nMore","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"1","name":"bash","input":{"command":"ls"}},{"type":"tool_use","id":"2","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"},{"type":"tool_result","tool_use_id":"2","content":[{"type":"text","text":"b"}]}]},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"webfetch","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"c"}]}]}`,
		},
		"responses": {
			`{"instructions":"Working directory: /home/a \"b\"\nMore","input":[{"role":"user","content":[{"type":"input_text","text":"go"}]},{"type":"function_call","call_id":"1","name":"bash","arguments":"{\"command\":\"ls\"}"},{"type":"function_call","call_id":"2","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"a"},{"type":"function_call_output","call_id":"2","output":"b"},{"type":"function_call","call_id":"1","name":"webfetch","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"c"}]}`,
		},
		"gemini": {
			`{"systemInstruction":{"parts":[{"text":"Working directory: /home/a \"b\"\nMore"}]},"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"bash","args":{"command":"ls"}}},{"functionCall":{"name":"read","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":"a"}}},{"functionResponse":{"name":"read","response":{"output":"b"}}}]},{"role":"model","parts":[{"functionCall":{"name":"webfetch","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"webfetch","response":{"output":"c"}}}]}]}`,
		},
		"bedrock": {
			`{"system":[{"text":"Working directory: /home/a \"b\"\nMore"}],"messages":[{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"bash","input":{"command":"ls"}}},{"toolUse":{"toolUseId":"2","name":"read","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"a"}]}},{"toolResult":{"toolUseId":"2","content":[{"text":"b"}]}}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"webfetch","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"c"}]}}]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var raw []json.RawMessage
			for _, b := range bodies {
				raw = append(raw, json.RawMessage(b))
			}
			got := replay.ReadRecording(raw)
			var calls []string
			for _, s := range got.Steps {
				for _, c := range s.Calls {
					calls = append(calls, string(rune('0'+s.Number))+" "+c.Tool+" "+string(c.Input)+" "+c.Recorded.Output+" "+c.Why)
				}
			}
			want := []string{`1 bash {"command":"ls"} a `, `1 read {} b `, `2 webfetch {} c webfetch reaches beyond the project`}
			if diff := cmp.Diff(want, calls); diff != "" || got.Directory != `/home/a "b"` {
				t.Errorf("in %q: %s", got.Directory, diff)
			}
		})
	}
}

// A damaged or strange recording is read without harm.
func FuzzReadRecording(f *testing.F) {
	f.Add(`{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"bash","arguments":"{"}}]},{"role":"tool","tool_call_id":"1","content":{}}]}`, `{"input":[]}`)
	f.Add(`{"contents":[{"parts":[{"parts":[{"functionResponse":{}}]}]}]}`, `[]`)
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range replay.ReadRecording([]json.RawMessage{json.RawMessage(a), json.RawMessage(b), json.RawMessage(a)}).Steps {
			if s.Number < 1 || len(s.Calls) == 0 {
				t.Errorf("step %+v", s)
			}
		}
	})
}

func TestKinds(t *testing.T) {
	for command, want := range map[string]replay.Kind{
		"ls -l; git status && git commit -m 'git push'":   replay.Local,
		"git -C sub push origin main":                     replay.Git,
		"cd x && git fetch --all":                         replay.Git,
		"git remote -v":                                   replay.Local,
		"git remote update":                               replay.Git,
		"git submodule status":                            replay.Local,
		"git pull --ff-only; git log --oneline | head":    replay.Git,
		"git push --force-with-lease origin a && echo ok": replay.Git,
		"echo curl": replay.Local,
		"X=1 timeout 5s curl -s https://example.org | cat": replay.Network,
		`sh -c "wget x"`:        replay.Network,
		"a=$(ssh host uname)":   replay.Network,
		"make\n/usr/bin/curl x": replay.Network,
		"":                      replay.Local,

		// The network opens for the whole line, so another program on it must not run as git.
		"git fetch; ./script":                       replay.Network,
		"./script | git fetch":                      replay.Network,
		"sh -c 'git fetch; ./script'":               replay.Network,
		"git fetch $(./script)":                     replay.Network,
		"git fetch `./script`":                      replay.Network,
		"cat <(./script); git fetch":                replay.Network,
		"GIT_SSH_COMMAND=./script git fetch":        replay.Network,
		"git -c core.sshCommand=./script fetch":     replay.Network,
		"git fetch --upload-pack=./script origin":   replay.Network,
		"git fetch --upl ./script origin":           replay.Network,
		"git clone ext::./script a":                 replay.Network,
		"git fetch; git submodule foreach ./script": replay.Network,
		"git submodule update --init":               replay.Network,
		"git fetch; git bisect run ./script":        replay.Network,
		"./git fetch":                               replay.Network,
	} {
		input, _ := json.Marshal(map[string]string{"command": command})
		body, _ := json.Marshal(map[string]any{"messages": []any{
			map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "1", "function": map[string]string{"name": "bash", "arguments": string(input)}}}},
			map[string]any{"role": "tool", "tool_call_id": "1", "content": ""},
		}})
		c := replay.ReadRecording([]json.RawMessage{body}).Steps[0].Calls[0]
		if c.Kind != want || c.Runs(nil) != (want == replay.Local) || !c.Runs([]replay.Kind{want}) {
			t.Errorf("%q is %q, want %q", command, c.Kind, want)
		}
	}
}
