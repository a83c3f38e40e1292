package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server"
)

// cursor is the id of the last of these frames that has one.
func cursor(all []frame) (id string) {
	for _, f := range all {
		if f.id != "" {
			id = f.id
		}
	}
	return id
}

// reopen ends server and engine, and starts both again on the same database.
func (w *fixture) reopen() {
	w.Helper()
	w.server.Close()
	w.ok(w.engine.Close())
	w.open()
}

func TestStream_ResumesAcrossARestart(t *testing.T) {
	w := begin(t, `text "one"
finish stop
--
text "two"
finish stop`)
	s := w.session()
	l := w.listen("/event")
	w.say(s, "first")
	seen := l.until("session.idle")
	at := cursor(seen)
	w.say(s, "second")
	w.reopen()
	for _, how := range [][]string{{"/event", "Last-Event-ID", at}, {"/event?after=" + at}, {"/global/event?after=" + at}, {"/event?after=0", "Last-Event-ID", at}} {
		l := w.listen(how[0], how[1:]...)
		if first := l.next(); first.Fact.Type() != "server.connected" {
			t.Fatalf("%v begins with %s", how, first.data)
		}
		t1 := lathe.NewTranscript(s, nil)
		for {
			f := l.next()
			t1.Apply(f.Event)
			if f.id != "" { // the end of what was missed
				break
			}
		}
		all := t1.Messages()
		if len(all) != 2 || textOf(all[1]) != "two" { // only what changed since
			t.Errorf("%v: %d messages: %s", how, len(all), messagesText(all))
		}
	}
}

func messagesText(all []lathe.Message) (out string) {
	for _, m := range all {
		out += m.Data.Role() + ":" + textOf(m) + " "
	}
	return out
}

func TestStream_SaysWhenItCannotResume(t *testing.T) {
	w := begin(t, "")
	w.session()
	for _, after := range []string{"1.another", "99999999", "99999999." + w.engine.Feed()} {
		l := w.listen("/event?after=" + after)
		if f := l.next(); f.Fact.Type() != "server.connected" || f.id != "" {
			t.Errorf("%s begins with %s, id %q", after, f.data, f.id)
		}
		if f := l.next(); f.Fact.Type() != "server.resync" || !strings.HasSuffix(f.id, "."+w.engine.Feed()) {
			t.Errorf("%s goes on with %s, id %q", after, f.data, f.id)
		}
	}
	for _, after := range []string{"x", "-1", "1e3", "%00"} {
		w.want(http.StatusBadRequest, nil, "GET", "/event?after="+after, "")
	}
}

func TestStream_JoinsInMidSentence(t *testing.T) {
	w := begin(t, `text "Once " "upon "
pause 300ms
text "a " "time."
finish stop`)
	s := w.session()
	early := w.listen("/event")
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", prompt("tell"))
	early.until("message.part.delta")
	late := w.listen("/event?offsets=true")
	text, joined := "", false
	for _, f := range late.until("session.idle") {
		switch fact := f.Fact.(type) {
		case *lathe.PartChanged:
			if b, ok := fact.Part.Body.(*lathe.Text); ok {
				text, joined = b.Text, joined || strings.HasPrefix(b.Text, "Once")
			}
		case *lathe.PartDelta:
			if !strings.Contains(f.data, fmt.Sprintf(`"offset":%d`, len(text))) {
				t.Errorf("after %q came %s", text, f.data)
			}
			text += fact.Delta
		default:
		}
	}
	if text != "Once upon a time." || !joined {
		t.Errorf("heard %q", text)
	}
	for _, f := range early.until("session.idle") {
		if strings.Contains(f.data, `"offset"`) {
			t.Errorf("nobody asked for the offset in %s", f.data)
		}
	}
}

func TestStream_Heartbeat(t *testing.T) {
	w := begin(t, "", func(o *server.Options) { o.Heartbeat = 20 * time.Millisecond })
	one, all := w.listen("/event"), w.listen("/global/event")
	for range 3 {
		if f := one.until("server.heartbeat"); f[len(f)-1].id != "" || !strings.HasSuffix(f[len(f)-1].data, `"type":"server.heartbeat","properties":{}}`) {
			t.Errorf("got %q %s", f[len(f)-1].id, f[len(f)-1].data)
		}
	}
	if f := all.until("server.heartbeat"); !strings.HasPrefix(f[len(f)-1].data, `{"payload":`) {
		t.Errorf("got %s", f[len(f)-1].data)
	}
}

func TestStream_OneDirectoryOnly(t *testing.T) {
	w := begin(t, "")
	w.write("a/x", "")
	w.write("b/x", "")
	l := w.listen("/event?directory=" + w.dir + "/a")
	w.want(http.StatusOK, nil, "POST", "/session?directory="+w.dir+"/b", "")
	var mine lathe.Session
	w.want(http.StatusOK, &mine, "POST", "/session?directory="+w.dir+"/a", "")
	all := l.until("session.created")
	if got := all[len(all)-1].Fact.(*lathe.SessionCreated).Info.ID; got != mine.ID {
		t.Errorf("heard of %s", got)
	}
	global := w.listen("/global/event")
	w.want(http.StatusOK, nil, "POST", "/instance/dispose?directory="+w.dir+"/a", "").is(w, "true")
	l.until("server.instance.disposed")
	for f := range l.frames {
		t.Errorf("after its end came %s", f.data)
	}
	global.until("server.instance.disposed")
	w.want(http.StatusOK, nil, "POST", "/global/dispose", "")
	global.until("global.disposed")
}

// TestStream_SlowReaderIsHealed lets a client sleep while much more is said than its queue and
// its socket hold; on the same connection it then learns how everything ended.
func TestStream_SlowReaderIsHealed(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	w.ok(err)
	defer c.Close()
	w.ok(c.(*net.TCPConn).SetReadBuffer(64 << 10))
	_, err = io.WriteString(c, "GET /event HTTP/1.1\r\nHost: localhost\r\n\r\n")
	w.ok(err)
	head := make([]byte, 16)
	_, err = io.ReadFull(c, head)
	w.ok(err)
	big := strings.Repeat("x", 1<<20)
	began := time.Now()
	for i := range 11 {
		w.want(http.StatusOK, nil, "POST", "/session/"+string(s.ID)+"/message", strings.Replace(prompt(fmt.Sprint(i)+big), "{", `{"noReply":true,`, 1))
	}
	t.Logf("11 MB of prompts beside a reader that sleeps: %v", time.Since(began))
	w.want(http.StatusOK, nil, "PATCH", "/session/"+string(s.ID), `{"title":"the end"}`)
	w.ok(c.SetReadDeadline(time.Now().Add(25 * time.Second)))
	seen, window := 0, ""
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		if err != nil {
			t.Fatalf("after %d bytes: %v", seen, err)
		}
		seen += n
		window += string(buf[:n])
		if strings.Contains(window, `"title":"the end"`) {
			return
		}
		if len(window) > 1<<20 {
			window = window[len(window)-(128<<10):]
		}
	}
}

func TestStream_ClientsComeAndGo(t *testing.T) {
	w := begin(t, "", func(o *server.Options) { o.Heartbeat = time.Millisecond })
	for range 20 {
		l := w.listen("/global/event")
		l.next()
		l.stop()
		for range l.frames {
		}
	}
	w.want(http.StatusOK, nil, "GET", "/global/health", "").is(w, `{"healthy":true,"version":"1.2.3"}`)
}

func TestStream_HasTheHeadersOfTheReference(t *testing.T) {
	w := begin(t, "")
	l := w.listen("/event", "Accept-Encoding", "gzip")
	got, _ := json.Marshal(map[string]string{
		"type": l.res.Header.Get("Content-Type"), "cache": l.res.Header.Get("Cache-Control"), "buffer": l.res.Header.Get("X-Accel-Buffering"),
		"sniff": l.res.Header.Get("X-Content-Type-Options"), "encoding": l.res.Header.Get("Content-Encoding"),
	})
	if want := `{"buffer":"no","cache":"no-cache, no-transform","encoding":"","sniff":"nosniff","type":"text/event-stream"}`; string(got) != want {
		t.Errorf("headers %s", got)
	}
	if f := l.next(); !strings.HasPrefix(f.data, `{"id":"evt_`) || !strings.HasSuffix(f.data, `","type":"server.connected","properties":{}}`) {
		t.Errorf("the first is %s", f.data)
	}
}
