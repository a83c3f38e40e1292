package engine_test

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/transfer"
)

// TestTranscripts runs testdata/*.txtar: whole turns against a real store, a real bus and a
// scripted model over HTTP, for every wire protocol. testdata/README.md tells how one is
// written; -update writes what happened into them, to be read as a diff.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			script := readScript(t, file)
			for _, protocol := range script.wires(file) {
				first := protocol == script.protocols[0]
				t.Run(string(protocol), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						got := perform(t, script, protocol)
						if *update && first {
							script.rewrite(t, file, got)
							return
						}
						script.compare(t, got, first)
					})
				})
			}
		})
	}
}

// script is a transcript: what is there, what is done, and what must come of it.
type script struct {
	archive   *txtar.Archive
	settings  [][]string
	protocols []modeltest.Protocol
	once      []string // goldens that are those of the first protocol alone
	rules     lathe.Ruleset
	own       lathe.Ruleset // of the session
	do        [][]string
	model     modeltest.Script
}

// sections are what came of a transcript, a text for each that it may have.
type sections map[string]string

// goldens are the sections that are compared; a transcript has those that matter to it.
var goldens = []string{"events", "history", "requests", "files"}

func readScript(t *testing.T, file string) *script {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parseScript(t, string(data))
}

func parseScript(t *testing.T, text string) *script {
	t.Helper()
	a := txtar.Parse([]byte(text))
	s := &script{archive: a, protocols: modeltest.Protocols()}
	s.settings = words(t, s.section("settings"))
	s.rules, s.own = rulesOf(t, s.section("rules")), rulesOf(t, s.section("session-rules"))
	s.do = words(t, s.section("do"))
	if p := s.section("prompt"); p != "" {
		s.do = append([][]string{{"prompt", strings.TrimSpace(p)}}, s.do...)
	}
	var err error
	if s.model, err = modeltest.Parse(s.section("model")); err != nil {
		t.Fatal(err)
	}
	for _, line := range s.settings {
		switch line[0] {
		case "protocols":
			s.protocols = nil
			for _, p := range line[1:] {
				s.protocols = append(s.protocols, modeltest.Protocol(p))
			}
		case "first":
			s.once = line[1:]
		}
	}
	return s
}

// wires are the protocols to run: all of them, and with the race detector or -short one that depends on
// the name.
func (s *script) wires(name string) []modeltest.Protocol {
	if !raced && !testing.Short() || len(s.protocols) < 3 {
		return s.protocols
	}
	h := fnv.New32()
	_, _ = h.Write([]byte(name))
	return []modeltest.Protocol{s.protocols[int(h.Sum32()%uint32(len(s.protocols)))]}
}

func (s *script) section(name string) string {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// compare holds what happened against the transcript. The model's input is compared on the
// first wire alone, since each says it in its own words; that the others are asked nothing they
// would refuse is checked for all.
func (s *script) compare(t *testing.T, got sections, first bool) {
	t.Helper()
	found := false
	for _, f := range s.archive.Files {
		if !slices.Contains(goldens, f.Name) {
			continue
		}
		found = true
		if !first && (f.Name == "requests" || slices.Contains(s.once, f.Name)) {
			continue
		}
		if diff := cmp.Diff(string(f.Data), got[f.Name]); diff != "" {
			t.Errorf("%s differ (-want +got):\n%s", f.Name, diff)
		}
	}
	if !found {
		t.Error("the transcript expects nothing: add a section events, history or requests")
	}
}

func (s *script) rewrite(t *testing.T, file string, got sections) {
	t.Helper()
	for i, f := range s.archive.Files {
		if slices.Contains(goldens, f.Name) {
			s.archive.Files[i].Data = []byte(got[f.Name])
		}
	}
	if err := os.WriteFile(file, txtar.Format(s.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// words splits lines into words; those in quotes are read as in Go.
func words(t *testing.T, text string) (out [][]string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		var all []string
		sc := bufio.NewScanner(strings.NewReader(line))
		sc.Split(splitWord)
		for sc.Scan() {
			word := sc.Text()
			if key, val, ok := strings.Cut(word, "="); ok && strings.HasPrefix(val, `"`) {
				text, err := strconv.Unquote(val)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				word = key + "=" + text
			} else if strings.HasPrefix(word, `"`) {
				text, err := strconv.Unquote(word)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				word = text
			}
			all = append(all, word)
		}
		out = append(out, all)
	}
	return out
}

// splitWord ends a word at a space that is not in quotes.
func splitWord(data []byte, end bool) (int, []byte, error) {
	start := 0
	for start < len(data) && data[start] == ' ' {
		start++
	}
	quoted := false
	for i := start; i < len(data); i++ {
		switch {
		case data[i] == '\\' && quoted:
			i++
		case data[i] == '"':
			quoted = !quoted
		case data[i] == ' ' && !quoted:
			return i + 1, data[start:i], nil
		}
	}
	if end && start < len(data) {
		return len(data), data[start:], nil
	}
	return start, nil, nil
}

// rulesOf reads lines like: deny bash "git push*".
func rulesOf(t *testing.T, text string) (rules lathe.Ruleset) {
	t.Helper()
	for _, w := range words(t, text) {
		if len(w) < 2 || len(w) > 3 {
			t.Fatalf("a rule is an action, a permission and a pattern, not %q", w)
		}
		pattern := "*"
		if len(w) == 3 {
			pattern = w[2]
		}
		rules = append(rules, lathe.Rule{Action: lathe.Action(w[0]), Permission: w[1], Pattern: pattern})
	}
	return rules
}

// grantSession is the session of a grant, if a line says that it is one of the session.
func (p *playing) grantSession(w []string) lathe.SessionID {
	if len(w) == 0 {
		return ""
	}
	return p.session
}

// perform runs a transcript and returns what happened.
func perform(t *testing.T, s *script, protocol modeltest.Protocol) sections {
	t.Helper()
	p := beginPlay(t, s, protocol)
	for _, w := range s.do {
		p.act(w)
		synctest.Wait()
	}
	p.rest()
	p.check()
	return sections{"events": p.shown.events(), "history": p.shown.history(p.all()), "requests": p.requests(), "files": p.files()}
}

// act does one line of a script.
func (p *playing) act(w []string) {
	p.Helper()
	w, of := named(w)
	switch w[0] {
	case "prompt":
		p.prompt(w[1:])
	case "sleep":
		d, err := time.ParseDuration(w[1])
		p.ok(err)
		<-time.After(d)
	case "reply":
		p.note(p.Reply(p.Context(), p.pending(of), lathe.Reply(w[1]), strings.Join(w[2:], " ")))
	case "answer":
		p.note(p.Answer(p.Context(), p.pending(of), [][]string{w[1:]}))
	case "dismiss":
		p.note(p.Dismiss(p.Context(), p.pending(of)))
	case "cancel":
		p.note(p.Cancel(p.Context(), p.session))
	case "resume":
		p.note(p.Send(p.Context(), p.session, lathe.Resume{}))
	case "wait":
		p.rest()
	case "model":
		p.server.Add(p.answersOf(w[1:])...)
	case "write":
		p.ok(os.WriteFile(filepath.Join(p.dir, w[1]), []byte(w[2]), 0o644))
	case "revoke":
		p.note(p.RevokeGrant(p.Context(), p.dir, grant.Grant{Permission: w[1], Pattern: w[2], Session: p.grantSession(w[3:])}))
	case "grant":
		p.note(p.Grant(p.Context(), p.pending(of), grant.Scope(w[1]), w[2:]))
	case "remove":
		p.ok(os.Remove(filepath.Join(p.dir, w[1])))
	case "revert":
		u := lathe.Undo{Message: lathe.MessageID(p.shown.id(w[1]))}
		for _, word := range w[2:] {
			if part, ok := strings.CutPrefix(word, "part="); ok {
				u.Part = lathe.PartID(p.shown.id(part))
			}
			u.DryRun = u.DryRun || word == "dry"
		}
		p.showUndone(p.Revert(p.Context(), p.session, u))
	case "unrevert":
		p.showUndone(p.Unrevert(p.Context(), p.session, lathe.Undo{DryRun: len(w) > 1}))
	case "rules":
		_, err := p.Update(p.Context(), p.session, lathe.Edit{Rules: lathe.Some(rulesOf(p.T, strings.Join(w[1:], " ")))})
		p.note(err)
	case "rename":
		_, err := p.Rename(p.Context(), p.session, w[1])
		p.note(err)
	default:
		if !p.actOnSteps(w) && !p.actOnBudgets(w) && !p.actOnContext(w) && !p.actOnLength(w) && !p.actOnTasks(w) {
			p.actOnSessions(w)
		}
	}
}

// named takes the word of=NAME out of a line.
func named(w []string) (rest []string, of string) {
	for _, word := range w {
		if name, ok := strings.CutPrefix(word, "of="); ok {
			of = name
		} else {
			rest = append(rest, word)
		}
	}
	return rest, of
}

// actOnSessions does a line about which sessions there are, and which process has them.
func (p *playing) actOnSessions(w []string) {
	p.Helper()
	var rec lathe.Session
	var err error
	switch w[0] {
	case "restart":
		p.restart()
		return
	case "kill":
		p.kill()
		return
	case "use":
		n, err := strconv.Atoi(w[1])
		p.ok(err)
		if p.adopt(); n > len(p.sessions) {
			p.note(lathe.Errorf(lathe.NotFound, "there is no session %d", n))
			return
		}
		p.speakTo(p.sessions[n-1])
		return
	case "fork":
		rec, err = p.Fork(p.Context(), p.dir, p.session, lathe.MessageID(p.shown.id(strings.Join(w[1:], ""))))
	case "session":
		rec, err = p.Create(p.Context(), p.dir, lathe.NewSession{Title: "Another"})
	case "child":
		rec, err = p.Create(p.Context(), p.dir, lathe.NewSession{Parent: p.session, Title: "A child", Rules: rulesOf(p.T, p.script.section("child-rules"))})
	case "import":
		x, perr := transfer.Parse([]byte(p.script.section("export")))
		p.ok(perr)
		rec, err = p.Import(p.Context(), p.dir, x)
	default:
		p.Fatalf("a script cannot %q", w[0])
	}
	p.ok(err)
	p.speakTo(rec.ID)
}

// prompt sends a prompt; words with = are its settings, others its texts.
func (p *playing) prompt(args []string) {
	p.Helper()
	var in lathe.Prompt
	for _, a := range args {
		key, val, ok := strings.Cut(a, "=")
		if !ok || strings.Contains(key, " ") {
			key, val = "", a
		}
		switch key {
		case "agent":
			in.Agent = val
		case "model":
			provider, name, _ := strings.Cut(val, "/")
			in.Model = &lathe.ModelRef{Provider: provider, Model: name}
		case "variant":
			in.Variant = val
		case "system":
			in.System = val
		case "off":
			in.Tools = map[string]bool{val: false}
		case "on":
			in.Tools = map[string]bool{val: true}
		case "schema":
			in.Format = []byte(`{"type":"json_schema","schema":` + val + `}`)
		case "delivery":
			in.Delivery = lathe.Delivery(val)
		case "id":
			in.ID = lathe.MessageID("msg_" + val + "0000000000000000000000000000"[:26-len(val)])
		case "noreply":
			in.NoReply = true
		case "file":
			in.Parts = append(in.Parts, p.file(val))
		case "resource":
			server, uri, _ := strings.Cut(val, ",")
			source := &lathe.FileSource{Type: "resource", Extra: lathe.Extra(fmt.Sprintf(`"clientName":%q,"uri":%q`, server, uri))}
			in.Parts = append(in.Parts, lathe.Part{Body: &lathe.File{Mime: "text/plain", URL: uri, Filename: "it", Source: source}})
		case "mention":
			in.Parts = append(in.Parts, lathe.Part{Body: &lathe.AgentMention{Name: val}})
		case "subtask":
			name, words, ok := strings.Cut(val, ",")
			if !ok {
				words = "do it"
			}
			in.Parts = append(in.Parts, lathe.Part{Body: &lathe.Subtask{Prompt: words, Description: "it", Agent: name}})
		case "compaction":
			in.Parts = append(in.Parts, lathe.Part{Body: &lathe.Compaction{}})
		case "command":
			in.Parts[len(in.Parts)-1].Body.(*lathe.Subtask).Command = val
		case "synthetic":
			in.Parts = append(in.Parts, lathe.Part{Body: &lathe.Text{Text: val, Synthetic: lathe.Yes}})
		default:
			in.Parts = append(in.Parts, lathe.Part{Body: &lathe.Text{Text: a}})
		}
	}
	_, err := p.Submit(p.Context(), p.session, in)
	p.note(err)
}

// file is an attachment: a data URL, or a file of the directory as path[?start=1&end=2].
func (p *playing) file(ref string) lathe.Part {
	mime, ref, _ := strings.Cut(ref, ",")
	if strings.HasPrefix(ref, "data:") {
		return lathe.Part{Body: &lathe.File{Mime: mime, URL: ref, Filename: "note.txt"}}
	}
	return lathe.Part{Body: &lathe.File{Mime: mime, URL: "file://" + filepath.ToSlash(p.dir) + "/" + ref, Filename: ref}}
}

// note adds an error of an action to the events.
func (p *playing) note(err error) {
	if err != nil {
		synctest.Wait() // its own event comes first
		p.shown.line(fmt.Sprintf("! %s: %v", lathe.CodeOf(err), err))
	}
}

// showUndone shows what an undo did to the files.
func (p *playing) showUndone(u lathe.Undone, err error) {
	p.Helper()
	synctest.Wait() // what happened is reported first
	for _, c := range u.Files {
		name, _ := filepath.Rel(p.dir, filepath.FromSlash(c.File))
		what := map[string]string{
			"conflict": "left, " + c.Conflict, "remove": "removed", "create": "brought back", "restore": "restored",
		}[c.Action]
		p.shown.line(strings.TrimSpace(fmt.Sprintf("file %s %s %s", name, what, c.Note)))
	}
	p.note(err)
}
