package lsp

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// A position of a byte leads back to it, in every encoding, also behind characters that are wide in one of them.
func TestPosition(t *testing.T) {
	t.Parallel()
	const text = "aä🙂b\r\nzweite\rdritte\n\n"
	starts := lines(text)
	if len(starts) != 5 {
		t.Fatalf("%d lines", len(starts))
	}
	for _, tt := range []struct {
		enc  encoding
		char string
		want Position
	}{
		{utf8Units, "b", Position{0, 7}},
		{utf16Units, "b", Position{0, 4}},
		{utf32Units, "b", Position{0, 3}},
		{utf16Units, "z", Position{1, 0}},
		{utf16Units, "d", Position{2, 0}},
	} {
		at := strings.Index(text, tt.char)
		if got := tt.enc.position(text, starts, at); got != tt.want {
			t.Errorf("%s of %s: %v", tt.enc, tt.char, got)
		}
		if got := tt.enc.offset(text, starts, tt.want); got != at {
			t.Errorf("offset of %v in %s: %d, want %d", tt.want, tt.enc, got, at)
		}
	}
	for _, outside := range []Position{{-1, 5}, {0, 900}, {99, 0}, {0, -3}} { // a server may send anything
		if at := utf16Units.offset(text, starts, outside); at < 0 || at > len(text) || !utf8.ValidString(text[:at]) {
			t.Errorf("%v: %d", outside, at)
		}
	}
	if at := utf16Units.offset(text, starts, Position{0, 3}); at != strings.Index(text, "🙂") {
		t.Errorf("in the middle of a character: %d", at)
	}
}

// Incremental sync sends one replacement that makes the new text of the old one, as a server applies it.
func TestContentChange_Property(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"a", "b", "ä", "é", "🙂", "🙃", "\n", "\r\n", "\r", " ", "x\ny"})
	word := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "") })
	rapid.Check(t, func(t *rapid.T) {
		enc := rapid.SampledFrom([]encoding{utf8Units, utf16Units, utf32Units}).Draw(t, "encoding")
		before, after := word.Draw(t, "before"), word.Draw(t, "after")
		if rapid.Bool().Draw(t, "similar") {
			after = before + after
		}
		change := enc.contentChange(before, after)
		starts := lines(before)
		from, to := enc.offset(before, starts, change.Range.Start), enc.offset(before, starts, change.Range.End)
		if got := before[:from] + change.Text + before[to:]; got != after {
			t.Fatalf("%q to %q in %s: %+v %q gives %q", before, after, enc, *change.Range, change.Text, got)
		}
	})
}

// Edits are applied to the text that they are for, whatever their order, and none that overlap.
func TestApply(t *testing.T) {
	t.Parallel()
	edit := func(l1, c1, l2, c2 int, text string) textEdit {
		return textEdit{Range{Position{l1, c1}, Position{l2, c2}}, text}
	}
	got, err := utf16Units.apply("🙂 one\ntwo one\n", []textEdit{edit(1, 4, 1, 7, "zwei"), edit(0, 3, 0, 6, "eins"), edit(0, 3, 0, 6, "eins")})
	if err != nil || got != "🙂 eins\ntwo zwei\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range [][]textEdit{{edit(0, 1, 0, 4, "x"), edit(0, 3, 0, 5, "y")}, {edit(1, 2, 0, 1, "x")}} {
		if got, err := utf16Units.apply("one two\nthree\n", bad); err == nil {
			t.Errorf("%+v: %q", bad, got)
		}
	}
}

// Errors that only moved are not new.
func TestSurplus(t *testing.T) {
	t.Parallel()
	at := func(line int, message string) Diagnostic {
		return Diagnostic{Range: Range{Position{line, 0}, Position{line, 1}}, Severity: severityError, Message: message}
	}
	before := []Diagnostic{at(3, "old"), at(9, "old"), at(20, "gone")}
	moved := shift(before, 5, 0, 2) // two lines more after the fifth
	if new := surplus(moved, []Diagnostic{at(3, "old"), at(11, "old")}); len(new) != 0 {
		t.Errorf("%+v", new)
	}
	if new := surplus(moved, []Diagnostic{at(3, "old"), at(11, "old"), at(12, "old"), at(1, "other")}); len(new) != 2 {
		t.Errorf("%+v", new)
	}
}
