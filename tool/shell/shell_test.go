package shell_test

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/tool/shell"
)

func surroundings() shell.Environment {
	return shell.Environment{Dir: "/p", Home: "/home/dev", Env: func(name string) (string, bool) {
		switch name {
		case "USER":
			return "dev", true
		case "WHERE":
			return "/srv/data", true
		}
		return "", false
	}}
}

// A plan has every part of a line.
func TestAnalyse(t *testing.T) {
	p := shell.Analyze("X=/etc; cd sub; PATH=/tmp timeout 5 /usr/bin/cat \"$X/a b\" $WHERE/* > ~/out; f() { :; }; alias g='aa b'; $CMD", surroundings())
	var commands []string
	for _, c := range p.Commands {
		commands = append(commands, c.Text)
	}
	got := struct {
		Commands, Also, Functions, Aliases []string
		Extra                              []shell.Extra
		Paths                              []shell.Path
		Unknown                            []shell.Unknown
		Moved                              bool
	}{commands, p.Commands[0].Also, p.Functions, p.Aliases, p.Extra, p.Paths, p.Unknown, p.ChangesDir}
	want := got
	want.Commands = []string{"cat '/etc/a b' /srv/data/* > /home/dev/out", ":", "aa b", "alias 'g=aa b'", "$CMD"}
	want.Also = []string{
		"cat /etc/a b /srv/data/* > /home/dev/out",
		"/usr/bin/cat '/etc/a b' /srv/data/* > /home/dev/out", "timeout 5 /usr/bin/cat '/etc/a b' /srv/data/* > /home/dev/out",
		"PATH=/tmp timeout 5 /usr/bin/cat '/etc/a b' /srv/data/* > /home/dev/out",
		"PATH=/tmp timeout 5 /usr/bin/cat \"$X/a b\" $WHERE/* > ~/out",
	}
	want.Functions, want.Aliases, want.Moved = []string{"f"}, []string{"g"}, true
	want.Extra = []shell.Extra{{Kind: shell.Sets, Text: "PATH=/tmp"}, {Kind: shell.Writes, Text: "> /home/dev/out"}, {Kind: shell.IsUnknown, Text: "<unknown command>"}}
	want.Paths = []shell.Path{
		{Name: "/p/sub", Certain: true},
		{Name: "/home/dev/out", Write: true, Certain: true},
		{Name: "/etc/a b", Certain: true, Reads: true},
		{Name: "/srv/data/*", Glob: true, Certain: true, Reads: true},
		{Name: "/p/b"},
		{Name: "/p/sub/b"}, // of the alias; they only look like paths
	}
	want.Unknown = []shell.Unknown{
		{Text: "$CMD", Why: "which command it is: the variable CMD is not known"},
		{Text: "$CMD", Why: "the variable CMD is not known"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Large and deep lines come to an end soon, and are not said to be understood.
func TestAnalyse_Bounded(t *testing.T) {
	for name, line := range map[string]string{
		"tokens":        strings.Repeat("a ", 10_000),
		"commands":      strings.Repeat("a;", 10_000),
		"subshells":     strings.Repeat("(", 5000) + "a" + strings.Repeat(")", 5000),
		"substitutions": strings.Repeat("$(", 300) + "a" + strings.Repeat(")", 300),
		"blocks":        strings.Repeat("{ ", 300) + "a" + strings.Repeat("; }", 300),
		"conditions":    strings.Repeat("if a; then ", 300) + "b" + strings.Repeat("; fi", 300),
		"pipes":         "a" + strings.Repeat(" | a", 9000),
		"braces":        strings.Repeat("{a,b}", 60),
		"sequence":      "echo {1..100000000}",
		"nested braces": strings.Repeat("{a,", 150) + strings.Repeat("}", 150),
		"quotes":        "echo " + strings.Repeat(`"$(echo `, 150) + strings.Repeat(`)"`, 150),
		"arithmetic":    "((" + strings.Repeat("(", 180) + "1" + strings.Repeat(")", 180) + "))",
		"evals":         strings.Repeat("eval ", 9000) + "a",
		"wrappers":      strings.Repeat("env ", 3000) + "a",
		"loops":         strings.Repeat("while a; do ", 100) + "b" + strings.Repeat("; done", 100),
		"long":          "echo " + strings.Repeat("x", 1<<20),
		"doubling":      `a="$x$x"; ` + strings.Repeat(`a="$a$a"; `, 200) + `echo "$a"`,
		"doubling text": `a=xxxxxxxx; ` + strings.Repeat(`a="$a$a"; `, 200) + `echo "$a"`,
		"choices":       "for a in 1 2 3 4 5 6 7 8; do " + strings.Repeat(`b="$a$a$a$a$a$a"; `, 50) + "done",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			p := shell.Analyze(line, surroundings())
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			if name != "choices" && name != "nested braces" && p.Understood() {
				t.Errorf("it is said to be understood: %d commands", len(p.Commands))
			}
		})
	}
}

// There is an end to everything, and code says the same in quotes as it does alone.
func FuzzAnalyse(f *testing.F) {
	for _, line := range seeds() {
		f.Add(line)
	}
	bash, _ := exec.LookPath("bash")
	f.Fuzz(func(t *testing.T, line string) {
		start := time.Now()
		p := shell.Analyze(line, surroundings())
		if took := time.Since(start); took > 20*time.Second {
			t.Fatalf("it took %v", took)
		}
		for _, c := range p.Commands {
			if c.Text == "" {
				t.Errorf("a command without a text in %q", line)
			}
		}
		if p.Unparsed != "" && len(p.Commands)+len(p.Extra)+len(p.Paths) > 0 {
			t.Errorf("not read, and yet %+v", p)
		}
		if p.Unparsed != "" || len(line) > 2000 || strings.ContainsAny(line, "\x00\r") || strings.TrimSpace(line) == "" || strings.ContainsAny(line[:1], "-+") {
			return
		}
		quoted := shell.Analyze("bash -c "+quote(line), surroundings())
		for _, c := range p.Commands {
			if quoted.Unparsed == "" && !hasUnknown(quoted, "command") && c.Maybe == "" && !strings.Contains(texts(quoted), c.Text) {
				t.Errorf("%q is not found in quotes: %s", c.Text, texts(quoted))
			}
		}
		if bash != "" && refuses(t, bash, line) && len(p.Commands)+len(p.Extra) == 0 && p.ChangesDir {
			t.Errorf("bash refuses %q, and nothing would be asked", line)
		}
	})
}

func seeds() []string {
	return []string{
		"ls", "a && b", "echo 'x", "if a; then b; fi", "a <<E\nx\nE", "$(a)", "((x))", "a | b", "{ a; }", "f() { a; }", "a > b", "[[ -f x ]]",
		"case a in b) c;; esac", "a # b \\\nc", "for x in 1; do a; done", "${a@P}", "$'\\x41'", "{a,b}", "a &", "a;;b", "coproc a", "!(a)", "a=(1 2)",
		"time -p a", "function f { a; }", "select x in a; do b; done", "until a; do b; done", "a |& b", "a &>> b", "let x=1", "declare -A x=([a]=b)", "a\\\nb",
	}
}

// refuses reports whether bash finds fault with the grammar of a line.
func refuses(t *testing.T, bash, line string) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), bash, "-n", "-c", line).CombinedOutput()
	return err != nil && (strings.Contains(string(out), "syntax error") || strings.Contains(string(out), "unexpected EOF"))
}

// Lines that are broken at random: what bash refuses is not read, but for the few things that
// bash is stricter about, and of which it runs nothing then.
func TestAnalyse_Refused(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("no bash to compare with: %v", err)
	}
	count := 400
	if testing.Short() {
		count = 60
	}
	refused, read := 0, 0
	for seed := range count {
		g := lines{rand.New(rand.NewPCG(uint64(seed), 9)), 2}
		line := g.line()
		for range 1 + g.IntN(2) {
			at := g.IntN(len(line) + 1)
			if g.IntN(2) == 0 && at < len(line) {
				line = line[:at] + line[at+1:]
			} else {
				line = line[:at] + g.of("'", `"`, "(", ")", ";;", "&&", "|", "{", "}", "`", "$(", "fi", "do ", "<", "[[", "\n") + line[at:]
			}
		}
		if !refuses(t, bash, line) {
			continue
		}
		refused++
		if p := shell.Analyze(line, surroundings()); p.Unparsed == "" && p.Understood() {
			read++
			t.Logf("only bash refuses: %q", line)
		}
	}
	t.Logf("bash refuses %d lines, of which %d are understood", refused, read)
	if refused < count/5 || read > refused/20 {
		t.Errorf("bash refuses %d lines, of which %d are understood", refused, read)
	}
}

func BenchmarkAnalyze(b *testing.B) {
	const part = "cd web && FOO=1 npm run build -- --mode \"$MODE\" 2>&1 | tee build.log | grep -E 'error|warn' || echo 'no errors'; for f in src/*.ts; do npx tsc --noEmit \"$f\" > /dev/null; done\n"
	line := strings.Repeat(part, 2048/len(part)+1)[:2048]
	line = line[:strings.LastIndexByte(line, '\n')]
	if p := shell.Analyze(line, surroundings()); p.Unparsed != "" {
		b.Fatal(p.Unparsed)
	}
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		shell.Analyze(line, surroundings())
	}
}

// What a command writes, and what it takes away, is told apart from what it reads.
func TestAnalyse_WrittenAndRemoved(t *testing.T) {
	for line, want := range map[string]string{
		"cp a b":             "a b:w",
		"cp -r -- a -b c":    "a -b c:w",
		"cp -t d a":          "d:w a:w",
		"ln -sf a b":         "a b:w",
		"install -m 644 a b": "644 a b:w",
		"mv a b c":           "a:wr b:wr c:w",
		"rm -rf a b":         "a:wr b:wr",
		"touch a; rm a":      "a:w a:wr",
		"cat a > b":          "b:w a",
	} {
		var got []string
		for _, p := range shell.Analyze(line, shell.Environment{Dir: "/p"}).Paths {
			mark := ""
			if p.Write {
				mark = ":w"
			}
			if p.Removed {
				mark += "r"
			}
			got = append(got, strings.TrimPrefix(p.Name, "/p/")+mark)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", line, s, want)
		}
	}
}
