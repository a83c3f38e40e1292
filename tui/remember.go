package tui

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/toast"
)

// kept is what was remembered from earlier runs, as far as it was read.
type kept struct {
	models   memory.Models
	pinned   []lathe.SessionID
	mentions memory.Mentions
	history  []editor.Draft
}

// aside touches the files of the memory beside the screen. What fails is written to the log: it is not worth a
// note.
func (p *program) aside(what string, do func(ctx context.Context) error) tea.Cmd {
	return func() tea.Msg {
		if !p.calls.enter() {
			return nil
		}
		defer p.calls.wg.Done()
		ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
		defer cancel()
		if err := do(ctx); err != nil {
			p.log("%s: %v", what, err)
		}
		return nil
	}
}

// recall reads what was remembered, behind the first frame.
func (p *program) recall() tea.Cmd {
	return func() tea.Msg {
		if !p.calls.enter() {
			return nil
		}
		defer p.calls.wg.Done()
		var k kept
		settings, err := p.memory.Settings()
		var errs [4]error
		k.models, errs[0] = p.memory.Models()
		k.pinned, errs[1] = p.memory.Pinned()
		k.history, errs[2] = p.memory.History()
		k.mentions, errs[3] = p.memory.Mentions()
		for _, err := range append(errs[:], err) {
			if err != nil {
				p.log("recall: %v", err)
			}
		}
		return answered{then: func() tea.Cmd {
			k.history = append(k.history, p.kept.history...) // what was sent before this was read
			p.kept, p.kv = k, settings
			p.edit.SetHistory(k.history)
			p.applyKV()
			return p.sayTrouble()
		}}
	}
}

// sayTrouble tells what is wrong with settings where the home screen, which does too, is not seen.
func (p *program) sayTrouble() tea.Cmd {
	p.theme()
	if len(p.trouble) == 0 || p.o.Start.Session == "" && !p.o.Start.Continue {
		return nil
	}
	return p.say(toast.Warning, strings.Join(p.trouble, "\n"))
}

// saveLast keeps what was being typed when the program ended, here and in other sessions.
func (p *program) saveLast() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	p.keepDraft()
	at := lathe.Time(p.now().UnixMilli())
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(p.drafts)) {
		if id != p.session {
			errs = append(errs, p.saveDraft(ctx, p.drafts[id], at))
		}
	}
	if a := p.asking; a != nil && !a.sent {
		errs = append(errs, p.saveDraft(ctx, editor.Draft{Input: a.words()}, at))
	}
	errs = append(errs, p.saveDraft(ctx, p.drafts[p.session], at)) // the last one comes back first
	return errors.Join(errs...)
}

// saveDraft keeps what was not sent, in the history and in the stash.
func (p *program) saveDraft(ctx context.Context, d editor.Draft, at lathe.Time) error {
	if d.IsEmpty() {
		return nil
	}
	return errors.Join(p.memory.SaveHistory(ctx, d), p.memory.SaveStash(ctx, d, at))
}

// addHistory keeps a prompt for the next time.
func (p *program) addHistory(d editor.Draft) tea.Cmd {
	if !p.recallable(d) {
		return nil
	}
	cmds := []tea.Cmd{p.aside("keep the prompt", func(ctx context.Context) error { return p.memory.SaveHistory(ctx, d) })}
	for _, path := range d.Files() {
		p.kept.mentions = p.kept.mentions.Add(p.fileKey(path), lathe.Time(p.now().UnixMilli()))
		known, name := p.kept.mentions, p.fileKey(path)
		cmds = append(cmds, p.aside("keep a mention", func(ctx context.Context) error { return p.memory.SaveMention(ctx, known, name) }))
	}
	return tea.Batch(cmds...)
}

// recallable puts a prompt into the history of this run; false if it is the last one again.
func (p *program) recallable(d editor.Draft) bool {
	if n := len(p.kept.history); n > 0 && p.kept.history[n-1].Input == d.Input {
		return false
	}
	p.kept.history = append(p.kept.history, d)
	if n := len(p.kept.history); n > 50 {
		p.kept.history = p.kept.history[n-50:]
	}
	p.edit.SetHistory(p.kept.history)
	return true
}

// fileKey is what a file is remembered by: projects have files of the same name.
func (p *program) fileKey(path string) string { return p.state.Info.Directory + "/" + path }

// rankFiles puts those first that were mentioned often and lately.
func (p *program) rankFiles(files []string) []string {
	return p.kept.mentions.Sort(files, lathe.Time(p.now().UnixMilli()), p.fileKey)
}

func (p *program) recentModels() []lathe.ModelRef   { return p.kept.models.Recent }
func (p *program) favoriteModels() []lathe.ModelRef { return p.kept.models.Favorite }

// useModel notes that a model was used.
func (p *program) useModel(ref lathe.ModelRef) tea.Cmd {
	same := func(r lathe.ModelRef) bool { return modelKey(r) == modelKey(ref) }
	recent := slices.DeleteFunc(slices.Clone(p.kept.models.Recent), same)
	recent = append([]lathe.ModelRef{{Provider: ref.Provider, Model: ref.Model}}, recent...)
	p.kept.models.Recent = recent[:min(len(recent), 10)]
	return p.aside("keep the model", func(ctx context.Context) error { return p.memory.SaveRecent(ctx, ref) })
}

// favor makes a model a favourite, or no longer.
func (p *program) favor(ref lathe.ModelRef) tea.Cmd {
	same := func(r lathe.ModelRef) bool { return modelKey(r) == modelKey(ref) }
	liked := !slices.ContainsFunc(p.kept.models.Favorite, same)
	if liked {
		p.kept.models.Favorite = append(p.kept.models.Favorite, ref)
	} else {
		p.kept.models.Favorite = slices.DeleteFunc(p.kept.models.Favorite, same)
	}
	return p.aside("keep the favourite", func(ctx context.Context) error { return p.memory.SaveFavorite(ctx, ref, liked) })
}

func (p *program) keptVariant(model string) string { return p.kept.models.Variant[model] }

func (p *program) keepVariant(ref lathe.ModelRef, v string) tea.Cmd {
	return p.aside("keep the variant", func(ctx context.Context) error { return p.memory.SaveVariant(ctx, ref, v) })
}

func (p *program) pinned() []lathe.SessionID { return p.kept.pinned }

// pin pins a session, or no longer.
func (p *program) pin(id lathe.SessionID) tea.Cmd {
	on := !slices.Contains(p.kept.pinned, id)
	if on {
		p.kept.pinned = append(p.kept.pinned, id)
	} else {
		p.kept.pinned = slices.DeleteFunc(slices.Clone(p.kept.pinned), func(o lathe.SessionID) bool { return o == id })
	}
	return p.aside("keep the pin", func(ctx context.Context) error { return p.memory.SavePinned(ctx, id, on) })
}

// unpin gives the place of a session free that is no more.
func (p *program) unpin(id lathe.SessionID) tea.Cmd {
	if !slices.Contains(p.kept.pinned, id) {
		return nil
	}
	return p.pin(id)
}

// quickSwitch opens a pinned session by its place.
func (p *program) quickSwitch(i int) tea.Cmd {
	if i >= len(p.kept.pinned) {
		return p.say(toast.Info, "No session is pinned there: "+p.keys.Label(key.SessionPinToggle)+" in the list of sessions pins one")
	}
	return p.openSession(p.kept.pinned[i])
}

// stash puts what is in the prompt aside.
func (p *program) stash() tea.Cmd {
	d, ok := p.edit.Stash()
	if !ok {
		return p.say(toast.Info, "There is nothing to put aside")
	}
	return p.keepStash(d)
}

func (p *program) keepStash(d editor.Draft) tea.Cmd {
	at := lathe.Time(p.now().UnixMilli())
	return tea.Batch(p.say(toast.Info, "Put aside"), p.aside("put a prompt aside", func(ctx context.Context) error { return p.memory.SaveStash(ctx, d, at) }))
}

// keepAside keeps what was not sent where it can be called back: in the history and in the stash.
func (p *program) keepAside(d editor.Draft, note string) tea.Cmd {
	p.recallable(d)
	at := lathe.Time(p.now().UnixMilli())
	return tea.Batch(p.say(toast.Info, note), p.aside("keep a draft", func(ctx context.Context) error { return p.saveDraft(ctx, d, at) }))
}

// keepTyped keeps a text that was typed into something that is gone.
func (p *program) keepTyped(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	return p.keepAside(editor.Draft{Input: text}, "What you typed is kept: /stash")
}

// unstash takes back what was put aside last.
func (p *program) unstash() tea.Cmd {
	return p.recalled("take back a prompt", func(ctx context.Context) (then, error) {
		s, ok, err := p.memory.PopStash(ctx)
		return func() tea.Cmd {
			if !ok {
				return p.say(toast.Info, "Nothing is put aside")
			}
			return p.unstashed(s.Draft)
		}, err
	})
}

// unstashed puts a draft into the prompt; what was there is put aside in its stead.
func (p *program) unstashed(d editor.Draft) tea.Cmd {
	var cmd tea.Cmd
	if was, ok := p.edit.Stash(); ok {
		cmd = p.keepStash(was)
	}
	p.edit.Restore(d)
	return cmd
}

// recalled does something with the memory whose result changes the screen.
func (p *program) recalled(what string, do func(ctx context.Context) (then, error)) tea.Cmd {
	return func() tea.Msg {
		if !p.calls.enter() {
			return nil
		}
		defer p.calls.wg.Done()
		ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
		defer cancel()
		next, err := do(ctx)
		return answered{next, err, what}
	}
}

// stashDialog lists what was put aside.
func (p *program) stashDialog() tea.Cmd {
	return p.recalled("read what was put aside", func(context.Context) (then, error) {
		all, err := p.memory.Stash()
		return func() tea.Cmd { return p.showStash(all) }, err
	})
}

func (p *program) showStash(all []memory.Stashed) tea.Cmd {
	list := func() (out []dialog.Stashed) {
		for _, s := range all {
			out = append(out, dialog.Stashed{Text: s.Input, Files: len(s.Files()), At: time.UnixMilli(int64(s.At))})
		}
		return out
	}
	box := dialog.NewStash(p.keys, list(), p.now())
	o := &overlay{box: box, stays: true}
	o.on = chosen(func(c dialog.Chosen) tea.Cmd {
		i, err := strconv.Atoi(c.ID)
		if err != nil || i < 0 || i >= len(all) {
			return nil
		}
		s := all[i]
		drop := p.aside("drop a prompt", func(ctx context.Context) error { return p.memory.DropStash(ctx, s) })
		if c.Key == key.StashDelete {
			all = slices.Delete(slices.Clone(all), i, i+1)
			box.SetItems(dialog.StashItems(list(), p.now()))
			return drop
		}
		p.over = nil
		return tea.Batch(drop, p.unstashed(s.Draft))
	})
	return p.show(o)
}
