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
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

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
		settings, err0 := p.memory.Settings()
		models, err1 := p.memory.Models()
		pinned, err2 := p.memory.Pinned()
		history, err3 := p.memory.History()
		mentions, err4 := p.memory.Mentions()
		for _, err := range []error{err0, err1, err2, err3, err4} {
			if err != nil {
				p.log("recall: %v", err)
			}
		}
		return answered{then: func() tea.Cmd {
			p.used, p.pins, p.mentions, p.kv = models, pinned, mentions, settings
			p.history = append(history, p.history...) // what was sent before this was read
			p.edit.SetHistory(p.history)
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
		if id != p.state.Current {
			errs = append(errs, p.saveDraft(ctx, p.drafts[id], at))
		}
	}
	if a := p.asking; a != nil && !a.sent {
		errs = append(errs, p.saveDraft(ctx, editor.Draft{Input: a.words()}, at))
	}
	errs = append(errs, p.saveDraft(ctx, p.drafts[p.state.Current], at)) // the last one comes back first
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
		p.mentions = p.mentions.Add(p.fileKey(path), lathe.Time(p.now().UnixMilli()))
		known, name := p.mentions, p.fileKey(path)
		cmds = append(cmds, p.aside("keep a mention", func(ctx context.Context) error { return p.memory.SaveMention(ctx, known, name) }))
	}
	return tea.Batch(cmds...)
}

// recallable puts a prompt into the history of this run; false if it is the last one again.
func (p *program) recallable(d editor.Draft) bool {
	if n := len(p.history); n > 0 && p.history[n-1].Input == d.Input {
		return false
	}
	p.history = append(p.history, d)
	if n := len(p.history); n > 50 {
		p.history = p.history[n-50:]
	}
	p.edit.SetHistory(p.history)
	return true
}

// fileKey is what a file is remembered by: projects have files of the same name.
func (p *program) fileKey(path string) string { return p.state.Info.Directory + "/" + path }

// rankFiles puts those first that were mentioned often and lately.
func (p *program) rankFiles(files []string) []string {
	return p.mentions.Sort(files, lathe.Time(p.now().UnixMilli()), p.fileKey)
}

func (p *program) recentModels() []lathe.ModelRef   { return p.used.Recent }
func (p *program) favoriteModels() []lathe.ModelRef { return p.used.Favorite }

// useModel notes that a model was used.
func (p *program) useModel(ref lathe.ModelRef) tea.Cmd {
	same := func(r lathe.ModelRef) bool { return state.ModelKey(r) == state.ModelKey(ref) }
	recent := slices.DeleteFunc(slices.Clone(p.used.Recent), same)
	recent = append([]lathe.ModelRef{{Provider: ref.Provider, Model: ref.Model}}, recent...)
	p.used.Recent = recent[:min(len(recent), 10)]
	return p.aside("keep the model", func(ctx context.Context) error { return p.memory.SaveRecent(ctx, ref) })
}

// favor makes a model a favourite, or no longer.
func (p *program) favor(ref lathe.ModelRef) tea.Cmd {
	same := func(r lathe.ModelRef) bool { return state.ModelKey(r) == state.ModelKey(ref) }
	liked := !slices.ContainsFunc(p.used.Favorite, same)
	if liked {
		p.used.Favorite = append(p.used.Favorite, ref)
	} else {
		p.used.Favorite = slices.DeleteFunc(p.used.Favorite, same)
	}
	return p.aside("keep the favourite", func(ctx context.Context) error { return p.memory.SaveFavorite(ctx, ref, liked) })
}

func (p *program) keptVariant(model string) string { return p.used.Variant[model] }

func (p *program) keepVariant(ref lathe.ModelRef, v string) tea.Cmd {
	return p.aside("keep the variant", func(ctx context.Context) error { return p.memory.SaveVariant(ctx, ref, v) })
}

// pin pins a session, or no longer.
func (p *program) pin(id lathe.SessionID) tea.Cmd {
	on := !slices.Contains(p.pins, id)
	if on {
		p.pins = append(p.pins, id)
	} else {
		p.pins = slices.DeleteFunc(slices.Clone(p.pins), func(o lathe.SessionID) bool { return o == id })
	}
	return p.aside("keep the pin", func(ctx context.Context) error { return p.memory.SavePinned(ctx, id, on) })
}

// unpin gives the place of a session free that is no more.
func (p *program) unpin(id lathe.SessionID) tea.Cmd {
	if !slices.Contains(p.pins, id) {
		return nil
	}
	return p.pin(id)
}

// quickSwitch opens a pinned session by its place.
func (p *program) quickSwitch(i int) tea.Cmd {
	if i >= len(p.pins) {
		return p.say(toast.Info, "No session is pinned there: "+p.keys.Label(key.SessionPinToggle)+" in the list of sessions pins one")
	}
	return p.openSession(p.pins[i])
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
