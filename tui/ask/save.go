package ask

import (
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// saving are the patterns that an answer saves, and the one that is being edited.
type saving struct {
	scope    grant.Scope
	patterns []pattern
	at       int // the pattern being edited
	field    dialog.Field
	turn     int // the next alternative proposal
}

// pattern is a pattern to save for one of the requests.
type pattern struct {
	request int
	text    string
}

// requests are all that one answer answers: the main one first.
func (p *Permission) requests() []lathe.PermissionRequest {
	return append([]lathe.PermissionRequest{p.asked}, p.o.Also...)
}

// propose returns the patterns to save for a scope, before any editing.
func propose(requests []lathe.PermissionRequest, scope grant.Scope) (out []pattern) {
	for i, r := range requests {
		texts := grant.ForSession(r)
		if all := grant.Proposals(r); scope == grant.Project && len(all) > 0 {
			texts = all[0]
		}
		for _, text := range texts {
			out = append(out, pattern{i, text})
		}
	}
	return out
}

// startSaving shows what would be saved, before it is.
func (p *Permission) startSaving(scope grant.Scope, now time.Time) {
	p.save = saving{scope: scope, patterns: propose(p.requests(), scope)}
	p.enter(confirming)
	p.guard.start(now)
}

// grant is the answer that saves patterns: a list for each request, nil for those that are only allowed once.
func (p *Permission) grant(scope grant.Scope, patterns []pattern) Grant {
	out := Grant{Scope: scope, Patterns: make([][]string, len(p.requests()))}
	for _, x := range patterns {
		out.Patterns[x.request] = append(out.Patterns[x.request], x.text)
	}
	return out
}

// edit starts to edit the patterns.
func (p *Permission) edit() {
	p.enter(editing)
	p.save.at, p.save.turn = 0, 0
	p.save.field.Set(p.save.patterns[0].text)
}

// editKey edits a pattern. Enter goes back to the choices and saves nothing yet; an empty pattern is dropped.
func (p *Permission) editKey(k tea.KeyPressMsg, now time.Time) Result {
	s := &p.save
	switch name := k.String(); {
	case dialog.Closes(k):
		p.startSaving(s.scope, now) // the proposals again
	case p.keys.Match(k, key.DialogPromptSubmit):
		s.keepField()
		if s.check(p.requests()) != nil {
			return None{}
		}
		s.patterns = slices.DeleteFunc(s.patterns, func(x pattern) bool { return x.text == "" })
		p.enter(confirming)
		p.guard.start(now)
	case name == "up", name == "down":
		s.keepField()
		step := map[string]int{"up": len(s.patterns) - 1, "down": 1}[name]
		s.at = (s.at + step) % len(s.patterns)
		s.field.Set(s.patterns[s.at].text)
	case name == "tab":
		s.nextProposal(p.requests())
	case !s.field.Key(p.keys, k):
		return Unused{}
	}
	p.seen.body = body{}
	return None{}
}

// keepField stores the text of the field.
func (s *saving) keepField() { s.patterns[s.at].text = strings.TrimSpace(s.field.Text()) }

// nextProposal replaces the patterns of the request by its next proposal: the folder of a file, or the exact command.
func (s *saving) nextProposal(requests []lathe.PermissionRequest) {
	request := s.patterns[s.at].request
	all := grant.Proposals(requests[request])
	s.turn++
	var next []pattern
	for _, text := range all[s.turn%len(all)] {
		next = append(next, pattern{request, text})
	}
	first := slices.IndexFunc(s.patterns, func(x pattern) bool { return x.request == request })
	s.patterns = slices.DeleteFunc(s.patterns, func(x pattern) bool { return x.request == request })
	s.patterns, s.at = slices.Insert(s.patterns, first, next...), first
	s.field.Set(s.patterns[first].text)
}

// check is what is wrong with the patterns as they stand, with the text of the field.
func (s *saving) check(requests []lathe.PermissionRequest) error {
	var texts []string
	for i, x := range s.patterns {
		if i == s.at {
			x.text = strings.TrimSpace(s.field.Text())
		}
		if x.text == "" {
			continue
		}
		texts = append(texts, x.text)
		if err := grant.CheckAnswer(requests[x.request], []string{x.text}); err != nil {
			return err
		}
	}
	if len(texts) == 0 {
		return grant.Check(requests[0].Permission, "")
	}
	return nil
}

// editFoot draws the pattern that is being edited, with what it covers or what is wrong with it.
func (p *Permission) editFoot(th *style.Theme, width int) []style.Line {
	s := &p.save
	r := p.requests()[s.patterns[s.at].request]
	text := strings.TrimSpace(s.field.Text())
	rows := style.Of("Pattern for "+r.Permission+":", style.Bold(th.Text)).Add("  "+grant.Describe(r.Permission, text), style.Fg(th.TextMuted)).Wrap(width, nil)
	if err := s.check(p.requests()); err != nil {
		rows = style.Of(errorText(err), style.Bold(th.Error)).Wrap(width, nil)
	}
	look := style.Attr{FG: th.Text, BG: th.BackgroundElement}
	line, at := s.field.View(look, width-2)
	p.seen.cursorX = edge + 2 + at
	return append(rows, append(style.Of("› ", style.Fg(th.Primary)), line...).Fit(width, look))
}

// errorText is the message of an error as a sentence.
func errorText(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*lathe.Error](err); ok {
		text = e.Message
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// maxNote is how many rows the note about a choice may take.
const maxNote = 3

// note says what the choice under the cursor does. whole is false if that does not fit: then the choice asks again.
func (p *Permission) note(th *style.Theme, width int) (rows []style.Line, whole bool) {
	muted, odd := style.Fg(th.TextMuted), style.Fg(th.Warning)
	if p.stage != choosing || p.at < 0 || p.at >= len(p.choice) {
		return []style.Line{nil}, true
	}
	var line style.Line
	switch p.choice[p.at].action {
	case allowOnce:
		line = style.Of("Allows this call and nothing else.", muted)
	case allowSession, allowAlways:
		scope, end := grant.Session, " in this session and its subagents."
		if p.choice[p.at].action == allowAlways {
			scope, end = grant.Project, " in this project from now on. Edit the pattern on the next page."
		}
		line = style.Of("Also allows ", muted)
		for i, x := range propose(p.requests(), scope) {
			if i > 0 {
				line = line.Add(", ", muted)
			}
			text, _ := visibleLine(strings.ReplaceAll(x.text, "\n", "↵"), style.Fg(th.Text), odd)
			line = append(line.Add(p.requests()[x.request].Permission+" ", muted), text...)
		}
		line = line.Add(end, muted)
	default:
		line = style.Of("Ends the turn, or gives the model a reason and lets it continue.", muted)
	}
	if rows = line.Wrap(width, nil); len(rows) > maxNote {
		return []style.Line{style.Of("Also allows more than fits here: see the next page.", muted).Truncate(width)}, false
	}
	return rows, true
}
