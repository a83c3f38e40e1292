package claudecode

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// File is a settings file: .claude/settings.json or .claude/settings.local.json.
type File struct {
	Text  []byte
	Place Place
}

// Settings translates settings files, the one with the lowest precedence first, into one document for
// each. All permission rules are in the last document that has any: in Claude Code a deny of one
// file counts before an allow of another. A file that is not JSON is a [*SyntaxError], and
// its document is empty.
func Settings(files ...File) ([]Document, []error) {
	docs, errs := make([]Document, len(files)), make([]error, len(files))
	all := make([]*settings, len(files))
	var rules []rule
	last := -1
	for i, f := range files {
		s := &settings{place: f.Place}
		list, err := members(f.Text)
		if err != nil {
			errs[i] = err
		}
		for _, m := range list {
			s.translate(m)
		}
		if rules = append(rules, s.rules...); len(s.rules) > 0 {
			last = i
		}
		all[i] = s
	}
	for i, s := range all {
		if i == last {
			s.putRules(rules)
		}
		docs[i] = document(&s.out, s.notes)
	}
	return docs, errs
}

// settings is one file on its way to a document.
type settings struct {
	place Place
	rules []rule
	out   object
	notes notes
}

// ignored are the keys that only concern Claude Code's own program: they are ignored without a word.
var ignored = []string{
	"$schema", "cleanupPeriodDays", "companyAnnouncements", "feedbackSurveyRate", "forceLoginMethod", "forceLoginOrgUUID", "outputStyle", "spinnerTipsEnabled",
	"spinnerVerbs", "statusLine", "terminalProgressBarEnabled", "autoUpdatesChannel", "prefersReducedMotion", "showTurnDuration", "language", "skipDangerousModePermissionPrompt",
}

// translate takes one setting. What lathe has no place for becomes a note, never an error: the file belongs to
// another program, which may have learned new settings since.
func (s *settings) translate(m member) {
	switch m.key {
	case "permissions":
		s.permissions(m.value)
	case "env":
		s.environment(m.value)
	case "hooks":
		s.hooks(m.value)
	case "disableAllHooks":
		if off, ok := decode[bool](&s.notes, m.key, m.value); ok && off {
			s.out.put("disable_hooks", true)
		}
	case "model":
		if name, ok := decode[string](&s.notes, m.key, m.value); ok {
			s.model(name)
		}
	case "disabledMcpjsonServers":
		list, _ := decode[[]string](&s.notes, m.key, m.value)
		for _, name := range list {
			s.out.child("mcp").child(name).put("enabled", false)
		}
	case "enableAllProjectMcpServers", "enabledMcpjsonServers":
		s.notes.add(m.key, "is ignored: the servers of a trusted project are enabled")
	default:
		if !slices.Contains(ignored, m.key) {
			s.notes.add(m.key, noCounterpart)
		}
	}
}

// model sets the model if it has a full name. An alias names no model of lathe's catalog.
func (s *settings) model(name string) {
	if full, ok := Model(name); ok {
		s.out.put("model", full)
	} else {
		s.notes.add("model", "%q is an alias and is ignored: set \"model\" in lathe.json to provider/model", name)
	}
}

// Model returns the name of a model as provider/model. It reports false for an alias, such as sonnet.
func Model(name string) (string, bool) {
	switch {
	case strings.Contains(name, "/"):
		return name, true
	case strings.HasPrefix(name, "claude-"):
		name, _, _ = strings.Cut(name, "[") // a mark for a longer context
		return "anthropic/" + name, true
	default:
		return "", false
	}
}

// permissions collects the rules, which are written once all files are known.
func (s *settings) permissions(value json.RawMessage) {
	list, err := members(value)
	if err != nil {
		s.notes.important("permissions", "must be an object and is ignored")
		return
	}
	for _, m := range list {
		key := "permissions." + m.key
		switch m.key {
		case "allow", "ask", "deny":
			texts, ok := decode[[]string](&s.notes, key, m.value)
			if !ok {
				s.notes[len(s.notes)-1].Important = true
			}
			for _, text := range texts {
				s.rules = append(s.rules, parseRule(strings.TrimSpace(text), m.key, s.place))
			}
		case "defaultMode":
			if mode, ok := decode[string](&s.notes, key, m.value); ok {
				s.mode(key, mode)
			}
		case "additionalDirectories":
			dirs, _ := decode[[]string](&s.notes, key, m.value)
			s.directories(key, dirs)
		case "disableBypassPermissionsMode", "disableAutoMode": // lathe has no such mode
		default:
			s.notes.add(key, noCounterpart)
		}
	}
}

// mode translates a permission mode. A project can only make lathe's mode stricter.
func (s *settings) mode(key, mode string) {
	switch mode {
	case "default", "manual":
		s.out.put("permission_mode", "ask")
	case "acceptEdits", "auto":
		s.out.put("permission_mode", "sandbox")
	case "plan":
		s.out.put("default_agent", "plan")
	case "dontAsk":
		s.out.put("permission_unattended", "refuse")
	default:
		s.notes.important(key, "%q %s: use --yes for one run", mode, noCounterpart)
	}
}

// directories opens further folders to tools and to commands.
func (s *settings) directories(key string, dirs []string) {
	var all []string
	for _, dir := range dirs {
		full, ok := s.place.complete(dir)
		if !ok {
			s.notes.add(key, "%s is ignored: lathe does not know the folder that it begins at", dir)
			continue
		}
		all = append(all, full)
		s.rules = append(s.rules, rule{text: dir, tool: "", specifier: full, action: "allow", place: s.place})
	}
	if len(all) > 0 {
		s.out.child("sandbox").put("write", all)
	}
}

// putRules writes all rules, the weakest action first, because the last that matches counts.
func (s *settings) putRules(rules []rule) {
	to := &object{}
	for _, action := range actions {
		for _, r := range rules {
			switch {
			case r.action != action:
			case r.tool == "": // of additionalDirectories
				to.child("external_directory").put(strings.TrimSuffix(r.specifier, "/")+"/*", action)
			default:
				r.translate(to, &s.notes)
			}
		}
	}
	if !to.isEmpty() {
		s.out.put("permission", to)
	}
}

// environment keeps the variables that a project may set for its commands.
func (s *settings) environment(value json.RawMessage) {
	all, err := members(value)
	if err != nil {
		s.notes.add("env", "must be an object and is ignored")
		return
	}
	for _, m := range all {
		var text string
		if json.Unmarshal(m.value, &text) != nil {
			text = string(m.value) // numbers and booleans are common here
			if strings.ContainsAny(text, "{[") {
				s.notes.add("env."+m.key, "must be a string and is ignored")
				continue
			}
		}
		if why := BlockedVariable(m.key); why != "" {
			s.notes.important("env."+m.key, "is ignored: %s", why)
			continue
		}
		s.out.child("env").put(m.key, text)
	}
}

// hooks keeps the command hooks. lathe.json has the same format.
func (s *settings) hooks(value json.RawMessage) {
	events, err := members(value)
	if err != nil {
		s.notes.important("hooks", "must be an object and is ignored")
		return
	}
	for _, e := range events {
		key := "hooks." + e.key
		if !slices.Contains(hookEvents, e.key) {
			s.notes.important(key, noCounterpart)
			continue
		}
		var groups []map[string]json.RawMessage
		if json.Unmarshal(e.value, &groups) != nil {
			s.notes.important(key, "must be a list of objects and is ignored")
			continue
		}
		for _, g := range groups {
			if kept := s.hookGroup(key, g); kept != nil {
				list, _ := s.out.child("hooks").values[e.key].([]any)
				s.out.child("hooks").put(e.key, append(list, kept))
			}
		}
	}
}

// hookGroup keeps the hooks of one matcher that lathe can run; nil means none.
func (s *settings) hookGroup(key string, group map[string]json.RawMessage) any {
	var handlers []map[string]json.RawMessage
	if json.Unmarshal(group["hooks"], &handlers) != nil {
		s.notes.important(key, `a group has no list of "hooks" and is ignored`)
		return nil
	}
	out := &object{}
	if matcher, ok := group["matcher"]; ok {
		text, ok := decode[string](&s.notes, key+".matcher", matcher)
		if !ok {
			return nil
		}
		out.put("matcher", text)
	}
	var kept []any
	for _, h := range handlers {
		if one := s.hookHandler(key, h); one != nil {
			kept = append(kept, one)
		}
	}
	if kept == nil {
		return nil
	}
	out.put("hooks", kept)
	return out
}

// hookHandler keeps one hook; nil means that lathe cannot run it.
func (s *settings) hookHandler(key string, h map[string]json.RawMessage) any {
	kind := "command"
	if t, ok := h["type"]; ok {
		kind, _ = decode[string](&s.notes, key+".type", t)
	}
	if kind != "command" {
		s.notes.important(key, "a hook of type %q %s", kind, noCounterpart)
		return nil
	}
	command, ok := decode[string](&s.notes, key+".command", h["command"])
	if !ok || command == "" {
		return nil
	}
	out := &object{}
	out.put("type", "command")
	out.put("command", command)
	for _, name := range slices.Sorted(maps.Keys(h)) {
		switch name {
		case "type", "command", "statusMessage", "once":
		case "timeout":
			if seconds, ok := decode[float64](&s.notes, key+".timeout", h[name]); ok && seconds > 0 {
				out.put(name, seconds)
			}
		case "args":
			if args, ok := decode[[]string](&s.notes, key+".args", h[name]); ok {
				out.put(name, args)
			}
		default:
			s.notes.add(key+"."+name, "has no effect in lathe: the hook runs without it")
		}
	}
	return out
}

// complete makes a path absolute.
func (p Place) complete(name string) (string, bool) {
	base, rest, _, ok := rule{specifier: name, place: p}.base()
	switch {
	case strings.HasPrefix(name, "/"): // a folder is not a pattern
		return name, true
	case !ok || base == "":
		return "", false
	}
	return joinPath(base, rest), true
}
