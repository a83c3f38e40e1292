package claudecode

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// Agent translates a file of .claude/agents. name is its path below that folder without .md, head its
// frontmatter as a JSON object, body the text after it.
func Agent(name string, head json.RawMessage, body string) Document {
	var n notes
	agent := &object{}
	agent.put("mode", "subagent")
	list, err := members(head)
	if err != nil {
		n.add("", "the frontmatter is not an object and is ignored")
	}
	name = path.Base(name)
	for _, m := range list {
		switch m.key {
		case "name":
			if own, ok := decode[string](&n, m.key, m.value); ok && own != "" {
				name = own
			}
		case "description", "color":
			if text, ok := decode[string](&n, m.key, m.value); ok {
				putShown(agent, m.key, text)
			}
		case "model":
			if text, ok := decode[string](&n, m.key, m.value); ok {
				agentModel(agent, text, &n)
			}
		case "tools":
			agent.put("allowed_tools", allowedTools(&n, m))
		case "disallowedTools":
			for _, tool := range allowedTools(&n, m) {
				agent.child("permission").child(permissionOf(tool)).put("*", "deny")
			}
		case "maxTurns":
			if steps, ok := decode[float64](&n, m.key, m.value); ok && steps >= 1 {
				agent.put("steps", int64(steps))
			}
		case "permissionMode":
			if mode, ok := decode[string](&n, m.key, m.value); ok {
				agentMode(agent, mode, &n)
			}
		default:
			n.add(m.key, noCounterpart)
		}
	}
	if body != "" {
		agent.put("prompt", body)
	}
	out := &object{}
	out.child("agent").put(name, agent)
	return document(out, n)
}

// putShown sets a text. Claude Code has names for colors, of which lathe takes those of a theme.
func putShown(agent *object, key, text string) {
	if key == "color" {
		color := themeColor(text)
		switch {
		case color != "":
			text = color
		case !strings.HasPrefix(text, "#"):
			return
		}
	}
	agent.put(key, text)
}

// themeColor is a color of a theme for the names that Claude Code offers, "" for others.
func themeColor(name string) string {
	switch strings.ToLower(name) {
	case "red":
		return "error"
	case "blue":
		return "info"
	case "green":
		return "success"
	case "yellow":
		return "warning"
	case "purple", "pink":
		return "accent"
	case "orange":
		return "primary"
	case "cyan":
		return "secondary"
	default:
		return ""
	}
}

// agentModel sets the model of an agent. An alias depends on the plan of the user at one vendor, so it names no model here.
func agentModel(agent *object, name string, n *notes) {
	if name == "inherit" || name == "" {
		return
	}
	if full, ok := Model(name); ok {
		agent.put("model", full)
		return
	}
	n.add("model", "%q is an alias and is ignored: the agent uses the session's model", name)
}

// agentMode translates a permission mode that restricts. The others would loosen the user's mode.
func agentMode(agent *object, mode string, n *notes) {
	switch mode {
	case "plan":
		agent.child("permission").child("edit").put("*", "deny")
	case "default", "acceptEdits", "auto", "manual": // the user's mode counts
	default:
		n.important("permissionMode", "%q %s: the user's mode counts", mode, noCounterpart)
	}
}

// allowedTools translates a list of tools.
func allowedTools(n *notes, m member) []string {
	out := []string{}
	for _, text := range wordList(n, m.key, m.value) {
		r := parseRule(text, "allow", Place{})
		tools := LatheTools(r.tool)
		if r.tool == "*" {
			tools = []string{"*"}
		}
		if tools == nil {
			n.add(m.key, "%s %s", text, noCounterpart)
		}
		if r.specifier != "" && m.key == "tools" {
			n.add(m.key, "%s counts for every use of the tool", text)
		}
		for _, t := range tools {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// Command translates a file of .claude/commands. name is its path below that folder without .md. Folders
// only group commands, as in Claude Code.
func Command(name string, head json.RawMessage, body string) Document {
	var n notes
	command := &object{}
	command.put("template", body)
	list, err := members(head)
	if err != nil {
		n.add("", "the frontmatter is not an object and is ignored")
	}
	var description, hint string
	for _, m := range list {
		switch m.key {
		case "description":
			description, _ = decode[string](&n, m.key, m.value)
		case "argument-hint":
			hint = hintText(m.value)
		case "model":
			text, ok := decode[string](&n, m.key, m.value)
			if full, named := Model(text); ok && named {
				command.put("model", full)
			} else if ok && text != "inherit" {
				n.add(m.key, "%q is an alias and is ignored: the command uses the session's model", text)
			}
		case "agent":
			if text, ok := decode[string](&n, m.key, m.value); ok {
				command.put("agent", text)
			}
		case "context":
			if text, ok := decode[string](&n, m.key, m.value); ok && text == "fork" {
				command.put("subtask", true)
			}
		case "allowed-tools":
			n.add(m.key, "grants nothing in lathe: its rules and the user's answers count")
		case "name", "disable-model-invocation": // commands of lathe are only called by the user
		default:
			n.add(m.key, noCounterpart)
		}
	}
	if description == "" {
		description = firstLine(body)
	}
	if text := strings.TrimSpace(description + " " + hint); text != "" {
		command.put("description", text)
	}
	out := &object{}
	out.child("command").put(path.Base(name), command)
	return document(out, n)
}

// hintText is the hint for arguments, which YAML reads as a list if it is in brackets.
func hintText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var words []string
	if json.Unmarshal(value, &words) == nil {
		return "[" + strings.Join(words, ", ") + "]"
	}
	return ""
}

// firstLine is the beginning of a text for a list.
func firstLine(body string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	line = strings.TrimSpace(strings.TrimLeft(line, "# "))
	if r := []rune(line); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return line
}
