package lathe_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

func textPart(members string) string { return part("text", members) }

func TestRead_Tolerant(t *testing.T) {
	tests := []struct{ name, kind, in, want string }{
		// Null is absent, and absent is zero.
		{"null optional", "part", textPart(`"text":"a","synthetic":null,"time":null,"metadata":null`), textPart(`"text":"a"`)},
		{"null required", "part", textPart(`"text":null`), textPart(`"text":""`)},
		{"null list", "part", part("patch", `"hash":"h","files":null`), part("patch", `"hash":"h","files":[]`)},
		{"null object", "part", tool(`"status":"pending","input":null,"raw":""`), tool(`"status":"pending","input":{},"raw":""`)},
		{"missing required", "part", part("text", ``), textPart(`"text":""`)},
		{"missing state", "part", part("tool", `"callID":"c","tool":"bash"`), tool(`"status":"pending","input":{},"raw":""`)},
		{"unknown null stays", "part", textPart(`"text":"","later":null`), textPart(`"text":"","later":null`)},

		// Flags have three states.
		{"flags", "part", textPart(`"text":"","synthetic":false,"ignored":true`), textPart(`"text":"","synthetic":false,"ignored":true`)},
		{"overflow false", "part", part("compaction", `"auto":true,"overflow":false`), part("compaction", `"auto":true,"overflow":false`)},

		// Keys.
		{"repeated key, last wins", "part", textPart(`"text":"a","text":"b","x":1,"y":2,"x":3`), textPart(`"text":"b","y":2,"x":3`)},
		{"repeated key, last is null", "part", textPart(`"text":"a","ignored":true,"ignored":null`), textPart(`"text":"a"`)},
		{"escaped key", "part", textPart(`"\u0074e\u0078t":"a","\/x\u00e9\"":1`), textPart(`"text":"a","/xé\"":1`)},
		{"escaped repetition", "part", textPart(`"text":"a","x":1,"\u0078":2`), textPart(`"text":"a","x":2`)},

		// Numbers.
		{"fraction", "part", textPart(`"text":"","time":{"start":1768435200000.25}`), textPart(`"text":"","time":{"start":1768435200000.25}`)},
		{"negative", "part", textPart(`"text":"","time":{"start":-5,"end":-0.5}`), textPart(`"text":"","time":{"start":-5,"end":-0.5}`)},
		{"beyond doubles", "part", textPart(`"text":"","time":{"start":1e999,"end":-1e999}`), textPart(fmt.Sprintf(`"text":"","time":{"start":%v,"end":%v}`, math.MaxFloat64, -math.MaxFloat64))},
		{"exponent", "part", textPart(`"text":"","time":{"start":1.5E3,"end":25e-1}`), textPart(`"text":"","time":{"start":1500,"end":2.5}`)},
		{"tiny", "part", textPart(`"text":"","time":{"start":1.25e-7}`), textPart(`"text":"","time":{"start":1.25e-7}`)},
		{"minus zero", "part", textPart(`"text":"","time":{"start":-0}`), textPart(`"text":"","time":{"start":0}`)},
		{
			"negative and huge tokens", "part",
			part("step-finish", `"reason":"stop","cost":-0.5,"tokens":{"total":-1,"input":-70,"output":9007199254740993,"reasoning":1e3,"cache":{"read":9223372036854775807,"write":1.9}}`),
			part("step-finish", `"reason":"stop","cost":-0.5,"tokens":{"total":-1,"input":-70,"output":9007199254740993,"reasoning":1000,"cache":{"read":9223372036854775807,"write":1}}`),
		},
		{
			"tokens beyond integers", "part",
			part("step-finish", `"reason":"","cost":0,"tokens":{"input":1e30,"output":-1e30,"reasoning":99999999999999999999,"cache":{"read":0,"write":0}}`),
			part("step-finish", `"reason":"","cost":0,"tokens":{"input":9223372036854775807,"output":-9223372036854775808,"reasoning":9223372036854775807,"cache":{"read":0,"write":0}}`),
		},
		{"negative archive time", "session", `{"time":{"created":1,"updated":2,"archived":-62135596800000}}`, `{"id":"","slug":"","projectID":"","directory":"","title":"","version":"","time":{"created":1,"updated":2,"archived":-62135596800000}}`},

		// Strings.
		{"lone surrogates", "part", textPart(`"text":"a\ud800b\udc00\ud83d\ude00\ud83dx"`), textPart(`"text":"a\ufffdb\ufffd😀\ufffdx"`)},
		{"broken UTF-8", "part", textPart("\"text\":\"a\xff\xfeb\\n\xc3\""), textPart(`"text":"a\ufffd\ufffdb\n\ufffd"`)},
		{"broken UTF-8 in a key", "part", textPart("\"text\":\"\",\"k\xff\":1"), textPart(`"text":"","k` + "\ufffd" + `":1`)},
		{"broken UTF-8 kept raw", "part", textPart("\"text\":\"\",\"metadata\":{\"k\":\"\xff\xff\"}"), textPart(`"text":"","metadata":{"k":"` + "\ufffd\ufffd" + `"}`)},
		{"every escape", "part", textPart(`"text":"\"\\\/\b\f\n\r\t\u0000\u001f"`), textPart(`"text":"\"\\/\u0008\u000c\n\r\t\u0000\u001f"`)},

		// The first generation.
		{
			"variant beside model", "info",
			user(`"agent":"build","model":{"providerID":"p","modelID":"m"},"variant":"high"`),
			user(`"agent":"build","model":{"providerID":"p","modelID":"m","variant":"high"}`),
		},
		{
			"variant in both places", "info",
			user(`"agent":"build","model":{"providerID":"p","modelID":"m","variant":"low"},"variant":"high"`),
			user(`"agent":"build","model":{"providerID":"p","modelID":"m","variant":"low"}`),
		},
		{
			"mode without agent", "info",
			assistant(`"modelID":"m","providerID":"p","mode":"plan","path":{"cwd":"/","root":"/"},"cost":0,` + leastTokens),
			assistant(`"modelID":"m","providerID":"p","mode":"plan","agent":"plan","path":{"cwd":"/","root":"/"},"cost":0,` + leastTokens),
		},
		{"diff with contents", "diff", `{"file":"a","before":"x\n","after":"y\n","additions":1,"deletions":1}`, `{"file":"a","before":"x\n","after":"y\n","additions":1,"deletions":1}`},
		{"todo with id", "todo", `{"id":"1","content":"c","status":"pending","priority":"low"}`, `{"content":"c","status":"pending","priority":"low","id":"1"}`},
		{
			"session without slug, cost and tokens", "session",
			`{"id":"ses_1","projectID":"p","directory":"","title":"t","version":"1","time":{"created":1,"updated":2}}`,
			`{"id":"ses_1","slug":"","projectID":"p","directory":"","title":"t","version":"1","time":{"created":1,"updated":2}}`,
		},
		{"event without id", "event", `{"type":"session.idle","properties":{"sessionID":"ses_1"}}`, `{"id":"","type":"session.idle","properties":{"sessionID":"ses_1"}}`},
		{
			"part event with delta and without time", "event",
			event("message.part.updated", `"part":`+textPart(`"text":"ab"`)+`,"delta":"b"`),
			event("message.part.updated", `"sessionID":"ses_1","part":`+textPart(`"text":"ab"`)+`,"time":0,"delta":"b"`),
		},
		{"message event without sessionID", "event", event("message.updated", `"info":`+leastUser), event("message.updated", `"sessionID":"","info":`+leastUser)},
		{"event without properties", "event", `{"id":"evt_1","type":"server.connected"}`, event("server.connected", ``)},

		// What this version does not know.
		{"part type", "part", part("later", `"text":{"not":"text"},"time":"never"`), part("later", `"text":{"not":"text"},"time":"never"`)},
		{"event type", "event", event("session.next.prompted", `"a":[1,{"b":null}]`), event("session.next.prompted", `"a":[1,{"b":null}]`)},
		{
			"fault name", "event",
			event("session.error", `"error":{"name":"LaterError","data":{"message":"m","code":7}}`),
			event("session.error", `"error":{"name":"LaterError","data":{"message":"m","code":7}}`),
		},
		{"status", "status", `{"type":"sleeping","until":7}`, `{"type":"sleeping","until":7}`},
		{
			"attachment that is no file", "part",
			tool(`"status":"completed","input":{},"output":"","title":"","metadata":{},"time":{"start":0,"end":0},"attachments":[` + tool(`"status":"odd"`) + `]`),
			tool(`"status":"completed","input":{},"output":"","title":"","metadata":{},"time":{"start":0,"end":0},"attachments":[` + tool(`"status":"odd"`) + `]`),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rewrite(t, tt.kind, tt.in)
			same(t, []byte(got), []byte(tt.want))
			if again := rewrite(t, tt.kind, got); again != got {
				t.Errorf("the second time it is\n%s\nand not\n%s", again, got)
			}
		})
	}
}

// Unknown members stay at every level: each object of each sample gets one more.
func TestRead_KeepsUnknownMembersEverywhere(t *testing.T) {
	for kind, values := range samples() {
		for name, data := range values {
			t.Run(kind+"/"+name, func(t *testing.T) {
				want := seed(value(t, data))
				seeded, err := json.Marshal(want)
				if err != nil {
					t.Fatal(err)
				}
				got := value(t, []byte(rewrite(t, kind, string(seeded))))
				unseedFrames(kind, want)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			})
		}
	}
}

// seed puts a member into every object of a JSON value.
func seed(v any) any {
	eachObject(v, func(m map[string]any) { m["seed"] = []any{1.5, "é"} })
	return v
}

// unseedFrames takes the seed out of the three objects that are only a frame around
// others and are not kept themselves: an event, {"info","parts"}, {"name","data"}.
func unseedFrames(kind string, v any) {
	if kind == "event" || kind == "message" {
		delete(v.(map[string]any), "seed")
	}
	eachObject(v, func(m map[string]any) {
		_, name := m["name"].(string)
		_, data := m["data"].(map[string]any)
		if name && data {
			delete(m, "seed")
		}
	})
}

func eachObject(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			eachObject(x, f)
		}
		f(v)
	case []any:
		for _, x := range v {
			eachObject(x, f)
		}
	}
}

// Wrong types are refused, and the error says where.
func TestRead_Errors(t *testing.T) {
	deep := `"reason":"","cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":[]}}`
	tests := []struct{ kind, in, want string }{
		{"part", tool(`"status":"running","input":{},"time":{"start":"x"}`), `part.state.time.start: want a number, got "x"`},
		{"part", tool(`"status":"running","input":[],"time":{"start":1}`), `part.state.input: want an object, got []`},
		{"part", tool(`"status":"napping"`), `part.state.status: want pending, running, completed or error, got "napping"`},
		{"part", tool(``), `part.state.status: want pending, running, completed or error, got nothing`},
		{"part", textPart(`"text":5`), `part.text: want a string, got 5`},
		{"part", textPart(`"text":"","synthetic":"yes"`), `part.synthetic: want true or false, got "yes"`},
		{"part", textPart(`"text":"","time":7`), `part.time: want an object, got 7`},
		{"part", part("patch", `"files":{}`), `part.files: want an array, got {}`},
		{"part", part("patch", `"files":["a",1]`), `part.files: want a string, got 1`},
		{"part", part("step-finish", deep), `part.tokens.cache.write: want a number, got []`},
		{"part", part("step-finish", `"cost":true`), `part.cost: want a number, got true`},
		{"part", `{"id":"prt_1"}`, `part.type: want the type of a part, got nothing`},
		{"part", `[]`, `part: want an object, got []`},
		{"session", `{"time":{"created":false}}`, `session.time.created: want a number, got false`},
		{"session", `{"permission":[{"action":1}]}`, `session.permission.action: want a string, got 1`},
		{"message", `{"info":{"role":"robot"}}`, `message.info.role: want user or assistant, got "robot"`},
		{"message", `{"info":{}}`, `message.info.role: want user or assistant, got nothing`},
		{"message", `{"parts":[]}`, `message: info is missing`},
		{"message", `{"info":` + leastUser + `,"parts":[{"type":"text","text":[]}]}`, `message.parts.text: want a string, got []`},
		{"info", assistant(`"error":{"name":"APIError","data":{"statusCode":"x"}}`), `message.error.data.statusCode: want a number, got "x"`},
		{"info", `{"role":`, `message: this is not JSON`},
		{"event", event("message.part.updated", `"part":{"type":"text","text":1}`), `event.properties.part.text: want a string, got 1`},
		{"event", event("message.part.updated", ``), `event.properties.part: want a part, got nothing`},
		{"event", `{"type":"message.part.updated"}`, `event.part: want a part, got nothing`},
		{"event", `{"type":"message.updated"}`, `event.info: want a message, got nothing`},
		{"event", `{"properties":{}}`, `event.type: want the type of an event, got nothing`},
		{"event", event("question.replied", `"answers":[["a",2]]`), `event.properties.answers: want a string, got 2`},
		{"event", event("question.replied", `"answers":["a"]`), `event.properties.answers: want an array, got "a"`},
		{"part", textPart(`"text":` + strings.Repeat("9", 100)), `part.text: want a string, got ` + strings.Repeat("9", 40)},
	}
	for _, tt := range tests {
		_, err := kinds[tt.kind](tt.in)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s\n got %v\nwant %s", tt.in, err, tt.want)
		}
		if code := lathe.CodeOf(err); code != lathe.Invalid {
			t.Errorf("%s: code %s", tt.in, code)
		}
	}
}

// An event is one line on the wire, whatever its pieces looked like.
func TestRead_MadeOneLine(t *testing.T) {
	in := "{\"type\":\"x\",\r\"properties\":{\n\"a\":\r{\r\"b\"\n:\t[1,\r\n2]},\"c\":[\r]}}"
	got := rewrite(t, "event", in)
	if strings.ContainsAny(got, "\r\n") {
		t.Errorf("spans lines: %q", got)
	}
	same(t, []byte(got), []byte(`{"id":"","type":"x","properties":{"a":{"b":[1,2]},"c":[]}}`))
}

// A member that comes twice is kept once.
func TestRead_RepeatedMembers(t *testing.T) {
	got := rewrite(t, "todo", `{"x":1,"content":"a","y":2,"x":3,"content":"b"}`)
	if want := `{"content":"b","status":"","priority":"","y":2,"x":3}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// A hostile object costs what it is long.
func TestRead_ManyMembers(t *testing.T) {
	var in strings.Builder
	in.WriteString(`{"type":"x"`)
	for i := range 100_000 {
		fmt.Fprintf(&in, `,"k%d":1`, i%60_000)
	}
	in.WriteString(`}`)
	got := rewrite(t, "part", in.String())
	if n := strings.Count(got, `"k`); n != 60_000 {
		t.Errorf("%d members are left", n)
	}
}

// A call inside an attachment inside a call is kept, not entered: depth costs nothing.
func TestRead_DeepAttachments(t *testing.T) {
	in, end := "", ""
	for range 3000 {
		in += `{"type":"tool","state":{"status":"completed","attachments":[`
		end += `]}}`
	}
	once := rewrite(t, "part", in+end)
	if twice := rewrite(t, "part", once); twice != once {
		t.Error("changed when written again")
	}
}

// Raw values that hold nothing are written as nothing.
func TestWrite_EmptyRaw(t *testing.T) {
	for _, empty := range []json.RawMessage{nil, {}, json.RawMessage("null")} {
		p := lathe.Part{Body: &lathe.ToolCall{State: &lathe.Running{Input: empty, Metadata: empty}}}
		want := `{"id":"","sessionID":"","messageID":"","type":"tool","callID":"","tool":"","state":{"status":"running","input":{},"time":{"start":0}}}`
		if got := string(p.AppendJSON(nil)); got != want {
			t.Errorf("%q:\n got %s\nwant %s", empty, got, want)
		}
	}
}

// A delta says where it belongs only to readers that asked, and only when it knows.
func TestWrite_Offset(t *testing.T) {
	const without = `{"id":"","type":"message.part.delta","properties":{"sessionID":"","messageID":"","partID":"","field":"text","delta":"a"}}`
	const with = `{"id":"","type":"message.part.delta","properties":{"sessionID":"","messageID":"","partID":"","field":"text","delta":"a","offset":0}}`
	known := lathe.Event{Fact: &lathe.PartDelta{Field: "text", Delta: "a"}}
	unknown := lathe.Event{Fact: &lathe.PartDelta{Field: "text", Delta: "a", Offset: -1}}
	for got, want := range map[string]string{
		string(known.AppendJSON(nil)):                       without,
		string(known.AppendWithOffset(nil)):                 with,
		string(unknown.AppendWithOffset([]byte(nil))) + " ": without + " ",
	} {
		if got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	for in, want := range map[string]int{`"offset":5`: 5, `"offset":0`: 0, `"offset":-3`: -1, `"offset":null`: -1, ``: -1} {
		var e lathe.Event
		if err := e.UnmarshalJSON([]byte(event("message.part.delta", in))); err != nil {
			t.Fatal(err)
		}
		if got := e.Fact.(*lathe.PartDelta).Offset; got != want {
			t.Errorf("%s: offset %d, want %d", in, got, want)
		}
	}
}

// Appending leaves alone what was there before.
func TestWrite_Appends(t *testing.T) {
	for _, before := range []string{"", "data: ", "{", `{"a":`} {
		got := string(lathetest.Session().AppendJSON([]byte(before)))
		if want := before + string(lathetest.Session().AppendJSON(nil)); got != want {
			t.Errorf("after %q:\n got %s\nwant %s", before, got, want)
		}
	}
}

// Whatever a message holds, it is the same after it was written and read.
func TestRead_RandomMessages(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := lathetest.Message(rt, lathetest.SessionID, 1)
		var wire lathe.Message
		if err := json.Unmarshal(m.AppendJSON(nil), &wire); err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(m, wire, cmpopts.EquateEmpty()); d != "" {
			rt.Fatalf("wire (-before +after):\n%s", d)
		}
		row := lathe.Message{ID: m.ID, Session: m.Session, Created: m.Created}
		if err := row.ReadRow(m.Data.Role(), m.AppendRow(nil)); err != nil {
			rt.Fatal(err)
		}
		row = row.WithParent(m.Parent())
		for _, p := range m.Parts {
			r := lathe.Part{ID: p.ID, Session: p.Session, Message: p.Message}
			if err := r.ReadRow(p.Body.Kind(), p.AppendRow(nil)); err != nil {
				rt.Fatal(err)
			}
			row.Parts = append(row.Parts, r)
		}
		if d := cmp.Diff(inMessage(m), row, cmpopts.EquateEmpty()); d != "" {
			rt.Fatalf("row (-before +after):\n%s", d)
		}
	})
}

// inMessage makes the attachments of a message's calls belong to it, as rows do.
func inMessage(m lathe.Message) lathe.Message {
	for _, p := range m.Parts {
		call, ok := p.Body.(*lathe.ToolCall)
		if !ok {
			continue
		}
		if done, ok := call.State.(*lathe.Completed); ok {
			for i := range done.Attachments {
				done.Attachments[i].Session, done.Attachments[i].Message = m.Session, m.ID
			}
		}
	}
	return m
}
