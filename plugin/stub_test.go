package plugin_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// msg is a message of the protocol as a plugin sees it.
type msg struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

// bePlugin is a program that speaks the protocol, well or badly. Its hook adds its name to a list.
func bePlugin(behavior string, args []string) int {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	events := 0 // events
	fmt.Fprintln(os.Stderr, "I am", behavior)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m msg
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if exit := react(behavior, args, m, &events); exit >= 0 {
			return exit
		}
	}
}

func reply(m msg, result string) {
	fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", m.ID, result)
}

const offered = `{"hooks":["tool.execute.before","event","chat.params"],"tools":[{"id":"stub_%s","description":"d","schema":{"type":"object"}}]}`

// react answers one message; a number from 0 on ends the program.
func react(behavior string, args []string, m msg, events *int) int {
	switch m.Method {
	case "initialize":
		return greet(behavior, m)
	case "hook":
		return hook(behavior, args, m)
	case "tool.execute":
		return execute(behavior, m)
	case "event":
		var p struct {
			Events  []json.RawMessage
			Dropped int
		}
		_ = json.Unmarshal(m.Params, &p)
		*events += len(p.Events)
		fmt.Printf("{\"method\":\"log\",\"params\":{\"message\":\"heard %d, dropped %d\"}}\n", *events, p.Dropped)
	case "dispose":
		if len(args) > 0 {
			_ = os.WriteFile(args[0], []byte("put away"), 0o600)
		}
		reply(m, "null")
	case "ping":
		if behavior != "deaf" {
			reply(m, "null")
		}
	}
	return -1
}

func greet(behavior string, m msg) int {
	switch behavior {
	case "dies-at-start":
		fmt.Fprintln(os.Stderr, "no such library")
		return 3
	case "never-ready":
		return -1
	case "bad-offer":
		reply(m, `{"hooks":7}`)
	case "bad-tool":
		reply(m, `{"tools":[{"id":"no spaces"}]}`)
	case "chatty":
		for i := range 50 {
			fmt.Println("loading step", i, `{"not":"a message"}`)
		}
		fallthrough
	default:
		reply(m, fmt.Sprintf(offered, strings.ReplaceAll(behavior, "-", "_")))
	}
	return -1
}

func hook(behavior string, args []string, m msg) int {
	switch behavior {
	case "hangs", "deaf":
		return -1
	case "crashes":
		return 9
	case "crashes-once":
		if _, err := os.Stat(args[0]); err != nil {
			_ = os.WriteFile(args[0], nil, 0o600)
			return 9
		}
	case "refuses":
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":1,\"message\":\"not on my watch\"}}\n", m.ID)
		return -1
	case "nonsense":
		reply(m, `{"output":"a text"}`)
		return -1
	case "wrong-shape":
		reply(m, `{"output":{"args":{"list":[]},"names":"x"}}`)
		return -1
	case "huge":
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"output\":{\"args\":\"", m.ID)
		piece := strings.Repeat("x", 1<<20)
		for range 100 {
			fmt.Print(piece)
		}
		fmt.Println(`"}}}`)
		return -1
	case "grows":
		reply(m, `{"output":{"args":"`+strings.Repeat("x", 5<<20)+`"}}`)
		return -1
	case "floods-log":
		for i := range 5000 {
			fmt.Printf("{\"method\":\"log\",\"params\":{\"message\":\"flood %d\"}}\n", i)
		}
	case "floods-junk":
		for {
			if _, err := fmt.Println("junk"); err != nil {
				return 1
			}
		}
	}
	var p struct{ Output map[string]json.RawMessage }
	_ = json.Unmarshal(m.Params, &p)
	var names []string
	_ = json.Unmarshal(p.Output["names"], &names)
	p.Output["names"], _ = json.Marshal(append(names, behavior))
	out, _ := json.Marshal(p.Output)
	reply(m, fmt.Sprintf(`{"output":%s}`, out))
	return -1
}

func execute(behavior string, m msg) int {
	switch behavior {
	case "crashes":
		return 9
	case "hangs":
		return -1
	case "nonsense":
		reply(m, `{"title":"no output"}`)
	default:
		reply(m, `"done"`)
	}
	return -1
}
