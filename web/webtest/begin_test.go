package webtest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/model/modeltest"
)

var update = flag.Bool("update", false, "write the pictures of docs/pictures")

// limit is the time in which everything that a test waits for must happen. It is long, since machines are busy.
const limit = 60 * time.Second

// lathe is a binary to test instead of one that is built here.
var lathe = flag.String("lathe", "", "test this binary instead of building one")

// shared is what all tests use: the binary and one browser, in which each test has a profile of its own.
var shared = &sharing{}

type sharing struct {
	mu  sync.Mutex
	dir string
	ctx context.Context
	end []func()
}

// program is the lathe binary, built once.
func program() (string, error) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if *lathe != "" || shared.dir != "" {
		return cmp.Or(*lathe, filepath.Join(shared.dir, "lathe")), nil
	}
	dir, err := os.MkdirTemp("", "lathe-web-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "lathe")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "github.com/lathe-agent/lathe/cmd/lathe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as every release and test is compiled, so that it is done once
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	shared.dir = dir
	return path, nil
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, end := range slices.Backward(shared.end) {
		end()
	}
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// browser starts the browser of all tests.
func (s *sharing) browser(path string) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil {
		return s.ctx, nil
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("headless", "new"), chromedp.Flag("disable-background-networking", true), chromedp.Flag("lang", "en-US"), chromedp.Env("TZ=UTC"), chromedp.WSURLReadTimeout(3*limit))
	ctx, end := chromedp.NewContext(alloc)
	s.end = append(s.end, stop, end)
	if err := chromedp.Do(ctx); err != nil {
		return nil, err
	}
	s.ctx = ctx
	return ctx, nil
}

// world is a server with a scripted model, and a browser.
type world struct {
	*testing.T
	url     string
	project string
	env     []string
	ctx     context.Context // of the browser's tab
	kill    func()          // ends the server without a warning
	secret  string          // password of the server, if it has one

	mu     sync.Mutex
	errors []string // of the page's console
}

// chromium finds the browser, or skips the test and says why.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("the tests of the web app need Chromium, which is not installed")
	return ""
}

// begin starts a server whose model follows a script, and opens the browser.
func begin(t *testing.T, script string) *world {
	t.Helper()
	browser := chromium(t)
	w := &world{T: t, project: project(t)}
	w.serve(script)
	w.ctx = w.open(browser)
	return w
}

// open opens a tab with a new profile.
func (w *world) open(browser string) context.Context {
	w.Helper()
	all, err := shared.browser(browser)
	if err != nil {
		w.Fatal(err)
	}
	return w.tab(all, chromedp.WithNewBrowserContext())
}

// tab opens a tab, and notes the errors of its scripts.
func (w *world) tab(parent context.Context, options ...chromedp.ContextOption) context.Context {
	w.Helper()
	ctx, end := chromedp.NewContext(parent, options...)
	var watching sync.WaitGroup
	w.Cleanup(func() { end(); watching.Wait() })
	if err := chromedp.Do(ctx); err != nil {
		w.Fatal(err)
	}
	thrown := chromedp.Events(ctx, runtime.ExceptionThrown)
	watching.Go(func() {
		for e, err := range thrown {
			if err != nil {
				return
			}
			w.mu.Lock()
			w.errors = append(w.errors, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
			w.mu.Unlock()
		}
	})
	return ctx
}

// project is a small repository with a failing test.
func project(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(gittest.RealTemp(t), "slug")
	for name, text := range map[string]string{
		"go.mod":       "module example.com/slug\n\ngo 1.24\n",
		"slug.go":      "package slug\n\nimport \"strings\"\n\n// Make turns a title into the last part of an address.\nfunc Make(title string) string {\n\treturn strings.ReplaceAll(strings.ToLower(title), \" \", \"-\")\n}\n",
		"slug_test.go": "package slug\n\nimport \"testing\"\n\nfunc TestMake(t *testing.T) {\n\tif got := Make(\"  Hello  World \"); got != \"hello-world\" {\n\t\tt.Errorf(\"got %q\", got)\n\t}\n}\n",
		"check.sh":     "grep -q Fields slug.go && echo ok || { echo '--- FAIL: TestMake: got \"--hello--world-\"'; exit 1; }\n",
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "Begin"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// serve starts `lathe serve` with a scripted model.
func (w *world) serve(script string) {
	t := w.T
	t.Helper()
	titles := strings.Repeat("when "+strconv.Quote(engine.TitleRequest)+"\ntext \"Fix the slug test\"\nfinish stop\n--\n", 3)
	model := modeltest.Start(t, modeltest.MustParse(titles+script))
	home := t.TempDir()
	settings, err := json.Marshal(map[string]any{
		"model": "script/script", "formatter": false, "permission": map[string]string{"bash": "ask"},
		"provider": map[string]any{"script": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "options": map[string]string{"baseURL": model.URL + "/v1", "apiKey": "none"},
			"models": map[string]any{"script": map[string]any{"cost": map[string]int{"input": 1, "output": 2}, "limit": map[string]int{"context": 200000, "output": 8000}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "LATHE_CONFIG_CONTENT="+string(settings))
	w.launch("--port", "0", "--no-auth")
}

// launch starts the server.
func (w *world) launch(args ...string) {
	t := w.T
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"serve"}, args...)...)
	cmd.Dir, cmd.Env = w.project, w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	errs := &bytes.Buffer{}
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() { _ = cmd.Wait() })
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM); end() })
	line, err := bufio.NewReader(out).ReadString('\n')
	where, ok := strings.CutPrefix(line, "opencode server listening on ")
	if err != nil || !ok {
		t.Fatalf("the server said %q (%v)\n%s", line, err, errs)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	w.url = strings.TrimSpace(where)
	w.kill = func() { _ = cmd.Process.Kill(); end() }
}

// do runs actions in the tab.
func (w *world) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	w.Helper()
	ctx, stop := context.WithTimeout(w.ctx, limit)
	defer stop()
	if err := chromedp.Do(ctx, actions...); err != nil {
		text, _ := chromedp.Run(w.ctx, chromedp.Evaluate[string](`JSON.stringify(performance.getEntriesByType("resource").slice(-40).map(e => Math.round(e.startTime) + e.name.replace(/.*:\d+/, ""))) + document.body.innerText.slice(0, 2000)`))
		w.Fatalf("%s: %v\nThe page shows:\n%s", what, err, text)
	}
}

// eval returns the value of an expression.
func eval[T any](w *world, expression string) T {
	w.Helper()
	ctx, stop := context.WithTimeout(w.ctx, limit)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		w.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true.
func (w *world) wait(expression string) {
	w.Helper()
	deadline := time.Now().Add(limit)
	poll := chromedp.Poll[chromedp.Void]("!!("+expression+")", chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(limit))
	w.do("wait for "+expression, func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		for {
			v, err := poll(ctx, t)
			if err == nil || !strings.Contains(err.Error(), "(-32000)") || time.Now().After(deadline) { // of a page that gives way to another
				return v, err
			}
		}
	})
}

// shows waits until the page shows a text.
func (w *world) shows(text string) {
	w.Helper()
	quoted, _ := json.Marshal(text)
	w.wait("document.body.innerText.includes(" + string(quoted) + ")")
}

// size sets the size of the screen.
func (w *world) size(width, height int64) {
	w.Helper()
	if width < 600 {
		w.do("resize", chromedp.EmulateViewport(width, height, chromedp.EmulateMobile))
		return
	}
	w.do("resize", chromedp.EmulateViewport(width, height))
}

// click clicks the button or link that has a text.
func (w *world) click(text string) {
	w.Helper()
	quoted, _ := json.Marshal(text)
	find := `[...document.querySelectorAll("button,a,label,summary")].find(e => (e.innerText.trim() === ` + string(quoted) + ` || e.getAttribute("aria-label") === ` + string(quoted) + `) && !e.disabled && e.getClientRects().length)`
	w.wait("!!" + find)
	w.do("click "+text, chromedp.Evaluate[chromedp.Void](find+".click()"))
}

// prompt types a prompt and sends it.
func (w *world) prompt(text string) {
	w.Helper()
	w.do("type a prompt", chromedp.WaitVisible("#prompt"), chromedp.SendKeys("#prompt", text))
	w.click("Send")
}

// picture writes what the screen shows to docs/pictures with -update.
func (w *world) picture(name string) {
	w.Helper()
	dir := filepath.Join("..", "..", "docs", "pictures")
	if !*update {
		return
	}
	data, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "web-"+name+".png"), data, 0o644); err != nil {
		w.Fatal(err)
	}
}

// quiet fails the test if a script failed.
func (w *world) quiet() {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.errors {
		w.Errorf("the page: %s", e)
	}
}

// ask sends a request to the server from outside of the browser.
func (w *world) ask(method, path, body string, to any) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if w.secret != "" {
		r.SetBasicAuth("opencode", w.secret)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		w.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, data, err)
	}
	if to != nil {
		if err := json.Unmarshal(data, to); err != nil {
			w.Fatal(err)
		}
	}
}
