package shell_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool/shell"
)

var (
	lineCount = flag.Int("lines", 400, "how many lines are compared with a real bash")
	lineSeed  = flag.Int("seed", 0, "of the first line")
)

// lines generates command lines of the programs aa, bb and cc, which only tell that they ran.
type lines struct {
	*rand.Rand
	depth int
}

func (g lines) of(list ...string) string { return list[g.IntN(len(list))] }

func (g lines) word() string {
	switch g.IntN(14) {
	case 0:
		return "'" + g.of("a b", "x;y", "$no", "*", "a\tb", "é") + "'"
	case 1:
		return `"` + g.of("a b", `x\"y`, `\$no`, "*", "p $v q", "${v}", "$u$v") + `"`
	case 2:
		return g.of(`a\ b`, `\*`, `a"b"c`, `a'b c'd`, `\\`, `x\'y`, `a\
b`)
	case 3:
		return g.of(`$'a\tb'`, `$'\x41\101\n'`, `$'it\'s'`, `$"x y"`)
	case 4:
		return g.of("$v", "${v}", "$u", "x$v", "$v$u", "$w", "$none", `"$none"`)
	case 5:
		return g.of("{a,b}", "x{1..3}y", "{a,b}{c,d}", "{a", "{a}", "{,x}y", "{c..a}", "{a,{b,c}}")
	case 6:
		return g.of("~", "~/x", "a~", `"~"`, "~/")
	case 7:
		return g.of("$(aa in)", "`bb in`", `"$(cc "x y")"`, "$((1+2))", "$((n+1))")
	case 8:
		return g.of("${v:-d}", "${none:-d}", "${#v}", "${v%x}", "${v/a/b}", "${v^^}", "${none:=q}", "${v:0:1}")
	case 9:
		return g.of("-x", "--", "--long=a b", "-n", "+x", "A=1", "=x")
	case 10:
		return g.of("<(aa ps)", "zz*", "[q]", "?zz")
	default:
		return g.of("a", "b1", "x/y", "k=v", "./f", ".", "a,b", "a:b", "@", "%", "#", "a#b", "!", "{}", "]")
	}
}

func (g lines) words() string {
	var out []string
	for range g.IntN(4) {
		out = append(out, g.word())
	}
	return strings.Join(out, g.of(" ", " ", "\t", "  ", " \\\n "))
}

func (g lines) name() string {
	n := g.of("aa", "bb", "cc")
	switch g.IntN(10) {
	case 0:
		return `\` + n
	case 1:
		return "'" + n + "'"
	case 2:
		return n[:1] + `""` + n[1:]
	case 3:
		return `"` + n + `"`
	case 4:
		return "$'" + n + "'"
	default:
		return n
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (g lines) simple() string {
	cmd := g.name() + " " + g.words()
	switch g.IntN(16) {
	case 0:
		cmd = g.of("env ", "env -u Q A=1 ", "command ", "nice ", "nice -n 3 ", "timeout 9 ", "nohup ", "stdbuf -o0 ", "command -p env ", "setsid -w ", "/usr/bin/env ", "exec -a zero ") + cmd
		if strings.HasPrefix(cmd, "exec") {
			cmd = "(" + cmd + ")"
		}
	case 1:
		cmd = g.of("sh -c ", "bash -c ", "bash -ec ", "env bash -c ", "/bin/sh -c ", "dash -c ") + quote(g.name()+" "+g.of("a", "'b c'", "$v", `"$none"`))
	case 2:
		cmd = "eval " + g.of(quote(cmd), cmd)
	case 3:
		cmd = g.of("A=1 ", "A=1 B='x y' ", "v=other ") + cmd
	case 4:
		cmd = g.of("v=new", "u=", "w='two words'", "v=$u", "n=3", "v+=x", "export v=ex", "declare u=de", "readonly R=1", "read -r v <<< text", "unset v", "((n++))", "local_=1", "let n=4", "printf -v v pf", "IFS=: ")
	case 5:
		cmd = g.of("! ", "time ", "{ ", "( ") + cmd
		if strings.HasPrefix(cmd, "{ ") {
			cmd += "; }"
		} else if strings.HasPrefix(cmd, "( ") {
			cmd += ")"
		}
	case 6:
		cmd = g.of("cd sub", "cd ..", "cd ../out", "pushd sub", "cd .", "cd", "cd nowhere", "cd -", "cd $v")
	case 7:
		cmd = "find . -maxdepth 0 -exec " + cmd + ` {} \;`
	case 8:
		cmd = "echo p q | xargs " + cmd
	case 9:
		cmd = "trap " + quote(cmd) + " EXIT"
	}
	if g.IntN(4) == 0 {
		cmd += " " + g.of("> f1", ">> f2", "2> f3", "&> f4", "> 'f 5'", ">../out/g1", "> $v.f", "< seed", "2>&1", "> /dev/null", ">| f6", "<<< $v", "> ~/h1", "3> f7", "<> f8", "> {x,y}f", "> sub/f9", `>"$none"q`)
	}
	return cmd
}

func (g lines) line() string {
	if g.depth == 0 {
		return g.simple()
	}
	in := lines{g.Rand, g.depth - 1}
	switch g.IntN(14) {
	case 0:
		return in.line() + "; " + in.line()
	case 1:
		return in.line() + g.of(" && ", " || ", "\n", " | ") + in.line()
	case 2:
		return "if " + in.line() + "; then " + in.line() + "; else " + in.line() + "; fi"
	case 3:
		return "for v in " + g.words() + " z; do " + in.line() + "; done"
	case 4:
		return "case " + g.word() + " in a) " + in.line() + ";; *) " + in.line() + ";; esac"
	case 5:
		return "f() { " + in.line() + "; }; f " + g.words()
	case 6:
		return "(" + in.line() + ")"
	case 7:
		return "{ " + in.line() + "; }"
	case 8:
		return "for ((n=0; n<2; n++)); do " + in.line() + "; done"
	case 9:
		return g.of("v=one", "w='a b'", "u=$v", "n=2") + "; " + in.line()
	case 10:
		return "cat <<E\n" + g.of("text", "$(aa here)", "$v") + "\nE\n" + in.line()
	default:
		return in.simple()
	}
}

// ran is one program that reported itself: its name and arguments.
type ran []string

// project is a throw-away project to run lines in.
type project struct{ top, dir, bin string }

func newProject(t *testing.T) project {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := project{top, filepath.Join(top, "project"), filepath.Join(top, "bin")}
	// One write, for several may run at once, and to a file of the line's: some outlive it.
	const stub = "#!/bin/sh\nprintf '%s\\001' \"${0##*/}\" \"$@\" \"$LATHE_END\" >> \"$LATHE_LOG\"\n"
	for _, d := range []string{r.bin, filepath.Join(top, "home")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{"aa", "bb", "cc"} {
		if err := os.WriteFile(filepath.Join(r.bin, n), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// clean makes the places in which lines write what they were.
func (r project) clean(t *testing.T) {
	t.Helper()
	for _, d := range []string{r.dir, filepath.Join(r.top, "out"), filepath.Join(r.top, "home")} {
		if err := os.RemoveAll(d); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.dir, "seed"), []byte("s"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (r project) env() []string {
	return []string{"PATH=" + r.bin + ":/usr/bin:/bin", "HOME=" + filepath.Join(r.top, "home"), "LC_ALL=C.UTF-8"}
}

func (r project) analyze(line string) shell.Plan {
	return shell.Analyze(line, shell.Environment{Dir: r.dir, Home: filepath.Join(r.top, "home"), Env: func(name string) (string, bool) {
		for _, v := range r.env() {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}})
}

// run runs a line in a real bash, and returns what ran and which files there are that were not.
func (r project) run(t *testing.T, bash, line string) (all []ran, files []string) {
	t.Helper()
	r.clean(t)
	cmd := exec.CommandContext(t.Context(), bash, "-c", line)
	name := filepath.Join(t.TempDir(), "log")
	cmd.Dir, cmd.Env = r.dir, append(r.env(), "LATHE_LOG="+name, "LATHE_END=\x02")
	_ = cmd.Run() // that it fails is as good a run
	log, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, one := range bytes.Split(log, []byte("\x02\x01")) {
		if len(one) > 0 {
			all = append(all, strings.Split(strings.TrimSuffix(string(one), "\x01"), "\x01"))
		}
	}
	for _, d := range []string{r.dir, filepath.Join(r.top, "out"), filepath.Join(r.top, "home")} {
		err := filepath.Walk(d, func(path string, info os.FileInfo, err error) error {
			if err == nil && !info.IsDir() && path != filepath.Join(r.dir, "seed") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all, files
}

// said reports whether a plan has what ran: word for word, or with unknown words that could
// be these.
func said(p shell.Plan, what ran) bool {
	for _, c := range p.Commands {
		if len(c.Words) == 0 {
			continue
		}
		if c.Maybe == "" {
			if len(c.Words) != len(what) {
				continue
			}
			same := true
			for i, w := range c.Words {
				same = same && w.Text == what[i]
			}
			if same {
				return true
			}
			continue
		}
		mask := c.Maybe
		if cut := strings.IndexAny(mask, "<>"); cut >= 0 { // its redirections, or a text that has such
			mask = mask[:cut] + "*"
		}
		if lathe.Wildcard(strings.NewReplacer("'", "", `\`, "").Replace(mask), strings.NewReplacer("'", "", `\`, "").Replace(strings.Join(what, " "))) {
			return true
		}
	}
	return false
}

func hasUnknown(p shell.Plan, marker string) bool {
	for _, e := range p.Extra {
		if e.Kind == shell.IsUnknown && strings.Contains(e.Text, marker) {
			return true
		}
	}
	return false
}

// What a plan says is all that a real shell runs and writes.
func TestAnalyse_Differential(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("no bash to compare with: %v", err)
	}
	count := *lineCount
	if testing.Short() {
		count = min(count, 100)
	}
	r := newProject(t)
	understood, compared, programs := 0, 0, 0
	for seed := *lineSeed; seed < *lineSeed+count; seed++ {
		g := lines{rand.New(rand.NewPCG(uint64(seed), 8)), 2}
		line := g.line()
		p := r.analyze(line)
		if p.Unparsed != "" {
			continue
		}
		if p.Understood() {
			understood++
		}
		compared++
		all, files := r.run(t, bash, line)
		programs += len(all)
		if !hasUnknown(p, "command") {
			for _, what := range all {
				if !said(p, what) {
					t.Errorf("seed %d: %s\nran %q, which is not in %q", seed, line, what, texts(p))
				}
			}
		}
		if hasUnknown(p, "file") || hasUnknown(p, "directory") || hasUnknown(p, "command") {
			continue
		}
		for _, f := range files {
			if !wrote(p, f) {
				t.Errorf("seed %d: %s\nwrote %s, which is not in %+v", seed, line, f, p.Paths)
			}
		}
	}
	t.Logf("%d lines compared, %d of them understood whole; %d programs ran", compared, understood, programs)
	if understood < count/4 || programs < count/2 {
		t.Errorf("too little is compared: %d understood, %d ran", understood, programs)
	}
}

func wrote(p shell.Plan, file string) bool {
	for _, path := range p.Paths {
		if path.Write && filepath.Clean(path.Name) == file {
			return true
		}
	}
	return false
}

func texts(p shell.Plan) string {
	var out []string
	for _, c := range p.Commands {
		out = append(out, fmt.Sprintf("%s (%s)", c.Text, c.Maybe))
	}
	return strings.Join(out, " | ")
}
