package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// forgetful is a model with a small window that knows nothing but its input: it does the step
// after the last one there. So what a compaction loses, it does twice, or never.
type forgetful struct {
	steps int // in all
	t     *testing.T
	limit int // tokens
}

var markWords = regexp.MustCompile(`mark-(\d+)`)

func (f *forgetful) answer(r modeltest.Request) modeltest.Answer {
	tokens := len(r.Body) / 4
	if tokens > f.limit {
		f.t.Errorf("request %d has %d tokens, and the window %d", r.N, tokens, f.limit)
	}
	last := 0
	for _, m := range markWords.FindAllSubmatch(r.Body, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		last = max(last, n)
	}
	if isSummary(r) {
		return modeltest.Answer{modeltest.Text{f.memory(last)}, modeltest.Usage{Input: int64(tokens), Output: 400}, modeltest.Finish("stop")}
	}
	if !strings.Contains(string(r.Body), "two hundred small things") {
		f.t.Errorf("request %d does not have the words of the user any more", r.N)
	}
	if last == f.steps {
		return modeltest.Answer{modeltest.Text{fmt.Sprintf("All %d are done.", last)}, modeltest.Finish("stop")}
	}
	return modeltest.Answer{
		modeltest.Call{Name: "write", Args: fmt.Sprintf(`{"path":"done/%03d.txt","content":"mark-%d"}`, last+1, last+1)},
		modeltest.Call{Name: "print", Args: fmt.Sprintf(`{"lines":60,"width":%d}`, 60+last%40)},
		modeltest.Usage{Input: int64(tokens), Output: 200},
		modeltest.Finish("tool-calls"),
	}
}

// memory is a summary: it says what the last thing was, and names the files of the last steps.
func (f *forgetful) memory(last int) string {
	var files []string
	for i := max(1, last-20); i <= last; i++ {
		files = append(files, fmt.Sprintf("- done/%03d.txt", i))
	}
	texts := map[string]string{"Done": fmt.Sprintf("The things up to mark-%d.", last), "Files": strings.Join(files, "\n")}
	var b strings.Builder
	for _, h := range []string{"Objective", "Constraints and decisions", "Done", "Active", "Blocked", "Next steps", "Open questions", "Tried and failed", "Files"} {
		text := texts[h]
		if text == "" {
			text = strings.Repeat("- nothing that the records below do not say\n", 3)
		}
		fmt.Fprintf(&b, "## %s\n%s\n\n", h, text)
	}
	return b.String()
}

// A turn of 200 steps in a window of a few: it is compressed again and again, and keeps its thread.
func TestCompact_TwoHundredSteps(t *testing.T) {
	t.Parallel()
	steps := 200
	if raced { // all of them without the detector
		steps = 60
	}
	s := parseScript(t, "-- settings --\ncontext 24000\nprefix no the history was compressed\n-- model --\n")
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, s, s.protocols[0])
		f := &forgetful{steps: steps, t: t, limit: 24_000}
		p.server.Respond(f.answer)
		p.act([]string{"prompt", "do the two hundred small things, one file each"})
		p.rest()
		p.check()
		written, summaries, alone := map[string]int{}, 0, 0
		var last lathe.Message
		for _, m := range p.all() {
			a, ok := m.Data.(*lathe.Assistant)
			if ok && a.Summary.On() {
				summaries++
				if len(m.Parts) != 4 { // begin, the model's words, ours, end
					alone++
				}
			}
			for _, part := range m.Parts {
				if c, ok := part.Body.(*lathe.ToolCall); ok && c.Tool == "write" {
					written[c.State.(*lathe.Completed).Title]++
				}
			}
			last = m
		}
		for i := 1; i <= steps; i++ {
			name := fmt.Sprintf("done/%03d.txt", i)
			if data, err := os.ReadFile(filepath.Join(p.dir, name)); err != nil || string(data) != fmt.Sprintf("mark-%d", i) || written[name] != 1 {
				t.Fatalf("%s was written %d times: %q, %v", name, written[name], data, err)
			}
		}
		if summaries < steps/40 || alone > 0 || wordsOf(last) != fmt.Sprintf("All %d are done.", steps) {
			t.Errorf("%d compactions, %d without the model's words; it ends with %q", summaries, alone, wordsOf(last))
		}
		p.prefixes()
		t.Logf("%d compactions", summaries)
	})
}

// prefixes holds that between two compactions each request begins with the one before (I7).
func (p *playing) prefixes() {
	p.Helper()
	before := ""
	for _, r := range p.server.Requests() {
		if isSummary(r) {
			before = ""
			continue
		}
		now := ""
		for _, m := range r.Prompt.Messages {
			for _, c := range m.Content {
				now += fmt.Sprintf("%s %+v\n", m.Role, c)
			}
		}
		if !strings.HasPrefix(now, before) {
			p.Errorf("request %d does not begin with the one before", r.N)
		}
		before = now
	}
}
