package undo

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// A point is where its part stands, or the prompt of its message where nothing was said
// before. (§13.4)
func TestFindPoint(t *testing.T) {
	t.Parallel()
	user := func(id lathe.MessageID) *history.Message {
		return &history.Message{Message: lathe.Message{ID: id, Data: &lathe.User{}, Parts: []lathe.Part{{ID: "prt_" + lathe.PartID(id), Body: &lathe.Text{Text: "do"}}}}}
	}
	answer := func(id, to lathe.MessageID, bodies ...lathe.Body) *history.Message {
		h := &history.Message{Message: lathe.Message{ID: id, Data: &lathe.Assistant{Parent: to}}}
		for i, b := range bodies {
			h.Parts = append(h.Parts, lathe.Part{ID: lathe.PartID(string(id) + string(rune('a'+i))), Body: b})
		}
		return h
	}
	list := []*history.Message{
		user("u1"), answer("a1", "u1", &lathe.StepStart{}, &lathe.Text{Text: "x"}, &lathe.ToolCall{State: &lathe.Pending{}}),
		answer("a2", "u1", &lathe.StepStart{}, &lathe.ToolCall{State: &lathe.Pending{}}, &lathe.Text{Text: "y"}),
		user("u2"), answer("a3", "u2", &lathe.Text{Text: "z"}),
	}
	for _, c := range []struct {
		message lathe.MessageID
		part    lathe.PartID
		want    Point
		found   bool
	}{
		{"u1", "", Point{Message: "u1", From: 0}, true},
		{"a1", "", Point{Message: "u1", From: 0}, true},
		{"a2", "", Point{Message: "u1", From: 0}, true},
		{"u2", "", Point{Message: "u2", From: 3}, true},
		{"a3", "", Point{Message: "u2", From: 3}, true},
		{"a1", "a1a", Point{Message: "u1", From: 0}, true},
		{"a1", "a1b", Point{Message: "u1", From: 0}, true},
		{"a1", "a1c", Point{Message: "a1", Part: "a1c", From: 1}, true},
		{"a2", "a2b", Point{Message: "u1", From: 0}, true},
		{"a2", "a2c", Point{Message: "a2", Part: "a2c", From: 2}, true},
		{"u2", "prt_u2", Point{Message: "u2", From: 3}, true},
		{"a1", "a2a", Point{}, false},
		{"gone", "", Point{}, false},
	} {
		got, ok := FindPoint(list, c.message, c.part)
		if ok != c.found || got != c.want {
			t.Errorf("%s %s: %+v %v, want %+v %v", c.message, c.part, got, ok, c.want, c.found)
		}
	}
}

// A step is undone by what its patch says; what it left is what its finish names.
func TestChangedSteps(t *testing.T) {
	t.Parallel()
	patch := func(hash string) lathe.Part {
		return lathe.Part{Body: &lathe.Patch{Hash: hash, Files: []string{"/p/a"}}}
	}
	finish := func(tree string) lathe.Part { return lathe.Part{Body: &lathe.StepFinish{Snapshot: tree}} }
	got := ChangedSteps([]lathe.Message{
		{ID: "m1", Parts: []lathe.Part{finish("t2"), patch("t1")}},
		{ID: "m2", Parts: []lathe.Part{finish("t3")}},
		{ID: "m3", Parts: []lathe.Part{patch("t3")}},
	})
	want := []snapshot.StepRef{
		{Key: "m1", Before: "t1", After: "t2", Files: []string{"/p/a"}},
		{Key: "m3", Before: "t3", Files: []string{"/p/a"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The list of changes is bounded, and the counts are all there.
func TestClip(t *testing.T) {
	t.Parallel()
	text := make([]byte, maxDiff)
	diffs := []lathe.FileDiff{{File: "long", Patch: string(text) + "x", Additions: 1}}
	for range maxDiffs/maxDiff + 2 {
		diffs = append(diffs, lathe.FileDiff{File: "f", Patch: string(text), Additions: 2, Deletions: 1})
	}
	total, with := 0, 0
	for _, d := range Clip(diffs) {
		if total += len(d.Patch); d.Patch != "" {
			with++
		}
	}
	if total > maxDiffs || with != maxDiffs/maxDiff {
		t.Errorf("%d bytes in %d texts", total, with)
	}
	n := len(diffs)
	if got := Totals(Clip(diffs)); got.Files != n || got.Additions != 1+2*(n-1) || got.Deletions != n-1 {
		t.Errorf("%+v", got)
	}
	if diffs[0].Patch == "" {
		t.Error("what was given is changed")
	}
}
