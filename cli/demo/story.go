package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os/exec"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/cli/turn"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tui/style"
)

const demoPrompt = "The test fails. Find the cause and fix it."

// demoPace sets the pauses for reading.
type demoPace struct {
	word, step time.Duration
}

var readingPace = demoPace{word: 30 * time.Millisecond, step: 600 * time.Millisecond}

// script returns the model's script at this pace.
func (p demoPace) script(s modeltest.Script) modeltest.Script {
	if p == (demoPace{}) {
		return s
	}
	out := make(modeltest.Script, len(s))
	for i, answer := range s {
		out[i] = append(out[i], modeltest.Pause(p.step))
		for _, step := range answer {
			switch step := step.(type) {
			case modeltest.Text:
				for _, word := range strings.SplitAfter(strings.Join(step, ""), " ") {
					out[i] = append(out[i], modeltest.Text{word}, modeltest.Pause(p.word))
				}
			case modeltest.Reasoning:
				for _, word := range strings.SplitAfter(strings.Join(step.Chunks, ""), " ") {
					out[i] = append(out[i], modeltest.Reasoning{Chunks: []string{word}}, modeltest.Pause(p.word))
				}
			default:
				out[i] = append(out[i], step)
			}
		}
	}
	return out
}

// wait pauses for reading.
func (d *demo) wait(ctx context.Context) {
	if d.pace.step > 0 {
		select {
		case <-time.After(d.pace.step):
		case <-ctx.Done():
		}
	}
}

// play opens the engine, runs the turn as `lathe run` does, and shows the results.
func (d *demo) play(ctx context.Context) (err error) {
	ctx, d.stop = context.WithCancelCause(ctx)
	defer d.stop(nil)
	if err := d.listen(); err != nil {
		return err
	}
	defer d.server.Close()
	if err := d.openDemo(ctx); err != nil {
		return err
	}
	defer func() { err = cli.CloseAfter(d.setup, err) }()
	e := d.setup.Engine
	s, err := e.Create(ctx, d.Dir, lathe.NewSession{Title: "A failing test"})
	if err != nil {
		return err
	}
	d.prologue(ctx)
	watched := &demoTurns{Engine: e, demo: d, asks: map[lathe.AskID]lathe.PermissionRequest{}, shown: map[lathe.PartID]bool{}}
	if err := d.follow(ctx, watched, s); err != nil {
		return err
	}
	return d.conclude(ctx, e, s)
}

// follow sends the prompt and prints the turn as plain text, with more lines in between.
func (d *demo) follow(ctx context.Context, e *demoTurns, s lathe.Session) error {
	t := &turn.Turn{Engine: e, Session: s, Fresh: true, Log: d.Log, Now: d.Now}
	out := turn.NewPlain(d.App, t)
	out.Thinking, t.Sink, e.note = true, out, out.Note
	t.Permit = func(ctx context.Context, q lathe.PermissionRequest) { t.Report(e.Reply(ctx, q.ID, lathe.Once, "")) }
	t.Send = func(ctx context.Context, _ func(error)) error {
		m, err := e.Submit(ctx, s.ID, lathe.Prompt{Parts: []lathe.Part{{Body: &lathe.Text{Text: demoPrompt}}}})
		if err == nil {
			t.Begin(m)
		}
		return err
	}
	return out.End(ctx, t.Run(ctx))
}

// listen starts the scripted model.
func (d *demo) listen() error {
	script, err := modeltest.Parse(d.project.script)
	if err != nil {
		return err
	}
	if d.server, err = modeltest.Listen(append(d.pace.script(script), farewell()...)); err != nil {
		return lathe.Errorf(lathe.Unavailable, "the scripted model cannot listen: %w", err)
	}
	return nil
}

// openDemo opens the engine of the demo.
func (d *demo) openDemo(ctx context.Context) error {
	setup, err := harness.Open(ctx, &d.App.Host, harness.Options{Environ: d.commandEnv(), Wrap: func(s engine.Environment) engine.Environment { return demoSetup{s, d.server} }})
	if err != nil {
		return fmt.Errorf("%w; set TMPDIR to a folder with a few free megabytes", err)
	}
	d.setup = setup
	return nil
}

// prologue says which parts of the demo are real, and shows the command.
func (d *demo) prologue(ctx context.Context) {
	if d.project.remark != "" {
		d.printText(d.project.remark)
		d.say("")
	}
	d.printText("A small " + d.project.name + " project with a failing test, in a temporary folder. The model and its cost are scripted; the tools, the test and everything else are real.")
	d.say("")
	d.command("lathe run %q", demoPrompt)
	d.wait(ctx)
}

// conclude shows the changes, undoes them, and prints the next steps.
func (d *demo) conclude(ctx context.Context, e api.Engine, s lathe.Session) error {
	d.chapter(ctx, "Changes:", "lathe session diff")
	if err := session.PrintDiff(ctx, d.App, e, s, "", session.DiffStyle{Context: 2, Colour: d.HasColor(d.Stdout.File)}); err != nil {
		return err
	}
	d.chapter(ctx, "Everything can be undone:", "lathe session undo")
	if err := session.UndoExchange(ctx, d.App, e, s, session.UndoFlags{}); err != nil {
		return err
	}
	d.chapter(ctx, "The test fails again:", "%s", d.project.test)
	if err := d.runTest(ctx); err != nil {
		return err
	}
	d.chapter(ctx, "The demo is over. Next steps:", "")
	rows := [][2]string{
		{"lathe auth login", "save an API key, or log in to a provider"},
		{"lathe models --local", "or find a local model"},
		{"lathe", "open the terminal UI in any project"},
		{`lathe run "Why does the build fail?"`, "or run one prompt"},
		{"lathe session show", "print the latest session"},
		{"lathe --help", "list all commands"},
	}
	if most := d.Width(); most > 0 && most < 72 {
		for _, row := range rows {
			d.say("  %s\n      %s", row[0], row[1])
		}
		return nil
	}
	for _, row := range rows {
		d.say("  %s %s", termtext.Pad(row[0], 37), row[1])
	}
	return nil
}

// runTest runs the test and prints its output.
func (d *demo) runTest(ctx context.Context) error {
	words := strings.Fields(d.project.test)
	program, err := exec.LookPath(words[0])
	if err != nil {
		return err
	}
	var out bytes.Buffer
	_, err = d.setup.Runner.Run(ctx, sandbox.Command{Path: program, Args: words[1:], Dir: d.Dir, Env: d.commandEnv(), Leftovers: sandbox.EndLeftovers},
		func(b []byte) { out.Write(b) })
	if err != nil {
		return err
	}
	d.say("%s", indented(out.String(), d.Width()))
	return context.Cause(ctx)
}

// chapter starts a section with a text and its command.
func (d *demo) chapter(ctx context.Context, words, command string, args ...any) {
	d.wait(ctx)
	d.say("")
	d.printText(words)
	if command != "" {
		d.command(command, args...)
	}
	d.wait(ctx)
}

func (d *demo) command(format string, args ...any) {
	d.say("%s", d.Paint(d.Stdout.File, "$ "+fmt.Sprintf(format, args...), style.Attr{Bold: true}))
}

// printText prints a text, wrapped to the screen.
func (d *demo) printText(words string) {
	most := d.Width()
	if most <= 0 || most > 100 {
		most = 100
	}
	for _, line := range layout.WrapWords(words, most) {
		d.say("%s", line)
	}
}

// say prints a line and flushes it.
func (d *demo) say(format string, args ...any) {
	d.Printf(format+"\n", args...)
	d.checkOutput()
}

// checkOutput ends the demo when standard output is closed.
func (d *demo) checkOutput() {
	if err := d.Out.Flush(); err != nil && d.stop != nil {
		d.stop(err)
	}
}

// demoTurns prints more of a turn than usual: command output, the to-do list, and permission requests with answers.
type demoTurns struct {
	*engine.Engine
	demo  *demo
	note  func(text string)
	asks  map[lathe.AskID]lathe.PermissionRequest
	shown map[lathe.PartID]bool
}

// Events returns the engine's events and prints the details of each after it.
func (t *demoTurns) Events(ctx context.Context, scope lathe.Scope, after lathe.Opt[lathe.Cursor]) iter.Seq2[lathe.Event, error] {
	return func(yield func(lathe.Event, error) bool) {
		for ev, err := range t.Engine.Events(ctx, scope, after) {
			if f, ok := ev.Fact.(*lathe.PermissionAsked); ok {
				t.asks[f.ID] = f.PermissionRequest
			}
			if !yield(ev, err) {
				return
			}
			t.demo.checkOutput()
			if f, ok := ev.Fact.(*lathe.PartChanged); ok && !t.shown[f.Part.ID] {
				t.detail(f.Part)
			}
		}
	}
}

// Reply prints the request and answers "always", as a user would.
func (t *demoTurns) Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply, message string) error {
	if q, ok := t.asks[id]; ok && reply == lathe.Once {
		reply = lathe.Always
		t.note("? " + termtext.Plain(q.Permission) + " " + termtext.Plain(q.Summary()))
		t.demo.wait(ctx)
		pattern := termtext.Plain(strings.Join(q.Always, " "))
		t.note("  y once, s session (" + pattern + "), a always (" + pattern + "), n no: a")
		t.note("  (the demo answers for you)")
		t.demo.wait(ctx)
	}
	return t.Engine.Reply(ctx, id, reply, message)
}

// detail prints the result of a finished call.
func (t *demoTurns) detail(p lathe.Part) {
	c, ok := p.Body.(*lathe.ToolCall)
	if !ok {
		return
	}
	done, ok := c.State.(*lathe.Completed)
	if !ok {
		return
	}
	t.shown[p.ID] = true
	switch c.Tool {
	case "todowrite":
		var in struct {
			Todos []struct{ Content, Status string }
		}
		if json.Unmarshal(done.Input, &in) != nil {
			return
		}
		for _, todo := range in.Todos {
			mark := map[string]string{"completed": "✓", "in_progress": "•"}[todo.Status]
			t.note("  " + termtext.Pad(mark, 1) + " " + termtext.Plain(todo.Content))
		}
	case "bash":
		t.note(indented(done.Output, t.demo.Width()))
	}
}

// indented returns a command's output without the notes for the model.
func indented(output string, screen int) string {
	var out []string
	for line := range strings.Lines(strings.TrimSpace(output)) {
		if strings.HasPrefix(line, "<") { // notes for the model
			break
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "exit ") && strings.Contains(line, " · ") {
			continue
		}
		line = "  " + strings.ReplaceAll(termtext.PlainText(strings.TrimRight(line, "\r\n")), "\t", "  ")
		if screen > 0 {
			line = termtext.Clip(line, screen)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
