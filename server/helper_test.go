package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/servertest"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/tool/mcp"
)

// fixture is a server on a real engine with a new database, and a scripted model after it.
type fixture struct {
	testing.TB
	engine  *engine.Engine
	server  *server.Server
	backend server.Backend
	model   *modeltest.Server
	url     string
	dir     string // a directory that belongs to no repository
	data    string // folder of the database
	http    *http.Client

	settings settings
	search   lathe.Opt[bool]
}

// begin starts a server; the script is what the model says, "" for tests without turns. with
// changes the options.
func begin(t testing.TB, script string, with ...func(*server.Options)) *fixture {
	t.Helper()
	w := &fixture{TB: t, dir: gittest.RealTemp(t), data: t.TempDir(), model: modeltest.Start(t, modeltest.MustParse(script))}
	w.open(with...)
	return w
}

// beginSearch is begin with the index for the search.
func beginSearch(t testing.TB, script string) *fixture {
	t.Helper()
	w := &fixture{TB: t, dir: gittest.RealTemp(t), data: t.TempDir(), model: modeltest.Start(t, modeltest.MustParse(script)), search: lathe.Some(true)}
	w.open()
	return w
}

// open opens the engine and the server on the fixture's folders.
func (w *fixture) open(with ...func(*server.Options)) {
	w.Helper()
	driver, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(w.data, "lathe.db")})
	w.ok(err)
	w.engine, err = engine.Open(context.Background(), engine.Options{
		Driver: driver, Blobs: filepath.Join(w.data, "blobs"), Outputs: filepath.Join(w.data, "outputs"), Version: "1.2.3", Environment: servertest.Setup{Server: w.model},
		Search: w.search,
	})
	w.ok(err)
	o := server.Options{Directory: w.dir, Version: "1.2.3"}
	for _, f := range with {
		f(&o)
	}
	w.settings.hub = mcp.Open(mcp.Options{Dir: w.dir})
	all := backend{servertest.Backend{Engine: w.engine}}.all(&w.settings)
	w.server, w.backend = server.New(all, o), all
	listening := httptest.NewServer(w.server)
	w.url, w.http = listening.URL, listening.Client()
	e := w.engine
	w.Cleanup(func() {
		w.server.Close()
		listening.Close()
		w.settings.hub.Close()
		w.ok(all.Terminals.Close())
		w.ok(e.Close())
	})
}

// serve asks a second server from now on, on another backend.
func (w *fixture) serve(b server.Backend, o server.Options) {
	s := server.New(b, o)
	listening := httptest.NewServer(s)
	w.Cleanup(func() {
		s.Close()
		listening.Close()
	})
	w.url, w.http = listening.URL, listening.Client()
}

func (w *fixture) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// answer is what came back.
type answer struct {
	*http.Response
	body []byte
}

// ask makes one request; body is JSON, "" none. More are headers, name and value in turns.
func (w *fixture) ask(method, path, body string, more ...string) answer {
	w.Helper()
	var from io.Reader
	if body != "" {
		from = strings.NewReader(body)
	}
	ctx, stop := context.WithTimeout(w.Context(), 2*time.Minute) // a stream opened by mistake never ends
	defer stop()
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, from)
	w.ok(err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(more); i += 2 {
		if r.Header.Set(more[i], more[i+1]); more[i] == "Host" {
			r.Host = more[i+1]
		}
	}
	res, err := w.http.Do(r)
	w.ok(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	w.ok(err)
	return answer{res, data}
}

// want is ask for an answer of that status, read into to unless that is nil.
func (w *fixture) want(status int, to any, method, path, body string, more ...string) answer {
	w.Helper()
	a := w.ask(method, path, body, more...)
	if a.StatusCode != status {
		w.Fatalf("%s %s: status %d, not %d: %s", method, path, a.StatusCode, status, a.body)
	}
	if to != nil {
		if err := json.Unmarshal(a.body, to); err != nil {
			w.Fatalf("%s %s: %v: %s", method, path, err, a.body)
		}
	}
	return a
}

// is holds the whole body of an answer.
func (a answer) is(w *fixture, want string) {
	w.Helper()
	if got := string(bytes.TrimSpace(a.body)); got != want {
		w.Errorf("%s %s: got %s, want %s", a.Request.Method, a.Request.URL.Path, got, want)
	}
}

// frame is one event of a stream, as it came.
type frame struct {
	id   string // the cursor, if it had one
	data string
	lathe.Event
}

// listening is a stream that a test reads.
type listening struct {
	w      *fixture
	frames chan frame
	stop   context.CancelFunc
	res    *http.Response
}

// listen opens a stream and reads it until the test ends.
func (w *fixture) listen(path string, more ...string) *listening {
	w.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", w.url+path, nil)
	w.ok(err)
	for i := 0; i < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	res, err := w.http.Do(r)
	w.ok(err)
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(res.Body)
		w.Fatalf("GET %s: status %d: %s", path, res.StatusCode, body)
	}
	l := &listening{w: w, frames: make(chan frame, 10000), stop: stop, res: res}
	go l.read()
	w.Cleanup(stop)
	return l
}

func (l *listening) read() {
	defer close(l.frames)
	defer l.res.Body.Close()
	for in := sse.NewReader(l.res.Body); ; {
		ev, err := in.Next()
		if err != nil {
			return
		}
		f := frame{id: string(ev.ID), data: string(ev.Data)}
		var outer struct {
			Payload json.RawMessage `json:"payload"`
		}
		if json.Unmarshal(ev.Data, &outer) == nil && outer.Payload != nil {
			_ = json.Unmarshal(outer.Payload, &f.Event)
		} else {
			_ = json.Unmarshal(ev.Data, &f.Event)
		}
		l.frames <- f
	}
}

// next returns the next event.
func (l *listening) next() frame {
	l.w.Helper()
	select {
	case f, ok := <-l.frames:
		if !ok {
			l.w.Fatal("the stream has ended")
		}
		return f
	case <-time.After(20 * time.Second):
		l.w.Fatal("nothing came on the stream")
	}
	return frame{}
}

// until returns all events up to the first of a type.
func (l *listening) until(kind string) (all []frame) {
	l.w.Helper()
	for begin := time.Now(); ; {
		f := l.next()
		all = append(all, f)
		if time.Since(begin) > 20*time.Second {
			l.w.Fatalf("no %s came, but %s", kind, kinds(all))
		}
		if f.Fact != nil && f.Fact.Type() == kind {
			return all
		}
	}
}

// write makes a file in the fixture's directory.
func (w *fixture) write(name, text string) {
	w.Helper()
	path := filepath.Join(w.dir, name)
	w.ok(os.MkdirAll(filepath.Dir(path), 0o755))
	w.ok(os.WriteFile(path, []byte(text), 0o644))
}
