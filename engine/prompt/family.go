// Package prompt has the texts of prompts: system prompts for families of models, and the
// templates of commands. The texts are in .md files in this folder.
package prompt

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

//go:embed family_claude.md
var claudeText string

//go:embed family_gpt.md
var gptText string

//go:embed family_gpt4.md
var gpt4Text string

//go:embed family_gemini.md
var geminiText string

//go:embed family_open.md
var openText string

//go:embed family_small.md
var smallText string

// Family is a group of models that share prompt instructions.
type Family string

const (
	ClaudeFamily Family = "claude"
	GPTFamily    Family = "gpt"  // reasoning models: GPT-5 and later, Codex, the o series
	GPT4Family   Family = "gpt4" // models without reasoning
	GeminiFamily Family = "gemini"
	OpenFamily   Family = "open" // all others
	SmallFamily  Family = "small"
)

// smallSize is up to how many billions of parameters a model counts as small.
const smallSize = 14

// sizes finds the size of a model in its name, as in qwen2.5-coder:7b.
var sizes = phrase.Regexp(`(?:^|[-:_/])e?(\d+(?:\.\d+)?)b(?:$|[-:_/.])`)

// FamilyOf knows a family by the name of a model. Names of others may be hidden in those of
// small ones that were made from them, so size counts first.
func FamilyOf(model string) Family {
	name := strings.ToLower(model)
	if m := sizes().FindStringSubmatch(name); m != nil {
		if n, err := strconv.ParseFloat(m[1], 64); err == nil && n <= smallSize {
			return SmallFamily
		}
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case has("claude"):
		return ClaudeFamily
	case has("gpt-oss"):
		return OpenFamily
	case has("gpt-4", "gpt-3", "chatgpt"):
		return GPT4Family
	case has("gpt-", "codex") || regexp.MustCompile(`^o\d`).MatchString(base):
		return GPTFamily
	case has("gemini"):
		return GeminiFamily
	default:
		return OpenFamily
	}
}

// Text is the family's part of the system prompt, after the common part.
func (f Family) Text() string {
	texts := map[Family]string{ClaudeFamily: claudeText, GPTFamily: gptText, GPT4Family: gpt4Text, GeminiFamily: geminiText, SmallFamily: smallText}
	return strings.TrimSpace(cmp.Or(texts[f], openText))
}

// Hides says which built-in tools a family is not shown: small models do better with few.
func (f Family) Hides(s tool.Spec) bool {
	return f == SmallFamily && slices.Contains([]string{
		"question", "webfetch", "websearch", "todowrite", "task", "skill", "plan_enter", "plan_exit", "ask_parent",
	}, s.Name)
}

// smallOutput is how much of a tool's output a small model sees, in bytes.
const smallOutput = 8 << 10

// Limits are those of tools' output for a family.
func (f Family) Limits(l tool.Limits) tool.Limits {
	if f == SmallFamily && (l.Bytes == 0 || l.Bytes > smallOutput) {
		l.Bytes = smallOutput
	}
	return l
}
