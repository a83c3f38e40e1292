package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/workspace/overview"
)

// contextual reads what a transcript says of agents, instructions, skills and commands.
func (p *playing) contextual(s *engine.StepSettings) {
	p.Helper()
	s.Headless = p.option("headless", "") == "yes"
	s.DefaultAgent = p.option("default-agent", "")
	s.Plans = filepath.Join(p.dir, "plans")
	s.Home = filepath.Join(p.dir, "home")
	if p.option("survey", "") == "yes" {
		s.Overview = &overview.Config{}
	}
	for _, line := range p.script.settings {
		switch line[0] {
		case "builtin":
			p.builtin(s)
		case "instruction":
			if text, err := os.ReadFile(filepath.Join(p.dir, line[1])); err == nil {
				s.Instructions = append(s.Instructions, prompt.Instruction{Name: line[1], Text: strings.TrimSpace(string(text))})
			}
		case "skills":
			s.Skills = p.skills()
			var entries []builtin.SkillEntry
			for _, k := range s.Skills {
				entries = append(entries, builtin.SkillEntry{Name: k.Name, Path: k.Location, Content: k.Content})
			}
			s.Tools = tool.NewSet(append(s.Tools.All(), builtin.Skill(entries))...)
		case "shell":
			s.Tools = tool.NewSet(append(s.Tools.All(), tooltest.Shell())...)
		case "resources":
			s.Resource = resource
		case "command":
			s.Commands = append(s.Commands, p.slash(line[1:]))
		}
	}
}

// resource is what the server of a transcript offers.
func resource(_ context.Context, server, uri string) ([]prompt.Resource, error) {
	switch {
	case server != "docs":
		return nil, lathe.Errorf(lathe.NotFound, "there is no server %q", server)
	case uri == "docs://a":
		return []prompt.Resource{
			{URI: uri, Mime: "text/plain", Text: "A word."},
			{URI: uri, Mime: "image/png", Blob: []byte("png")},
			{URI: uri, Mime: "video/mp4", Blob: []byte("mp4")},
			{URI: uri, Mime: "image/gif", Blob: make([]byte, 10<<20+1)},
		}, nil
	default:
		return nil, lathe.Errorf(lathe.NotFound, "it has no %s", uri)
	}
}

// builtin gives the agents that come with the program, with the rules of the transcript after
// their own, and the tools that change between them.
func (p *playing) builtin(s *engine.StepSettings) {
	at := permission.Folders{Worktree: p.dir, Plans: s.Plans, Outputs: filepath.Join(p.data, "outputs")}
	s.Agents = nil
	for _, a := range prompt.Agents(at) {
		a.Rules = append(a.Rules, p.script.rules...)
		s.Agents = append(s.Agents, engine.Agent{Agent: a})
	}
	s.Tools = tool.NewSet(append(s.Tools.All(), builtin.PlanEnter(), builtin.PlanExit(), builtin.Edit(builtin.EditConfig{}), builtin.Write(builtin.WriteConfig{}))...)
}

// skills are the files below the folder skills: the first line says when, the rest what.
func (p *playing) skills() (out []lathe.Skill) {
	dirs, err := filepath.Glob(filepath.Join(p.dir, "skills", "*", "SKILL.md"))
	p.ok(err)
	for _, path := range dirs {
		text, err := os.ReadFile(path)
		p.ok(err)
		when, content, _ := strings.Cut(string(text), "\n")
		out = append(out, lathe.Skill{Name: filepath.Base(filepath.Dir(path)), Description: when, Location: path, Content: content})
	}
	return out
}

// slash reads a command: its name, words with =, and its template.
func (p *playing) slash(words []string) (c engine.SlashCommand) {
	c.Name, c.Source = words[0], lathe.CommandOwn
	for _, w := range words[1:] {
		key, val, _ := strings.Cut(w, "=")
		switch key {
		case "agent":
			c.Agent = val
		case "model":
			c.Model = val
		case "subtask":
			c.Subtask = lathe.FlagOf(val == "yes")
		case "outside":
			c.Outside = val == "yes"
		case "source":
			c.Source = lathe.CommandSource(val)
		case "fetch":
			c.Fetch = func(_ context.Context, args []string) (string, error) {
				if val != "yes" {
					return "", errors.New(val)
				}
				return fmt.Sprintf("Fetched for %q. %s", args, words[len(words)-1]), nil
			}
		default:
			c.Template = w
		}
	}
	return c
}

// actOnContext does the lines about commands, folders and what goes before a conversation.
func (p *playing) actOnContext(w []string) bool {
	p.Helper()
	switch w[0] {
	case "command":
		call, asks := lathe.CommandCall{Command: w[1]}, false
		for _, word := range w[2:] {
			key, val, _ := strings.Cut(word, "=")
			switch key {
			case "asks":
				asks = true
			case "id":
				call.Message = namedID(val)
			case "agent":
				call.Agent = val
			case "file":
				call.Parts = append(call.Parts, p.file(val))
			default:
				call.Arguments = word
			}
		}
		if !asks {
			_, err := p.SubmitCommand(p.Context(), p.session, call)
			p.note(err)
			return true
		}
		id, e := p.session, p.Engine
		go func() {
			if _, err := e.SubmitCommand(p.Context(), id, call); err != nil {
				<-time.After(time.Millisecond) // its own event comes first
				p.shown.line(fmt.Sprintf("! %s: %v", lathe.CodeOf(err), err))
			}
		}()
	case "mkdir":
		p.ok(os.MkdirAll(filepath.Join(p.dir, w[1]), 0o755))
	default:
		return false
	}
	return true
}

// lockedText is a text that many write to.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// namedID is the id that a transcript gives a name to.
func namedID(name string) lathe.MessageID {
	return lathe.MessageID("msg_" + name + "0000000000000000000000000000"[:26-len(name)])
}
