package storetest

import (
	"github.com/lathe-agent/lathe"
)

func systemPromptTests() map[string]func(*env) {
	return map[string]func(*env){
		"IsKeptAndReplaced":   testSystemPromptStored,
		"AForkHasTheSame":     testSystemPromptForked,
		"GoesWithItsSession":  testSystemPromptRemoved,
		"NobodyIsToldAboutIt": testSystemPromptSilent,
	}
}

func (r *env) systemPrompt(id lathe.SessionID) *lathe.SystemPrompt {
	r.Helper()
	p, err := r.SystemPrompt(ctx(), id)
	r.ok(err)
	return p
}

func sampleSystemPrompt(text string) lathe.SystemPrompt {
	return lathe.SystemPrompt{
		Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}, Directory: "/d", Text: text,
		Sources: []lathe.SystemPromptSource{{Name: "AGENTS.md", Digest: "abc"}},
	}
}

func testSystemPromptStored(r *env) {
	l, other := r.held(), r.held()
	r.same("before", r.systemPrompt(l.Session), (*lathe.SystemPrompt)(nil))
	for _, text := range []string{"first\x00\u2028", "second"} {
		p := sampleSystemPrompt(text)
		r.commit(l, &lathe.SystemPromptSaved{Session: l.Session, SystemPrompt: p})
		r.same("kept", r.systemPrompt(l.Session), &p)
	}
	r.same("of another", r.systemPrompt(other.Session), (*lathe.SystemPrompt)(nil))
}

func testSystemPromptForked(r *env) {
	l := r.held()
	p := sampleSystemPrompt("text")
	r.commit(l, &lathe.SystemPromptSaved{Session: l.Session, SystemPrompt: p})
	rec, err := r.Session(ctx(), l.Session)
	r.ok(err)
	rec.ID = r.ids.Session()
	r.ok(r.Fork(ctx(), l.Session, "", rec))
	r.same("of the fork", r.systemPrompt(rec.ID), &p)
}

func testSystemPromptRemoved(r *env) {
	l := r.held()
	r.commit(l, &lathe.SystemPromptSaved{Session: l.Session, SystemPrompt: sampleSystemPrompt("text")})
	r.ok(r.Remove(ctx(), l.Session))
	r.same("of an unknown session", r.systemPrompt(l.Session), (*lathe.SystemPrompt)(nil))
}

func testSystemPromptSilent(r *env) {
	l := r.held()
	events, err := r.Commit(ctx(), l, &lathe.SystemPromptSaved{Session: l.Session, SystemPrompt: sampleSystemPrompt("text")})
	r.ok(err)
	r.same("events", len(events), 0)
}
