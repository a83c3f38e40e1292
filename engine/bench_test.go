//go:build unix

package engine_test

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/gittest"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/anthropic"
	"github.com/lathe-agent/lathe/model/gemini"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/openai"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// The numbers the engine must reach; scripts/bench shows them beside their limits. The provider
// is another process (bench_provider_test.go), so that what is measured here is the engine
// alone, and the floor is a relay that does nothing but hand on (bench_relay_test.go).

// bench is an engine with a provider. It is its own Environment: the model that a prompt names is
// the path that the provider is asked at.
type bench struct {
	testing.TB
	*engine.Engine
	url    string
	client *http.Client
	dir    string
	now    func() lathe.Time
	disk   *disk
	set    *engine.StepSettings

	mu      sync.Mutex // guards what follows
	clients map[lathe.ModelRef]*engine.Model
}

func newBench(tb testing.TB, url string, client *http.Client, tools ...tool.Tool) *bench {
	tb.Helper()
	b := &bench{TB: tb, url: url, client: client, dir: gittest.RealTemp(tb), now: lathe.Now, clients: map[lathe.ModelRef]*engine.Model{}}
	allow := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Allow}}
	b.set = &engine.StepSettings{
		Agents: []engine.Agent{{Agent: lathe.Agent{Name: "build", Mode: lathe.Primary, Rules: allow}}},
		Tools:  tool.NewSet(tools...),
	}
	b.open(tb.TempDir())
	return b
}

// open opens an engine on a folder.
func (b *bench) open(data string) {
	b.Helper()
	d, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(data, "lathe.db")})
	b.ok(err)
	b.disk = &disk{Driver: d}
	b.Engine, err = engine.Open(context.Background(), engine.Options{
		Driver: b.disk, Blobs: filepath.Join(data, "blobs"), Now: func() lathe.Time { return b.now() }, Environment: b,
	})
	b.ok(err)
	e := b.Engine
	b.Cleanup(func() { b.ok(e.Close()) })
}

// disk notes how long the syncs take that a prompt waits for: they are the disk's time and
// not the engine's.
type disk struct {
	store.Driver
	synced atomic.Int64 // nanoseconds so far
}

func (d *disk) Begin(ctx context.Context, durable bool) (store.Tx, error) {
	tx, err := d.Driver.Begin(ctx, durable)
	if err == nil && durable {
		tx = syncedTx{tx, d}
	}
	return tx, err
}

type syncedTx struct {
	store.Tx
	disk *disk
}

func (t syncedTx) Commit() error {
	begin := time.Now()
	defer func() { t.disk.synced.Add(int64(time.Since(begin))) }()
	return t.Tx.Commit()
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) Settings(context.Context, workspace.Place) (*engine.StepSettings, error) {
	return b.set, nil
}

// Model keeps its clients, as the program does: they keep the bytes of messages.
func (b *bench) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.clients[ref]; m != nil {
		return m, nil
	}
	at := model.Endpoint{Provider: ref.Provider, BaseURL: b.url + ref.Model, Client: b.client}
	m := &engine.Model{Ref: ref, Name: "m", Context: 1_000_000, Output: 8000, Target: model.Target{Provider: ref.Provider, Model: ref.Model}}
	ids := lathe.NewIDs()
	switch modeltest.Protocol(ref.Provider) {
	case modeltest.Chat:
		m.Client = openai.NewChat(at, ids, openai.Dialect{})
	case modeltest.Responses:
		m.Client = openai.NewResponses(at, ids, openai.Dialect{})
	case modeltest.Gemini:
		m.Client = gemini.New(at, ids)
	default:
		m.Client = anthropic.New(at, ids)
	}
	b.clients[ref] = m
	return m, nil
}

// session makes one that has a title, so that nothing is asked beside.
func (b *bench) session() lathe.SessionID {
	b.Helper()
	rec, err := b.Create(context.Background(), b.dir, lathe.NewSession{Title: "A benchmark"})
	b.ok(err)
	return rec.ID
}

// anthropicAt is the provider of bench_provider_test.go, asked for an answer.
func anthropicAt(path string) *lathe.ModelRef {
	return &lathe.ModelRef{Provider: string(modeltest.Anthropic), Model: path}
}

// say sends a prompt and waits for the end of the turn.
func (b *bench) say(id lathe.SessionID, to *lathe.ModelRef) lathe.Message {
	b.Helper()
	m, err := b.Prompt(context.Background(), id, prompted(to))
	b.ok(err)
	if a := m.Data.(*lathe.Assistant); a.Error != nil {
		b.Fatalf("the answer failed: %+v", a.Error)
	}
	return m
}

func prompted(to *lathe.ModelRef) lathe.Prompt {
	return lathe.Prompt{Model: to, Parts: []lathe.Part{{Body: &lathe.Text{Text: "Go on."}}}}
}

// processor is the time this process has had of the processors.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it fails for no caller of its own process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// spent is the processor time that f takes.
func spent(f func()) time.Duration {
	before := processor()
	f()
	return processor() - before
}

func median[T ~int64 | ~float64](values []T) T {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
