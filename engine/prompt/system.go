package prompt

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

//go:embed changed.md
var changedText string

// Instruction is a text for every system prompt.
type Instruction struct {
	Name string // its path or address
	Text string
}

func (i Instruction) render() string { return "Instructions from: " + i.Name + "\n" + i.Text }

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

// System holds the inputs of a system prompt.
type System struct {
	Session   lathe.Session
	Place     workspace.Place
	Agent     lathe.Agent
	Rules     permission.Rules // of the agent
	Confined  Confined
	Model     lathe.ModelRef  // ids of the catalog
	ModelName string          // on the wire
	Summary   lathe.MessageID // the newest of the conversation
	Settings
}

// Settings are the parts of a directory's config that go into a system prompt.
type Settings struct {
	Instructions []Instruction // in their order
	Skills       []lathe.Skill
	Tools        *tool.Set
	ShellName    string // of models' commands
	Temporary    string // the directory for temporary files; "" is not mentioned
	Headless     bool   // no user can answer
}

// Confined is how the commands of an agent are confined, as the model reads it.
type Confined struct {
	Mode    string // "" is not mentioned
	Network string // hosts that commands can reach; "" is all
}

// Build makes the system prompt, in the order in which its parts are likely to stay the same. It is pure but for
// the day.
func (s System) Build(now lathe.Time) lathe.SystemPrompt {
	p := s.Key()
	texts := []string{strings.TrimSpace(cmp.Or(s.Agent.Prompt, buildText))}
	if isBuiltin(s.Agent.Prompt) {
		texts = append(texts, FamilyOf(s.ModelName).Text())
	}
	around := s.environment()
	texts = append(texts, around+"\nDate: "+now.Std().Format("2006-01-02"))
	p.Sources = append(p.Sources, lathe.SystemPromptSource{Name: environmentSource, Digest: digestOf(around)})
	for _, i := range s.Instructions {
		texts = append(texts, i.render())
		p.Sources = append(p.Sources, lathe.SystemPromptSource{Name: i.Name, Digest: digestOf(i.Text)})
	}
	if list := s.skillList(); list != "" {
		texts = append(texts, list)
		p.Sources = append(p.Sources, lathe.SystemPromptSource{Name: skillSource, Digest: digestOf(list)})
	}
	p.Text = strings.Join(texts, "\n\n")
	return p
}

// Key is a system prompt without text: what it is made for.
func (s System) Key() lathe.SystemPrompt {
	return lathe.SystemPrompt{
		Agent: s.Agent.Name, Model: lathe.ModelRef{Provider: s.Model.Provider, Model: s.Model.Model},
		Directory: s.Place.Directory, Summary: s.Summary,
	}
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// environment describes the model's working environment. The date stands below it, because a
// new day is not a change to report to the model.
func (s System) environment() string {
	lines := []string{
		"# Environment",
		"Working directory: " + s.Place.Directory,
		"Top of the repository: " + s.Place.Worktree,
		"Version control: " + cmp.Or(s.Place.VCS, "none"),
		"Platform: " + runtime.GOOS + "/" + runtime.GOARCH,
	}
	if s.ShellName != "" {
		lines = append(lines, "Shell: "+s.ShellName)
	}
	if dir := s.Temporary; dir != "" {
		lines = append(lines, "Temporary files: "+dir+" (TMPDIR). Commands and file tools see the same files there and need no permission.")
	}
	if c := s.Confined; c.Mode != "" {
		line := "Sandbox of commands: " + c.Mode
		if c.Network != "" {
			line += "; " + c.Network
		}
		lines = append(lines, line)
	}
	lines = append(lines, "Model: "+s.Model.Provider+"/"+s.Model.Model)
	if s.Headless || s.Session.Parent != "" {
		lines = append(lines, "Mode: headless. Questions get no answer: decide, and note at the end what you assumed.")
	} else {
		lines = append(lines, "Mode: interactive. The user can be asked when only they can decide.")
	}
	return strings.Join(lines, "\n")
}

// skillList names the skills the agent may load, with when to use them; "" if there are none.
func (s System) skillList() string {
	var skills []lathe.Skill
	for _, k := range s.usableSkills() {
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
		line := k.Name + " — " + strings.Join(strings.Fields(k.Description), " ")
		if len(line) > skillBytes {
			line = phrase.Shorten(line, skillBytes-len("…"))
		}
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
func (s System) usableSkills() (out []lathe.Skill) {
	if s.Tools == nil {
		return nil
	}
	t, ok := s.Tools.Find("skill")
	b := permission.Scope{Session: s.Session.Rules, Agent: s.Rules, Listed: s.Agent.Rules}
	if !ok || (permission.Evaluator{Chain: []permission.Scope{b}}).Hide()(t.Spec()) || FamilyOf(s.ModelName).Hides(t.Spec()) {
		return nil
	}
	for _, k := range s.Skills {
		if b.Evaluate("skill", k.Name).Action != lathe.Deny {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b lathe.Skill) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Changed is the text for the model about sources that have changed; "" if none does.
func (s System) Changed(known, now []lathe.SystemPromptSource) string {
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
		texts = append(texts, s.sourceText(n.Name))
	}
	for _, k := range known { // in their order
		if _, gone := was[k.Name]; gone {
			what = append(what, sourceName(k.Name)+" is gone and counts no more")
		}
	}
	if len(what) == 0 {
		return ""
	}
	words := strings.TrimSpace(strings.NewReplacer("{what}", strings.Join(what, "; "), "{text}", strings.Join(texts, "\n\n")).Replace(changedText))
	return strings.Replace(words, "\n\n</system-reminder>", "\n</system-reminder>", 1)
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

func (s System) sourceText(name string) string {
	switch name {
	case environmentSource:
		return s.environment()
	case skillSource:
		return s.skillList()
	}
	for _, i := range s.Instructions {
		if i.Name == name {
			return i.render()
		}
	}
	return ""
}
