package webtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// other opens one more tab: with a profile of its own, or with that of the first.
func (w *world) other(sameProfile bool) *world {
	w.Helper()
	o := &world{T: w.T, url: w.url, project: w.project, env: w.env}
	if sameProfile {
		o.ctx = o.tab(w.ctx)
	} else {
		o.ctx = o.open(chromium(w.T))
	}
	return o
}

// until waits until something is true outside of the browser.
func (w *world) until(what string, f func() bool) {
	w.Helper()
	deadline, tick := time.NewTimer(3*limit), time.NewTicker(20*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for !f() {
		select {
		case <-deadline.C:
			w.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

// before runs a script before those of each page that the tab opens.
func (w *world) before(script string) {
	w.Helper()
	if _, err := chromedp.Call(w.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		w.Fatal(err)
	}
}

// session makes a session and returns its ID.
func (w *world) session(title string) string {
	w.Helper()
	var s struct{ ID string }
	w.ask("POST", "/session?directory="+url.QueryEscape(w.project), `{"title":`+quote(title)+`}`, &s)
	return s.ID
}

// see opens a session in the tab.
func (w *world) see(id string) {
	w.Helper()
	w.do("open the session", chromedp.Navigate(w.url+"/#/s/"+id))
	w.wait(`document.querySelector(".composer, .dock") && !document.body.innerText.includes("Loading…")`)
}

// send sends a prompt from outside of the browser.
func (w *world) send(id, text string) {
	w.Helper()
	w.ask("POST", "/lathe/session/"+id+"/prompt", `{"parts":[{"type":"text","text":`+quote(text)+`}]}`, nil)
}

// allow waits for a permission that is asked, and gives it.
func (w *world) allow() {
	w.Helper()
	var all []struct{ ID string }
	w.until("a permission", func() bool {
		w.ask("GET", "/permission?directory="+url.QueryEscape(w.project), "", &all)
		return len(all) > 0
	})
	w.ask("POST", "/permission/"+all[0].ID+"/reply", `{"reply":"once"}`, nil)
}

// proxy stands between the page and the server. It changes answers, and cuts the event stream where cut says so: cut
// is called with the number of each event, when it passes for the first time. What a resumed stream repeats does not
// count, since a stream that is cut in each repetition cannot go on.
type proxy struct {
	*httptest.Server
	events atomic.Int64
	cuts   atomic.Int64
	passed sync.Map // events
}

func (w *world) proxy(change func(*http.Response) error, cut func(n int64) bool) *proxy {
	w.Helper()
	target, err := url.Parse(w.url)
	if err != nil {
		w.Fatal(err)
	}
	p := &proxy{}
	p.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.Out.Header.Del("Accept-Encoding")
		},
		Transport: &http.Transport{DisableCompression: true},
		ErrorLog:  log.New(io.Discard, "", 0),
		ModifyResponse: func(res *http.Response) error {
			if res.Request.URL.Path == "/global/event" && cut != nil {
				res.Body = &cutter{body: res.Body, read: bufio.NewReader(res.Body), p: p, cut: cut}
			}
			if change != nil {
				return change(res)
			}
			return nil
		},
	})
	w.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	return p
}

// eventID is what differs when an event is sent again.
var eventID = regexp.MustCompile(`"id":"evt_\w+"|"time":\d+\}|(?m:^id:.*$)`)

// cutter passes whole events until one after which the connection is cut: every second time in the middle of the next.
type cutter struct {
	body io.Closer
	read *bufio.Reader
	p    *proxy
	cut  func(n int64) bool
	rest []byte
	err  error
}

func (c *cutter) Close() error { return c.body.Close() }

func (c *cutter) Read(b []byte) (int, error) {
	if len(c.rest) == 0 && c.err == nil {
		c.next()
	}
	if len(c.rest) == 0 {
		return 0, c.err
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *cutter) next() {
	for {
		line, err := c.read.ReadBytes('\n')
		c.rest = append(c.rest, line...)
		if err != nil {
			c.err = err
			return
		}
		if len(line) == 1 {
			break
		}
	}
	if !bytes.Contains(c.rest, []byte("data:")) || bytes.Contains(c.rest, []byte(`"server.`)) {
		return
	}
	if _, passed := c.p.passed.LoadOrStore(eventID.ReplaceAllString(string(c.rest), ""), true); passed || !c.cut(c.p.events.Add(1)) {
		return
	}
	c.err = io.EOF
	if c.p.cuts.Add(1)%2 == 0 {
		c.rest, c.err = c.rest[:len(c.rest)/2], io.ErrUnexpectedEOF
	}
}

// transcript is what a reader sees of a session.
const transcript = `[...document.querySelectorAll(".bar-title h1, .list, .ask, .working")].map(e => e.innerText).join("\n")`

// equal waits until this tab shows the same session as another.
func (w *world) equal(what string, to *world) {
	w.Helper()
	want := eval[string](to, transcript)
	quoted, _ := json.Marshal(want)
	ok := eval[bool](w, `new Promise(done => {
		const want = `+string(quoted)+`, end = performance.now() + 50000
		const look = () => { if (`+transcript+` === want) done(true); else if (performance.now() > end) done(false); else setTimeout(look, 50) }
		look()
	})`)
	if !ok {
		w.Errorf("%s shows\n%s\n\nwanted\n%s", what, eval[string](w, transcript), want)
	}
}

// turn is a turn with every kind of event: thoughts, texts, a list, a permission, output, a change.
const turn = `chunks 5
reasoning "The test will show what is wrong. I run it first."
text "I'll **run** the test first, and then look at how Make treats spaces."
call todowrite {"todos":[{"content":"See the test fail","status":"in_progress","priority":"high"},{"content":"Fix it","status":"pending","priority":"high"}]}
call bash {"command":"sh check.sh","description":"Run the tests"}
usage 1912 148
finish tool-calls
--
chunks 5
call edit {"filePath":"slug.go","oldString":"\treturn strings.ReplaceAll(strings.ToLower(title), \" \", \"-\")","newString":"\treturn strings.Join(strings.Fields(strings.ToLower(title)), \"-\")"}
usage 2602 124 cache-read=2310
finish tool-calls
--
chunks 8
text "The test passes now: Make joined **every** single space with a dash. The last word is here."
usage 2990 58 cache-read=2811
finish stop
`

// A page whose stream is cut shows the same as one whose stream is not. The tabs cut after different events, so that
// together they cut after each event of the turn: at its end, and in the middle of the next.
func TestDrop_AfterEveryEvent(t *testing.T) {
	const tabs = 5
	w := begin(t, turn)
	id := w.session("Fix the slug test")
	w.size(1280, 3000)
	w.see(id)
	var cut []*world
	var proxies []*proxy
	for i := range tabs {
		p := w.proxy(nil, func(n int64) bool { return n%tabs == int64(i) })
		o := w.other(false)
		o.url = p.URL
		o.size(1280, 3000)
		o.see(id)
		cut, proxies = append(cut, o), append(proxies, p)
	}
	w.send(id, "The test fails. Fix it.")
	for _, o := range append(cut, w) {
		o.wait(`document.querySelector(".ask")?.innerText.includes("sh check.sh")`)
	}
	w.allow()
	w.shows("The last word is here.")
	w.wait(`!document.querySelector(".working .spinner") && !document.querySelector(".ask")`)
	for i, o := range cut {
		o.equal("a tab that was cut", w)
		o.quiet()
		if n := proxies[i].cuts.Load(); n < 5 {
			t.Errorf("tab %d was cut %d times in %d events", i, n, proxies[i].events.Load())
		}
	}
	w.quiet()
}
