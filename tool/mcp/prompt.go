package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// Prompt is a server's prompt, for a slash command.
type Prompt struct {
	Server      string     `json:"-"`
	Name        string     `json:"name"` // as the server knows it
	Description string     `json:"description,omitempty"`
	Arguments   []Argument `json:"arguments,omitempty"`
}

// Argument is one of a prompt. Users give them by position.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// Command is the name of its slash command.
func (p Prompt) Command() string { return sanitize(p.Server) + ":" + sanitize(p.Name) }

// Positional assigns values to the arguments by position. What is left over goes to the last.
func (p Prompt) Positional(values []string) map[string]string {
	out := map[string]string{}
	for i, a := range p.Arguments {
		switch {
		case i >= len(values):
			return out
		case i == len(p.Arguments)-1:
			out[a.Name] = strings.Join(values[i:], " ")
		default:
			out[a.Name] = values[i]
		}
	}
	return out
}

// Prompts are those known now, by server and in its order. Like [Hub.Tools] it never waits.
func (h *Hub) Prompts() []Prompt {
	h.look()
	var out []Prompt
	for _, p := range h.all() {
		if list := p.offers(); list != nil {
			for _, prompt := range list.Prompts {
				prompt.Server = p.def.Name
				out = append(out, prompt)
			}
		}
	}
	return out
}

// Prompt is the text of a prompt with these arguments by name.
func (h *Hub) Prompt(ctx context.Context, server, name string, arguments map[string]string) (string, error) {
	p, err := h.peer(server)
	if err != nil {
		return "", err
	}
	if arguments == nil {
		arguments = map[string]string{}
	}
	given, err := json.Marshal(arguments)
	if err != nil {
		return "", lathe.Errorf(lathe.Internal, "prompt %s: %w", name, err)
	}
	raw, err := p.once(ctx, "prompts/get", &question{Name: name, Arguments: given})
	if err != nil {
		return "", err
	}
	var a struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return "", lathe.Errorf(lathe.Unavailable, "MCP server %s sent a prompt that cannot be read", server)
	}
	var out pieces
	for _, m := range a.Messages {
		many := []json.RawMessage{m.Content}
		if len(m.Content) > 0 && m.Content[0] == '[' {
			_ = json.Unmarshal(m.Content, &many) // else it is one that cannot be read
		}
		for _, c := range many {
			out.add(c)
		}
	}
	return strings.Join(out.texts, "\n"), nil
}

// once asks one thing outside of a tool's call.
func (p *serverEntry) once(ctx context.Context, method string, q *question) (json.RawMessage, error) {
	l, err := p.connected(ctx)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.timeout(), p.slow("to answer"))
	defer cancel()
	raw, err := l.ask(limited, method, q)
	switch {
	case err == nil:
		return raw, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	code := lathe.Unavailable
	if _, said := errors.AsType[*serverError](err); said {
		code = lathe.Invalid
	}
	return nil, lathe.Errorf(code, "MCP server %s: %s", p.def.Name, p.show(err))
}

func (l *conn) listPrompts(ctx context.Context, out *listing) error {
	names := map[string]bool{}
	more, err := l.pages(ctx, "prompts/list", "prompts", mostPrompts, func(raw json.RawMessage) {
		p, ok := readPrompt(raw)
		switch {
		case !ok:
			out.note("a prompt was left out: it has no usable name")
		case names[sanitize(p.Name)]:
			out.note("prompt %s was left out: the server has another of that name", phrase.Shorten(p.Name, 100))
		default:
			names[sanitize(p.Name)] = true
			out.Prompts = append(out.Prompts, p)
		}
	})
	if more {
		out.note("only the first %d prompts are used", mostPrompts)
	}
	return err
}

// mostArguments is how many of a prompt are taken.
const mostArguments = 50

func readPrompt(raw json.RawMessage) (Prompt, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return Prompt{}, false
	}
	p := Prompt{Name: textOf(m["name"]), Description: line(textOf(m["description"]), 1000)}
	if strings.TrimSpace(p.Name) == "" || len(p.Name) > 256 {
		return Prompt{}, false
	}
	var arguments []map[string]json.RawMessage
	_ = json.Unmarshal(m["arguments"], &arguments) // odd ones are none
	for _, a := range arguments[:min(len(arguments), mostArguments)] {
		if name := textOf(a["name"]); name != "" && len(name) <= 256 {
			p.Arguments = append(p.Arguments, Argument{name, line(textOf(a["description"]), 500), isTrue(a["required"])})
		}
	}
	return p, true
}

// Instructions are the instructions of servers for models, by server: at most 2 KiB of each.
func (h *Hub) Instructions() (out []Instruction) {
	h.look()
	for _, p := range h.all() {
		if list := p.offers(); list != nil && list.Instructions != "" {
			out = append(out, Instruction{p.def.Name, list.Instructions})
		}
	}
	return out
}

// Instruction is the instruction of one server for models.
type Instruction struct{ Server, Text string }
