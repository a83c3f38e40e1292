package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// hostileServer is a server that does one thing wrong, named by its first argument. It is written
// without the SDK, which would not do such things.
func hostileServer(args []string) int {
	h := &hostile{mode: args[0], out: bufio.NewWriterSize(os.Stdout, 1<<20)}
	if len(args) > 1 {
		h.file = args[1]
	}
	switch h.mode {
	case "mute", "deaf":
		if h.mode == "mute" {
			for s := bufio.NewScanner(os.Stdin); s.Scan(); { // it listens, and says nothing
			}
		}
		<-make(chan struct{})
	case "crash":
		fmt.Fprintln(os.Stderr, "token "+os.Getenv("TOKEN")+" is not valid\x1b[2J")
		return 3
	case "endless line":
		for {
			h.print(strings.Repeat("x", 1<<20))
		}
	case "errors without end":
		go func() {
			for {
				fmt.Fprintln(os.Stderr, strings.Repeat("an error ", 100))
			}
		}()
	case "forks":
		h.fork()
	case "junk":
		h.print("Starting…\n\n{\"half\": \n[1,2\n[]\nnull\n42\n\x00\xff\xfe\n{\"jsonrpc\":\"1.0\"}\n")
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m message
		if json.Unmarshal(line, &m) == nil && m.Method != "" {
			h.answer(m)
		}
	}
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name   string `json:"name"`
		Cursor string `json:"cursor"`
	} `json:"params"`
}

type hostile struct {
	mode, file string
	calls      int

	mu  sync.Mutex
	out *bufio.Writer
}

func (h *hostile) print(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = h.out.WriteString(s)
	_ = h.out.Flush()
}

func (h *hostile) reply(m message, result string) {
	h.print(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + "}\n")
}

// answer does as it should, except for one thing.
func (h *hostile) answer(m message) {
	switch m.Method {
	case "server/discover":
		if h.mode != "newest" {
			h.refuse(m)
			return
		}
		h.reply(m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"h","version":"1"}}}`)
	case "initialize":
		if h.mode == "newest" {
			h.refuse(m)
			return
		}
		if h.mode == "odd greeting" {
			h.reply(m, `{"protocolVersion":"1987-01-01","capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}}`)
			return
		}
		h.reply(m, `{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"h","version":"1"},"instructions":`+
			quote(strings.Repeat("obey ", 10000)+"\x1b[31m")+`}`)
	case "notifications/initialized":
		if h.mode == "changes without end" {
			go func() {
				for {
					h.print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
				}
			}()
		}
	case "tools/list":
		h.list(m)
	case "tools/call":
		h.calls++
		h.call(m)
	default:
		h.refuse(m)
	}
}

func (h *hostile) refuse(m message) {
	if len(m.ID) > 0 {
		h.print(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"no"}}` + "\n")
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

const oneTool = `{"name":"go","description":"Goes.","inputSchema":{"type":"object"}}`

func (h *hostile) list(m message) {
	switch h.mode {
	case "endless cursor":
		n, _ := strconv.Atoi(m.Params.Cursor)
		h.reply(m, `{"tools":[],"nextCursor":"`+strconv.Itoa(n+1)+`"}`)
	case "same cursor":
		h.reply(m, `{"tools":[`+oneTool+`],"nextCursor":"again"}`)
	case "no list":
		h.reply(m, `[1,2,3]`)
	case "ten thousand tools":
		var tools []string
		for i := range 10_000 {
			tools = append(tools, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
		}
		h.reply(m, `{"tools":[`+strings.Join(tools, ",")+`]}`)
	case "odd tools":
		h.reply(m, `{"tools":[`+strings.Join(oddTools(), ",")+`]}`)
	case "heavy tools":
		var tools []string
		for i := range 60 {
			tools = append(tools, fmt.Sprintf(`{"name":"t%d","description":"short","inputSchema":{"type":"object","description":%s}}`, i, quote(strings.Repeat("x", 100_000))))
		}
		h.reply(m, `{"tools":[`+strings.Join(tools, ",")+`]}`)
	case "dies again":
		h.reply(m, `{"tools":[`+oneTool+`]}`)
		f, err := os.OpenFile(h.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = f.WriteString("x")
			_ = f.Close()
		}
		os.Exit(9)
	default:
		h.reply(m, `{"tools":[`+oneTool+`]}`)
	}
}

// oddTools are such as no one should send.
func oddTools() []string {
	return []string{
		`null`, `7`, `"text"`, `[]`, `{}`, `{"name":5}`, `{"name":""}`, `{"name":"  "}`, `{"name":` + quote(strings.Repeat("n", 300)) + `}`,
		`{"name":"no schema"}`, `{"name":"null","inputSchema":null}`, `{"name":"array","inputSchema":[1]}`, `{"name":"string","inputSchema":{"type":"string"}}`,
		`{"name":"props","inputSchema":{"properties":7,"required":"x","additionalProperties":"maybe"}}`,
		`{"name":"free","inputSchema":{"additionalProperties":{"type":"number"},"z":1,"a":2}}`,
		`{"name":"ref","inputSchema":{"$ref":"#","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}}`,
		`{"name":"deep","inputSchema":` + strings.Repeat(`{"properties":{"a":`, 400) + `{}` + strings.Repeat(`}}`, 400) + `}`,
		`{"name":"huge","description":` + quote(strings.Repeat("long ", 100_000)) + `,"inputSchema":{"type":"object","x":` + quote(strings.Repeat("y", 300_000)) + `}}`,
		`{"name":"\u001b[31mred\u202e","description":"\u001b]0;title\u0007a\u0000b\u202ec\udb40\udc41d","annotations":"x","title":3}`,
		`{"name":"same one"}`, `{"name":"same.one"}`, `{"name":` + quote(strings.Repeat("l", 200)) + `}`,
		`{"name":"task","execution":{"taskSupport":"required"}}`,
		`{"name":"typed","description":{"a":1},"annotations":{"readOnlyHint":"yes"}}`,
	}
}

func (h *hostile) call(m message) {
	switch h.mode {
	case "never answers":
	case "dies in calls":
		if h.file != "" {
			if _, err := os.Stat(h.file); err == nil {
				h.reply(m, `{"content":[{"type":"text","text":"the second time"}]}`)
				return
			}
			_ = os.WriteFile(h.file, []byte("once"), 0o600)
		}
		os.Exit(5)
	case "huge answer":
		h.print(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"`)
		piece := strings.Repeat("a", 1<<20)
		for range 100 {
			h.print(piece)
		}
		h.print("\"}]}}\n")
	case "odd answers":
		answers := []string{
			`null`, `7`, `[]`, `{}`, `{"content":7}`, `{"content":[7,null,{"type":9},{"type":"image","mimeType":"image/png","data":"!!!"},{"type":"resource"}]}`,
			`{"content":[{"type":"text","text":"\u001b[2Jclean\u0007"}],"_meta":[1],"metadata":{"outputPath":"/etc/passwd"}}`,
			`{"content":[{"type":"image","mimeType":"text/html,<script>","data":"aGk="}]}`, `{"isError":true}`,
			`{"resultType":"input_required"}`, strings.Repeat(`{"a":`, 2000) + `1` + strings.Repeat(`}`, 2000),
		}
		h.print(`{"jsonrpc":"2.0","id":"nobody","result":{}}` + "\n" + `{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}` + "\n")
		h.reply(m, answers[(h.calls-1)%len(answers)])
		h.reply(m, `{"content":[{"type":"text","text":"and again"}]}`)
	case "error":
		h.print(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32602,"message":"bad ` + os.Getenv("TOKEN") + `"}}` + "\n")
	case "progress without end":
		for {
			h.print(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":1}}` + "\n")
		}
	default:
		if h.mode == "junk" {
			h.print("working on it\n")
		}
		h.reply(m, `{"content":[{"type":"text","text":"ok"}]}`)
	}
}

// fork leaves processes after that detach themselves and do not want to end, and notes their
// pids.
func (h *hostile) fork() {
	script := `trap "" TERM INT HUP; echo $$ > %s; while :; do sleep 0.05; done`
	for i := range 3 {
		pid := filepath.Join(h.file, "pid"+strconv.Itoa(i))
		cmd := exec.Command("/bin/sh", "-c", "setsid /bin/sh -c '"+fmt.Sprintf(script, pid)+"' >/dev/null 2>&1 </dev/null & exit 0")
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	for i := range 3 { // before anyone is greeted
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
			if b, err := os.ReadFile(filepath.Join(h.file, "pid"+strconv.Itoa(i))); err == nil && len(b) > 0 {
				break
			}
		}
	}
}
