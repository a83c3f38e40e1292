package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Limits of a result, so that a session does not fill the context of the calling model.
const (
	usualSessions = 20
	mostSessions  = 200
	usualMessages = 20
	mostMessages  = 200
	mostBytes     = 96 << 10
)

type (
	listArgs struct {
		Limit    int    `json:"limit,omitempty" jsonschema:"maximum number of sessions; default 20, at most 200"`
		Search   string `json:"search,omitempty" jsonschema:"only sessions with this text in the title"`
		Archived bool   `json:"archived,omitempty" jsonschema:"list archived sessions instead"`
	}
	ListReply struct {
		Sessions []sessionRecord `json:"sessions"`
	}
	sessionRecord struct {
		ID          string `json:"id"`
		Title       string `json:"title"`
		Directory   string `json:"directory"`
		Created     int64  `json:"created" jsonschema:"in milliseconds since 1970"`
		Updated     int64  `json:"updated" jsonschema:"in milliseconds since 1970"`
		Interrupted bool   `json:"interrupted,omitempty" jsonschema:"its last turn was interrupted"`
	}
)

// sessions lists the sessions of the project.
func (h *host) sessions(ctx context.Context, _ *mcp.CallToolRequest, in listArgs) (*mcp.CallToolResult, ListReply, error) {
	out := ListReply{Sessions: []sessionRecord{}}
	most, err := limitOf("limit", in.Limit, usualSessions, mostSessions)
	if err != nil {
		return nil, out, err
	}
	var found []lathe.Session
	var states map[lathe.SessionID]string
	e, err := h.look()
	if err == nil {
		if found, err = session.QuerySessions(ctx, h.App, e, session.ListFlags{Most: most, Archived: in.Archived, Search: in.Search}); err == nil {
			states, err = session.SessionStates(ctx, e)
		}
	}
	if err != nil && !errors.As(err, new(cli.NoDatabase)) {
		return nil, out, err
	}
	for _, s := range found {
		out.Sessions = append(out.Sessions, sessionRecord{
			ID: string(s.ID), Title: termtext.Plain(s.Title), Directory: s.Directory,
			Created: int64(s.Created), Updated: int64(s.Updated), Interrupted: states[s.ID] == session.Interrupted,
		})
	}
	text := session.ListFlags{Archived: in.Archived, Search: in.Search, All: true}.EmptyMessage()
	if len(found) > 0 {
		var b bytes.Buffer
		if err := session.SessionTable(h.App, found, states).Write(&b, 0); err != nil {
			return nil, out, err
		}
		text = b.String()
	}
	return textResult(text), out, nil
}

type (
	readArgs struct {
		Session  string `json:"session" jsonschema:"the ID, a unique beginning or end of it, or last for the latest of the project"`
		Messages int    `json:"messages,omitempty" jsonschema:"number of latest messages; default 20, at most 200"`
		Full     bool   `json:"full,omitempty" jsonschema:"include reasoning, tool input and tool output"`
	}
	ReadReply struct {
		ID        string `json:"id"`
		Title     string `json:"title"`
		Messages  int    `json:"messages" jsonschema:"number of messages shown"`
		More      bool   `json:"more" jsonschema:"there are older messages"`
		Shortened bool   `json:"shortened" jsonschema:"the beginning of the text was removed, because it was too long"`
	}
)

// session returns a session as a transcript.
func (h *host) session(ctx context.Context, _ *mcp.CallToolRequest, in readArgs) (*mcp.CallToolResult, ReadReply, error) {
	most, err := limitOf("messages", in.Messages, usualMessages, mostMessages)
	if err != nil {
		return nil, ReadReply{}, err
	}
	e, err := h.look()
	if err != nil {
		return nil, ReadReply{}, err
	}
	s, err := h.ours(ctx, e, in.Session)
	if err != nil {
		return nil, ReadReply{}, err
	}
	page, err := e.Messages(ctx, s.ID, lathe.Position{}, most)
	if err != nil {
		return nil, ReadReply{}, err
	}
	var head, body bytes.Buffer
	t := session.Transcript{Out: &body, Now: h.Now(), Detail: in.Full}
	if err := errors.Join(layout.Pairs(&head, session.RecordRows(h.App, s)), t.Messages(page.Messages)); err != nil {
		return nil, ReadReply{}, err
	}
	text, short := lastOf(body.String(), mostBytes)
	if page.More {
		head.WriteString("\n… older messages not shown\n")
	}
	return textResult(head.String() + text), ReadReply{ID: string(s.ID), Title: termtext.Plain(s.Title), Messages: len(page.Messages), More: page.More, Shortened: short}, nil
}

// limitOf returns the requested limit, or the default for 0.
func limitOf(name string, n, usual, most int) (int, error) {
	if n < 0 {
		return 0, lathe.Errorf(lathe.Invalid, "%s is %d; want 0 or more", name, n)
	}
	return min(cmp.Or(n, usual), most), nil
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// lastOf shortens a long text to its last lines.
func lastOf(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	rest := text[len(text)-most:]
	if _, after, ok := strings.Cut(rest, "\n"); ok {
		rest = after
	}
	return fmt.Sprintf("… %s before this not shown\n%s", termtext.ByteSize(int64(len(text)-len(rest))), strings.ToValidUTF8(rest, "")), true
}
