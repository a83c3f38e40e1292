package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing/synctest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// limit is a limit of the models in a transcript.
func (p *playing) limit(name string, otherwise int) int {
	if p.option(name, "") == "" {
		return otherwise
	}
	return p.number(name)
}

// window is how large the context of a model is: as the settings say, of one by its name.
func (p *playing) window(ref lathe.ModelRef) int {
	for _, word := range strings.Fields(p.option("context", "")) {
		if name, value, ok := strings.Cut(word, "="); ok && name == ref.Model {
			n, _ := strconv.Atoi(value)
			return n
		}
	}
	if all, _, _ := strings.Cut(p.option("context", ""), " "); all != "" {
		n, _ := strconv.Atoi(all)
		return n
	}
	return 200_000
}

// long reads what a transcript says of histories that no longer fit.
func (p *playing) long(s *engine.StepSettings) {
	p.Helper()
	c := &s.Compaction
	for _, line := range p.script.settings {
		switch line[0] {
		case "compaction":
			for _, word := range line[1:] {
				name, value, _ := strings.Cut(word, "=")
				n, _ := strconv.Atoi(value)
				switch name {
				case "off":
					c.Off = true
				case "prune":
					c.Prune = true
				case "reserved":
					c.Reserved = n
				case "turns":
					c.TailTurns = n
				case "recent":
					c.TailTokens = n
				default:
					p.Fatalf("compaction has no setting %q", name)
				}
			}
		case "compaction-agent":
			a := engine.Agent{Agent: lathe.Agent{Name: "compaction", Mode: lathe.Primary, Hidden: lathe.Yes}}
			for _, word := range line[1:] {
				switch name, value, _ := strings.Cut(word, "="); name {
				case "model":
					a.Model = &refs([]string{value})[0]
				case "prompt":
					a.Prompt = value
				}
			}
			s.Agents = append(s.Agents, a)
		}
	}
}

// actOnLength does the lines about histories that are compressed.
func (p *playing) actOnLength(w []string) bool {
	p.Helper()
	if w[0] != "compact" {
		return false
	}
	var req lathe.CompactRequest
	for _, word := range w[1:] {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "model":
			req.Model = &refs([]string{value})[0]
		case "auto":
			req.Auto = true
		}
	}
	err := p.Compact(p.Context(), p.session, req)
	p.note(err)
	synctest.Wait()
	return true
}

// isSummary reports whether a request asks for a summary.
func isSummary(r modeltest.Request) bool {
	return len(r.Prompt.Messages) == 1 && strings.Contains(fmt.Sprint(r.Prompt.Messages[0].Content), "<conversation>")
}

func Request(c *lathe.Compaction) string {
	text := "compaction"
	if c.Auto {
		text += " auto"
	}
	if c.Overflow.On() {
		text += " overflow"
	}
	if c.TailStart != "" {
		text += " keeps from " + string(c.TailStart)
	}
	return text
}

// short cuts outputs that a reader need not see.
func short(s string) string {
	if len(s) <= 3000 {
		return s
	}
	return fmt.Sprintf("%s… %d bytes", s[:60], len(s))
}
