package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	yaml "github.com/goccy/go-yaml/parser"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/tailscale/hujson"
)

// SyntaxChecker looks whether what was written can be parsed. Go, JSON, YAML and TOML are read here;
// shell scripts, JavaScript and Python by bash, node and python where they are installed,
// without the settings of the project.
type SyntaxChecker struct {
	Env   []string      // where programs are found
	Limit time.Duration // for all of it; 0 is 300 ms

	avoid []string // folders whose programs are not started
}

const (
	syntaxLimit = 300 * time.Millisecond
	syntaxBytes = 1 << 20 // larger files are not looked at
	// syntaxCheck is the name of the check in metadata, as the engine counts it.
	syntaxCheck = "syntax"
)

// parse returns the syntax error of a text, "" if it has none or the syntax is unknown.
type parse func(ctx context.Context, file, text string) string

// of is how a file is parsed; nil where it is not. What lies among data of tests may be broken
// on purpose.
func (s *SyntaxChecker) of(file, text string) parse {
	if strings.TrimSpace(text) == "" || len(text) > syntaxBytes || slices.Contains(strings.Split(filepath.ToSlash(file), "/"), "testdata") {
		return nil
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".go":
		return parseGo
	case ".json":
		return parseJSON
	case ".yaml", ".yml":
		return parseYAML
	case ".toml":
		return parseTOML
	case ".sh", ".bash":
		if first, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "#!") && !strings.Contains(first, "sh") || strings.Contains(first, "zsh") || strings.Contains(first, "fish") {
			return nil
		}
		return s.parseShell
	case ".js", ".mjs", ".cjs":
		return s.parseScript
	case ".py":
		return s.parsePython
	}
	return nil
}

// look is one line about a file that was written and cannot be parsed, "" if it can.
func (s *SyntaxChecker) look(ctx context.Context, c *tool.Call, t target.Target, before, after string) string {
	if s == nil {
		return ""
	}
	here := *s
	here.avoid = []string{c.Dir, c.Root}
	parse := here.of(t.Path, after)
	if parse == nil {
		return ""
	}
	limit := s.Limit
	if limit <= 0 {
		limit = syntaxLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	wrong := parse(ctx, t.Path, after)
	if wrong == "" {
		return ""
	}
	line := fmt.Sprintf("Syntax error in %s: %s.", t.Title, strings.TrimRight(phrase.Clip(wrong), ". "))
	switch {
	case strings.TrimSpace(before) == "":
		return line + " Repair it now."
	case parse(ctx, t.Path, before) != "":
		return line + " It could not be parsed before this change either."
	default:
		return line + " It could be parsed before this change: repair it now."
	}
}

// withSyntax adds lines about what cannot be parsed to a result.
func withSyntax(r tool.Result, lines ...string) tool.Result {
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	if len(lines) == 0 {
		return r
	}
	r.Output = strings.TrimRight(r.Output, "\n") + "\n" + strings.Join(lines, "\n")
	meta := map[string]json.RawMessage{}
	if len(r.Metadata) > 0 && json.Unmarshal(r.Metadata, &meta) != nil {
		return r
	}
	ours := map[string]json.RawMessage{}
	if len(meta["lathe"]) > 0 && json.Unmarshal(meta["lathe"], &ours) != nil {
		return r
	}
	ours["checks"] = json.RawMessage(`["` + syntaxCheck + `"]`)
	meta["lathe"], _ = json.Marshal(ours) // it was JSON
	if out, err := json.Marshal(meta); err == nil {
		r.Metadata = out
	}
	return r
}

func parseGo(_ context.Context, file, text string) string {
	_, err := parser.ParseFile(token.NewFileSet(), filepath.Base(file), text, parser.SkipObjectResolution)
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return fmt.Sprintf("line %d: %s%s", list[0].Pos.Line, list[0].Msg, more(len(list)-1))
	}
	return ""
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// parseTOML reads a file of settings as most package managers have them.
func parseTOML(_ context.Context, _, text string) string {
	var v map[string]any
	_, err := toml.Decode(strings.TrimPrefix(text, phrase.BOM), &v)
	var wrong toml.ParseError
	if errors.As(err, &wrong) {
		return fmt.Sprintf("line %d: %s", wrong.Position.Line, wrong.Message)
	}
	return ""
}

func parseJSON(_ context.Context, file, text string) string {
	text = strings.TrimPrefix(text, phrase.BOM)
	var v any
	err := json.Unmarshal([]byte(text), &v)
	if err == nil {
		return ""
	}
	if _, lenient := hujson.Parse([]byte(text)); lenient == nil && hasComments(file) {
		return ""
	}
	if at := (*json.SyntaxError)(nil); errors.As(err, &at) {
		return fmt.Sprintf("line %d: %s", 1+strings.Count(text[:min(int(at.Offset), len(text))], "\n"), at.Error())
	}
	return ""
}

// hasComments reports whether a JSON file is of a kind that may hold comments.
func hasComments(file string) bool {
	base := filepath.Base(file)
	for _, name := range []string{"tsconfig", "jsconfig", ".eslintrc", "devcontainer", "opencode", "lathe", "deno", "api-extractor", "turbo", "wrangler", "babel.config", ".babelrc", ".swcrc"} {
		if strings.HasPrefix(base, name) {
			return true
		}
	}
	dir := filepath.Base(filepath.Dir(file))
	return dir == ".vscode" || dir == ".zed" || dir == ".devcontainer"
}

// parseYAML leaves alone what is a template of YAML.
func parseYAML(_ context.Context, _, text string) string {
	if strings.Contains(text, "{{") || strings.Contains(text, "{%") {
		return ""
	}
	_, err := yaml.ParseBytes([]byte(text), 0)
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n") // [line:column] and why
	if place, why, ok := strings.Cut(strings.TrimPrefix(first, "["), "] "); ok {
		line, _, _ := strings.Cut(place, ":")
		return "line " + line + ": " + why
	}
	return first
}

// parseShell asks bash, which runs nothing of it.
func (s *SyntaxChecker) parseShell(ctx context.Context, _, text string) string {
	said, ok := s.ask(ctx, text, "bash", "--norc", "--noprofile", "-n", "FILE")
	if ok {
		return ""
	}
	for line := range strings.Lines(said) {
		if _, after, found := strings.Cut(line, ": line "); found {
			return "line " + strings.TrimSpace(after)
		}
	}
	return ""
}

// parsePython asks Python to compile it, isolated from what the project or the user set.
func (s *SyntaxChecker) parsePython(ctx context.Context, _, text string) string {
	const program = `import sys
try: compile(sys.stdin.buffer.read(), "f", "exec", dont_inherit=True)
except SyntaxError as e: print("line %s: %s" % (e.lineno, e.msg)); sys.exit(1)`
	said, ok := s.ask(ctx, text, "python3", "-I", "-S", "-W", "ignore", "-c", program)
	if first, _, _ := strings.Cut(said, "\n"); !ok && strings.HasPrefix(first, "line ") {
		return first
	}
	return ""
}

// parseScript asks node, as a script and as a module where the name does not say which it is.
// In its own folder no settings are found.
func (s *SyntaxChecker) parseScript(ctx context.Context, file, text string) string {
	kinds := []string{"commonjs", "module"}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".mjs":
		kinds = kinds[1:]
	case ".cjs":
		kinds = kinds[:1]
	}
	wrong := ""
	for _, kind := range kinds {
		said, ok := s.ask(ctx, text, "node", "--input-type="+kind, "--check", "-")
		if ok {
			return ""
		}
		at, why := 0, ""
		for line := range strings.Lines(said) {
			if rest, found := strings.CutPrefix(line, "[stdin]:"); found && at == 0 {
				_, _ = fmt.Sscanf(rest, "%d", &at)
			}
			if found := strings.HasPrefix(line, "SyntaxError: "); found && why == "" {
				why = strings.TrimSpace(strings.TrimPrefix(line, "SyntaxError: "))
			}
		}
		if why == "" {
			return "" // it was not the text that failed
		}
		if wrong == "" || strings.Contains("\n"+text, "\nimport ") || strings.Contains("\n"+text, "\nexport ") {
			wrong = fmt.Sprintf("line %d: %s", at, why)
		}
	}
	return wrong
}
