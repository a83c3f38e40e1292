package modelname_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/modelname"
)

func catalog(provider string, lines ...string) (out []modelname.Model) {
	for _, l := range lines {
		id, released, _ := strings.Cut(l, " ")
		out = append(out, modelname.Model{Provider: provider, ID: id, Released: released})
	}
	return out
}

var (
	undated = catalog("anthropic", "claude-opus-4-5-20251101 2025-11-01", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-4-20250514 2025-05-14", "claude-sonnet-5", "claude-haiku-4-5-20251001 2025-10-01")
	openAI  = catalog("openai", "gpt-5", "gpt-5-mini", "gpt-5.6-luna", "gpt-5.6-sol", "o3", "o4-mini")
	dated   = catalog("router", "anthropic/claude-sonnet-5 2026-01-02", "anthropic/claude-opus-4.5 2025-11-24", "x/llama-3-70b 2024-04-18", "google/gemini-3-pro 2025-11-18", "google/gemini-3-flash 2025-11-18")
)

func TestFind(t *testing.T) {
	t.Parallel()
	all := slices.Concat(undated, openAI, dated)
	for _, tt := range []struct {
		name   string
		prefer []string
		want   string // a full name, or the text of the error
	}{
		{"opus", []string{"anthropic"}, "anthropic/claude-opus-5"},
		{"Opus", nil, "anthropic/claude-opus-5"}, // the newest
		{"sonnet", []string{"router"}, "router/anthropic/claude-sonnet-5"},
		{"sonnet", []string{"openai", "anthropic"}, "anthropic/claude-sonnet-5"},
		{"sonnet", nil, "anthropic/claude-sonnet-5"}, // the shorter ID
		{"opus-4", []string{"anthropic"}, "anthropic/claude-opus-4-8"},
		{"gpt-5", nil, "openai/gpt-5"},
		{"gpt", nil, `"gpt" fits openai/gpt-5.6-luna and openai/gpt-5.6-sol`},
		{"openai/mini", nil, "openai/gpt-5-mini"},
		{"gemini", nil, `"gemini" fits router/google/gemini-3-flash and router/google/gemini-3-pro`},
		{"google/gemini-3-pro", nil, "router/google/gemini-3-pro"},
		{"sonet", nil, `model "sonet" not found, did you mean sonnet? "lathe models" lists the models`},
		{"claude-opus-55", nil, `model "claude-opus-55" not found, did you mean anthropic/claude-opus-5`},
		{"pus", nil, `model "pus" not found`}, // only whole words fit
		{"", nil, `model "" not found`},
		{"-", nil, `model "-" not found`},
		{"zzzzzzzz\x1b[31m", nil, `model "zzzzzzzz\x1b[31m" not found; "lathe models" lists the models`},
	} {
		got, err := modelname.Find(tt.name, all, tt.prefer)
		if err != nil {
			got.ID = err.Error()
			if !strings.HasPrefix(got.ID, tt.want) {
				t.Errorf("%s: %s, want %s", tt.name, got.ID, tt.want)
			}
			if a, ok := errors.AsType[*modelname.Ambiguous](err); ok == errors.Is(err, modelname.ErrNotFound) || ok && len(a.Candidates) < 2 {
				t.Errorf("%s: kind of error: %#v", tt.name, err)
			}
		} else if got.Ref() != tt.want {
			t.Errorf("%s with %q: %s, want %s", tt.name, tt.prefer, got.Ref(), tt.want)
		}
	}
}

// Without a date for every model, versions decide.
func TestSort(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		all  []modelname.Model
		want string
	}{
		{undated, "claude-opus-5 claude-sonnet-5 claude-opus-4-8 claude-haiku-4-5-20251001 claude-opus-4-5-20251101 claude-sonnet-4-20250514"},
		{openAI, "gpt-5.6-luna gpt-5.6-sol gpt-5 gpt-5-mini o4-mini o3"},
		{dated, "anthropic/claude-sonnet-5 anthropic/claude-opus-4.5 google/gemini-3-flash google/gemini-3-pro x/llama-3-70b"},
	} {
		all := slices.Clone(tt.all)
		slices.Reverse(all)
		modelname.Sort(all, func(m modelname.Model) modelname.Model { return m })
		var ids []string
		for _, m := range all {
			ids = append(ids, m.ID)
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
