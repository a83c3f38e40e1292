package tui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
	"github.com/lathe-agent/lathe/tui/style"
)

// benchParts is how long the session is that is drawn.
const benchParts = 10_000

// streaming is a program that shows a long session at its end, and an answer that grows in it.
type streaming struct {
	p      *program
	answer lathe.Message
	part   lathe.Part
	said   int // UTF-16 units
	word   int
	cells  uv.ScreenBuffer
	out    *uv.TerminalRenderer
}

func newStreaming(tb testing.TB) *streaming {
	tb.Helper()
	x := lathetest.Long(benchParts)
	p := newProgram(tb.Context(), Options{Dir: x.Info.Directory, Look: Look{Mouse: true}})
	p.state.Track(x.Info.ID)
	p.state.SetTranscript(x.Info, lathe.Page{Messages: x.Messages}, nil, nil)
	p.state.Current = x.Info.ID
	p.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	ids := lathe.NewIDs()
	s := &streaming{p: p, cells: uv.NewScreenBuffer(120, 40), out: uv.NewTerminalRenderer(io.Discard, []string{"TERM=xterm-256color", "COLORTERM=truecolor"})}
	s.out.SetFullscreen(true)
	s.out.SetScrollOptim(true)
	s.answer = lathe.Message{ID: ids.Message(), Session: x.Info.ID, Created: x.Info.Updated + 100_000, Data: &lathe.Assistant{
		Parent: x.Messages[len(x.Messages)-2].ID, Agent: "build", Model: lathetest.Model(),
	}}
	s.part = lathe.Part{ID: ids.Part(), Session: x.Info.ID, Message: s.answer.ID, Body: &lathe.Text{Time: &lathe.Span{Start: s.answer.Created}}}
	s.tell(
		&lathe.StatusChanged{Session: x.Info.ID, Status: lathe.Status{Type: lathe.Busy}},
		&lathe.MessageChanged{Info: s.answer}, &lathe.PartChanged{Part: s.part},
	)
	return s
}

// draw makes a frame and what is written for it to a terminal, as the terminal library does.
func (s *streaming) draw() {
	v := s.p.View()
	s.cells.Clear()
	uv.NewStyledString(v.Content).Draw(s.cells, s.cells.Bounds())
	s.out.Render(s.cells.RenderBuffer)
	_ = s.out.Flush() // nobody reads it
}

// tell gives the program a batch, and draws.
func (s *streaming) tell(facts ...lathe.Fact) {
	b := batch{}
	for _, f := range facts {
		b.events = append(b.events, lathe.Event{Session: s.part.Session, Fact: f})
	}
	s.p.Update(b)
	s.draw()
}

// frame is one: the words that come meanwhile at 200 a second, now and then a beat of what moves.
func (s *streaming) frame() time.Duration {
	var facts []lathe.Fact
	for range 4 { // 60 batches a second have three or four
		w := benchWord(s.word)
		facts = append(facts, &lathe.PartDelta{
			Session: s.part.Session, Message: s.answer.ID, Part: s.part.ID, Field: "text", Delta: w, Offset: s.said,
		})
		s.word, s.said = s.word+1, s.said+len(w)
	}
	began := time.Now()
	if s.word%24 == 0 {
		s.p.Update(tickFrame)
	}
	s.tell(facts...)
	return time.Since(began)
}

// benchWord is a word of an answer in markdown, with paragraphs, lists and code.
func benchWord(i int) string {
	switch i % 400 {
	case 100:
		return "\n\n- a **list** "
	case 150:
		return "\n- more of it "
	case 200:
		return "\n\n```go\nfunc f() {\n"
	case 300:
		return "\n}\n```\n\n"
	}
	if i%12 == 11 && i%400 > 200 && i%400 < 300 {
		return fmt.Sprintf("x%d := %d\n", i, i)
	}
	if i%80 == 79 {
		return "word.\n\n"
	}
	return fmt.Sprintf("word%d ", i%97)
}

// percentiles reports how long frames took.
func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[min(int(float64(len(took))*part), len(took)-1)]) / float64(time.Millisecond)
	}
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(at(1), "worst-ms")
}

// BenchmarkFrame takes in words and draws, as 60 times a second while a model streams into a session of
// 10,000 parts. 2,400 frames are an answer of 40 seconds.
func BenchmarkFrame(b *testing.B) {
	s := newStreaming(b)
	var took []time.Duration
	for b.Loop() {
		took = append(took, s.frame())
	}
	if text := style.Text(s.p.lines); !strings.Contains(text, "word") || !strings.Contains(text, "esc") {
		b.Fatalf("the answer is not on the screen, or nothing works at it:\n%s", text)
	}
	percentiles(b, took)
}

// BenchmarkKey types while the session is there: a character and its frame.
func BenchmarkKey(b *testing.B) {
	s := newStreaming(b)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		s.p.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		s.draw()
		took = append(took, time.Since(began))
		if s.p.drafts.edit.Text() != "" && len(took)%200 == 0 {
			s.p.drafts.edit.Clear()
		}
	}
	percentiles(b, took)
}

// BenchmarkScroll goes up by a page, through all of it and again from the end.
func BenchmarkScroll(b *testing.B) {
	s := newStreaming(b)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		s.p.Update(tea.KeyPressMsg{Code: tea.KeyPgUp})
		s.draw()
		took = append(took, time.Since(began))
		if s.p.conversation.chat().AtTop() {
			s.p.conversation.chat().ToEnd()
		}
	}
	percentiles(b, took)
}
