package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// Shape is how much to generate.
type Shape struct {
	Sessions        int
	Messages        int // in each session
	PartsPerMessage int
	PartBytes       int // of a part's JSON, on average over its message
}

// Generated counts the generated rows and bytes.
type Generated struct {
	Sessions []lathe.SessionID
	Parts    int
	JSON     int64 // bytes of all messages and parts as an export has them
}

// Generate fills a store with sessions as people have them: prompts with files, answers
// that begin a step, think, call tools, say something and end the step. The same shape
// gives the same content in every store. A store may be filled only once.
func Generate(ctx context.Context, s *store.Store, shape Shape) (Generated, error) {
	g := NewGenerator(shape)
	var made Generated
	for range shape.Sessions {
		rec := g.Session()
		made.Sessions = append(made.Sessions, rec.ID)
		if err := g.fill(ctx, s, rec, &made); err != nil {
			return made, fmt.Errorf("generate session %s: %w", rec.ID, err)
		}
	}
	return made, nil
}

// generateBatch is how many facts share a commit.
const generateBatch = 500

func (g *Generator) fill(ctx context.Context, s *store.Store, rec lathe.Session, made *Generated) error {
	if err := s.Create(ctx, rec); err != nil {
		return err
	}
	l, err := s.Acquire(ctx, rec.ID)
	if err != nil {
		return err
	}
	var facts []lathe.Fact
	var buf []byte
	for i := range g.shape.Messages {
		m := g.Message(rec.ID)
		buf = m.AppendJSON(buf[:0])
		made.JSON += int64(len(buf))
		made.Parts += len(m.Parts)
		facts = append(facts, wrote(m)...)
		if len(facts) >= generateBatch || i == g.shape.Messages-1 {
			if _, err := s.Commit(ctx, l, facts...); err != nil {
				return err
			}
			facts = facts[:0]
		}
	}
	return s.Release(ctx, l)
}

// Generator makes records without storing them. It is for one goroutine.
type Generator struct {
	shape Shape
	ids   *lathe.IDs
	rand  *rand.Rand
	now   lathe.Time
	asked lathe.MessageID // the prompt that waits for its answer, "" after it
}

// NewGenerator returns a new generator. Two generators of one shape make the same records.
func NewGenerator(shape Shape) *Generator {
	g := &Generator{shape: shape, rand: rand.New(rand.NewPCG(1, 2)), now: 1700000000000}
	g.ids = lathe.NewIDsFrom(func() lathe.Time { return g.now }, func(b []byte) {
		for i := range b {
			b[i] = byte(g.rand.Uint32())
		}
	})
	return g
}

// Session makes the record of a session.
func (g *Generator) Session() lathe.Session {
	g.now += 60_000
	g.asked = ""
	return lathe.Session{
		ID: g.ids.Session(), Slug: "calm-lathe", Project: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", Directory: "/home/u/app",
		Title: g.words(40), Version: "0.1.0", Created: g.now, Updated: g.now,
	}
}

// Message makes the next message of a session: a prompt and its answer by turns.
func (g *Generator) Message(session lathe.SessionID) lathe.Message {
	g.now += lathe.Time(1 + g.rand.IntN(5000))
	m := lathe.Message{ID: g.ids.Message(), Session: session, Created: g.now}
	model := lathe.ModelRef{Provider: "acme", Model: "m-1-large-20260101"}
	if g.asked == "" {
		m.Data = &lathe.User{Agent: "build", Model: model}
		g.asked = m.ID
	} else {
		m.Data = &lathe.Assistant{
			Parent: g.asked, Model: model, Agent: "build", Mode: "build", Path: lathe.Paths{Cwd: "/home/u/app", Root: "/home/u/app"},
			Completed: g.now + 900, Cost: lathe.Dollars(0.0125), Tokens: g.tokens(), Finish: "tool-calls",
		}
		g.asked = ""
	}
	bytes := g.shape.PartBytes * g.shape.PartsPerMessage
	for left := g.shape.PartsPerMessage; left > 0; left-- {
		p := g.Part(m, len(m.Parts), bytes/left)
		bytes -= len(p.AppendJSON(nil))
		m.Parts = append(m.Parts, p)
	}
	return m
}

// Part makes the n-th part of a message, of about so many bytes of JSON if it can be.
func (g *Generator) Part(m lathe.Message, n, bytes int) lathe.Part {
	p := lathe.Part{ID: g.ids.Part(), Session: m.Session, Message: m.ID}
	last := n == g.shape.PartsPerMessage-1
	switch {
	case m.Data.Role() == "user" && n%2 == 1:
		p.Body = &lathe.File{Mime: "text/plain", Filename: g.words(12), Source: &lathe.FileSource{Type: "file", Path: "a.go"}}
		p.Body.(*lathe.File).URL = "data:text/plain," + g.fill64(p, bytes-16)
	case m.Data.Role() == "user":
		p.Body = &lathe.Text{Synthetic: lathe.FlagOf(n > 0)}
		p.Body.(*lathe.Text).Text = g.filling(p, bytes)
	case n == 0:
		p.Body = &lathe.StepStart{Snapshot: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}
	case last:
		p.Body = &lathe.StepFinish{
			Reason: "tool-calls", Snapshot: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", Cost: lathe.Dollars(0.0125), Tokens: g.tokens(),
		}
	case n == 1:
		p.Body = &lathe.Reasoning{Time: g.span(), Metadata: json.RawMessage(`{"acme":{"signature":"` + strings.Repeat("c2ln", 10) + `"}}`)}
		p.Body.(*lathe.Reasoning).Text = g.filling(p, bytes)
	case n%2 == 0:
		p.Body = g.call(p, bytes)
	default:
		span := g.span()
		p.Body = &lathe.Text{Time: &span}
		p.Body.(*lathe.Text).Text = g.filling(p, bytes)
	}
	return p
}

// call makes a call that has ended. Its body is put into a part of so many bytes.
func (g *Generator) call(p lathe.Part, bytes int) *lathe.ToolCall {
	span := g.span()
	done := &lathe.Completed{
		Input: json.RawMessage(`{"filePath":"/home/u/app/internal/store/writer.go","offset":120,"limit":80}`),
		Title: "internal/store/writer.go", Metadata: json.RawMessage(`{"preview":"package store","truncated":false}`), Start: span.Start, End: span.End,
	}
	call := &lathe.ToolCall{CallID: "toolu_" + string(p.ID[4:]), Tool: "read", State: done}
	p.Body = call
	done.Output = g.filling(p, bytes)
	return call
}

func (g *Generator) span() lathe.Span { return lathe.Span{Start: g.now, End: g.now + 350} }

func (g *Generator) tokens() lathe.Tokens {
	return lathe.Tokens{Input: 900, Output: 240, Reasoning: 60, Cache: lathe.CacheTokens{Read: 41000, Write: 1200}}
}

// filling is text that makes the part as long as it is wished.
func (g *Generator) filling(p lathe.Part, bytes int) string {
	return g.words(bytes - len(p.AppendJSON(nil)))
}

// fill64 is the same for an attachment.
func (g *Generator) fill64(p lathe.Part, bytes int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	out := make([]byte, max(0, bytes-len(p.AppendJSON(nil))))
	for i := range out {
		out[i] = digits[g.rand.Uint32()%64]
	}
	return string(out)
}

// words is so many bytes of text.
func (g *Generator) words(bytes int) string {
	list := [...]string{
		"the", "store", "writes", "a", "fact", "and", "tells", "everyone", "who", "listens", "then", "reads", "it", "back",
		"func", "return", "err", "nil", "if", "for", "range", "package", "commit", "part", "message", "session",
	}
	var b strings.Builder
	b.Grow(max(bytes, 0) + 16)
	for b.Len() < bytes {
		b.WriteString(list[g.rand.IntN(len(list))])
		b.WriteByte(' ')
	}
	return b.String()[:max(bytes, 0)]
}
