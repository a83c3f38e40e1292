package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lathe-agent/lathe/sandbox"
)

var update = flag.Bool("update", false, "rewrite the files that scripts compare with")

// TestMain makes this test program the command `lathe` of the scripts. Tests mostly wait for processes,
// so that more of them run at a time than there are processors, unless -parallel says otherwise.
func TestMain(m *testing.M) {
	if exit, mine := sandbox.Launch(os.Args, os.Environ); mine { // a launcher of the sandbox has another name
		os.Exit(exit)
	}
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // -parallel is read later
	testscript.Main(tidying{m}, map[string]func(){"lathe": main, "lathe-breaks": breaks, "lathe-answers": answersWord, "lathe-asks": asksWord, "lathe-old-kernel": oldKernel, "lathe-language": languageServer})
}

// tidying runs the tests and removes what they shared.
type tidying struct{ *testing.M }

func (t tidying) Run() int {
	defer func() {
		if plainDir != "" {
			_ = os.RemoveAll(plainDir) // what is left is in the folder for that
		}
		closeCluster()
	}()
	return t.M.Run()
}

// answersWord is a server that says a word to everyone, on its own port or on one that is
// given.
func answersWord() {
	address := "127.0.0.1:0"
	if len(os.Args) > 2 {
		address = os.Args[2]
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	for {
		if conn, err := l.Accept(); err == nil {
			_, _ = fmt.Fprintln(conn, os.Args[1]) // it may be gone
			_ = conn.Close()
		}
	}
}

// asksWord prints what such a server says.
func asksWord() {
	conn, err := net.Dial("tcp", os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = io.Copy(os.Stdout, conn)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata",
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Setup:              setup,
		Condition:          condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":     cmdCode,
			"write":    cmdWrite,
			"cut":      cmdCut,
			"damage":   cmdDamage,
			"big":      cmdBig,
			"as-user":  cmdAsUser,
			"take":     cmdTake,
			"match":    cmdMatch,
			"received": cmdReceived,
			"there":    cmdThere,
			"deep":     cmdDeep,
			"answers":  cmdAnswers,
			"approve":  cmdApprove,
			"asked":    cmdAsked,
			"pages":    cmdPages,
			"hears":    cmdHears,
			"mode":     cmdMode,
			"expand":   cmdExpand,
			"serves":   cmdServes,
			"tools":    cmdTools,
			"others":   cmdOthers,
		},
	})
}

// setup gives each script a home, a data folder of its own, a clock in one place, and the
// exports of testdata/samples.
func setup(env *testscript.Env) error {
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("LATHE_DATA", filepath.Join(env.WorkDir, "data"))
	env.Setenv("TZ", "UTC")
	env.Setenv("HTTPS_PROXY", "http://127.0.0.1:9") // no command reaches the network
	env.Values[serverKey{}] = new(scripted)
	if env.Getenv("GORACE") == "" {
		env.Setenv("GORACE", "atexit_sleep_ms=0") // else each command sleeps a second
	}
	env.Setenv("GOCACHE", goCache()) // else the demo builds the library of Go each time
	if raced && !isConcurrent(env) {
		if dir := plainLathe(); dir != "" {
			env.Setenv("PATH", dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
		}
	}
	return os.CopyFS(filepath.Join(env.WorkDir, "samples"), os.DirFS(filepath.Join("testdata", "samples")))
}

// isConcurrent reports whether a script is one of those in which much happens at a time: the program
// has the race detector in it there, although each start then takes many times as long.
func isConcurrent(env *testscript.Env) bool {
	script := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	return slices.Contains([]string{"attach", "extensions", "later", "parallel", "permission", "resume", "run", "services", "session-processes", "tasks", "tasks-kill", "undo"}, script)
}

// plainLathe is a folder with the program without the race detector, "" if it cannot be built.
var plainLathe = sync.OnceValue(func() string {
	var err error
	if plainDir, err = os.MkdirTemp("", "lathe-plain-"); err != nil {
		return ""
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(plainDir, "lathe"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make vet and make wires compile, so that it is done once
	if err := build.Run(); err != nil {
		return ""
	}
	return plainDir
})

var plainDir string // of plainLathe, for who removes it

// goCache is where go keeps what it has built, "" if that is not known.
func goCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "go-build")
}

func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "sandbox":
		return sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel().Available(true) == nil, nil
	default:
		return false, fmt.Errorf("unknown condition %s", name)
	}
}

// cmdCode runs a command and holds it to its exit code: code 2 lathe nonsense.
func cmdCode(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
}

// cmdWrite writes a file from a Go string, so that a script can hold any byte: write file 'a\xff'.
func cmdWrite(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// cmdDeep writes an export that is nested so many levels deep: deep file 1000.
func cmdDeep(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := `{"info":{"id":"ses_deep","metadata":{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}},"messages":[]}`
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// cmdCut shortens a file to so many bytes.
func cmdCut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// cmdDamage overwrites a file from its first page on.
func cmdDamage(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	info, err := f.Stat()
	ts.Check(err)
	const page = 8192
	_, err = f.WriteAt(bytes.Repeat([]byte("damage! "), int(info.Size()-page)/8), page)
	ts.Check(errors.Join(err, f.Close()))
}

// cmdTake keeps the id at the end of the last output in a variable: take ID.
func cmdTake(ts *testscript.TestScript, _ bool, args []string) {
	words := strings.Fields(ts.ReadFile("stdout"))
	if len(words) == 0 {
		ts.Fatalf("there is no output")
	}
	ts.Setenv(args[0], words[len(words)-1])
}

// cmdMatch keeps what groups of an expression match in the last output: match 'at (.*)' DIR.
func cmdMatch(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(args[0]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != len(args) {
		ts.Fatalf("%s matches %q", args[0], found)
	}
	for i, name := range args[1:] {
		ts.Setenv(name, found[i+1])
	}
}

// cmdBig writes an export of about so many megabytes: big file 100. As in life most of it is
// attachments, the rest many small parts.
func cmdBig(ts *testscript.TestScript, _ bool, args []string) {
	megabytes, err := strconv.Atoi(args[1])
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(errors.Join(writeBig(f, megabytes<<20), f.Close()))
}

func writeBig(w io.Writer, size int) error {
	var b bytes.Buffer
	b.WriteString(`{"info":{"id":"ses_big","slug":"s","projectID":"p","directory":"/","title":"A big one","version":"1","time":{"created":1,"updated":2}},"messages":[`)
	text, picture := strings.Repeat("all work and no play ", 50), strings.Repeat("QUJD", 1<<18)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"info":{"id":"msg_%d","sessionID":"ses_big","role":"user","time":{"created":%d},"agent":"build","model":{"providerID":"p","modelID":"m"}},"parts":[`, i, i+1)
		for j := range 50 {
			fmt.Fprintf(&b, `{"id":"prt_%d_%d","sessionID":"ses_big","messageID":"msg_%d","type":"text","text":%q},`, i, j, i, text)
		}
		fmt.Fprintf(&b, `{"id":"prt_%d_file","type":"file","mime":"image/png","url":"data:image/png;base64,%s%d"}]}`, i, picture, i)
	}
	b.WriteString(`]}`)
	_, err := w.Write(b.Bytes())
	return err
}
