package engine

import (
	"context"
	"iter"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/otlp"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
)

// Spans say how long something took and of which session it was; what was said is never in them.

// failureOf is what a span is told of an error: whose matter it is.
func failureOf(err error) string { return string(lathe.CodeOf(err)) }

func (e *Engine) traceTurn(ctx context.Context, id lathe.SessionID) (context.Context, *otlp.Span) {
	if e.tracer == nil {
		return ctx, nil
	}
	return e.tracer.Start(ctx, otlp.Internal, "turn", otlp.Attr{Name: "lathe.session", Text: string(id)})
}

func (e *Engine) traceStep(ctx context.Context, id lathe.SessionID) (context.Context, *otlp.Span) {
	if e.tracer == nil {
		return ctx, nil
	}
	return e.tracer.Start(ctx, otlp.Internal, "step", otlp.Attr{Name: "lathe.session", Text: string(id)})
}

func (e *Engine) traceTool(ctx context.Context, c *tool.Call, name string) (context.Context, *otlp.Span) {
	if e.tracer == nil {
		return ctx, nil
	}
	return e.tracer.Start(ctx, otlp.Internal, "tool "+name,
		otlp.Attr{Name: "lathe.session", Text: string(c.Session)}, otlp.Attr{Name: "gen_ai.tool.call.id", Text: c.ID})
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
			if used, ok := ev.(model.Used); ok {
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

// metered is the client of a model whose requests are counted, and traced if anyone wants that.
func (e *Engine) metered(m *Model) model.Model {
	var client model.Model = model.Bounded{Model: m.Client, Output: m.Longest}
	if e.tracer != nil {
		client = traced{client, e.tracer, m.Ref}
	}
	return metered{client, e.meters.model(m.Ref)}
}
