package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/model/catalog"
)

// What the documents tell users to type is held here against the program: commands with their flags,
// settings, variables. Links, files and make targets are held by arch_test.go at the top.

// fence is a block of code in a document.
type fence struct {
	where string // file and line
	lang  string
	lines []string
}

// codeSpan is a piece of code in a sentence.
type codeSpan struct{ where, text string }

// documents reads the pages for users.
func documents(t *testing.T) (fences []fence, spans []codeSpan) {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(names) < 10 {
		t.Fatalf("only %d documents: %v", len(names), err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	for _, name := range append(names, "../../README.md") {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		open := false
		for i, line := range strings.Split(string(src), "\n") {
			where := fmt.Sprintf("%s:%d", strings.TrimPrefix(name, "../../"), i+1)
			lang, mark := strings.CutPrefix(strings.TrimSpace(line), "```")
			switch {
			case mark && !open:
				fences = append(fences, fence{where: where, lang: lang})
				open = true
			case mark:
				open = false
			case open:
				last := &fences[len(fences)-1]
				last.lines = append(last.lines, line)
			default:
				for _, m := range code.FindAllStringSubmatch(line, -1) {
					spans = append(spans, codeSpan{where, m[1]})
				}
			}
		}
	}
	return fences, spans
}

// commands are the command lines of a block. Where there is a prompt, the other lines are output; in a
// file that is no script, whatever begins with our name after a space or a slash and is no comment.
func (f fence) commands() (out []string) {
	prompt := slices.ContainsFunc(f.lines, func(l string) bool { return strings.HasPrefix(l, "$ ") })
	ours := regexp.MustCompile(`(?:^|[\s/])(lathe [a-z-].*)$`)
	for i, line := range f.lines {
		if i > 0 && strings.HasSuffix(f.lines[i-1], `\`) && len(out) > 0 {
			out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], `\`) + line
			continue
		}
		switch {
		case prompt:
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				out = append(out, command)
			}
		case f.lang == "sh":
			out = append(out, line)
		case slices.Contains([]string{"yaml", "ini", "dockerfile"}, f.lang) && !strings.HasPrefix(strings.TrimSpace(line), "#"):
			if m := ours.FindStringSubmatch(line); m != nil {
				out = append(out, m[1])
			}
		}
	}
	return out
}

func TestDocs_Commands(t *testing.T) {
	fences, spans := documents(t)
	checked := 0
	check := func(where, line string, named bool) {
		if !strings.Contains(line, "lathe") {
			return
		}
		calls, err := ourCalls(line)
		if err != nil {
			t.Errorf("%s: %s: %v", where, line, err)
		}
		for _, args := range calls {
			checked++
			if err := tryCommand(args, named); err != nil {
				t.Errorf("%s: %s: %v", where, line, err)
			}
		}
	}
	for _, f := range fences {
		for _, c := range f.commands() {
			check(f.where, c, false)
		}
	}
	for _, s := range spans {
		if strings.HasPrefix(s.text, "lathe ") && !strings.HasPrefix(s.text, "lathe COMMAND") {
			check(s.where, s.text, true)
		}
	}
	if checked < 100 {
		t.Errorf("only %d commands were found: this test has lost its way", checked)
	}
}

// The examples of --help are commands, too.
func TestDocs_Examples(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			command, _, _ := strings.Cut(strings.TrimSpace(line), "   ") // what follows says what it does
			calls, err := ourCalls(command)
			if err != nil {
				t.Errorf("%s: %s: %v", c.CommandPath(), command, err)
			}
			for _, args := range calls {
				if err := tryCommand(args, false); err != nil {
					t.Errorf("%s: %s: %v", c.CommandPath(), command, err)
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(newApp()))
}

// ourCalls are the arguments of each call of lathe in a line of shell.
func ourCalls(line string) (calls [][]string, err error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, err
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 1 && wordText(call.Args[0].Parts) == "lathe" {
			var args []string
			for _, w := range call.Args[1:] {
				args = append(args, wordText(w.Parts))
			}
			calls = append(calls, args)
		}
		return true
	})
	return calls, nil
}

// wordText is a word as the program gets it; what only a shell knows is a letter.
func wordText(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(wordText(p.Parts))
		default:
			b.WriteByte('x')
		}
	}
	return b.String()
}

// tryCommand reads a command line as the program would and runs nothing. One that is only named in a
// sentence may lack what it needs.
func tryCommand(args []string, named bool) error {
	c, rest, err := newRoot(newApp()).Find(args)
	if err != nil {
		return err
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	rest = c.Flags().Args()
	word := regexp.MustCompile(`^[a-z][a-z-]*$`) // what may be a command that was mistyped
	if c.HasSubCommands() && !strings.Contains(c.Use, " ") && len(rest) > 0 && word.MatchString(rest[0]) {
		return cli.UnknownCommand(c, rest[0])
	}
	if named && len(rest) == 0 {
		return nil
	}
	return c.ValidateArgs(rest)
}

func TestDocs_TryCommand(t *testing.T) {
	for line, right := range map[string]bool{
		`lathe run -c "And now"`: true, `FOO=1 lathe session list -n 10 | head`: true, `lathe mcp add x -- npx -y z`: true,
		`lathe sesion list`: false, `lathe session lst`: false, `lathe run --nonesuch`: false, `echo "$(lathe version x)"`: false,
	} {
		calls, err := ourCalls(line)
		if err != nil || len(calls) != 1 {
			t.Fatalf("%s: %v, %v", line, calls, err)
		}
		if err := tryCommand(calls[0], false); (err == nil) != right {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Settings in blocks marked jsonc, and in sentences where they begin with a key of ours, are accepted
// without a word.
func TestDocs_Settings(t *testing.T) {
	fences, spans := documents(t)
	checked := 0
	check := func(where, name, text string) {
		checked++
		for _, problem := range settingsProblems(t, name, text) {
			t.Errorf("%s: %s\n%s", where, problem, text)
		}
	}
	for _, f := range fences {
		if f.lang == "jsonc" {
			name := "lathe.jsonc"
			if strings.Contains(f.lines[0], "tui.json") {
				name = "tui.json"
			}
			check(f.where, name, strings.Join(f.lines, "\n"))
		}
	}
	known := settingsSchema(t).Properties
	begins := regexp.MustCompile(`^\{?"([a-z_]+)": ?.`)
	for _, s := range spans {
		if m := begins.FindStringSubmatch(s.text); m != nil && known[m[1]] != nil && !strings.Contains(s.text, "…") {
			text := s.text
			if !strings.HasPrefix(text, "{") {
				text = "{" + text + "}"
			}
			check(s.where, "lathe.jsonc", text)
		}
	}
	if checked < 15 {
		t.Errorf("only %d settings were found: this test has lost its way", checked)
	}
}

// settingKeys are the keys of a schema.
type settingKeys struct {
	Properties map[string]*settingKeys `json:"properties"`
}

// settingsSchema reads what `lathe config schema` prints.
func settingsSchema(t *testing.T) (out settingKeys) {
	t.Helper()
	if err := json.Unmarshal(config.Schema(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// settingsProblems loads settings as the user's own and returns what is said about them.
func settingsProblems(t *testing.T, name, text string) (out []string) {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, ".config", "lathe", name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Options{Directory: home, Home: home, UserDir: filepath.Join(home, ".config"), Managed: []string{home + "/none"}})
	if err != nil {
		return []string{err.Error()}
	}
	for _, w := range l.Warnings {
		out = append(out, w.Message)
	}
	return out
}

// Models that are named as examples are in the catalog: a copied example works.
func TestDocs_Models(t *testing.T) {
	fences, spans := documents(t)
	ref := regexp.MustCompile(`\b(?:anthropic|openai)/[a-z][a-z0-9.-]*[a-z0-9]`)
	all := catalog.New(catalog.Filter{})
	checked := 0
	check := func(where, text string) {
		for _, name := range ref.FindAllString(text, -1) {
			checked++
			if _, err := all.Find(name); err != nil {
				t.Errorf("%s: %v", where, err)
			}
		}
	}
	for _, f := range fences {
		if f.lang != "" {
			check(f.where, strings.Join(f.lines, "\n"))
		}
	}
	for _, s := range spans {
		check(s.where, s.text)
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		check(c.CommandPath(), c.Example)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(newApp()))
	if checked < 5 {
		t.Errorf("only %d models were found: this test has lost its way", checked)
	}
}

// Every variable that lathe reads is documented, and no other.
func TestDocs_Variables(t *testing.T) {
	page, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	both := regexp.MustCompile(`\.(?:[vV]ariables?|[iI]sOn|on|[iI]sEnvTrue)\("([A-Z_]+)"\)`)
	alone := regexp.MustCompile(`[eE]nv\("(LATHE_[A-Z_]+)"\)`)
	for _, dir := range []string{"../../config", "../../harness", "../../cli", "."} {
		err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			src, err := os.ReadFile(name)
			for _, m := range both.FindAllStringSubmatch(string(src), -1) {
				read["LATHE_"+m[1]] = true
			}
			for _, m := range alone.FindAllStringSubmatch(string(src), -1) {
				read[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	received := map[string]bool{}
	for _, name := range regexp.MustCompile("`LATHE_[A-Z_]*[A-Z]`").FindAllString(string(page), -1) {
		received[strings.Trim(name, "`")] = true
	}
	for name := range read {
		if !received[name] {
			t.Errorf("docs/settings.md does not document %s", name)
		}
	}
	for name := range received {
		if !read[name] {
			t.Errorf("docs/settings.md documents %s, which nothing reads", name)
		}
	}
	_, known, _ := strings.Cut(string(page), "lathe accepts and ignores these variables of OpenCode:")
	known, _, _ = strings.Cut(known, "\n\n")
	names := regexp.MustCompile("`OPENCODE_([A-Z_]*[A-Z])`").FindAllStringSubmatch(known, -1)
	if len(names) < 5 {
		t.Error("docs/settings.md does not list the ignored variables")
	}
	for _, m := range names {
		if m[1] != "DB" && read["LATHE_"+m[1]] {
			t.Errorf("docs/settings.md says that %s has no effect, and it is read", m[0])
		}
	}
}

// The index leads to every page.
func TestDocs_Index(t *testing.T) {
	index, err := os.ReadFile("../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if base := filepath.Base(name); base != "README.md" && !strings.Contains(string(index), "]("+base+")") {
			t.Errorf("docs/README.md does not lead to %s", base)
		}
	}
}

// Agents, commands and skills that are shown as files load without a word. Which of them one is, its head
// says: a skill has a name, a command names arguments, the rest are agents.
func TestDocs_Heads(t *testing.T) {
	fences, _ := documents(t)
	checked := 0
	for _, f := range fences {
		if f.lang != "markdown" {
			continue
		}
		checked++
		text := strings.Join(f.lines, "\n")
		name := "agents/x.md"
		switch {
		case strings.Contains(text, "\nname: "):
			name = "skills/x/SKILL.md"
		case strings.Contains(text, "$1"):
			name = "commands/x.md"
		}
		for _, problem := range settingsProblems(t, name, text) {
			t.Errorf("%s: %s", f.where, problem)
		}
	}
	if checked < 3 {
		t.Errorf("only %d files were found: this test has lost its way", checked)
	}
}

// Pictures that pages show are there.
func TestDocs_Pictures(t *testing.T) {
	src, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`<img src="([^"]+)"`).FindAllStringSubmatch(string(src), -1)
	if len(shown) == 0 {
		t.Error("README.md shows no picture")
	}
	for _, m := range shown {
		picture, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(m[1])))
		if err != nil || !strings.HasPrefix(string(picture), "<svg ") {
			t.Errorf("%s: %v; `make pictures` draws it", m[1], err)
		}
	}
}
