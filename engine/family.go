package engine

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe/tool"
)

//go:embed prompt/family_claude.md
var claudeText string

//go:embed prompt/family_gpt.md
var gptText string

//go:embed prompt/family_gpt4.md
var gpt4Text string

//go:embed prompt/family_gemini.md
var geminiText string

//go:embed prompt/family_open.md
var openText string

//go:embed prompt/family_small.md
var smallText string

// family is what models of one origin have in common: how they want to be spoken to.
type family string

const (
	claudeFamily family = "claude"
	gptFamily    family = "gpt"  // those that reason: GPT-5 and later, Codex, the o series
	gpt4Family   family = "gpt4" // those that do not
	geminiFamily family = "gemini"
	openFamily   family = "open" // all others
	smallFamily  family = "small"
)

// smallSize is up to how many billions of parameters a model counts as small.
const smallSize = 14

// sizes finds the size of a model in its name, as in qwen2.5-coder:7b.
var sizes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[-:_/])e?(\d+(?:\.\d+)?)b(?:$|[-:_/.])`) })

// familyOf knows a family by the name of a model. Names of others may be hidden in those of
// small ones that were made from them, so size counts first.
func familyOf(model string) family {
	name := strings.ToLower(model)
	if m := sizes().FindStringSubmatch(name); m != nil {
		if n, err := strconv.ParseFloat(m[1], 64); err == nil && n <= smallSize {
			return smallFamily
		}
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case has("claude"):
		return claudeFamily
	case has("gpt-oss"):
		return openFamily
	case has("gpt-4", "gpt-3", "chatgpt"):
		return gpt4Family
	case has("gpt-", "codex") || regexp.MustCompile(`^o\d`).MatchString(base):
		return gptFamily
	case has("gemini"):
		return geminiFamily
	default:
		return openFamily
	}
}

// text is what a family is told behind the words for all.
func (f family) text() string {
	text := openText
	switch f {
	case claudeFamily:
		text = claudeText
	case gptFamily:
		text = gptText
	case gpt4Family:
		text = gpt4Text
	case geminiFamily:
		text = geminiText
	case openFamily:
	case smallFamily:
		text = smallText
	}
	return strings.TrimSpace(text)
}

// overwhelms says which built-in tools a family is not shown: small models do better with few.
func (f family) overwhelms(s tool.Spec) bool {
	return f == smallFamily && slices.Contains([]string{
		"question", "webfetch", "websearch", "todowrite", "task", "skill", "plan_enter", "plan_exit",
	}, s.Name)
}

// smallOutput is how much of a tool's output a small model sees, in bytes.
const smallOutput = 8 << 10

// limits are those of tools' output for a family.
func (f family) limits(l tool.Limits) tool.Limits {
	if f == smallFamily && (l.Bytes == 0 || l.Bytes > smallOutput) {
		l.Bytes = smallOutput
	}
	return l
}
