package check

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
)

// turnView is the turn as checks see it: all messages since the user's last prompt.
type turnView struct {
	prompt  string // the user's words
	answers []*history.Message
	actions []*Action
	fired   map[Check]bool // with words before the end
	prompts int            // of checks
	tracked bool           // the files that commands changed are known
}

// Action is the effect of one settled call.
type Action struct {
	Tool    string
	input   []byte // canonical
	output  string // or the error, without lines of checks
	failed  bool
	Stopped bool // by the user, or for repeating itself
	old     bool // its output is no longer in the context
	allowed bool // by the user, although it repeats itself

	Command  string // of a shell
	exit     int
	test     bool // the command runs tests
	Tests    int  // how they ended, -1 if that is not known
	verifies bool // the command tests, builds or runs something, and nothing says that it failed
	readOnly bool // the command changes nothing

	open                 []string // items of the list it wrote
	target               string   // the file it is about, "" if none
	wrote, made, removed []string
	Checks               []Check
	levels               map[Check]int
}

// Reader remembers what calls did: they are read once and looked at often. It is for one
// goroutine. Bodies never change, so their address stands for them.
type Reader struct {
	actions map[*lathe.ToolCall]*Action
}

func (r *Reader) action(c *lathe.ToolCall) *Action {
	if r == nil {
		return ReadAction(c)
	}
	d := r.actions[c]
	if d == nil {
		d = ReadAction(c)
		if r.actions == nil {
			r.actions = map[*lathe.ToolCall]*Action{}
		}
		r.actions[c] = d
	}
	return d
}

// LastCheckPrompt is where the last prompt of a check stands after the one at asked; what came
// before it is no answer to it.
func LastCheckPrompt(messages []*history.Message, asked int) int {
	for i := len(messages) - 1; i > asked; i-- {
		if isCheckPrompt(messages[i]) {
			return i
		}
	}
	return asked
}

// turn reads the history back to the last word of the user.
func (s Input) turn() *turnView {
	t := &turnView{fired: map[Check]bool{}}
	from := history.LastExchange(s.Messages)
	for i, h := range s.Messages[from:] {
		if _, ok := h.Data.(*lathe.User); ok {
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
	if isCompared(s.Messages[from:]) {
		t.tracked = true
	}
	return t
}

// note counts the issues of checks.
func (t *turnView) note(h *history.Message) {
	if isCheckPrompt(h) {
		t.prompts++
	}
	for _, p := range h.Parts {
		if text, ok := p.Body.(*lathe.Text); ok {
			for _, name := range MetaOf(text.Metadata).Checks {
				t.fired[name] = true
			}
		}
	}
}

// act adds what an answer did. What its commands changed is known only as a sum, so it
// counts for the last of them that may have.
func (t *turnView) act(h *history.Message, s Input) {
	var wrote, patched []string
	var command *Action
	from := len(t.actions)
	for _, p := range h.Parts {
		switch b := p.Body.(type) {
		case *lathe.ToolCall:
			if !b.Settled() {
				continue
			}
			d := s.Read.action(b)
			if d.Command != "" && !d.readOnly {
				copied := *d // only the step knows which files the command wrote
				d, command = &copied, &copied
			}
			wrote = append(wrote, d.wrote...)
			t.actions = append(t.actions, d)
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
	if isCompared([]*history.Message{h}) {
		t.withoutIgnored(t.actions[from:], s.Session.Directory, patched)
	}
}

// withoutIgnored takes from calls the files below a directory that the comparison of the trees
// before and after the step does not name: git ignores them, or they are as they were.
func (t *turnView) withoutIgnored(actions []*Action, directory string, patched []string) {
	ignored := func(f string) bool {
		return directory != "" && strings.HasPrefix(f, directory+string(filepath.Separator)) && !slices.Contains(patched, f)
	}
	for i, d := range actions {
		if d.Command == "" && slices.ContainsFunc(d.wrote, ignored) {
			copied := *d
			copied.wrote = slices.DeleteFunc(slices.Clone(d.wrote), ignored)
			actions[i] = &copied
		}
	}
}

// isCompared reports whether steps have snapshots, which show the changes of commands.
func isCompared(messages []*history.Message) bool {
	return slices.ContainsFunc(messages, func(h *history.Message) bool {
		return slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
			b, ok := p.Body.(*lathe.StepStart)
			return ok && b.Snapshot != ""
		})
	})
}

// wasRefused reports whether the user or a rule stopped a call: then checks do not insist.
func (t *turnView) wasRefused() bool {
	return slices.ContainsFunc(t.actions, func(d *Action) bool { return d.Stopped })
}

// changedFiles lists the files that the turn changed, each once, oldest change first. It leaves out generated
// and removed files.
func (t *turnView) changedFiles(s Input) (files []string) {
	for _, d := range t.actions {
		files = slices.DeleteFunc(files, func(f string) bool { return slices.Contains(d.removed, f) })
		for _, f := range d.wrote {
			if !slices.Contains(files, f) && s.isChange(d, f) {
				files = append(files, f)
			}
		}
	}
	return files
}

// isChange reports whether a file that a call wrote is a change: not one that it removed, nor one
// that programs make. What lies above the project says nothing about a file.
func (s Input) isChange(d *Action, file string) bool {
	within, ok := strings.CutPrefix(file, s.Session.Directory+string(filepath.Separator))
	if !ok {
		within = filepath.Base(file)
	}
	return !slices.Contains(d.removed, file) && !isGenerated(within, d.Command != "") && (s.IsDeleted == nil || !s.IsDeleted(file))
}

// answerText is the text of the last answer.
func (t *turnView) answerText() string {
	if len(t.answers) == 0 {
		return ""
	}
	return wordsOf(t.answers[len(t.answers)-1])
}

// wordsOf joins what was written, without what only people see and what we added.
func wordsOf(h *history.Message) string {
	var texts []string
	for _, p := range h.Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Ignored.On() && !t.Synthetic.On() && strings.TrimSpace(t.Text) != "" {
			texts = append(texts, strings.TrimSpace(t.Text))
		}
	}
	return strings.Join(texts, "\n\n")
}

// ReadAction reads what a call did from its state.
func ReadAction(c *lathe.ToolCall) *Action {
	d := &Action{Tool: c.Tool, input: history.Canonical(history.InputOf(c.State))}
	meta := history.MetadataOf(c.State)
	switch s := c.State.(type) {
	case *lathe.Completed:
		d.output, d.old = s.Output, s.Compacted != 0
	case *lathe.Failed:
		d.output, d.failed = s.Error, true
		d.Stopped = history.HasMark(meta, history.RejectedMark) || history.HasMark(meta, history.StoppedMark)
	default:
	}
	said := MetaOf(meta)
	d.allowed, d.Checks, d.levels = history.HasMark(meta, history.DoomLoop), said.Checks, said.Levels
	if len(d.Checks) > 0 {
		if i := strings.LastIndex(d.output, notesBegin); i >= 0 {
			d.output = d.output[:i]
		}
	}
	d.parse(meta)
	return d
}

// parse takes from arguments and metadata what the call was about.
func (d *Action) parse(meta json.RawMessage) {
	var in struct{ FilePath, Path, Command, PatchText string }
	_ = json.Unmarshal(d.input, &in) // missing arguments stay empty
	switch d.Tool {
	case "bash":
		d.Command = in.Command
		d.test, d.readOnly = RunsTests(in.Command), isReadOnly(in.Command)
		var ended struct{ Exit *int }
		if json.Unmarshal(meta, &ended) == nil && ended.Exit != nil {
			d.exit = *ended.Exit
		} else {
			d.exit = -1
		}
		d.Tests, d.verifies = ExitOf(in.Command, d.exit, IsTest), ranWithoutFailure(in.Command, d.exit, d.output)
	case "read", "edit", "write":
		if d.target = in.FilePath; d.target == "" {
			d.target = in.Path
		}
		if !d.failed && d.Tool != "read" {
			d.addWritten(meta)
		}
	case "todowrite":
		d.open = openTodos(meta)
	case "apply_patch":
		d.target = PatchTarget(in.PatchText)
		if !d.failed {
			d.addPatched(meta)
		}
	}
}

// addWritten is a file that was written or edited.
func (d *Action) addWritten(meta json.RawMessage) {
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

// addPatched notes the files of a patch.
func (d *Action) addPatched(meta json.RawMessage) {
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

// PatchTarget is the first file a patch names.
func PatchTarget(text string) string {
	for line := range strings.Lines(text) {
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(line, head); ok {
				return strings.TrimSpace(name)
			}
		}
	}
	return ""
}

// shortNames shows a few files by their last names.
func shortNames(files []string) string {
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
