package prompt

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
)

// mediaBytes is how large an image or document may be.
const mediaBytes = 20 << 20

// Attachments reads the files, directories and resources that a prompt refers to.
type Attachments struct {
	Session lathe.SessionID
	Dir     string
	// Resource reads what an MCP server offers under a URI; nil has none.
	Resource func(ctx context.Context, server, uri string) ([]Resource, error)
	// Denies reports whether the agent of the prompt may not call another agent by itself.
	Denies func(agent string) bool
	Report func(error) // is called with each attachment that could not be read
}

// Expand adds the contents of attachments to the parts of a prompt, in texts that only the model sees. A file
// that cannot be read is named there, and never fails the prompt.
func (a Attachments) Expand(ctx context.Context, parts []lathe.Part) (out []lathe.Part) {
	for _, p := range parts {
		switch b := p.Body.(type) {
		case *lathe.File:
			bodies, err := a.expandFile(ctx, b)
			if err != nil {
				a.Report(err)
			}
			out = append(out, replacementParts(p.ID, bodies)...)
		case *lathe.AgentMention:
			text := " Turn what the user just wrote into a prompt for the subagent " + b.Name + " and hand it over with the task tool."
			if a.Denies(b.Name) {
				text += " The user named it, so that it exists and may be called this once."
			}
			out = append(out, p, lathe.Part{Body: history.Synthetic(text)})
		default:
			out = append(out, p)
		}
	}
	return out
}

// replacementParts are the parts that stand for an attachment. Its id is that of the last file: two parts
// of one id would be one.
func replacementParts(id lathe.PartID, bodies []lathe.Body) []lathe.Part {
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

// expandFile returns the parts that stand for an attachment.
func (a Attachments) expandFile(ctx context.Context, f *lathe.File) ([]lathe.Body, error) {
	scheme, _, _ := strings.Cut(f.URL, ":")
	if server, uri, ok := resourceOf(f); ok {
		return a.expandResource(ctx, f, server, uri)
	}
	switch {
	case scheme == "data" && f.Mime == "text/plain":
		text, err := dataText(f.URL)
		if err != nil {
			return unreadable(f, f.Filename, err)
		}
		return []lathe.Body{readHeader(f.Filename, nil), history.Synthetic(text), f}, nil
	case scheme == "file":
		u, err := url.Parse(f.URL)
		if err != nil {
			return unreadable(f, f.URL, err)
		}
		return a.expandPath(ctx, f, pathOf(u), u.Query())
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

// readHeader names the source of the following text in the form of a read call. Without the range of lines, a model
// takes the text for the whole file.
func readHeader(path string, query url.Values) *lathe.Text {
	input := "{\"filePath\":" + string(lathe.AppendJSONString(nil, path))
	if from, limit := lineRange(query); from > 0 {
		input += ",\"offset\":" + strconv.Itoa(from)
		if limit > 0 {
			input += ",\"limit\":" + strconv.Itoa(limit)
		}
	}
	return history.Synthetic("Called the Read tool with the following input: " + input + "}")
}

// lineRange is the first line and the number of lines that a URL names; 0 is all.
func lineRange(query url.Values) (from, limit int) {
	if query.Has("start") || query.Has("end") {
		from = number(query.Get("start"), 1)
		if to := number(query.Get("end"), 0); to >= from {
			limit = to - from + 1
		}
	}
	return from, limit
}

// unreadable says in the prompt that an attachment is missing, and why.
func unreadable(f *lathe.File, name string, err error) ([]lathe.Body, error) {
	text := fmt.Sprintf("The user attached %s, but it could not be read: %v", name, err)
	return []lathe.Body{history.Synthetic(text)}, lathe.Errorf(lathe.NotFound, "the attachment %s could not be read: %w", cmp.Or(f.Filename, name), err)
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

// expandPath reads a file on this machine: texts and directories in the words of the read
// tool, anything else as it is.
func (a Attachments) expandPath(ctx context.Context, f *lathe.File, path string, query url.Values) ([]lathe.Body, error) {
	info, err := os.Stat(path)
	if err != nil {
		return unreadable(f, path, err)
	}
	shown := *f
	switch {
	case info.IsDir():
		shown.Mime = "application/x-directory"
		return a.read(ctx, path, nil, &shown)
	case !info.Mode().IsRegular():
		return unreadable(f, path, lathe.Errorf(lathe.Invalid, "it is not a regular file"))
	case f.Mime == "text/plain":
		return a.read(ctx, path, query, &shown)
	case info.Size() > mediaBytes:
		return unreadable(f, path, lathe.Errorf(lathe.Invalid, "it is larger than %d MB", mediaBytes>>20))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return unreadable(f, path, err)
	}
	shown.URL = "data:" + f.Mime + ";base64," + base64.StdEncoding.EncodeToString(data)
	return []lathe.Body{readHeader(path, nil), &shown}, nil
}

// read reads as the read tool does, without asking: the user named the file.
func (a Attachments) read(ctx context.Context, path string, query url.Values, shown *lathe.File) ([]lathe.Body, error) {
	from, limit := lineRange(query)
	res, err := builtin.ReadFile(ctx, &tool.Call{Session: a.Session, Dir: a.Dir, Root: a.Dir}, path, from, limit)
	if err != nil {
		return unreadable(shown, path, err)
	}
	out := []lathe.Body{readHeader(path, query), history.Synthetic(res.Output)}
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

// resourceBytes is how large a picture or document of a resource may be.
const resourceBytes = 10 << 20

// Resource is one content of what a server of tools offers under an address.
type Resource struct {
	URI, Mime string
	Text      string
	Blob      []byte // where it is no text
}

// resourceOf are the server and the address that a part of a prompt stands for.
func resourceOf(f *lathe.File) (server, uri string, ok bool) {
	if f.Source == nil || f.Source.Type != "resource" {
		return "", "", false
	}
	var at struct {
		ClientName string `json:"clientName"`
		URI        string `json:"uri"`
	}
	err := json.Unmarshal([]byte("{"+string(f.Source.Extra)+"}"), &at)
	return at.ClientName, at.URI, err == nil && at.URI != ""
}

// expandResource reads a resource that the user has named.
func (a Attachments) expandResource(ctx context.Context, f *lathe.File, server, uri string) ([]lathe.Body, error) {
	name := cmp.Or(f.Filename, uri)
	if a.Resource == nil {
		return unreadable(f, name, lathe.Errorf(lathe.NotFound, "no MCP server with resources here"))
	}
	contents, err := a.Resource(ctx, server, uri)
	if err != nil {
		return unreadable(f, name, err)
	}
	out := []lathe.Body{history.Synthetic(fmt.Sprintf("The user attached the MCP resource %s (%s):", name, uri))}
	for _, c := range contents {
		out = append(out, resourceBodies(c, name)...)
	}
	return append(out, f), nil
}

// resourceBodies are the parts a content becomes.
func resourceBodies(c Resource, name string) []lathe.Body {
	shown := slices.Contains([]string{"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"}, c.Mime)
	switch {
	case len(c.Blob) == 0:
		return []lathe.Body{history.Synthetic(c.Text)}
	case !shown:
		return []lathe.Body{history.Synthetic(fmt.Sprintf("[Binary content of type %s left out: models are not shown such.]", cmp.Or(c.Mime, "unknown")))}
	case len(c.Blob) > resourceBytes:
		return []lathe.Body{history.Synthetic(fmt.Sprintf("[Binary content of type %s left out: it has %d bytes, at most %d are shown.]", c.Mime, len(c.Blob), resourceBytes))}
	}
	return []lathe.Body{
		history.Synthetic(fmt.Sprintf("[Binary content of type %s, attached.]", c.Mime)),
		&lathe.File{Mime: c.Mime, Filename: cmp.Or(c.URI, name), URL: "data:" + c.Mime + ";base64," + base64.StdEncoding.EncodeToString(c.Blob)},
	}
}
