package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// turnView is what checks look at: all since the last word of the user.
type turnView struct {
	prompt  string // the user's words
	answers []*held
	deeds   []*deed
	fired   map[Check]bool // with words before the end
	prompts int            // of checks
	tracked bool           // what commands changed is known
}

// deed is what one settled call did.
type deed struct {
	tool    string
	input   []byte // canonical
	output  string // or the error, without lines of checks
	failed  bool
	stopped bool // by a person, or for repeating itself
	old     bool // its output is no longer in the context
	allowed bool // by a person, although it repeats itself

	command string // of a shell
	exit    int
	test    bool // the command runs tests
	tests   int  // how they ended, -1 if that is not known
	tries   bool // the command tests, builds or runs something, and nothing says that it failed
	looks   bool // the command changes nothing

	open                 []string // items of the list it wrote
	target               string   // the file it is about, "" if none
	wrote, made, removed []string
	checks               []Check
	levels               map[Check]int
}

// reading remembers what calls did: they are read once and looked at often. It is for one
// goroutine. Bodies never change, so their address stands for them.
type reading struct {
	deeds map[*lathe.ToolCall]*deed
}

func (r *reading) deed(c *lathe.ToolCall) *deed {
	if r == nil {
		return readDeed(c)
	}
	d := r.deeds[c]
	if d == nil {
		d = readDeed(c)
		if r.deeds == nil {
			r.deeds = map[*lathe.ToolCall]*deed{}
		}
		r.deeds[c] = d
	}
	return d
}

// sampleChecks takes what checks need of the settings and the project.
func (r *runner) sampleChecks(ctx context.Context, s *state) {
	s.checks = r.settings.Checks
	if len(s.checks) == 0 {
		return
	}
	s.read = &r.read
	s.gone = func(file string) bool {
		_, err := os.Lstat(file)
		return errors.Is(err, fs.ErrNotExist)
	}
	if r.agent != nil {
		// One that may write its plan and nothing else changes nothing.
		s.edits = !tool.Hidden(r.agent.Rules, s.session.Rules)(tool.Spec{Name: "edit"}) && r.agent.judge().Evaluate("edit", "*").Action != lathe.Deny
	}
	if s.checks[CheckTestMemory] == CheckOff {
		return
	}
	var err error
	if s.tests, err = r.engine.store.Tests(ctx, testedIn(s.session)); err != nil && ctx.Err() == nil {
		r.engine.log.Warn("how the tests are run is not known", "session", s.session.ID, "error", err)
	}
}

// testedIn names what a test command is kept for: the project, or the directory where there
// is none that others could be confused with.
func testedIn(s lathe.Session) string {
	if s.Project == lathe.GlobalProject {
		return s.Directory
	}
	return s.Project
}

// askedAgain is where the last prompt of a check stands behind the one at asked; what came
// before it is no answer to it.
func (s state) askedAgain(asked int) int {
	for i := len(s.messages) - 1; i > asked; i-- {
		if isCheckPrompt(s.messages[i]) {
			return i
		}
	}
	return asked
}

// turn reads the history back to the last word of the user.
func (s state) turn() *turnView {
	t := &turnView{fired: map[Check]bool{}}
	from := exchange(s.messages)
	for i, h := range s.messages[from:] {
		if _, ok := h.Said.(*lathe.User); ok {
			if i == 0 {
				t.prompt = wordsOf(h)
			}
			t.note(h)
			continue
		}
		t.answers = append(t.answers, h)
		t.note(h)
		t.act(h, s)
	}
	if isCompared(s.messages[from:]) {
		t.tracked = true
	}
	return t
}

// note counts what checks have said.
func (t *turnView) note(h *held) {
	if isCheckPrompt(h) {
		t.prompts++
	}
	for _, p := range h.Parts {
		if text, ok := p.Body.(*lathe.Text); ok {
			for _, name := range spokenIn(text.Metadata).Checks {
				t.fired[name] = true
			}
		}
	}
}

// act adds what an answer did. What its commands changed is known only as a sum, so it
// counts for the last of them that may have.
func (t *turnView) act(h *held, s state) {
	var wrote, patched []string
	var command *deed
	from := len(t.deeds)
	for _, p := range h.Parts {
		switch b := p.Body.(type) {
		case *lathe.ToolCall:
			if !b.Settled() {
				continue
			}
			d := s.read.deed(b)
			if d.command != "" && !d.looks {
				copied := *d // what it wrote is the step's to say
				d, command = &copied, &copied
			}
			wrote = append(wrote, d.wrote...)
			t.deeds = append(t.deeds, d)
		case *lathe.Patch:
			patched = append(patched, b.Files...)
			for _, file := range b.Files {
				if command != nil && !slices.Contains(wrote, file) {
					command.wrote = append(slices.Clip(command.wrote), file)
				}
			}
		default:
		}
	}
	if isCompared([]*held{h}) {
		t.withoutIgnored(t.deeds[from:], s.session.Directory, patched)
	}
}

// withoutIgnored takes from calls the files below a directory that the comparison of the trees
// before and after the step does not name: git ignores them, or they are as they were.
func (t *turnView) withoutIgnored(deeds []*deed, directory string, patched []string) {
	ignored := func(f string) bool {
		return directory != "" && strings.HasPrefix(f, directory+string(filepath.Separator)) && !slices.Contains(patched, f)
	}
	for i, d := range deeds {
		if d.command == "" && slices.ContainsFunc(d.wrote, ignored) {
			copied := *d
			copied.wrote = slices.DeleteFunc(slices.Clone(d.wrote), ignored)
			deeds[i] = &copied
		}
	}
}

// isCompared reports whether trees are kept, so that a change by a command would be known.
func isCompared(messages []*held) bool {
	return slices.ContainsFunc(messages, func(h *held) bool {
		return slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
			b, ok := p.Body.(*lathe.StepStart)
			return ok && b.Snapshot != ""
		})
	})
}

// refused reports whether a person or a rule has stopped something: then nobody insists.
func (t *turnView) refused() bool {
	return slices.ContainsFunc(t.deeds, func(d *deed) bool { return d.stopped })
}

// changed lists the files that the turn changed, in order, each once: those that people write,
// and that are still there.
func (t *turnView) changed(s state) (files []string) {
	for _, d := range t.deeds {
		files = slices.DeleteFunc(files, func(f string) bool { return slices.Contains(d.removed, f) })
		for _, f := range d.wrote {
			if !slices.Contains(files, f) && s.counts(d, f) {
				files = append(files, f)
			}
		}
	}
	return files
}

// counts reports whether a file that a call wrote is a change: not one that it removed, nor one
// that programs make. What lies above the project says nothing about a file.
func (s state) counts(d *deed, file string) bool {
	within, ok := strings.CutPrefix(file, s.session.Directory+string(filepath.Separator))
	if !ok {
		within = filepath.Base(file)
	}
	return !slices.Contains(d.removed, file) && !isGenerated(within, d.command != "") && (s.gone == nil || !s.gone(file))
}

// said is the text of the last answer.
func (t *turnView) said() string {
	if len(t.answers) == 0 {
		return ""
	}
	return wordsOf(t.answers[len(t.answers)-1])
}

// wordsOf joins what was written, without what only people see and what we added.
func wordsOf(h *held) string {
	var texts []string
	for _, p := range h.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Ignored.On() && !t.Synthetic.On() && strings.TrimSpace(t.Text) != "" {
			texts = append(texts, strings.TrimSpace(t.Text))
		}
	}
	return strings.Join(texts, "\n\n")
}

// readDeed reads what a call did from its state.
func readDeed(c *lathe.ToolCall) *deed {
	d := &deed{tool: c.Tool, input: canonical(inputOf(c.State))}
	meta := metadataOf(c.State)
	switch s := c.State.(type) {
	case *lathe.Completed:
		d.output, d.old = s.Output, s.Compacted != 0
	case *lathe.Failed:
		d.output, d.failed = s.Error, true
		d.stopped = hasMark(meta, rejectedMark) || hasMark(meta, stoppedMark)
	default:
	}
	said := spokenIn(meta)
	d.allowed, d.checks, d.levels = hasMark(meta, doomLoop), said.Checks, said.Levels
	if len(d.checks) > 0 {
		if i := strings.LastIndex(d.output, notesBegin); i >= 0 {
			d.output = d.output[:i]
		}
	}
	d.read(meta)
	return d
}

// read takes from arguments and metadata what the call was about.
func (d *deed) read(meta json.RawMessage) {
	var in struct{ FilePath, Path, Command, PatchText string }
	_ = json.Unmarshal(d.input, &in) // what is not there is about nothing
	switch d.tool {
	case "bash":
		d.command = in.Command
		d.test, d.looks = runsTests(in.Command), onlyLooks(in.Command)
		var ended struct{ Exit *int }
		if json.Unmarshal(meta, &ended) == nil && ended.Exit != nil {
			d.exit = *ended.Exit
		} else {
			d.exit = -1
		}
		d.tests, d.tries = verdict(in.Command, d.exit, isTest), tried(in.Command, d.exit, d.output)
	case "read", "edit", "write":
		if d.target = in.FilePath; d.target == "" {
			d.target = in.Path
		}
		if !d.failed && d.tool != "read" {
			d.written(meta)
		}
	case "todowrite":
		d.open = openTodos(meta)
	case "apply_patch":
		d.target = patchTarget(in.PatchText)
		if !d.failed {
			d.patched(meta)
		}
	}
}

// written is a file that was written or edited.
func (d *deed) written(meta json.RawMessage) {
	var m struct {
		Filepath string
		Exists   *bool
		Filediff struct{ File string }
	}
	_ = json.Unmarshal(meta, &m) // the argument will do
	file := d.target
	if m.Filepath != "" {
		file = m.Filepath
	} else if m.Filediff.File != "" {
		file = m.Filediff.File
	}
	d.wrote = []string{file}
	if m.Exists != nil && !*m.Exists || bytes.Contains(d.input, []byte(`"oldString":""`)) {
		d.made = d.wrote
	}
}

// patched are the files of a patch.
func (d *deed) patched(meta json.RawMessage) {
	var m struct {
		Files []struct{ FilePath, MovePath, Type string }
	}
	_ = json.Unmarshal(meta, &m)
	for _, f := range m.Files {
		to := f.FilePath
		switch f.Type {
		case "add":
			d.made = append(d.made, to)
		case "delete":
			d.removed = append(d.removed, to)
		case "move":
			d.removed = append(d.removed, to)
			to = f.MovePath
		}
		d.wrote = append(d.wrote, to)
	}
}

// patchTarget is the first file a patch names.
func patchTarget(text string) string {
	for line := range strings.Lines(text) {
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(line, head); ok {
				return strings.TrimSpace(name)
			}
		}
	}
	return ""
}

// names shows a few files by their last names.
func names(files []string) string {
	const most = 4
	var out []string
	for _, f := range files[:min(len(files), most)] {
		out = append(out, filepath.Base(f))
	}
	text := strings.Join(out, ", ")
	if len(files) > most {
		text += ", …"
	}
	return text
}
