package harness

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/harness/confine"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/overview"
)

// agents returns the built-in agents as the config changes them, and the agents that it adds.
func (s *Harness) agents(l *config.Loaded, place workspace.Place) (out []engine.Agent) {
	at := s.agentFolders(l, place)
	known := map[string]bool{}
	for _, native := range prompt.Agents(at) {
		known[native.Name] = true
		if own := l.Config.Agents[native.Name]; !own.Disable {
			out = append(out, s.agent(native, own, l, at))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Config.Agents)) {
		if own := l.Config.Agents[name]; !known[name] && !own.Disable {
			fresh := lathe.Agent{Name: name, Mode: lathe.AnyMode, Native: lathe.No, Rules: permission.DefaultRules(at)}
			out = append(out, s.agent(fresh, own, l, at))
		}
	}
	return out
}

// agentFolders returns the folders that the rules of agents name.
func (s *Harness) agentFolders(l *config.Loaded, place workspace.Place) permission.Folders {
	at := permission.Folders{Worktree: place.Worktree, Outputs: s.Folders.Outputs(), Plans: s.Folders.Plans(), Open: []string{filepath.Join(os.TempDir(), "lathe")}}
	for _, sk := range l.Skills {
		at.Open = append(at.Open, filepath.Dir(sk.Path))
	}
	for _, name := range slices.Sorted(maps.Keys(l.Config.References)) {
		if path := l.Config.References[name].Path; path != "" {
			at.Open = append(at.Open, path)
		}
	}
	return at
}

// agent applies the config to one agent.
func (s *Harness) agent(a lathe.Agent, own config.Agent, l *config.Loaded, at permission.Folders) engine.Agent {
	a.Description = cmp.Or(own.Description, a.Description)
	a.Mode = cmp.Or(lathe.AgentMode(own.Mode), a.Mode)
	a.Color, a.Variant = cmp.Or(own.Color, a.Color), cmp.Or(own.Variant, a.Variant)
	a.Prompt, a.Steps = cmp.Or(own.Prompt, a.Prompt), cmp.Or(own.Steps, a.Steps)
	a.TopP, a.Temperature = cmp.Or(own.TopP, a.TopP), cmp.Or(own.Temperature, a.Temperature)
	if own.Hidden {
		a.Hidden = lathe.Yes
	}
	if len(own.Options) > 0 {
		a.Options, _ = json.Marshal(own.Options) // they were read from JSON
	}
	if p, m, err := catalog.Split(own.Model); own.Model != "" && err == nil {
		a.Model = &lathe.ModelRef{Provider: p, Model: m}
	}
	defaults := permission.DefaultRules(at)
	limits := a.Rules[len(defaults):] // every agent's rules begin with the defaults
	mode := lathe.Mode(l.Config.PermissionMode)
	defaults = permission.WithMode(defaults, mode, s.Confine.RunsUnasked(l.Config, a.Name))
	rules := l.AgentRules(a.Name, defaults, limits)
	rules.User = append(permission.ModeDenies(mode), rules.User...)
	var hidden lathe.Ruleset
	if own.AllowedTools != nil {
		rules.Limits, hidden = slices.Concat(rules.Limits, toolLimits(own.AllowedTools)), hiddenTools(own.AllowedTools, l.Config)
	}
	final := permission.FinalRules(at, rules.All)
	rules.All = append(rules.All, final...)
	a.Rules = slices.Concat(l.AgentList(a.Name, defaults, limits), final, hidden)
	return engine.Agent{Agent: a, Permissions: rules, Fallback: modelRefs(own.Fallback), Confined: s.confined(l.Config, a.Name), Isolated: own.Isolation == "worktree"}
}

// confined returns how the commands of an agent are confined, as far as that is known before they run.
func (s *Harness) confined(c config.Config, agent string) prompt.Confined {
	box, asked := confine.SandboxOf(c, agent)
	if s.Confine.Kernel().Available(asked) != nil {
		return prompt.Confined{}
	}
	return prompt.Confined{Mode: box.Mode, Network: confine.DescribeNetwork(box)}
}

// brief returns the instructions and skills of a directory for models, and its slash commands.
func (s *Harness) brief(k *DirConfig, out *engine.StepSettings) {
	for _, i := range k.loaded.Instructions {
		name, text := i.Path, ""
		if i.Path != "" {
			text = ReadInstruction(i.Path)
		} else if name = i.URL; !s.Keyless { // a recording needs no network
			text = s.pages.text(i.URL)
		}
		if text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")); text != "" {
			out.Instructions = append(out.Instructions, prompt.Instruction{Name: name, Text: text})
		}
	}
	out.Commands = commandsOf(k.loaded, out.Skills)
	out.Headless, out.Plans, out.Home = s.headless, s.Folders.Plans(), s.app.Home()
	if on := k.loaded.Config.Overview; on == nil || *on {
		out.Overview = &overview.Config{Path: s.app.Env("PATH"), Excludes: s.app.UserExcludes}
	}
}

// instructionBytes limits the size of an instruction.
const instructionBytes = 1 << 20

// ReadInstruction returns the text of a file, "" if it cannot be read.
func ReadInstruction(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > instructionBytes {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

//go:embed customize.md
var customizeText string

// ownSkill is the built-in skill. A skill file of the same name replaces it.
const ownSkill = "customize-lathe"

// SkillsOf returns the skills sorted by name: the ones found in folders and the built-in one.
func SkillsOf(l *config.Loaded) []lathe.Skill {
	out := []lathe.Skill{}
	if !slices.ContainsFunc(l.Skills, func(sk config.Skill) bool { return sk.Name == ownSkill }) {
		out = append(out, lathe.Skill{Name: ownSkill, Description: "Use to configure lathe itself: config files, agents, commands, skills, permissions", Location: "<built-in>", Content: customizeText})
	}
	for _, sk := range l.Skills {
		out = append(out, lathe.Skill{Name: sk.Name, Description: sk.Description, Location: sk.Path, Content: sk.Content})
	}
	slices.SortFunc(out, func(a, b lathe.Skill) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func skillEntries(skills []lathe.Skill) []builtin.SkillEntry {
	out := make([]builtin.SkillEntry, len(skills))
	for i, sk := range skills {
		out[i] = builtin.SkillEntry{Name: sk.Name, Content: sk.Content}
		if filepath.IsAbs(sk.Location) {
			out[i].Path = sk.Location
		}
	}
	return out
}

// commandsOf returns the slash commands sorted by name. The config replaces built-in commands, and a skill becomes a
// command if no command has its name.
func commandsOf(l *config.Loaded, skills []lathe.Skill) []engine.SlashCommand {
	all := map[string]engine.SlashCommand{}
	for _, c := range prompt.Commands() {
		all[c.Name] = engine.SlashCommand{Command: c, Outside: true}
	}
	for name, own := range l.Config.Commands {
		c, there := all[name]
		if own.Template == "" && !there {
			continue // it changes nothing that is there
		}
		if own.Template != "" {
			c = engine.SlashCommand{Outside: l.IsTrustedCommand(name), Command: lathe.Command{
				Name: name, Source: lathe.CommandOwn, Template: own.Template, Hints: prompt.Hints(own.Template),
			}}
		}
		c.Description, c.Agent = cmp.Or(own.Description, c.Description), cmp.Or(own.Agent, c.Agent)
		c.Model, c.Variant = cmp.Or(own.Model, c.Model), cmp.Or(own.Variant, c.Variant)
		if own.Subtask != nil {
			c.Subtask = lathe.FlagOf(*own.Subtask)
		}
		all[name] = c
	}
	for _, sk := range skills {
		if _, taken := all[sk.Name]; !taken {
			all[sk.Name] = engine.SlashCommand{Command: lathe.Command{
				Name: sk.Name, Description: sk.Description, Source: lathe.CommandSkill, Hints: []string{},
				Template: prompt.SkillTemplate(sk),
			}}
		}
	}
	out := []engine.SlashCommand{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name])
	}
	return out
}
