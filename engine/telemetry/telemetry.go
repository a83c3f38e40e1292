// Package telemetry counts requests, tool calls and turns for /metrics, and traces them if a
// tracer is given. Each costs a few additions; a delta costs nothing. Spans have a duration and
// a session, never any content.
package telemetry

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fairqueue"
	"github.com/lathe-agent/lathe/internal/metric"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/model"
)

// Recorder counts and traces. Its zero value counts only. It is safe for use by many goroutines.
type Recorder struct {
	Tracer *otlp.Tracer // nil traces nothing

	turns   metric.Histogram // how long they took
	running atomic.Int64     // running turns
	retries atomic.Int64
	breaks  atomic.Int64 // of the cached prefix

	mu     sync.Mutex // guards the maps; what is in them is never taken out
	models map[lathe.ModelRef]*modelMeter
	tools  map[string]*toolMeter
}

// modelMeter counts the requests to one model.
type modelMeter struct {
	done, failed                         atomic.Int64
	input, output, thought, read, writes atomic.Int64 // tokens
	cost                                 atomic.Int64 // picodollars
	first, whole                         metric.Histogram
}

// toolMeter counts the calls of one tool.
type toolMeter struct {
	failed atomic.Int64
	took   metric.Histogram
}

// maxNames limits the models and tools that get their own metrics, because names come from outside.
const maxNames = 200

// model is the meter of a model; those beyond the bound share one.
func (m *Recorder) model(ref lathe.ModelRef) *modelMeter {
	m.mu.Lock()
	defer m.mu.Unlock()
	ref.Variant = ""
	return meterOf(&m.models, ref, lathe.ModelRef{Provider: "other", Model: "other"})
}

func (m *Recorder) tool(name string) *toolMeter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return meterOf(&m.tools, name, "other")
}

func meterOf[K comparable, M any](all *map[K]*M, key, other K) *M {
	if *all == nil {
		*all = map[K]*M{}
	}
	if (*all)[key] == nil && len(*all) >= maxNames {
		key = other
	}
	if (*all)[key] == nil {
		(*all)[key] = new(M)
	}
	return (*all)[key]
}

// PrefixBreak counts a change for which all that a provider has cached is lost, and returns how many there were.
func (m *Recorder) PrefixBreak() int64 { return m.breaks.Add(1) }

// Retry counts a request that failed and is made again.
func (m *Recorder) Retry() { m.retries.Add(1) }

// Spend counts the usage of a request.
func (m *Recorder) Spend(ref lathe.ModelRef, t lathe.Tokens, cost lathe.Money) {
	m.model(ref).spend(t, cost)
}

func (m *modelMeter) spend(t lathe.Tokens, cost lathe.Money) {
	m.input.Add(t.Input)
	m.output.Add(t.Output)
	m.thought.Add(t.Reasoning)
	m.read.Add(t.Cache.Read)
	m.writes.Add(t.Cache.Write)
	m.cost.Add(int64(cost))
}

// metered is a model whose requests are counted.
type metered struct {
	model.Model
	meter *modelMeter
}

// Stream passes on what the model says, and looks at the clock twice.
func (m metered) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		began, first := time.Now(), true
		for ev, err := range m.Model.Stream(ctx, r) {
			if first && err == nil {
				first = false
				m.meter.first.Observe(time.Since(began))
			}
			if err != nil {
				m.meter.failed.Add(1)
				yield(ev, err)
				return
			}
			if !yield(ev, nil) {
				return
			}
		}
		m.meter.done.Add(1)
		m.meter.whole.Observe(time.Since(began))
	}
}

// Measure writes all counts since the engine was opened, and the running work.
func (m *Recorder) Measure(p *metric.Page, requests *fairqueue.Queue) {
	running, waiting := requests.Counts()
	p.Gauge("lathe_turns_running", "Running turns.", float64(m.running.Load()))
	p.Histogram("lathe_turn_duration_seconds", "How long turns took, from the first word until the session rests.", &m.turns)
	p.Gauge("lathe_requests_running", "Running model requests.", float64(running))
	p.Gauge("lathe_requests_waiting", "Requests that wait for a place.", float64(waiting))
	p.Histogram("lathe_request_queue_seconds", "How long requests waited for a place.", &requests.Waited)
	p.Counter("lathe_request_retries_total", "Requests that failed and were made again after a pause.", float64(m.retries.Load()))
	m.measureModels(p)
	m.measureTools(p)
}

// measureModels adds the counters of model requests, by provider and model.
func (m *Recorder) measureModels(p *metric.Page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	refs := slices.SortedFunc(maps.Keys(m.models), func(a, b lathe.ModelRef) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
	})
	each := func(write func(one *modelMeter, labels ...string)) {
		for _, ref := range refs {
			write(m.models[ref], "provider", ref.Provider, "model", ref.Model)
		}
	}
	each(func(one *modelMeter, labels ...string) {
		const name, help = "lathe_requests_total", "Requests to models that came to an end."
		p.Counter(name, help, float64(one.done.Load()), append(labels, "outcome", "answered")...)
		p.Counter(name, help, float64(one.failed.Load()), append(labels, "outcome", "failed")...)
	})
	each(func(one *modelMeter, labels ...string) {
		const name, help = "lathe_tokens_total", "Tokens that models counted."
		p.Counter(name, help, float64(one.input.Load()), append(labels, "kind", "input")...)
		p.Counter(name, help, float64(one.output.Load()), append(labels, "kind", "output")...)
		p.Counter(name, help, float64(one.thought.Load()), append(labels, "kind", "reasoning")...)
		p.Counter(name, help, float64(one.read.Load()), append(labels, "kind", "cache_read")...)
		p.Counter(name, help, float64(one.writes.Load()), append(labels, "kind", "cache_write")...)
	})
	each(func(one *modelMeter, labels ...string) {
		p.Counter("lathe_cost_dollars_total", "Cost of requests at catalog prices.", float64(one.cost.Load())/1e12, labels...)
	})
	each(func(one *modelMeter, labels ...string) {
		p.Histogram("lathe_request_first_seconds", "From sending a request to the first word of its answer.", &one.first, labels...)
	})
	each(func(one *modelMeter, labels ...string) {
		p.Histogram("lathe_request_duration_seconds", "From sending a request to the end of its answer.", &one.whole, labels...)
	})
}

func (m *Recorder) measureTools(p *metric.Page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.tools))
	for _, name := range names {
		p.Counter("lathe_tool_failures_total", "Tool calls that failed or were refused.", float64(m.tools[name].failed.Load()), "tool", name)
	}
	for _, name := range names {
		p.Histogram("lathe_tool_duration_seconds", "How long tool calls took, waiting for a permission included.", &m.tools[name].took, "tool", name)
	}
}
