package telemetry

import (
	"context"
	"iter"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/model"
)

// failureOf is the error of a span: its code.
func failureOf(err error) string { return string(lathe.CodeOf(err)) }

// Turn counts and traces a turn until end is called. The trace is that of the prompt: a turn that another process
// continues belongs to the same one.
func (m *Recorder) Turn(ctx context.Context, id lathe.SessionID, prompt func() lathe.MessageID) (_ context.Context, end func(error)) {
	began := time.Now()
	m.running.Add(1)
	if m.Tracer != nil {
		if p := prompt(); p != "" {
			ctx = otlp.WithTrace(ctx, string(p))
		}
	}
	ctx, endSpan := m.start(ctx, "turn", sessionAttr(id))
	return ctx, func(err error) {
		endSpan(err)
		m.running.Add(-1)
		m.turns.Observe(time.Since(began))
	}
}

// Step traces a step until end is called.
func (m *Recorder) Step(ctx context.Context, id lathe.SessionID) (_ context.Context, end func(error)) {
	return m.start(ctx, "step", sessionAttr(id))
}

// Tool counts and traces a tool call until end is called.
func (m *Recorder) Tool(ctx context.Context, name string, id lathe.SessionID, call string) (_ context.Context, end func(error)) {
	began := time.Now()
	ctx, endSpan := m.start(ctx, "tool "+name, sessionAttr(id), otlp.Attr{Name: "gen_ai.tool.call.id", Text: call})
	return ctx, func(err error) {
		t := m.tool(name)
		t.took.Observe(time.Since(began))
		if err != nil {
			t.failed.Add(1)
		}
		endSpan(err)
	}
}

func (m *Recorder) start(ctx context.Context, name string, attrs ...otlp.Attr) (_ context.Context, end func(error)) {
	if m.Tracer == nil {
		return ctx, func(error) {}
	}
	ctx, span := m.Tracer.Start(ctx, otlp.Internal, name, attrs...)
	return ctx, func(err error) { span.End(failureOf(err)) }
}

func sessionAttr(id lathe.SessionID) otlp.Attr {
	return otlp.Attr{Name: "lathe.session", Text: string(id)}
}

// traced is a model whose requests are spans.
type traced struct {
	model.Model
	tracer *otlp.Tracer
	ref    lathe.ModelRef
}

// Stream passes on what the model says.
func (t traced) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		ctx, span := t.tracer.Start(ctx, otlp.Client, "chat "+t.ref.Model,
			otlp.Attr{Name: "gen_ai.operation.name", Text: "chat"}, otlp.Attr{Name: "gen_ai.system", Text: t.ref.Provider}, otlp.Attr{Name: "gen_ai.request.model", Text: t.ref.Model})
		failure := ""
		defer func() { span.End(failure) }()
		for ev, err := range t.Model.Stream(ctx, r) {
			if used, ok := ev.(model.UsageUpdate); ok {
				count := used.Usage
				span.Set(otlp.Attr{Name: "gen_ai.usage.input_tokens", Int: count.Input}, otlp.Attr{Name: "gen_ai.usage.output_tokens", Int: count.Output})
			}
			failure = failureOf(err)
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Client is a model whose requests are counted, and traced where there is a tracer.
func (m *Recorder) Client(client model.Model, ref lathe.ModelRef) model.Model {
	if m.Tracer != nil {
		client = traced{client, m.Tracer, ref}
	}
	return metered{client, m.model(ref)}
}
