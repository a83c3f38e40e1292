// Package settings translates the config of Codex, crush and Gemini CLI into the format of lathe's config.
//
// It is pure: it gets texts and returns documents, which say what each setting becomes and which have no
// counterpart. The command that imports them decides where they go. It never returns an API key or a login; a
// reference to an environment variable becomes {env:NAME}. The settings of Claude Code are in config/claudecode, and
// OpenCode's need no translation.
//
// Start reading at [Document]; codex.go shows one program.
package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/tailscale/hujson"

	"github.com/lathe-agent/lathe"
)

// Document is a part of lathe's config and the settings that have no counterpart.
type Document struct {
	Config map[string]any
	Notes  []Note
}

// Note says why a setting was left out.
type Note struct {
	Key     string `json:"key"` // as a path with dots, in the other program's words
	Message string `json:"message"`
}

// builder collects a document.
type builder struct{ doc Document }

// newBuilder returns an empty document.
func newBuilder() *builder { return &builder{Document{Config: map[string]any{}}} }

// note says why a setting is left out.
func (b *builder) note(key, format string, args ...any) {
	b.doc.Notes = append(b.doc.Notes, Note{key, fmt.Sprintf(format, args...)})
}

// noCounterpart is the note of a setting that lathe has nothing for.
const noCounterpart = "has no counterpart in lathe"

// put sets a value below keys, and makes the objects on the way.
func (b *builder) put(value any, keys ...string) {
	at := b.doc.Config
	for _, k := range keys[:len(keys)-1] {
		next, ok := at[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[k] = next
		}
		at = next
	}
	at[keys[len(keys)-1]] = value
}

// fields reads an object of settings with comments and commas at the end.
func fields(text []byte) (map[string]any, error) {
	plain, err := hujson.Standardize(text)
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "not JSON: %w", err)
	}
	var out map[string]any
	if err := json.Unmarshal(plain, &out); err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "not an object of settings: %w", err)
	}
	return out, nil
}

// text reads a text. As in the functions below, a member of another type counts as missing: files of other
// programs have every mistake.
func text(in map[string]any, key string) string {
	s, _ := in[key].(string)
	return s
}

// table reads an object.
func table(in map[string]any, key string) map[string]any {
	t, _ := in[key].(map[string]any)
	return t
}

// list reads the texts of a list.
func list(in map[string]any, key string) (out []string) {
	items, _ := in[key].([]any)
	for _, item := range items {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// texts reads an object of texts, such as an environment, with references to variables in lathe's form.
func texts(in map[string]any, key string) map[string]string {
	out := map[string]string{}
	for k, v := range table(in, key) {
		switch v := v.(type) {
		case string:
			out[k] = references(v)
		case bool, float64, int64:
			out[k] = fmt.Sprint(v)
		}
	}
	return out
}

// references turns $NAME and ${NAME} into lathe's {env:NAME}, so that secrets stay where they are.
func references(s string) string {
	return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)`).ReplaceAllString(s, "{env:$1$2}")
}

// server translates an MCP server. The programs have the same members with few other names.
func (b *builder) server(key, name string, in map[string]any) {
	command, args := text(in, "command"), list(in, "args")
	url := text(in, "url")
	for _, other := range []string{"httpUrl", "http_url"} {
		if u := text(in, other); u != "" {
			url = u
		}
	}
	out := map[string]any{}
	switch {
	case strings.Contains(command+url, "$("):
		b.note(key, "was left out, because a command finds one of its values; set it with lathe mcp add")
		return
	case command != "":
		out["type"], out["command"] = "local", append([]string{references(command)}, args...)
		if env := texts(in, "env"); len(env) > 0 {
			out["environment"] = env
		}
		if cwd := text(in, "cwd"); cwd != "" {
			out["cwd"] = cwd
		}
	case url != "":
		out["type"], out["url"] = "remote", references(url)
		if headers := b.headers(in); len(headers) > 0 {
			out["headers"] = headers
		}
	default:
		b.note(key, "names neither a command nor an address and was left out")
		return
	}
	if in["disabled"] == true || in["enabled"] == false {
		out["enabled"] = false
	}
	b.put(out, "mcp", name)
}

// headers are those of a remote server, with the token that Codex reads from a variable.
func (b *builder) headers(in map[string]any) map[string]string {
	headers := texts(in, "headers")
	maps.Copy(headers, texts(in, "http_headers"))
	for k, v := range texts(in, "env_http_headers") {
		headers[k] = "{env:" + v + "}"
	}
	if name := text(in, "bearer_token_env_var"); name != "" {
		headers["Authorization"] = "Bearer {env:" + name + "}"
	}
	return headers
}

// servers translates all MCP servers of an object.
func (b *builder) servers(key string, in map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		one, ok := in[name].(map[string]any)
		if !ok {
			b.note(key+"."+name, "is not an object and was left out")
			continue
		}
		b.server(key+"."+name, name, one)
	}
}

// permissions are the permissions of lathe by the other programs' names of tools.
func permissions() map[string]string {
	return map[string]string{
		"run_shell_command": "bash", "shell": "bash", "ShellTool": "bash", "bash": "bash",
		"read_file": "read", "read_many_files": "read", "view": "read", "ReadFileTool": "read",
		"write_file": "edit", "replace": "edit", "edit": "edit", "multiedit": "edit", "write": "edit", "EditTool": "edit", "WriteFileTool": "edit",
		"list_directory": "list", "ls": "list", "glob": "glob", "grep": "grep", "search_file_content": "grep", "grep_search": "grep",
		"web_fetch": "webfetch", "fetch": "webfetch", "google_web_search": "websearch", "agent": "task", "write_todos": "todowrite", "todos": "todowrite",
	}
}

// rules translates names of tools, as run_shell_command(git status), into rules with one action.
func (b *builder) rules(key, action string, tools []string) {
	for _, item := range tools {
		name, rest, limited := strings.Cut(strings.TrimSpace(item), "(")
		name, _, _ = strings.Cut(name, ":") // crush: tool:action
		permission, ok := permissions()[name]
		switch {
		case !ok && strings.HasPrefix(name, "mcp_"):
			permission = strings.TrimPrefix(name, "mcp_")
		case !ok:
			b.note(key+" "+item, noCounterpart)
			continue
		}
		if limited && permission == "bash" {
			b.put(action, "permission", permission, strings.TrimSuffix(rest, ")")+"*")
			continue
		}
		if _, finer := table(b.doc.Config, "permission")[permission].(map[string]any); finer {
			b.put(action, "permission", permission, "*")
			continue
		}
		b.put(action, "permission", permission)
	}
}

// rest notes the settings that were not looked at, except those that concern only the other program.
func (b *builder) rest(in map[string]any, handled []string, own []string) {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if !slices.Contains(handled, key) && !slices.Contains(own, key) {
			b.note(key, noCounterpart)
		}
	}
}

// Frontmatter splits a Markdown file into its head, as a JSON object, and its body. A file without a head has {}.
func Frontmatter(src []byte) (head json.RawMessage, body string, err error) {
	body = strings.ReplaceAll(string(src), "\r\n", "\n")
	head = json.RawMessage(`{}`)
	rest, ok := strings.CutPrefix(body, "---\n")
	if !ok {
		return head, body, nil
	}
	block, after, ok := strings.Cut(rest, "\n---")
	if !ok {
		return head, body, nil
	}
	if len(block) > 64<<10 || strings.Contains(block, "&") && strings.Contains(block, "*") { // anchors can grow without limit
		return nil, "", lathe.Errorf(lathe.Invalid, "its frontmatter is too long or has anchors")
	}
	data, err := yaml.YAMLToJSON([]byte(block))
	if err != nil || !strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		return nil, "", lathe.Errorf(lathe.Invalid, "its frontmatter is not an object of settings")
	}
	return data, strings.TrimPrefix(after, "\n"), nil
}
