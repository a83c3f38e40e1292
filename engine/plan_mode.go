package engine

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/workspace"
)

// PlanFile is the path of the session's plan, relative to its directory if it is there.
func (h *host) PlanFile() string {
	s := h.step
	file := planPath(s.session, s.place, s.settings.Plans)
	if rel, err := filepath.Rel(s.place.Directory, file); err == nil && workspace.Inside(s.place.Directory, file) {
		return filepath.ToSlash(rel)
	}
	return file
}

// SwitchAgent lets another agent continue when the step has ended: its own prompt waits for
// that, so that it survives the process.
func (h *host) SwitchAgent(ctx context.Context, agent, text string) error {
	s := h.step
	a, err := s.settings.agent(agent)
	if err != nil {
		return err
	}
	said := samePrompt(s.user.Data.(*lathe.User))
	said.Agent = a.Name
	m := lathe.Message{ID: s.engine.ids.Message(), Session: s.session.ID, Data: said}
	m.Parts = []lathe.Part{{ID: s.engine.ids.Part(), Session: m.Session, Message: m.ID, Body: history.Synthetic(text)}}
	_, err = s.engine.store.Admit(ctx, s.session.ID, lathe.Submission{Message: m, Digest: string(m.ID)})
	return err
}

// AcceptEdits lets the session change files of the project without asking, until the user revokes it.
func (h *host) AcceptEdits(ctx context.Context) error {
	return store.Grants{Store: h.step.engine.store}.Add(ctx, store.GrantScope{Session: h.step.session.ID}, "edit", "*")
}

// planPath is the path of a session's plan: in the repository, else in the shared folder;
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
