package builtin_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

func TestSkill(t *testing.T) {
	d := tooltest.NewHost(t)
	path := d.Put("skills/notes/SKILL.md", "ignored: the settings have read it")
	d.Put("skills/notes/.hidden", "x")
	for i := range 12 {
		d.Put(fmt.Sprintf("skills/notes/sub/%02d.txt", i), "x")
	}
	x := builtin.Skill([]builtin.SkillEntry{{Name: "notes", Path: path, Content: "\nWrite notes.\n"}, {Name: "own", Content: "Inside."}})
	r := d.Must(x, tooltest.Input{"name": "notes"})
	dir := d.Dir + "/skills/notes"
	files := "<file>" + dir + "/.hidden</file>\n"
	for i := range 9 {
		files += fmt.Sprintf("<file>%s/sub/%02d.txt</file>\n", dir, i)
	}
	want := "<skill_content name=\"notes\">\n# Skill: notes\n\nWrite notes.\n\nBase directory: " + dir +
		" (paths in the skill are relative to it)\n<skill_files>\n" + files + "</skill_files>\n</skill_content>"
	if diff := cmp.Diff(want, r.Output); diff != "" || r.Title != "Loaded skill: notes" {
		t.Error(r.Title, diff)
	}
	if diff := cmp.Diff(fmt.Sprintf(`{"name":"notes","dir":%q}`, dir), string(r.Metadata)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]tool.Permission{{Name: "skill", Patterns: []string{"notes"}, Always: []string{"notes"}}}, d.Asked); diff != "" {
		t.Error(diff)
	}
	if got := d.Must(x, tooltest.Input{"name": "own"}).Output; got != "<skill_content name=\"own\">\n# Skill: own\n\nInside.\n</skill_content>" {
		t.Error(got)
	}
}

func TestSkill_Refused(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Refuse = "skill"
	x := builtin.Skill([]builtin.SkillEntry{{Name: "release-notes", Content: "secret"}, {Name: "own", Content: "Inside."}})
	if got := d.Fails(x, tooltest.Input{"name": "own"}); got != "no skill" {
		t.Error(got)
	}
	if got := d.Fails(x, tooltest.Input{"name": "notes"}); got != `Unknown skill "notes". The nearest are: release-notes, own. Call skill with {"name":"release-notes"}, or continue without.` {
		t.Error(got)
	}
	tooltest.Contains(t, d.Fails(builtin.Skill(nil), tooltest.Input{"name": "notes"}), "no skills are available here")
}
