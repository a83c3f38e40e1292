package engine

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
)

// mediaBytes is how large an image or document may be.
const mediaBytes = 20 << 20

// expand reads what the parts of a prompt refer to, and puts it beside them in texts that
// only the model sees. A file that cannot be read is said, and never fails the prompt.
func (e *Engine) expand(ctx context.Context, rec lathe.Session, agent string, parts []lathe.Part) (out []lathe.Part) {
	for _, p := range parts {
		switch b := p.Body.(type) {
		case *lathe.File:
			bodies, err := e.expandFile(ctx, rec, b)
			if err != nil {
				e.complain(rec, err)
			}
			out = append(out, standIns(p.ID, bodies)...)
		case *lathe.AgentMention:
			text := " Turn what the user just wrote into a prompt for the sub-agent " + b.Name + " and hand it over with the task tool."
			if e.deniesTask(ctx, rec, agent, b.Name) {
				text += " The user named it, so that it exists and may be called this once."
			}
			out = append(out, p, lathe.Part{Body: synthetic(text)})
		default:
			out = append(out, p)
		}
	}
	return out
}

// standIns are the parts that stand for an attachment. Its id is that of the last file: two parts
// of one id would be one.
func standIns(id lathe.PartID, bodies []lathe.Body) []lathe.Part {
	parts, own := make([]lathe.Part, len(bodies)), -1
	for i, b := range bodies {
		parts[i].Body = b
		if _, ok := b.(*lathe.File); ok {
			own = i
		}
	}
	if own >= 0 {
		parts[own].ID = id
	}
	return parts
}

// deniesTask reports whether an agent may not call another by itself.
func (e *Engine) deniesTask(ctx context.Context, rec lathe.Session, agent, other string) bool {
	s, err := e.settingsOf(ctx, rec.Directory)
	if err != nil {
		return false
	}
	a, err := s.agent(agent)
	return err == nil && permission.Scope{Session: rec.Rules, Agent: a.judge()}.Evaluate(fold.TaskName, other).Action == lathe.Deny
}

func synthetic(text string) *lathe.Text { return &lathe.Text{Text: text, Synthetic: lathe.Yes} }

// expandFile returns the parts that stand for an attachment.
func (e *Engine) expandFile(ctx context.Context, rec lathe.Session, f *lathe.File) ([]lathe.Body, error) {
	scheme, _, _ := strings.Cut(f.URL, ":")
	if server, uri, ok := resourceOf(f); ok {
		return e.expandResource(ctx, rec, f, server, uri)
	}
	switch {
	case scheme == "data" && f.Mime == "text/plain":
		text, err := dataText(f.URL)
		if err != nil {
			return unreadable(f, f.Filename, err)
		}
		return []lathe.Body{called(f.Filename), synthetic(text), f}, nil
	case scheme == "file":
		u, err := url.Parse(f.URL)
		if err != nil {
			return unreadable(f, f.URL, err)
		}
		return e.expandPath(ctx, rec, f, pathOf(u), u.Query())
	default:
		return []lathe.Body{f}, nil
	}
}

// pathOf is the file a file URL names. One with a drive has a slash before it.
func pathOf(u *url.URL) string {
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' && filepath.Separator == '\\' {
		p = p[1:]
	}
	return filepath.FromSlash(p)
}

// called says in the words of the read tool how the text that follows was come by.
func called(path string) *lathe.Text {
	return calledFor(path, nil)
}

// calledFor is called for a range of lines: a model that is not told takes them for the
// whole file.
func calledFor(path string, query url.Values) *lathe.Text {
	input := "{\"filePath\":" + string(lathe.AppendJSONString(nil, path))
	if from := number(query.Get("start"), 1); query.Has("start") || query.Has("end") {
		input += ",\"offset\":" + strconv.Itoa(from)
		if to := number(query.Get("end"), 0); to >= from {
			input += ",\"limit\":" + strconv.Itoa(to-from+1)
		}
	}
	return synthetic("Called the Read tool with the following input: " + input + "}")
}

// unreadable says in the prompt that an attachment is missing, and why.
func unreadable(f *lathe.File, name string, err error) ([]lathe.Body, error) {
	text := fmt.Sprintf("The user attached %s, but it could not be read: %v", name, err)
	return []lathe.Body{synthetic(text)}, lathe.Errorf(lathe.NotFound, "the attachment %s could not be read: %w", cmp.Or(f.Filename, name), err)
}

// dataText decodes what follows the comma of a data URL.
func dataText(u string) (string, error) {
	head, data, ok := strings.Cut(u, ",")
	if !ok {
		return "", lathe.Errorf(lathe.Invalid, "the data URL has no comma")
	}
	if !strings.HasSuffix(head, ";base64") {
		return url.PathUnescape(data)
	}
	text, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		text, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), err
}

// expandPath reads a file of this machine: texts and directories in the words of the read
// tool, anything else as it is.
func (e *Engine) expandPath(ctx context.Context, rec lathe.Session, f *lathe.File, path string, query url.Values) ([]lathe.Body, error) {
	info, err := os.Stat(path)
	if err != nil {
		return unreadable(f, path, err)
	}
	shown := *f
	switch {
	case info.IsDir():
		shown.Mime = "application/x-directory"
		return e.readFor(ctx, rec, path, nil, &shown)
	case !info.Mode().IsRegular():
		return unreadable(f, path, lathe.Errorf(lathe.Invalid, "it is not a regular file"))
	case f.Mime == "text/plain":
		return e.readFor(ctx, rec, path, query, &shown)
	case info.Size() > mediaBytes:
		return unreadable(f, path, lathe.Errorf(lathe.Invalid, "it is larger than %d MB", mediaBytes>>20))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return unreadable(f, path, err)
	}
	shown.URL = "data:" + f.Mime + ";base64," + base64.StdEncoding.EncodeToString(data)
	return []lathe.Body{called(path), &shown}, nil
}

// readFor reads as the read tool does, without asking: the user named the file.
func (e *Engine) readFor(ctx context.Context, rec lathe.Session, path string, query url.Values, shown *lathe.File) ([]lathe.Body, error) {
	from, limit := 0, 0
	if query.Has("start") || query.Has("end") {
		from = number(query.Get("start"), 1)
		if to := number(query.Get("end"), 0); to >= from {
			limit = to - from + 1
		}
	}
	res, err := builtin.ReadFile(ctx, &tool.Call{Session: rec.ID, Dir: rec.Directory, Root: rec.Directory}, path, from, limit)
	if err != nil {
		return unreadable(shown, path, err)
	}
	out := []lathe.Body{calledFor(path, query), synthetic(res.Output)}
	for _, f := range res.Attachments {
		out = append(out, f)
	}
	if len(res.Attachments) == 0 {
		out = append(out, shown)
	}
	return out, nil
}

func number(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return otherwise
	}
	return n
}
