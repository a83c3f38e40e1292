package claudecode

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Place is where a settings file counts. Paths are absolute and without links. The user's own file counts in every project:
// it has only a Home.
type Place struct {
	Dir  string // the folder that holds .claude
	Root string // the top of the checkout; "/" without one. Patterns of lathe's rules begin there
	Home string // the user's folder; "" means unknown
}

// rule is a permission rule of Claude Code, as Tool or Tool(specifier).
type rule struct {
	text, tool, specifier string
	action                string // allow, ask or deny
	place                 Place
}

// actions in the order of increasing weight. In Claude Code a deny counts before an ask and an ask
// before an allow, wherever they stand; in lathe the last rule that matches does.
var actions = []string{"allow", "ask", "deny"}

// parseRule reads a rule. A specifier that matches everything is none, since lathe has a rule for the whole tool.
func parseRule(text, action string, at Place) rule {
	r := rule{text: text, tool: text, action: action, place: at}
	if name, rest, ok := strings.Cut(text, "("); ok && strings.HasSuffix(rest, ")") {
		r.tool, r.specifier = strings.TrimSpace(name), strings.TrimSuffix(rest, ")")
	}
	if r.specifier == "*" || r.specifier == "**" {
		r.specifier = ""
	}
	return r
}

// widens reports whether a wider rule than the one that was written only makes lathe stricter.
func (r rule) widens() bool { return r.action != "allow" }

// translate puts a rule into lathe's permissions.
func (r rule) translate(to *object, n *notes) {
	key := "permissions." + r.action
	switch {
	case r.tool == "*" && r.action == "deny":
		to.child("*").put("*", "deny")
		return
	case strings.ContainsAny(r.tool, "*?") && !strings.HasPrefix(r.tool, "mcp__"):
		n.important(key, "%s %s: write a rule for each tool", r.text, noCounterpart)
		return
	}
	tools := LatheTools(r.tool)
	if len(tools) == 0 {
		if r.action == "deny" && strings.HasPrefix(r.tool, "mcp__") {
			n.important(key, "%s %s: write a rule for each server", r.text, noCounterpart)
			return
		}
		n.add(key, "%s %s", r.text, noCounterpart)
		return
	}
	var done []string
	for _, name := range tools {
		if permission := permissionOf(name); !slices.Contains(done, permission) {
			done = append(done, permission)
			r.translateTool(permission, to, n)
		}
	}
}

// translateTool puts the rule into the permission of one tool.
func (r rule) translateTool(permission string, to *object, n *notes) {
	add := func(permission, pattern string) { to.child(permission).put(pattern, r.action) }
	if r.specifier == "" {
		add(permission, "*")
		return
	}
	switch permission {
	case "bash":
		for _, pattern := range r.commands() {
			add(permission, pattern)
		}
	case "read", "edit":
		r.paths(permission, add, n)
	case "webfetch":
		r.domain(add, n)
	case "task", "skill":
		add(permission, strings.TrimSuffix(r.specifier, ":*"))
	default:
		if r.widens() {
			add(permission, "*")
			n.add("permissions."+r.action, "%s counts for every use of the tool: lathe has no patterns for it", r.text)
			return
		}
		n.add("permissions."+r.action, "%s is ignored: lathe has no patterns for this tool", r.text)
	}
}

// commands are the patterns of a rule for commands. A rule with :* means a prefix. To allow, it must end
// where a word ends; to deny or ask, it need not.
func (r rule) commands() []string {
	prefix, ok := strings.CutSuffix(r.specifier, ":*")
	switch {
	case !ok:
		return []string{r.specifier}
	case prefix == "":
		return []string{"*"}
	case r.widens():
		return []string{prefix + "*"}
	default:
		return []string{prefix + " *"}
	}
}

// domain translates WebFetch(domain:host).
func (r rule) domain(add func(permission, pattern string), n *notes) {
	host, ok := strings.CutPrefix(r.specifier, "domain:")
	host = strings.ToLower(strings.TrimSpace(host))
	if !ok || host == "" || strings.ContainsAny(host, "/?#@ ") || !r.widens() && strings.Contains(host, "*") {
		n.important("permissions."+r.action, "%s %s: write WebFetch(domain:HOST)", r.text, noCounterpart)
		return
	}
	for _, scheme := range []string{"https://", "http://"} {
		add("webfetch", scheme+host)
		add("webfetch", scheme+host+"/*")
		if r.widens() {
			add("webfetch", scheme+host+":*")
		}
	}
}

// paths translates a pattern of files, which has the form of a line in .gitignore: //x is absolute, ~/x is
// in the user's folder, /x is in the folder of the settings, x/y is in the current one, and x is
// anywhere below it.
func (r rule) paths(permission string, add func(permission, pattern string), n *notes) {
	key := "permissions." + r.action
	base, pattern, anywhere, ok := r.base()
	if !ok {
		n.important(key, "%s %s: lathe does not know the folder", r.text, noCounterpart)
		return
	}
	body, exact := starsOf(pattern)
	if strings.HasPrefix(pattern, "!") || !exact && !r.widens() {
		n.add(key, "%s is ignored: lathe cannot express this pattern as narrowly", r.text)
		return
	}
	full := path.Join(filepath.ToSlash(base), body)
	if rel, inside := r.place.inside(full); inside {
		add(permission, rel)
		if anywhere || r.place.Root == "" && r.widens() { // a project without a checkout has longer paths
			within, _ := relative(r.place.Root, filepath.ToSlash(base))
			add(permission, path.Join(within, "*", body))
		}
		if !strings.HasSuffix(rel, "*") && r.widens() {
			add(permission, rel+"/*") // a folder means all in it
		}
		return
	}
	folder, isFolder := strings.CutSuffix(full, "/*")
	switch {
	case isFolder:
		add("external_directory", folder+"/*")
	case r.widens() && r.place.Root == "": // however deep the project is
		add(permission, "*"+strings.TrimPrefix(full, "/"))
	case r.widens():
		add(permission, outward(r.place.Root, full))
	default:
		n.add(key, "%s is ignored: outside the project lathe allows folders, as %s(%s/**)", r.text, r.tool, path.Dir(r.specifier))
	}
}

// base splits a pattern into the folder it counts from and the rest. anywhere says that the rest may
// lie deeper.
func (r rule) base() (dir, rest string, anywhere, ok bool) {
	s := r.specifier
	switch {
	case strings.HasPrefix(s, "//"):
		return "/", strings.TrimLeft(s, "/"), false, true
	case s == "~" || strings.HasPrefix(s, "~/"):
		return r.place.Home, strings.TrimPrefix(s[1:], "/"), false, r.place.Home != ""
	case strings.HasPrefix(s, "/"):
		return r.place.Dir, s[1:], false, true
	case strings.HasPrefix(s, "./"):
		return r.place.Dir, s[2:], false, true
	case strings.HasPrefix(s, "**/"):
		return r.place.Dir, strings.TrimPrefix(s, "**/"), true, true
	default:
		return r.place.Dir, s, !strings.Contains(strings.TrimSuffix(s, "/"), "/"), true
	}
}

// starsOf writes a pattern with lathe's wildcards, of which * crosses folders. isExact says that
// it matches the same files.
func starsOf(pattern string) (out string, isExact bool) {
	const special = "*?[{\\"
	body := strings.TrimSuffix(pattern, "/**")
	if body == "**" {
		body = ""
	}
	tail := ""
	if body != pattern {
		tail = "*"
	} else if rest, ok := strings.CutSuffix(body, "/*"); ok {
		body, tail = rest, "*"
	} else if strings.HasSuffix(body, "/") {
		body, tail = strings.TrimSuffix(body, "/"), "*"
	}
	// **/* crosses folders as lathe's star does, and so does a star at the beginning of a name.
	deep := strings.ReplaceAll(body, "**/*", "")
	exact := !strings.ContainsAny(deep, special) || strings.HasPrefix(deep, "*") && !strings.ContainsAny(deep[1:], special+"/")
	var b strings.Builder
	inClass := false
	for _, c := range strings.ReplaceAll(strings.ReplaceAll(body, "**/", "*"), "**", "*") {
		switch {
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
			b.WriteByte('?')
		default:
			b.WriteRune(c)
		}
	}
	return path.Join(b.String(), tail), exact
}

// relative is a path from the top of the checkout, as lathe's rules have it. inside says that it lies there.
func relative(root, full string) (rel string, inside bool) {
	root = strings.TrimSuffix(filepath.ToSlash(root), "/")
	if full == root || full == "/" && root == "" {
		return "", true
	}
	return strings.CutPrefix(full, root+"/")
}

// inside is the path of a file in the project as lathe's rules have it. Without a checkout the project is the folder
// that holds .claude, and paths still begin at the root of the disk.
func (p Place) inside(full string) (rel string, ok bool) {
	if p.Root == "" {
		return full, !path.IsAbs(full) && !strings.HasPrefix(full, "../")
	}
	if _, below := relative(p.Dir, full); !below && filepath.Dir(p.Root) == p.Root {
		return "", false
	}
	return relative(p.Root, full)
}

// outward is the path of a file outside the checkout from its top.
func outward(root, full string) string {
	rel, err := filepath.Rel(root, filepath.FromSlash(full))
	if err != nil {
		return full
	}
	return filepath.ToSlash(rel)
}
