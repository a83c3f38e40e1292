package report

import (
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/style"
)

// Value is the effective value of a setting for people: its own, or the default.
func Value(s api.Setting) string {
	switch {
	case s.Secret && len(s.Value) > 0:
		return "(hidden)"
	case len(s.Value) == 0:
		return clean(s.Default)
	}
	var text string
	if json.Unmarshal(s.Value, &text) == nil {
		return clean(text)
	}
	return clean(string(s.Value))
}

// ParseValue writes a typed text as JSON of the setting's type; "" is null, for the default.
func ParseValue(s api.Setting, text string) (json.RawMessage, error) {
	switch {
	case text == "":
		return json.RawMessage("null"), nil
	case s.Type == "integer" || s.Type == "number":
		var n json.Number
		err := json.Unmarshal([]byte(text), &n)
		return json.RawMessage(text), err
	case s.Type != "string" && (text == "true" || text == "false"):
		return json.RawMessage(text), nil
	}
	return json.Marshal(text)
}

// Settings renders the settings whose key or help contains every word of a query.
func Settings(all []api.Setting, query string, width int) []Row {
	width = max(width, 20)
	words := strings.Fields(strings.ToLower(query))
	var out []Row
	for _, s := range all {
		text := strings.ToLower(s.Key + " " + s.Help)
		if !containsAll(text, words) {
			continue
		}
		value := style.Plain(Value(s)).Truncate(width / 2).Text()
		tone := Muted
		if len(s.Value) > 0 {
			tone = Good
		}
		out = append(out, pair(say(s.Key, Heading), Span{value, tone}, width))
		out = append(out, wrap(s.Help, "  ", Normal, width)...)
		out = append(out, wrap("from "+s.Origin, "  ", Muted, width)...)
	}
	if len(out) == 0 {
		return []Row{say("No setting matches.", Muted)}
	}
	return out
}

// containsAll reports whether a text contains every word, in any order.
func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
