package harness_test

import (
	"context"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/metric"
)

// startBucket starts an S3 server with the bucket "values".
func startBucket(t *testing.T) (url string, count func() int) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("values"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(s.Close)
	return s.URL, func() int {
		list, err := backend.ListBucket("values", nil, gofakes3.ListBucketPage{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Contents)
	}
}

func startNATS(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the NATS server did not start")
	}
	return s.ClientURL()
}

// withEnv is the host with more variables.
func (w *hooked) withEnv(more map[string]string) *harness.Host {
	host, env := *w.host, w.host.Env
	host.Env = func(name string) string {
		if v, ok := more[name]; ok {
			return v
		}
		return env(name)
	}
	return &host
}

// A turn on one node is read on another as the model speaks, and its large values come from the bucket.
func TestShared_TwoNodes(t *testing.T) {
	w := newHooked(t, "-- SCRIPT --\ndrip 4 10ms\ntext \""+strings.Repeat("Words of the model. ", 20)+"\"\nfinish stop\n")
	endpoint, values := startBucket(t)
	host := w.withEnv(map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_ENDPOINT_URL_S3": endpoint})
	o := harness.Options{HasClients: true, Shared: harness.Shared{Bus: startNATS(t), Blobs: "s3://values/lathe"}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var nodes []*harness.Harness
	for range 2 {
		h, err := harness.Open(ctx, host, o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}()
		nodes = append(nodes, h)
	}
	one, two := nodes[0].Engine, nodes[1].Engine
	s, err := one.Create(ctx, w.project, lathe.NewSession{Title: "Nodes"})
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("large ", 20_000)
	seen, text := lathe.NewTranscript(s, nil), ""
	for ev, err := range two.Events(ctx, lathe.Scope{Session: s.ID}, lathe.Some(lathe.Cursor{})) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.Fact.(*lathe.ServerConnected); ok {
			p := lathe.Prompt{Parts: []lathe.Part{{Body: &lathe.Text{Text: large}}}}
			if _, err := one.Submit(ctx, s.ID, p); err != nil {
				t.Fatal(err)
			}
		}
		seen.Apply(ev)
		if all := seen.Messages(); len(all) == 2 {
			for _, p := range all[1].Parts {
				if b, ok := p.Body.(*lathe.Text); ok && !p.Open() {
					text = b.Text
				}
			}
		}
		if f, ok := ev.Fact.(*lathe.StatusChanged); ok && f.Status.Type == lathe.Idle && text != "" {
			break
		}
	}
	if !strings.HasPrefix(text, "Words of the model. Words") {
		t.Errorf("the other node read %q", text)
	}
	if values() != 1 {
		t.Errorf("the bucket has %d values", values())
	}
	if got := seen.Messages()[0].Parts[0].GrowingText(); got != large {
		t.Errorf("the other node read a prompt of %d bytes", len(got))
	}
	var page metric.Page
	two.Measure(&page)
	if m := regexp.MustCompile(`(?m)^lathe_bus_deltas_applied_total [1-9]`).Find(page.Bytes()); m == nil {
		t.Errorf("no delta came over the bus:\n%s", page.Bytes())
	}
}

// What is wrong is said before the server starts, without secrets.
func TestShared_Refuses(t *testing.T) {
	w := newHooked(t, "")
	endpoint, _ := startBucket(t)
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s3cret", "AWS_ENDPOINT_URL_S3": endpoint}
	for _, c := range []struct {
		env    map[string]string
		shared harness.Shared
		says   string
	}{
		{nil, harness.Shared{Bus: "http://user:s3cret@h"}, "--bus: want nats://"},
		{nil, harness.Shared{Blobs: "s3://values"}, "no AWS credentials: set AWS_ACCESS_KEY_ID"},
		{keys, harness.Shared{Blobs: "values"}, "--blobs: want s3://"},
		{keys, harness.Shared{Blobs: "s3://missing/x"}, `bucket "missing" not found`},
	} {
		h, err := harness.Open(t.Context(), w.withEnv(c.env), harness.Options{Shared: c.shared})
		if err == nil {
			t.Errorf("%+v: no error", c.shared)
			_ = h.Close()
			continue
		}
		if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%+v: %v", c.shared, err)
		}
	}
}
