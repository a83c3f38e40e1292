package config

import (
	"testing"
)

func TestSkills(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	places := []string{ // lowest first
		"home/.claude/skills", "home/.agents/skills",
		"top/sub/.claude/skills", "top/sub/.agents/skills", "top/.claude/skills", "top/.agents/skills",
		"home/.config/opencode/skill", "home/.config/opencode/skills", "home/.config/lathe/skill",
		"top/sub/.opencode/skill", "top/sub/.lathe/skills", "top/.opencode/skills", "home/.lathe/skill",
		"home/more", "top/sub/own",
	}
	w.write("top/lathe.json", `{"skills": {"paths": ["~/more", "own"]}}`)
	for i, place := range places {
		w.write(place+"/deep/x/SKILL.md", "---\nname: same\ndescription: from "+place+"\n---\n\nDo it.\n")
		l := w.load()
		if len(l.Skills) != 1 || l.Skills[0].Description != "from "+place {
			t.Fatalf("%d %s: %+v", i, place, l.Skills)
		}
	}
	l := w.load()
	equal(t, l.Skills, []Skill{{
		Name: "same", Description: "from top/sub/own", Path: w.path("top/sub/own/deep/x/SKILL.md"), Content: "Do it.", Layer: Project,
	}})
	w.env["LATHE_DISABLE_EXTERNAL_SKILLS"] = "1"
	for _, place := range places[6:] {
		w.write(place+"/deep/x/SKILL.md", "gone")
	}
	l = w.load()
	equal(t, len(l.Skills), 0)
	equal(t, w.warnings(l)[0], `home/.config/opencode/skill/deep/x/SKILL.md: the skill has no "name" in its frontmatter and is ignored`)
	for _, name := range []string{"OPENCODE_DISABLE_CLAUDE_CODE", "LATHE_DISABLE_CLAUDE_CODE_SKILLS"} {
		w.env = map[string]string{name: "1"}
		equal(t, w.load().Skills[0].Description, "from top/.agents/skills")
	}
}

func TestSkills_OrderAndFaults(t *testing.T) {
	w := newFixture(t)
	w.files(`
-- home/.claude/skills/b/SKILL.md --
---
name: beta
---
-- home/.claude/skills/a/SKILL.md --
---
name: alpha
description: Use it: often
---
-- home/.claude/skills/c/SKILL.md --
---
name: [x
---
-- home/.claude/skills/d/SKILL.md --
---
name: 5
description: {}
---
-- home/.claude/skills/e/node_modules/SKILL.md --
---
name: hidden
---
-- home/.claude/skills/e/skill.md --
---
name: lower
---
`)
	l := w.load()
	names := []string{}
	for _, s := range l.Skills {
		names = append(names, s.Name+"/"+s.Description)
	}
	equal(t, names, []string{"alpha/Use it: often", "beta/"})
	equal(t, w.warnings(l), []string{
		"home/.claude/skills/c/SKILL.md:2:7: is not YAML: sequence end token ']' not found; the file is ignored",
		`home/.claude/skills/d/SKILL.md: the skill has no "name" in its frontmatter and is ignored`,
	})
}
