package transfer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/transfer"
)

// part, tool, user and assistant are records with the least members, and these.
func part(kind, members string) string {
	return fmt.Sprintf(`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":%q%s}`, kind, more(members))
}

func tool(state string) string {
	return part("tool", `"callID":"c","tool":"bash","state":{`+state+`}`)
}

func user(members string) string {
	return `{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}` + more(members) + `}`
}

func assistant(members string) string {
	return `{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":2},"parentID":"msg_1"` + more(members) + `}`
}

func more(members string) string {
	if members == "" || strings.HasPrefix(members, ",") {
		return members
	}
	return "," + members
}

// exported is an export with these members in its info and these messages.
func exported(info string, messages ...string) string {
	return `{"info":{"id":"ses_1"` + more(info) + `},"messages":[` + strings.Join(messages, ",") + `]}`
}

// said is a message with parts.
func said(info string, parts ...string) string {
	return `{"info":` + info + `,"parts":[` + strings.Join(parts, ",") + `]}`
}

func TestParse_Refuses(t *testing.T) {
	long := strings.Repeat("a", 200)
	for name, c := range map[string]struct{ data, want string }{
		"nothing":            {"", "the export is empty"},
		"white space":        {" \n\t ", "the export is empty"},
		"only a mark":        {"\xef\xbb\xbf", "the export is empty"},
		"text":               {"\n hello", "the export is not JSON (line 2, column 2): invalid character 'h' looking for beginning of value"},
		"cut off":            {exported("")[:20], "the export breaks off (line 1, column 21): it is incomplete"},
		"cut in a string":    {`{"info":{"id":"ses`, "the export breaks off (line 1, column 19): it is incomplete"},
		"two values":         {exported("") + exported(""), "the export is not JSON (line 1, column 38): invalid character '{' after top-level value"},
		"not UTF-8":          {"{\"info\":{\n\"id\":\"ses_\xff\"},\"messages\":[]}", "the export is not valid UTF-8 (line 2, column 11)"},
		"half a character":   {exported("") + "\xe2\x82", "the export is not valid UTF-8 (line 1, column 38)"},
		"control character":  {"{\"info\":\"\x01\"}", "the export is not JSON (line 1, column 10): invalid character '\\x01' in string literal"},
		"deep":               {exported(`"metadata":` + strings.Repeat("[", 600) + strings.Repeat("]", 600)), "the export is nested more than 500 levels deep"},
		"deep and cut off":   {strings.Repeat(`{"a":[`, 1_000_000), "the export is nested more than 500 levels deep"},
		"a number":           {"7", "the export is not an object with info and messages"},
		"null":               {"null", "the export is not an object with info and messages"},
		"another object":     {`{"name":"x"}`, "this is not an export of a session: it needs the members info and messages"},
		"no messages":        {`{"info":{"id":"ses_1"}}`, "this is not an export of a session: it needs the members info and messages"},
		"no info":            {`{"messages":[]}`, "this is not an export of a session: it needs the members info and messages"},
		"info is null":       {`{"info":null,"messages":[]}`, "info: want an object, got null"},
		"info is a list":     {`{"info":[],"messages":[]}`, "info: want an object, got []"},
		"messages an object": {`{"info":{"id":"ses_1"},"messages":{}}`, "messages: want an array"},
		"messages null":      {`{"info":{"id":"ses_1"},"messages":null}`, "messages: want an array"},
		"a message null":     {exported("", "null"), "messages[0]: want an object, got null"},
		"message no info":    {exported("", `{"parts":[]}`), "messages[0]: info is missing"},
		"title a number":     {exported(`"title":7`), "info.title: want a string, got 7"},
		"time a word":        {exported(`"time":{"created":"now"}`), `info.time.created: want a number, got "now"`},
		"role unknown":       {exported("", said(`{"id":"msg_1","role":"wizard"}`)), `messages[0].info.role: want user or assistant, got "wizard"`},
		"role missing":       {exported("", said(`{"id":"msg_1"}`)), "messages[0].info.role: want user or assistant, got nothing"},
		"second message bad": {exported("", said(user("")), said(`{"id":"msg_3","role":3}`)), "messages[1].info.role: want a string, got 3"},
		"parts an object":    {exported("", `{"info":`+user("")+`,"parts":{}}`), "messages[0].parts: want an array, got {}"},
		"part without type":  {exported("", said(user(""), `{"id":"prt_1"}`)), "messages[0].parts.type: want the type of a part, got nothing"},
		"state unknown":      {exported("", said(assistant(""), tool(`"status":"lost"`))), `messages[0].parts.state.status: want pending, running, completed or error, got "lost"`},
		"input a list":       {exported("", said(assistant(""), tool(`"status":"pending","input":[]`))), "messages[0].parts.state.input: want an object, got []"},

		"no id":             {`{"info":{},"messages":[]}`, "the export names no session: the id in info is missing"},
		"id a path":         {exported(`"id":"ses_../../etc/passwd"`), `id "ses_../../etc/passwd" holds '.'; only letters, digits, _ and - are allowed`},
		"id with NUL":       {exported(`"id":"ses_\u0000"`), `id "ses_\x00" holds '\x00'; only letters, digits, _ and - are allowed`},
		"id of a message":   {exported(`"id":"msg_1"`), `id "msg_1" must start with "ses"`},
		"id too long":       {exported(`"id":"ses_` + long + `"`), `id "ses_` + long[:36] + `"… is longer than 128 bytes`},
		"parent a path":     {exported(`"parentID":"ses_/.."`), `id "ses_/.." holds '/'; only letters, digits, _ and - are allowed`},
		"workspace a path":  {exported(`"workspaceID":"../x"`), `id "../x" must start with "wrk"`},
		"revert elsewhere":  {exported(`"revert":{"messageID":"../x"}`), `info.revert: id "../x" must start with "msg"`},
		"message a path":    {exported("", said(`{"id":"msg_\\..","role":"user"}`)), `id "msg_\\.." holds '\\'; only letters, digits, _ and - are allowed`},
		"message no id":     {exported("", said(`{"role":"user"}`)), `id "" must start with "msg"`},
		"part of a session": {exported("", said(user(""), `{"id":"ses_1","type":"text"}`)), `id "ses_1" must start with "prt"`},
		"message twice":     {exported("", said(user("")), said(user(""))), "id msg_1 occurs twice"},
		"part twice":        {exported("", said(user(""), part("text", ""), part("text", ""))), "id prt_1 occurs twice"},
		"part in two":       {exported("", said(user(""), part("text", "")), said(assistant(""), part("text", ""))), "id prt_1 occurs twice"},
		"answer to a path":  {exported("", said(`{"id":"msg_1","role":"assistant","parentID":"/etc"}`)), `message msg_1: parentID: id "/etc" must start with "msg"`},
		"attachment a path": {
			exported("", said(assistant(""), tool(`"status":"completed","attachments":[{"id":"../../x","type":"file"}]`))),
			`part prt_1: attachment: id "../../x" must start with "prt"`,
		},
		"session beyond time": {exported(`"time":{"created":1,"updated":1e300}`), "info.time: 1 and 1e+300 are not both times in milliseconds"},
		"message beyond time": {exported("", said(`{"id":"msg_1","role":"user","time":{"created":-1e400}}`)), "message msg_1: time.created -1.7976931348623157e+308 is not a time in milliseconds"},

		"share without session": {`[{"type":"message","data":` + user("") + `}]`, "the export names no session: the id in info is missing"},
		"share of numbers":      {`[1]`, "[0]: want an object, got 1"},
		"share part astray": {
			`[{"type":"session","data":{"id":"ses_1"}},{"type":"part","data":` + part("text", "") + `}]`,
			"part prt_1 belongs to message msg_1, which is missing",
		},
		"share message bad": {`[{"type":"session","data":{"id":"ses_1"}},{"type":"message","data":{"id":"msg_1"}}]`, "[1].role: want user or assistant, got nothing"},
		"share no data":     {`[{"type":"session"}]`, "[0]: want an object, got nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := transfer.Parse([]byte(c.data))
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			if err.Error() != c.want {
				t.Errorf("\n got %s\nwant %s", err, c.want)
			}
			if lathe.CodeOf(err) != lathe.Invalid {
				t.Errorf("code %s", lathe.CodeOf(err))
			}
			if len(c.data) > 10_000 {
				return
			}
			twice := strings.Contains(c.want, "occurs twice") || strings.Contains(c.want, "which is missing")
			_, again := transfer.Read(iotest.OneByteReader(strings.NewReader(c.data)), func(lathe.Message) error { return nil })
			if !twice && (again == nil || again.Error() != c.want) {
				t.Errorf("byte by byte: %v", again)
			}
		})
	}
}

// Wherever the text is cut, it is refused as incomplete, and nothing but whole messages was passed on.
func TestRead_CutAnywhere(t *testing.T) {
	data, err := wholeExport().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := transfer.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(data); n += 7 {
		got := 0
		_, err := transfer.Read(iotest.HalfReader(bytes.NewReader(data[:n])), func(lathe.Message) error { got++; return nil })
		if err == nil || !strings.Contains(err.Error(), "it is incomplete") && !strings.Contains(err.Error(), "not valid UTF-8") {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if got > len(whole.Messages) {
			t.Fatalf("cut at %d: %d messages", n, got)
		}
	}
}

// The error of the source is passed on.
func TestRead_BrokenSource(t *testing.T) {
	broken := errors.New("the disk is gone")
	r := io.MultiReader(strings.NewReader(exported("")[:20]), iotest.ErrReader(broken))
	if _, err := transfer.Read(r, func(lathe.Message) error { return nil }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestParse_Accepts(t *testing.T) {
	for name, data := range map[string]string{
		"least":              exported(""),
		"mark":               "\xef\xbb\xbf" + exported(""),
		"white space":        "\r\n\t " + strings.ReplaceAll(exported(""), ",", "\r\n,\r\n") + "\n\n",
		"unknown members":    exported(`"x":{"y":[1,2]}`, said(user(`"z":1`), part("text", `"text":"a","w":null`))),
		"unknown part":       exported("", said(user(""), part("hologram", `"deep":{"er":[]}`))),
		"odd times":          exported(`"time":{"created":-1.5,"updated":8.64e15}`),
		"deep to the limit":  exported(`"metadata":` + strings.Repeat("[", 490) + strings.Repeat("]", 490)),
		"brackets in a text": exported("", said(user(""), part("text", `"text":"`+strings.Repeat("[{", 1000)+`"`))),
		"no ids of owners":   exported("", said(`{"id":"msg_9","role":"user"}`, `{"id":"prt_9","type":"text"}`)),
		"absurd counts":      exported(`"cost":1e999,"tokens":{"input":1e30,"output":-1e30}`),
		"short ids":          exported(`"id":"ses"`, said(`{"id":"msg","role":"user"}`, `{"id":"prt","type":"text"}`)),
	} {
		t.Run(name, func(t *testing.T) {
			x, err := transfer.Parse([]byte(data))
			if err != nil {
				t.Fatal(err)
			}
			holds(t, x)
		})
	}
}

// holds checks that an export hangs together and survives being written and read again.
func holds(t *testing.T, x lathe.Export) {
	t.Helper()
	for i, m := range x.Messages {
		if m.Session != x.Info.ID {
			t.Errorf("message %s belongs to %s", m.ID, m.Session)
		}
		if i > 0 && m.Before(x.Messages[i-1]) {
			t.Errorf("message %s is out of order", m.ID)
		}
		for _, p := range m.Parts {
			if p.Session != x.Info.ID || p.Message != m.ID {
				t.Errorf("part %s belongs to %s of %s", p.ID, p.Message, p.Session)
			}
		}
	}
	first, err := x.MarshalJSON()
	if err != nil || !json.Valid(first) {
		t.Fatalf("written badly: %v\n%s", err, first)
	}
	again, err := transfer.Parse(first)
	if err != nil {
		t.Fatalf("cannot be read again: %v\n%s", err, first)
	}
	second, err := again.MarshalJSON()
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("differs when read again (%v):\n%s\n%s", err, first, second)
	}
}

// Of several members of one name the last counts, what belongs elsewhere is taken over, and
// messages come in the order of their creation whatever the file has.
func TestParse_Straightens(t *testing.T) {
	x, err := transfer.Parse([]byte(exported(`"id":"ses_2","slug":"../../up","title":"first","title":"second"`,
		said(`{"id":"msg_b","sessionID":"ses_9","role":"user","time":{"created":5}}`, part("text", `"id":"prt_2"`)),
		said(`{"id":"msg_c","role":"user","time":{"created":3}}`, part("text", `"text":"x"`)),
		said(`{"id":"msg_a","role":"user","time":{"created":5}}`))))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(x.Info.ID, x.Info.Title, x.Info.Slug)
	for _, m := range x.Messages {
		got += fmt.Sprint(" ", m.ID, m.Session)
		for _, p := range m.Parts {
			got += fmt.Sprint("/", p.ID, p.Message, p.Session)
		}
	}
	want := "ses_2second msg_cses_2/prt_1msg_cses_2 msg_ases_2 msg_bses_2/prt_2msg_bses_2"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// wholeExport is every sample of the vocabulary in one session.
func wholeExport() lathe.Export {
	x := lathe.Export{Info: lathetest.Session(), Messages: lathetest.Messages()}
	for i, m := range x.Messages {
		for j := range m.Parts {
			m.Parts[j].ID = lathe.PartID(fmt.Sprintf("prt_%d_%d", i, j))
		}
	}
	return x
}

// Every sample of the vocabulary goes out and comes in unchanged.
func TestParse_EverySample(t *testing.T) {
	data, err := wholeExport().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := transfer.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := got.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, data) {
		t.Errorf("differs:\n%s\n%s", again, data)
	}
	holds(t, got)
}

func FuzzParse(f *testing.F) {
	whole, err := wholeExport().MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		string(whole),
		exported(""),
		exported(`"slug":"../x","time":{"created":-1e999}`, said(user(""), part("text", `"text":"\ud800"`)), said(assistant(""), tool(`"status":"error"`))),
		`[{"type":"session","data":{"id":"ses_1"}},{"type":"message","data":` + user("") + `},{"type":"part","data":` + part("file", "") + `}]`,
		"\xef\xbb\xbf{\"info\":{},\"messages\":[]}",
		strings.Repeat("[", 600),
		`{"info":{"id":"ses_\u002e"},"messages":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := transfer.Parse(data)
		if err != nil {
			if lathe.CodeOf(err) != lathe.Invalid || err.Error() == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		holds(t, x)
		clean := x
		clean.Info = x.Info.Sanitized()
		clean.Messages = nil
		for _, m := range x.Messages {
			clean.Messages = append(clean.Messages, m.Sanitized())
		}
		holds(t, clean)
	})
}
