package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/chat"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/toast"
)

// exporter writes sessions as Markdown, to files and to the clipboard.
type exporter struct {
	*services
	look     *look
	overlays *overlays
}

// markdown reads all messages of a session and renders them.
func markdown(ctx context.Context, e Engine, id lathe.SessionID, in chat.Include) (string, error) {
	s, err := e.Get(ctx, id)
	if err != nil {
		return "", err
	}
	var all []lathe.Message
	for page := (lathe.Page{More: true}); page.More; {
		if page, err = e.Messages(ctx, id, page.Next, pageSize); err != nil {
			return "", err
		}
		all = append(page.Messages, all...)
	}
	return chat.Markdown(s, all, in), nil
}

func (ex *exporter) include(thinking, tools, metadata bool) chat.Include {
	return chat.Include{Thinking: thinking, Tools: tools, Metadata: metadata, ModelName: ex.state.ModelNames(), Location: ex.now().Location()}
}

// copyTranscript puts the whole session on the clipboard.
func (ex *exporter) copyTranscript() tea.Cmd {
	id, in := ex.state.Current, ex.include(ex.look.show.Thinking, ex.look.show.Details, ex.look.show.Metadata)
	return ex.call("copy the transcript", func(ctx context.Context, e Engine) (then, error) {
		text, err := markdown(ctx, e, id, in)
		return onSuccess(err, func() tea.Cmd { return ex.copy(text) })
	})
}

// dialog exports a session to a local file.
func (ex *exporter) dialog() tea.Cmd {
	s, _ := ex.state.Session(ex.state.Current)
	return ex.background("choose a file name", func(context.Context) (then, error) {
		name := freeName(ex.o.Dir, fileName(s))
		return func() tea.Cmd {
			return ex.overlays.show(&overlay{box: dialog.NewExport(ex.keys, name), onResult: func(out dialog.Result) tea.Cmd {
				if f, ok := out.(dialog.Filled); ok {
					return ex.write(f)
				}
				return nil
			}})
		}, nil
	})
}

// freeName is a file name that is not taken; it tries up to 100.
func freeName(dir, name string) string {
	base, ext := strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name)
	for i := 2; i < 100; i++ {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			break
		}
		name = fmt.Sprintf("%s-%d%s", base, i, ext)
	}
	return name
}

// localPath resolves a path that the user typed.
func (sv *services) localPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && sv.state.Info.Home != "" && !sv.state.Info.Remote {
		return filepath.Join(sv.state.Info.Home, rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(sv.o.Dir, path)
}

// fileName makes a file name from the title.
func fileName(s lathe.Session) string {
	parts := strings.FieldsFunc(strings.ToLower(s.Title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(parts, "-")
	name = strings.Trim(name[:min(len(name), 40)], "-")
	return cmp.Or(name, string(s.ID)) + ".md"
}

// write exports the session in the background, to a new file or to the editor.
func (ex *exporter) write(f dialog.Filled) tea.Cmd {
	in := ex.include(f.Checks[dialog.ExportThinking], f.Checks[dialog.ExportTools], f.Checks[dialog.ExportMetadata])
	path, id, open := f.Texts[dialog.ExportFile], ex.state.Current, f.Checks[dialog.ExportOpen]
	if path == "" {
		return ex.notify(toast.Warning, "Enter a file name")
	}
	path = ex.localPath(path)
	shown := ex.state.Tilde(path)
	return ex.call("export the session", func(ctx context.Context, e Engine) (then, error) {
		text, err := markdown(ctx, e, id, in)
		if err != nil {
			return nil, err
		}
		if open {
			return func() tea.Cmd { return ex.editText(text, nil) }, nil
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // never overwrite
		if errors.Is(err, fs.ErrExist) {
			return nil, lathe.Errorf(lathe.Conflict, "%s already exists: choose another name", shown)
		}
		if err != nil {
			return nil, err
		}
		_, err = file.WriteString(text)
		return onSuccess(cmp.Or(err, file.Close()), func() tea.Cmd { return ex.notify(toast.Success, "Saved to "+shown) })
	})
}

// copyAnswer copies the last answer.
func (ex *exporter) copyAnswer() tea.Cmd {
	o := ex.state.Shown()
	if o == nil {
		return nil
	}
	for i := o.Transcript.Count() - 1; i >= 0; i-- {
		h := o.Transcript.View(i)
		if h.Data().Role() != "assistant" {
			continue
		}
		if text := messageText(h); text != "" {
			return ex.copy(text)
		}
	}
	return ex.notify(toast.Info, "No answer to copy")
}

func (ex *exporter) copyMessage(id lathe.MessageID) tea.Cmd {
	if o := ex.state.Shown(); o != nil {
		if i := o.Transcript.Find(id); i >= 0 {
			return ex.copy(messageText(o.Transcript.View(i)))
		}
	}
	return nil
}

// messageText is the text of a message.
func messageText(h lathe.MessageView) string {
	var out []string
	for i := range h.Len() {
		if t, ok := h.Part(i).Body.(*lathe.Text); ok && !t.Synthetic.On() && !t.Ignored.On() && strings.TrimSpace(t.Text) != "" {
			out = append(out, strings.TrimSpace(t.Text))
		}
	}
	return strings.Join(out, "\n\n")
}
