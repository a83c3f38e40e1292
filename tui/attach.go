package tui

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/memory"
)

// findMentions finds the files and the symbols that match a mention. Files do not wait for a language server.
func (p *prompt) findMentions(query string) tea.Cmd {
	running := slices.ContainsFunc(p.state.Languages, func(s api.LanguageServer) bool { return s.State == "running" })
	if !running || !editor.WantsSymbols(query) {
		return p.findFiles(query)
	}
	return tea.Batch(p.findFiles(query), p.call("find symbols", func(ctx context.Context, e Engine) (then, error) {
		found, err := e.FindSymbols(ctx, p.dir(), query)
		if err != nil {
			return nil, nil // the list stays as it is
		}
		return func() tea.Cmd {
			p.drafts.edit.SetSymbols(query, editor.SymbolsOf(found, p.state.Info.Directory))
			return nil
		}, nil
	}))
}

// findFiles finds the files that match a mention.
func (p *prompt) findFiles(query string) tea.Cmd {
	return p.call("find files", func(ctx context.Context, e Engine) (then, error) {
		found, err := e.FindFiles(ctx, p.dir(), query, 20)
		if err != nil {
			return nil, nil // the list stays as it is
		}
		return func() tea.Cmd {
			p.drafts.edit.SetFiles(query, memory.Sort(p.drafts.mentions, found, lathe.Time(p.drafts.now().UnixMilli()), p.drafts.fileKey))
			return nil
		}, nil
	})
}

// attachDropped attaches pasted or dropped files to the prompt. If one is missing, or the server is remote and does not have it,
// the paste stays plain text.
func (p *prompt) attachDropped(w editor.WantDropped) tea.Cmd {
	if p.o.ReadFile == nil {
		p.drafts.edit.PasteText(w.Text)
		return nil
	}
	dir, remote := p.state.Info.Directory, p.o.Remote
	return p.background("read the dropped files", func(context.Context) (then, error) {
		found := make([]droppedFile, 0, len(w.Paths))
		for _, path := range w.Paths {
			f, err := p.readDropped(path, dir, remote)
			if err != nil {
				return func() tea.Cmd { return p.handle(p.drafts.edit.PasteText(w.Text)) }, nil
			}
			found = append(found, f)
		}
		return func() tea.Cmd {
			var cmds []tea.Cmd
			for _, f := range found {
				if f.data == nil {
					cmds = append(cmds, p.handle(p.drafts.edit.Mention(f.path)))
				} else {
					cmds = append(cmds, p.handle(p.drafts.edit.Attach(filepath.Base(f.path), http.DetectContentType(f.data), f.data)))
				}
			}
			return tea.Batch(cmds...)
		}, nil
	})
}

type droppedFile struct {
	path string
	data []byte // nil for a file that is only mentioned
}

// readDropped reads one dropped file.
func (p *prompt) readDropped(path, dir string, remote bool) (droppedFile, error) {
	if editor.IsMedia(path) {
		data, err := p.o.ReadFile(path)
		return droppedFile{path, data}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return droppedFile{}, err
	}
	if remote {
		return droppedFile{}, os.ErrNotExist // on the server
	}
	if below, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(below) && below != "." {
		path = filepath.ToSlash(below)
	}
	if info.IsDir() {
		path = strings.TrimSuffix(path, "/") + "/"
	}
	return droppedFile{path: path}, nil
}

// readClipboard reads the clipboard: an image on this machine, else the text from the terminal.
func (p *prompt) readClipboard() tea.Cmd {
	if p.o.Clipboard == nil {
		return tea.ReadClipboard
	}
	return p.background("read the clipboard", func(ctx context.Context) (then, error) {
		mime, data := p.o.Clipboard(ctx)
		return func() tea.Cmd {
			if len(data) == 0 {
				return tea.ReadClipboard
			}
			return p.handle(p.drafts.edit.Attach("clipboard", mime, data))
		}, nil
	})
}
