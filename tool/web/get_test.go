package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/tool/web"
)

func TestWebFetch_TooLarge(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 8 {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	at := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/declared":
			w.Header().Set("Content-Length", "999999999")
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes()) // the reader goes away
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "xxx")
		default:
			for {
				if _, err := w.Write(zeros); err != nil {
					return
				}
			}
		}
	})
	for path, want := range map[string]string{
		"/declared": "has 953.7 MB, and at most 5.0 MB can be fetched. To keep it in a file: bash with curl",
		"/bomb":     "has more than 5.0 MB, which is the most",
		"/endless":  "has more than 5.0 MB, which is the most",
		"/brotli":   `packed ` + at + `/brotli as "br"`,
	} {
		tooltest.Contains(t, tooltest.NewHost(t).Fails(web.Fetch(local()), tooltest.Input{"url": at + path}), want)
	}
}

// Five megabytes are not too many.
func TestWebFetch_Largest(t *testing.T) {
	at := site(t, served("text/plain", strings.Repeat("x", 5<<20)))
	if r := tooltest.NewHost(t).Must(web.Fetch(local()), tooltest.Input{"url": at}); len(r.Output) < 5<<20 {
		t.Errorf("%d bytes", len(r.Output))
	}
}

// slow answers with the head of a page, or with nothing, until the client goes away.
func slow(answers bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if answers {
			fmt.Fprint(w, "first words")
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

func TestWebFetch_Timeout(t *testing.T) {
	for _, answers := range []bool{true, false} {
		at := site(t, slow(answers))
		tooltest.Contains(t, tooltest.NewHost(t).Fails(web.Fetch(local()), tooltest.Input{"url": at, "timeout": 0.05}),
			at+" did not answer in time: the limit is 50ms. Call webfetch with a longer timeout (at most 120)")
	}
}

// unhurried notes whether a question is asked under a time limit.
type unhurried struct {
	*tooltest.Host
	hurried bool
}

func (u *unhurried) Ask(ctx context.Context, all ...tool.Permission) error {
	_, limited := ctx.Deadline()
	u.hurried = u.hurried || limited
	return u.Host.Ask(ctx, all...)
}

// What people take to answer does not count, before the first step or between two.
func TestWebFetch_TimeoutWithoutAsking(t *testing.T) {
	at := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/next", http.StatusFound)
		}
	})
	u := &unhurried{Host: tooltest.NewHost(t)}
	u.Call.Host = u
	u.Must(web.Fetch(local()), tooltest.Input{"url": at})
	if u.hurried || len(u.Asked) != 2 {
		t.Errorf("asked under a limit: %v, %d questions", u.hurried, len(u.Asked))
	}
}

func TestWebFetch_Cancel(t *testing.T) {
	stop := errors.New("stopped")
	for _, answers := range []bool{true, false} {
		ctx, cancel := context.WithCancelCause(context.Background())
		at := site(t, func(w http.ResponseWriter, r *http.Request) {
			cancel(stop)
			slow(answers)(w, r)
		})
		c := tooltest.NewHost(t).Call
		c.Input = json.RawMessage(fmt.Sprintf(`{"url":%q}`, at))
		if _, err := tool.Run(ctx, web.Fetch(local()), &c); !errors.Is(err, stop) {
			t.Errorf("%v", err)
		}
	}
}

func TestWebFetch_Connection(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	tooltest.Contains(t, tooltest.NewHost(t).Fails(web.Fetch(local()), tooltest.Input{"url": closed.URL}), "No server listens at 127.0.0.1:")

	secure := httptest.NewUnstartedServer(served("text/plain", "hi"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	tooltest.Contains(t, tooltest.NewHost(t).Fails(web.Fetch(local()), tooltest.Input{"url": secure.URL}), "The certificate of 127.0.0.1 is not trusted: ")

	cfg := local()
	cfg.Resolver = lookup(t, nil)
	tooltest.Contains(t, tooltest.NewHost(t).Fails(web.Fetch(cfg), tooltest.Input{"url": "https://nowhere.test/"}), `Unknown host "nowhere.test". Correct the url`)

	at := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
	})
	tooltest.Contains(t, tooltest.NewHost(t).Fails(web.Fetch(local()), tooltest.Input{"url": at}), "the connection broke off after 4 bytes")
}
