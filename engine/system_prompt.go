package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/workspace"
)

//go:embed prompt/changed.md
var changedText string

// Instruction is a text that goes before every model.
type Instruction struct {
	Name string // its path or address
	Text string
}

func (i Instruction) shown() string { return "Instructions from: " + i.Name + "\n" + i.Text }

// The bounds of the list of skills, in bytes: about 40 tokens each, 2,000 in all.
const (
	skillBytes = 144
	listBytes  = 7200
)

// The names under which what is no file is watched for changes.
const (
	environmentSource = "environment"
	skillSource       = "skills"
)

// newPreface samples what goes before a conversation, in the order in which parts of it are
// likely to stay the same. It is pure but for the day.
func (s *stepConfig) newPreface(session lathe.Session, at workspace.Place, now lathe.Time) lathe.Preface {
	p := s.prefaceKey(at)
	core := s.agent.Prompt
	if core == "" {
		core = buildPrompt
	}
	texts := []string{strings.TrimSpace(core)}
	if isOwnPrompt(s.agent.Prompt) {
		texts = append(texts, prompt.FamilyOf(s.model.Name).Text())
	}
	around := s.environment(session, at)
	texts = append(texts, around+"\nDate: "+now.Std().Format("2006-01-02"))
	p.Sources = append(p.Sources, lathe.PrefaceSource{Name: environmentSource, Digest: digestOf(around)})
	for _, i := range s.settings.Instructions {
		texts = append(texts, i.shown())
		p.Sources = append(p.Sources, lathe.PrefaceSource{Name: i.Name, Digest: digestOf(i.Text)})
	}
	if list := s.skillList(session); list != "" {
		texts = append(texts, list)
		p.Sources = append(p.Sources, lathe.PrefaceSource{Name: skillSource, Digest: digestOf(list)})
	}
	p.Text = strings.Join(texts, "\n\n")
	return p
}

// prefaceKey is what a preface is made for.
func (s *stepConfig) prefaceKey(at workspace.Place) lathe.Preface {
	return lathe.Preface{
		Agent: s.agent.Name, Model: lathe.ModelRef{Provider: s.model.Ref.Provider, Model: s.model.Ref.Model},
		Directory: at.Directory, Summary: s.summary,
	}
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// environment says where the model works. The day stands below it: that it passes changes
// nothing a model must be told of.
func (s *stepConfig) environment(session lathe.Session, at workspace.Place) string {
	lines := []string{
		"# Environment",
		"Working directory: " + at.Directory,
		"Top of the repository: " + at.Worktree,
		"Version control: " + cmp.Or(at.VCS, "none"),
		"Platform: " + runtime.GOOS + "/" + runtime.GOARCH,
	}
	if s.settings.ShellName != "" {
		lines = append(lines, "Shell: "+s.settings.ShellName)
	}
	if dir := s.settings.Temporary; dir != "" {
		lines = append(lines, "Temporary files: "+dir+" (TMPDIR). Commands and file tools see the same files there, and nobody is asked about them.")
	}
	if c := s.agent.Confined; c.Mode != "" {
		line := "Sandbox of commands: " + c.Mode
		if c.Network != "" {
			line += "; " + c.Network
		}
		lines = append(lines, line)
	}
	lines = append(lines, "Model: "+s.model.Ref.Provider+"/"+s.model.Ref.Model)
	if s.settings.Headless || session.Parent != "" {
		lines = append(lines, "Mode: headless. Nobody answers questions: decide, and note at the end what you assumed.")
	} else {
		lines = append(lines, "Mode: interactive. The user can be asked when only they can decide.")
	}
	return strings.Join(lines, "\n")
}

// skillList names the skills the agent may load, with when to use them; "" if there are none.
func (s *stepConfig) skillList(session lathe.Session) string {
	var skills []lathe.Skill
	for _, k := range s.usableSkills(session) {
		if k.Description != "" {
			skills = append(skills, k)
		}
	}
	if len(skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Skills\nLoad one with the skill tool before you begin a task that it fits.\n<available_skills>\n")
	for i, k := range skills {
		line := clipText(k.Name+" — "+strings.Join(strings.Fields(k.Description), " "), skillBytes)
		if b.Len()+len(line) > listBytes {
			fmt.Fprintf(&b, "and %d more\n", len(skills)-i)
			break
		}
		b.WriteString(line + "\n")
	}
	b.WriteString("</available_skills>")
	return b.String()
}

// usableSkills are those that neither the agent's rules nor the session's deny, by name.
func (s *stepConfig) usableSkills(session lathe.Session) (out []lathe.Skill) {
	if s.settings.Tools == nil {
		return nil
	}
	t, ok := s.settings.Tools.Find("skill")
	b := permission.Scope{Session: session.Rules, Agent: s.agent.judge(), Listed: s.agent.Rules}
	if !ok || (permission.Judge{Chain: []permission.Scope{b}}).Hide()(t.Spec()) || s.model != nil && prompt.FamilyOf(s.model.Name).Overwhelms(t.Spec()) {
		return nil
	}
	for _, k := range s.settings.Skills {
		if b.Evaluate("skill", k.Name).Action != lathe.Deny {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b lathe.Skill) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// clipText cuts a text to so many bytes, at the end of a character.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most-len("…")]
	for len(text) > 0 && text[len(text)-1]&0xC0 == 0x80 {
		text = text[:len(text)-1]
	}
	if n := len(text); n > 0 && text[n-1] >= 0xC0 {
		text = text[:n-1]
	}
	return text + "…"
}

// isFor reports whether a preface was made for what asks now.
func isFor(p *lathe.Preface, other lathe.Preface) bool {
	return p != nil && p.Agent == other.Agent && p.Model.Provider == other.Model.Provider && p.Model.Model == other.Model.Model &&
		p.Directory == other.Directory && p.Summary == other.Summary
}

// lastSummary is the newest message that stands for what was said before it.
func lastSummary(messages []*history.Message) lathe.MessageID {
	for _, h := range slices.Backward(messages) {
		if a, ok := h.Said.(*lathe.Assistant); ok && a.Summary.On() && a.Error == nil && a.Completed != 0 {
			return h.ID
		}
	}
	return ""
}

// savedSystemPrompt is the system prompt that is stored with a session. It is read once: only the
// holder of the lease writes it.
type savedSystemPrompt struct {
	config *turnConfig
	saved  *lathe.Preface
	isRead bool
}

// load is the saved system prompt; nil if the session has none yet.
func (p *savedSystemPrompt) load(ctx context.Context) (*lathe.Preface, error) {
	if !p.isRead {
		saved, err := p.config.engine.store.Preface(ctx, p.config.log.lease.Session)
		if err != nil {
			return nil, writeError{err}
		}
		p.saved, p.isRead = saved, true
	}
	return p.saved, nil
}

// ensure makes sure that a session has a system prompt: a prompt that was never promoted has brought
// none, nor has one of an older version of the program. A model of the fallback leaves it as it is.
func (p *savedSystemPrompt) ensure(ctx context.Context, session lathe.Session, c *stepConfig, isFallback bool) (*lathe.Preface, error) {
	saved, err := p.load(ctx)
	if err != nil || saved != nil && isFallback || isFor(saved, c.prefaceKey(p.config.place)) {
		return saved, err
	}
	fresh := c.newPreface(session, p.config.place, p.config.engine.now())
	if err := p.config.log.write(ctx, &lathe.Prefaced{Session: session.ID, Preface: fresh}); err != nil {
		return nil, err
	}
	p.replace(fresh)
	return p.saved, nil
}

// replace notes what was written, and counts a change for which all that a provider has cached is lost.
func (p *savedSystemPrompt) replace(fresh lathe.Preface) {
	old := p.saved
	if p.saved = &fresh; old == nil || isFor(old, fresh) {
		return
	}
	cause := "directory"
	switch {
	case old.Agent != fresh.Agent:
		cause = "agent"
	case old.Model.Provider != fresh.Model.Provider || old.Model.Model != fresh.Model.Model:
		cause = "model"
	case old.Summary != fresh.Summary:
		cause = "compaction"
	}
	n := p.config.engine.prefixBreaks.Add(1)
	p.config.engine.log.Info("what goes before the conversation has changed", "session", p.config.log.lease.Session, "cause", cause, "prefix_breaks", n)
}

// changedSources says what differs from what the model knows, in words for it; "" if nothing
// does.
func (s *stepConfig) changedSources(session lathe.Session, at workspace.Place, known, now []lathe.PrefaceSource) string {
	was := map[string]string{}
	for _, k := range known {
		was[k.Name] = k.Digest
	}
	var what, texts []string
	for _, n := range now {
		digest, there := was[n.Name]
		delete(was, n.Name)
		if there && digest == n.Digest {
			continue
		}
		what = append(what, sourceName(n.Name)+map[bool]string{true: " has changed", false: " was added"}[there])
		texts = append(texts, s.sourceText(session, at, n.Name))
	}
	for _, k := range known { // in their order
		if _, gone := was[k.Name]; gone {
			what = append(what, sourceName(k.Name)+" is gone and counts no more")
		}
	}
	if len(what) == 0 {
		return ""
	}
	text := strings.TrimSpace(strings.NewReplacer("{what}", strings.Join(what, "; "), "{text}", strings.Join(texts, "\n\n")).Replace(changedText))
	return strings.Replace(text, "\n\n</system-reminder>", "\n</system-reminder>", 1)
}

func sourceName(name string) string {
	switch name {
	case environmentSource:
		return "the environment"
	case skillSource:
		return "the list of skills"
	default:
		return name
	}
}

func (s *stepConfig) sourceText(session lathe.Session, at workspace.Place, name string) string {
	switch name {
	case environmentSource:
		return s.environment(session, at)
	case skillSource:
		return s.skillList(session)
	}
	for _, i := range s.settings.Instructions {
		if i.Name == name {
			return i.shown()
		}
	}
	return ""
}

// planPath is where the plan of a session is kept: in the repository, else in a folder for all;
// "" if there is none.
func planPath(s lathe.Session, at workspace.Place, plans string) string {
	name := fmt.Sprintf("%d-%s.md", int64(s.Created), cmp.Or(s.Slug, "plan"))
	switch {
	case at.VCS != "":
		return filepath.Join(at.Worktree, ".lathe", "plans", name)
	case plans != "":
		return filepath.Join(plans, name)
	default:
		return ""
	}
}
