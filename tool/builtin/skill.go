package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
)

//go:embed skill.md
var skillText string

// SkillEntry is a skill that can be loaded.
type SkillEntry struct {
	Name    string
	Path    string // of its SKILL.md; "" is one that came with the program
	Content string
}

// The files of a skill that are named when it is loaded, and how many are looked at for that.
const (
	skillFiles  = 10
	skillLooked = 2000
)

// Skill returns the tool that loads one of the skills. The list of them is in the system prompt.
func Skill(skills []SkillEntry) tool.Tool {
	type input struct {
		Name string `json:"name" jsonschema:"the skill, as the list has it: release-notes"`
	}
	return tool.Define(tool.Spec{Name: "skill", Description: strings.TrimSpace(skillText)}, func(ctx context.Context, c *tool.Call, in input) (tool.Result, error) {
		i := slices.IndexFunc(skills, func(s SkillEntry) bool { return s.Name == in.Name })
		if i < 0 {
			return tool.Result{}, unknownSkill(in.Name, skills)
		}
		s := skills[i]
		if err := c.Host.Ask(ctx, tool.Permission{Name: "skill", Patterns: []string{s.Name}, Always: []string{s.Name}}); err != nil {
			return tool.Result{}, err
		}
		meta, err := json.Marshal(struct {
			Name string `json:"name"`
			Dir  string `json:"dir"`
		}{s.Name, s.dir()})
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Title: "Loaded skill: " + s.Name, Output: s.shown(ctx), Metadata: meta}, nil
	})
}

// unknownSkill names what was probably meant.
func unknownSkill(name string, skills []SkillEntry) error {
	if len(skills) == 0 {
		return tool.Failf("Unknown skill %q; no skills are available here. Continue without.", name)
	}
	var names []string
	for _, s := range skills {
		names = append(names, s.Name)
	}
	near := args.Nearest(name, names)
	call, err := json.Marshal(map[string]string{"name": near[0]})
	if err != nil {
		return err
	}
	return tool.Failf("Unknown skill %q. The nearest are: %s. Call skill with %s, or continue without.", name, strings.Join(near, ", "), call)
}

func (s SkillEntry) dir() string {
	if s.Path == "" {
		return ""
	}
	return filepath.Dir(s.Path)
}

// shown is the skill as a model reads it.
func (s SkillEntry) shown(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<skill_content name=%q>\n# Skill: %s\n\n%s\n", s.Name, s.Name, strings.TrimSpace(s.Content))
	if dir := s.dir(); dir != "" {
		fmt.Fprintf(&b, "\nBase directory: %s (paths in the skill are relative to it)\n", dir)
		if files := s.files(ctx); len(files) > 0 {
			b.WriteString("<skill_files>\n")
			for _, f := range files {
				fmt.Fprintf(&b, "<file>%s</file>\n", f)
			}
			b.WriteString("</skill_files>\n")
		}
	}
	b.WriteString("</skill_content>")
	return b.String()
}

// files are some of those that lie beside the SKILL.md.
func (s SkillEntry) files(ctx context.Context) (out []string) {
	looked, dir := 0, s.dir()
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error { // unreadable files are left out
		if looked++; looked > skillLooked || len(out) == skillFiles || ctx.Err() != nil {
			return fs.SkipAll
		}
		if err == nil && d.Type().IsRegular() && name != "SKILL.md" {
			out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
		}
		return nil
	})
	return out
}
