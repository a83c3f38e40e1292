package catalog

import (
	"fmt"
	"testing"
)

func TestSampling_ByFamily(t *testing.T) {
	for id, want := range map[string]string{
		"claude-sonnet-4-5":         "- - -",
		"gemini-2.5-pro":            "1 0.95 64",
		"Qwen/Qwen3-Coder":          "0.55 1 -",
		"moonshotai/kimi-k2":        "0.6 - -",
		"moonshot/kimi-k2-thinking": "1 - -",
		"minimax-m2.1":              "1 0.95 20",
		"gpt-5":                     "- - -",
	} {
		s := (&Model{ID: id, Temperature: true}).Sampling()
		if got := fmt.Sprint(shownAs(s.Temperature), " ", shownAs(s.TopP), " ", shownAs(s.TopK)); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if s := (&Model{ID: "gemini-3"}).Sampling(); s.Temperature != nil {
		t.Error("a model that takes no temperature got one")
	}
}

func shownAs[T any](v *T) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}
