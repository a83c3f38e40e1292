//go:build !race

package lathe_test

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/archtest"
)

// The rules of the project that a machine can hold. Each table below is meant to be read and
// edited; internal/archtest only looks. A test that fails here says what to do in its message.

// archImports is who may import whom, of our own. The same table stands in docs/architecture.md. The
// first row that fits a package counts. "x/..." is x and all below it, "x/*" only what is below, "^" the
// parent. Tests may import what they need.
var archImports = archtest.Table{
	{From: ".", May: nil},
	{From: "internal/*", May: []string{"internal/*"}},

	// It proposes and checks rules, for the engine and for front ends alike.
	{From: "grant", May: []string{"."}},
	{From: "model", May: []string{".", "internal/*"}},
	{From: "bus", May: []string{".", "internal/*"}},
	{From: "store", May: []string{".", "internal/*", "store/searchtext"}},
	{From: "store/searchtext", May: []string{".", "internal/*"}},
	{From: "sandbox", May: []string{".", "sandbox/egress", "internal/*"}},
	{From: "sandbox/egress", May: []string{"internal/*"}},
	{From: "workspace", May: []string{".", "internal/*"}},

	// It is where a line of the catalogue becomes a client, so it names the protocols and the credentials.
	{From: "model/provider", May: []string{"model", "model/anthropic", "model/auth", "model/bedrock", "model/catalog", "model/gemini", "model/openai", "model/wire", ".", "internal/*"}},
	// The protocols share what lies between their bytes and the words of model.
	{From: "model/anthropic", May: []string{"^", "model/wire", ".", "internal/*"}},
	{From: "model/bedrock", May: []string{"^", "model/wire", ".", "internal/*"}},
	{From: "model/gemini", May: []string{"^", "model/wire", ".", "internal/*"}},
	{From: "model/openai", May: []string{"^", "model/wire", ".", "internal/*"}},
	// It reads files of other tools into credentials.
	{From: "model/auth/othertool", May: []string{"model/auth", ".", "internal/*"}},
	{From: "model/*", May: []string{"^", ".", "internal/*"}},
	{From: "bus/*", May: []string{"^", ".", "internal/*"}},
	{From: "store/storetest", May: []string{"^", ".", "internal/*", "lathetest"}},
	{From: "store/*", May: []string{"^", ".", "internal/*"}},
	// It leaves out what search leaves out, by the same rules, and puts back nothing that is guarded.
	{From: "workspace/snapshot", May: []string{"workspace", "workspace/guarded", "workspace/search", ".", "internal/*"}},
	// It looks for what is guarded while it looks for repositories.
	{From: "workspace/gitguard", May: []string{"workspace", "workspace/guarded", ".", "internal/*"}},
	// It copies what git's ignore rules leave, and removes trees as the sandbox does.
	{From: "workspace/worktree", May: []string{"workspace", "workspace/search", "sandbox", ".", "internal/*"}},
	// It lists names by the rules that searches have.
	{From: "workspace/overview", May: []string{"workspace", "workspace/search", ".", "internal/*"}},
	{From: "workspace/*", May: []string{"workspace", "sandbox", ".", "internal/*"}},
	{From: "plugin", May: []string{"workspace", "sandbox", ".", "internal/*"}},

	{From: "tool", May: []string{".", "tool/args", "internal/*"}},
	// It fits texts to schemas, so that the repair of calls can be tested alone.
	{From: "tool/args", May: []string{".", "internal/*"}},
	{From: "tool/target", May: []string{".", "tool", "tool/args", "workspace/...", "internal/*"}},
	{From: "tool/web", May: []string{".", "tool", "tool/target", "internal/*"}},
	{From: "tool/bash", May: []string{".", "tool", "tool/args", "tool/shell", "tool/target", "workspace/...", "sandbox", "internal/*"}},
	{From: "tool/builtin", May: []string{".", "tool", "tool/args", "tool/bash", "tool/target", "tool/web", "workspace/...", "internal/*"}},
	// It reads texts and knows nothing of sessions, so that rules and tests of it need nothing else.
	{From: "tool/shell", May: nil},
	{From: "tool/*", May: []string{"tool", ".", "workspace/...", "sandbox", "internal/*"}},
	// The engine holds the store and the bus themselves: what differs between one machine and many lies
	// below them, in the store's driver and in what feeds the bus.
	{From: "engine", May: []string{".", "api", "engine/*", "store", "bus", "model", "tool", "tool/args", "tool/bash", "tool/builtin", "workspace/...", "plugin", "internal/*"}},
	// What a turn thinks about, without effects.
	{From: "engine/budget", May: []string{".", "engine/history", "model", "store"}},
	{From: "engine/check", May: []string{".", "engine/history", "model", "internal/*"}},
	{From: "engine/compact", May: []string{".", "engine/check", "engine/history", "model", "internal/*"}},
	{From: "engine/fold", May: []string{".", "engine/check", "engine/history", "engine/permission", "model", "tool", "workspace/snapshot", "internal/*"}},
	{From: "engine/history", May: []string{".", "model", "store", "internal/*"}},
	{From: "engine/permission", May: []string{".", "tool", "internal/*"}},
	{From: "engine/prompt", May: []string{".", "engine/history", "engine/permission", "tool", "tool/builtin", "workspace", "internal/*"}},
	{From: "engine/subagent", May: []string{".", "engine/history", "tool", "internal/*"}},
	{From: "engine/rewind", May: []string{".", "engine/check", "engine/history", "engine/undo"}},
	{From: "engine/until", May: []string{".", "engine/history", "internal/*"}},
	// It compares outputs as runs of until do.
	{From: "engine/replay", May: []string{".", "engine/history", "engine/until", "internal/*"}},
	{From: "engine/undo", May: []string{".", "engine/history", "engine/record", "store", "workspace", "workspace/snapshot"}},
	// What the engine does without a turn.
	{From: "engine/directory", May: []string{".", "store", "workspace"}},
	{From: "engine/place", May: []string{"store"}},
	{From: "engine/events", May: []string{".", "bus", "store", "internal/*"}},
	{From: "engine/record", May: []string{".", "engine/directory", "grant", "store"}},
	// It looks after work beside turns, and reads branches for the board.
	{From: "engine/background", May: []string{".", "engine/history", "engine/subagent", "store", "tool", "workspace", "workspace/git"}},
	{From: "engine/fairqueue", May: []string{".", "internal/*"}},
	{From: "engine/telemetry", May: []string{".", "engine/fairqueue", "model", "internal/*"}},
	{From: "engine/history/historytest", May: []string{".", "engine/history"}},
	// It brings together who speaks with other processes and the engine, which knows neither.
	{From: "extension", May: []string{".", "engine", "engine/prompt", "model", "plugin", "tool", "tool/mcp", "workspace", "sandbox", "internal/*"}},
	// It is what commands of the config say to a turn. Its words are another program's, which config/claudecode has.
	{From: "extension/hook", May: []string{".", "config/claudecode", "engine", "sandbox", "tool", "workspace/patch", "internal/*"}},
	// It composes the program: config becomes an engine with all that its turns work with. Only commands, and
	// programs that embed lathe, stand above it.
	{From: "harness", May: []string{".", "api", "bus/nats", "config", "config/claudecode", "config/datadir", "engine/...", "extension", "extension/hook", "harness/confine", "harness/insight", "harness/language", "harness/repeat", "harness/trees", "internal/*", "model/...", "plugin", "sandbox", "server", "store/...", "tool/...", "workspace/..."}},
	// It brings language servers and formatters to the edits of turns, which know neither.
	{From: "harness/language", May: []string{".", "engine", "tool", "tool/target", "workspace/...", "internal/*"}},
	// It makes a profile for the sandbox of config, project and machine.
	{From: "harness/confine", May: []string{".", "config", "config/datadir", "engine", "sandbox", "tool", "tool/bash", "workspace/...", "internal/*"}},
	// It gives front ends the worktrees of an engine.
	{From: "harness/trees", May: []string{".", "api", "engine", "workspace", "workspace/worktree", "internal/*"}},
	// They run commands and tools of a harness for the decisions of engine/until and engine/replay, outside of turns.
	{From: "harness/repeat", May: []string{".", "api", "engine", "engine/until", "tool/bash", "tool/shell", "workspace", "internal/*"}},
	{From: "harness/rerun", May: []string{".", "engine", "engine/history", "engine/replay", "tool", "workspace", "workspace/snapshot", "workspace/worktree", "internal/*"}},
	// It makes the projects in which the runs of an eval work.
	{From: "harness/trial", May: []string{".", "engine", "eval", "sandbox", "workspace", "workspace/search", "internal/*"}},
	// It reports on config, sessions, providers and files, for a client that asks.
	{From: "harness/insight", May: []string{".", "api", "config", "config/claudecode", "engine", "engine/*", "model", "sandbox", "tool", "tool/builtin", "usage", "usage/explain", "workspace", "internal/*"}},
	// It reads records with the engine's eyes.
	{From: "usage", May: []string{".", "engine", "engine/check", "engine/history", "model"}},
	{From: "usage/explain", May: []string{".", "api", "usage"}},
	// It reads the cases and results of evals and reports on them; commands run them.
	{From: "eval", May: []string{".", "internal/*"}},
	{From: "lathetest", May: []string{"."}},
	// They read what other programs wrote, and know neither the store nor the engine.
	{From: "transfer", May: []string{".", "internal/*"}},
	// It also names tools as Claude Code's project files do, and gets the rows of databases.
	{From: "migrate/settings", May: []string{"."}},
	{From: "migrate", May: []string{".", "config/claudecode", "store/foreign", "internal/*"}},
	// It says where files are, before any of them is read.
	{From: "config/datadir", May: []string{"."}},
	// It translates texts of another program and reads no file, so that imports can use it alone.
	{From: "config/claudecode", May: nil},
	// It says which names of tools with credentials there are.
	{From: "config", May: []string{".", "config/claudecode", "model/catalog", "workspace/secret"}},

	// It is what a server needs of an engine, for the tests of front ends.
	{From: "server/servertest", May: []string{".", "server", "engine", "model", "model/modeltest", "model/openai", "tool", "tool/tooltest", "workspace"}},
	{From: "api", May: []string{".", "grant"}},
	// Front ends know the vocabulary and the operations of package api, never the engine.
	{From: "server/...", May: []string{".", "api", "grant", "internal/*", "web", "workspace", "workspace/git", "workspace/search", "workspace/terminal", "config", "server/*"}},
	// It is the files of the app for browsers, which knows the server only by its API.
	{From: "web", May: nil},
	{From: "web/webtest", May: nil},
	// It answers permission requests, whose grants it proposes.
	{From: "acp", May: []string{".", "api", "acp/wire", "grant", "internal/*"}},
	{From: "acp/wire", May: nil},
	{From: "acp/acptest", May: nil},
	{From: "client", May: []string{".", "api", "grant", "internal/*"}},
	{From: "tui/...", May: []string{".", "api", "grant", "internal/*", "tui/*"}},

	{From: "cli/layout", May: []string{".", "internal/*"}},
	// Commands may use every part of the program; none of those knows them.
	{From: "cli/...", May: []string{"..."}},
	{From: "cmd/...", May: []string{"..."}},
	{From: "examples/*", May: []string{"..."}},
	{From: "scripts/...", May: []string{"..."}},
}

// archFences keeps what we take from outside in the packages that own it.
var archFences = []archtest.Restriction{
	{Import: "database/sql", Only: []string{"store/..."}, Why: "only the store speaks SQL"},
	{Import: "zombiezen.com/go/sqlite", Only: []string{"store/..."}, Why: "only the store speaks SQL"},
	{Import: "modernc.org/sqlite", Only: []string{"store/..."}, Why: "only the store speaks SQL"},
	{Import: "github.com/jackc/pgx", Only: []string{"store/..."}, Why: "only the store speaks SQL"},
	{Import: "github.com/nats-io", Only: []string{"bus/*", "scripts/cluster"}, Why: "only the bus knows other nodes, and only the cluster for tests runs a server for them"},
	{Import: "github.com/spf13", Only: []string{"cmd/...", "cli/..."}, Why: "only commands read flags"},
	{Import: "charm.land/catwalk", Only: []string{"model/catalog"}, Why: "its types and its mistakes stay behind our own catalogue"},
	{Import: "github.com/aws", Only: []string{"model/aws"}, Why: "only the package that signs for Amazon needs Amazon's code"},
	{Import: "github.com/modelcontextprotocol", Only: []string{"tool/mcp", "cli/mcpserver"}, Why: "what servers send is checked behind our own types"},
	{Import: "charm.land/bubbletea", Only: []string{"tui/..."}, Why: "only tui knows that a terminal exists"},
	{Import: "charm.land/bubbles", Only: []string{"tui/..."}, Why: "only tui knows that a terminal exists"},
	{Import: "charm.land/lipgloss", Only: []string{"tui/...", "cmd/..."}, Why: "no colour elsewhere"},
	{Import: "golang.org/x/crypto", Only: nil, Why: "only tests, which need a server for SSH"},
	{Import: "text/template", Only: []string{"scripts/..."}, Why: "it calls methods by name, so the linker keeps all of them"},
	{Import: "html/template", Only: []string{"scripts/..."}, Why: "it calls methods by name, so the linker keeps all of them"},
	{Import: "C", Only: nil, Why: "nowhere: one static binary, no cgo"},
}

// archOutside are the packages below internal that need a module of others: messages of DNS,
// and the interface that a packet came by, are in the standard library only for itself; WebP
// and the widths of characters are not in it.
var archOutside = map[string]string{"internal/mdns": "golang.org/x/net", "internal/picture": "golang.org/x/image", "internal/termtext": "github.com/charmbracelet/x/ansi"}

// archSuites are the suites that a program may link: the scripted model, which the demo shows
// to people and which the torture of processes needs in its own program; and a long session,
// for measuring.
var archSuites = map[string]string{"cli/debug": "model/modeltest", "cli/demo": "model/modeltest", "scripts/cluster": "model/modeltest", "scripts/tasks": "model/modeltest", "scripts/torture": "model/modeltest", "scripts/tuibench": "lathetest"}

// archLimits are the sizes at which a reader asks why.
var archLimits = archtest.Limits{FunctionLines: 60, FileLines: 500}

// archLong is today's list of exceptions: "dir/file.go" or "dir/file.go#Type.method", and the reason
// (a flat switch over a sealed type; a table; one protocol's structs). It may only become shorter: an
// entry that is no longer needed fails the test.
var archLong = map[string]string{}

func TestArch_Imports(t *testing.T) {
	tree := archTree(t)
	archReport(t, tree.Imports(archImports))
	archReport(t, tree.Suites(archSuites))
	archReport(t, tree.StandardOnly(archOutside, ".", "internal/*"))
	archReport(t, tree.Restrictions(archFences))
}

func TestArch_Sizes(t *testing.T) {
	archReport(t, archTree(t).Sizes(archLimits, archLong))
}

func TestArch_Code(t *testing.T) {
	tree := archTree(t)
	checks := map[string]func() []archtest.Problem{
		"CallsByName": func() []archtest.Problem { return tree.CallsByName("scripts") },
		"Comments":    tree.PackageComments,
		"Escapes":     func() []archtest.Problem { return tree.Escapes("tui", "scripts/tuibench", "server/qrcode") }, // one plays a terminal, one draws black on white in any
		"Environment": func() []archtest.Problem { return tree.Environment("config", "cmd") },
		"Globals":     tree.ChangedGlobals,
		"Init":        tree.Inits,
		"Participles": tree.Participles,
		"Prints":      func() []archtest.Problem { return tree.Prints("cmd", "examples", "scripts") },
		"SQL":         func() []archtest.Problem { return tree.SQL("store", "scripts/cluster") },
		"Sleeps":      tree.Sleeps,
		"Switches":    tree.IncompleteSwitches,
	}
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		t.Run(name, func(t *testing.T) { archReport(t, checks[name]()) })
	}
}

func TestDocs_Packages(t *testing.T) {
	problems, err := archTree(t).PackageTable("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	archReport(t, problems)
}

func TestDocs_Links(t *testing.T) {
	problems, err := archTree(t).Links()
	if err != nil {
		t.Fatal(err)
	}
	archReport(t, problems)
}

func TestDocs_NamedFiles(t *testing.T) {
	archReport(t, archTree(t).NamedFiles())
}

// TestDocs_Changes holds the form of changes/*.md that changes/README.md describes.
func TestDocs_Changes(t *testing.T) {
	names, err := filepath.Glob("changes/*.md")
	if err != nil {
		t.Fatal(err)
	}
	entry := regexp.MustCompile(`^(Added|Changed|Fixed|Removed): \S.*\n$`)
	for _, name := range names {
		if name == filepath.Join("changes", "README.md") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(src)) {
			if !entry.MatchString(line) {
				t.Errorf("%s: each line is one entry, Added|Changed|Fixed|Removed: and what users can notice; not %q", name, line)
			}
		}
	}
}

func TestDocs_MakeTargets(t *testing.T) {
	problems, err := archTree(t).MakeTargets()
	if err != nil {
		t.Fatal(err)
	}
	archReport(t, problems)
}

// archTree reads the module this test belongs to.
func archTree(t *testing.T) *archtest.Tree {
	t.Helper()
	tree, err := archtest.Load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func archReport(t *testing.T, problems []archtest.Problem) {
	t.Helper()
	slices.SortFunc(problems, func(a, b archtest.Problem) int { return cmp.Compare(a.String(), b.String()) })
	for _, p := range problems {
		t.Error(p)
	}
}
