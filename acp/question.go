package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

// question asks the user what the model wants to know: with a form if the client has forms, with options to choose from
// otherwise. A question without options becomes a text, which the next prompt answers.
func (v *view) question(r lathe.QuestionRequest) {
	l, id, call := v.loop, wire.SessionID(v.out), v.callID(r.Tool, r.ID)
	can := l.server.capabilities().Elicitation
	l.ask(r.ID, func(ctx context.Context) {
		var answers [][]string
		var err error
		if can != nil && can.Form != nil {
			answers, err = l.askForm(ctx, id, call, r.Questions)
		} else {
			answers, err = l.askOptions(ctx, id, call, r.Questions)
		}
		switch {
		case ctx.Err() != nil || l.server.conn.Err() != nil:
			return // answered elsewhere, or it stays open
		case err != nil:
			l.server.Log.Warn("acp: the client did not answer a question", "error", err)
			l.logAnswer(l.backend.Dismiss(ctx, r.ID))
		case answers == nil:
			l.logAnswer(l.backend.Dismiss(ctx, r.ID))
		default:
			l.logAnswer(l.backend.Answer(ctx, r.ID, answers))
		}
	})
}

// askForm asks all questions with one form. It returns nil if the user declines.
func (l *loop) askForm(ctx context.Context, id wire.SessionID, call wire.ToolCallID, qs []lathe.Question) ([][]string, error) {
	req := wire.CreateElicitationRequest{Mode: "form", SessionID: id, ToolCallID: call, Message: formMessage(qs), RequestedSchema: formSchema(qs)}
	var res wire.CreateElicitationResponse
	if err := l.server.call(ctx, "elicitation/create", req, &res); err != nil || res.Action != "accept" {
		return nil, err
	}
	return formAnswers(qs, res.Content), nil
}

// formMessage is the line above a form. With several questions each field has its own.
func formMessage(qs []lathe.Question) string {
	if len(qs) == 1 {
		return qs[0].Question
	}
	return fmt.Sprintf("%d questions", len(qs))
}

// fieldName and otherName are the fields of a form for a question: its choices, and an answer in the user's words.
func fieldName(i int) string { return fmt.Sprintf("question%d", i+1) }
func otherName(i int) string { return fmt.Sprintf("question%d_other", i+1) }

// formSchema is the form for some questions.
func formSchema(qs []lathe.Question) *wire.ElicitationSchema {
	s := &wire.ElicitationSchema{Type: wire.ElicitationSchemaTypeObject, Properties: map[string]wire.ElicitationPropertySchema{}}
	for i, q := range qs {
		f := wire.ElicitationPropertySchema{Type: "string", Title: q.Header, Description: q.Question}
		if f.Title == "" {
			f.Title = q.Question
		}
		var options []wire.EnumOption
		for _, o := range q.Options {
			options = append(options, wire.EnumOption{Const: o.Label, Title: o.Label, Description: o.Description})
		}
		switch {
		case len(options) == 0:
			s.Required = append(s.Required, fieldName(i))
		case q.Multiple.On():
			f.Type, f.Items = "array", &wire.MultiSelectItems{AnyOf: options}
		default:
			f.OneOf = options
		}
		s.Properties[fieldName(i)] = f
		switch {
		case len(options) == 0:
		case q.Custom != lathe.No:
			s.Properties[otherName(i)] = wire.ElicitationPropertySchema{Type: "string", Title: "Other answer", Description: "Instead of the choices above"}
		default:
			s.Required = append(s.Required, fieldName(i))
		}
	}
	return s
}

// formAnswers reads the answers of a form. Values of another form are no answers.
func formAnswers(qs []lathe.Question, content map[string]json.RawMessage) [][]string {
	out := make([][]string, len(qs))
	for i := range qs {
		out[i] = []string{}
		var one string
		var many []string
		if json.Unmarshal(content[fieldName(i)], &one) == nil && one != "" {
			out[i] = []string{one}
		} else if json.Unmarshal(content[fieldName(i)], &many) == nil {
			out[i] = append(out[i], many...)
		}
		var other string
		if json.Unmarshal(content[otherName(i)], &other) == nil && strings.TrimSpace(other) != "" {
			if !qs[i].Multiple.On() {
				out[i] = nil
			}
			out[i] = append(out[i], other)
		}
	}
	return out
}

const skipOption = "skip"

// askOptions asks one question after the other with the options of a permission request. It returns nil if the user
// answers none.
func (l *loop) askOptions(ctx context.Context, id wire.SessionID, call wire.ToolCallID, qs []lathe.Question) ([][]string, error) {
	answers, some := make([][]string, len(qs)), false
	for i, q := range qs {
		answers[i] = []string{}
		if len(q.Options) == 0 {
			l.server.update(lathe.SessionID(id), wire.SessionUpdate{AgentMessageChunk: &wire.ContentChunk{Content: textBlock("\n\n" + q.Question + "\n\nAnswer with your next message.")}})
			continue
		}
		req := wire.RequestPermissionRequest{SessionID: id, ToolCall: wire.ToolCallUpdate{
			ToolCallID: call, Title: oneLine(q.Question, maxTitle), Kind: wire.ToolKindThink, Status: wire.ToolCallStatusPending,
			Content: []wire.ToolCallContent{textContent(questionText(q))},
		}}
		for n, o := range q.Options {
			req.Options = append(req.Options, wire.PermissionOption{
				OptionID: wire.PermissionOptionID(fmt.Sprintf("option%d", n)), Name: o.Label, Kind: wire.PermissionOptionKindAllowOnce,
			})
		}
		req.Options = append(req.Options, wire.PermissionOption{OptionID: skipOption, Name: "Skip", Kind: wire.PermissionOptionKindRejectOnce})
		var res wire.RequestPermissionResponse
		if err := l.server.call(ctx, "session/request_permission", req, &res); err != nil {
			return nil, err
		}
		if res.Outcome.Selected == nil {
			return nil, nil // the user closed the question
		}
		for n, o := range q.Options {
			if string(res.Outcome.Selected.OptionID) == fmt.Sprintf("option%d", n) {
				answers[i], some = []string{o.Label}, true
			}
		}
	}
	if !some {
		return nil, nil
	}
	return answers, nil
}

// questionText lists the options with their descriptions, for which permission requests have no place.
func questionText(q lathe.Question) string {
	text := q.Question
	for _, o := range q.Options {
		text += "\n- " + o.Label
		if o.Description != "" {
			text += ": " + o.Description
		}
	}
	return text
}

// openPage asks the user to open the login page of an MCP server in a browser, if the client can do that.
func (s *session) openPage(server, page string) {
	can := s.loop.server.capabilities().Elicitation
	if can == nil || can.URL == nil || s.pages[server] {
		return
	}
	s.pages[server] = true
	req := wire.CreateElicitationRequest{
		Mode: "url", SessionID: wire.SessionID(s.id), ElicitationID: pageID(server), URL: page, Message: "Log in to the MCP server " + oneLine(server, maxTitle),
	}
	l := s.loop
	l.ask(lathe.AskID(pageID(server)), func(ctx context.Context) {
		if err := l.server.call(ctx, "elicitation/create", req, nil); err != nil {
			l.server.Log.Debug("acp: page not opened", "server", server, "error", err)
		}
	})
}

func pageID(server string) wire.ElicitationID { return wire.ElicitationID("mcp-login-" + server) }

// closePage tells the client that a login has ended: the server offers its tools.
func (s *session) closePage(server string) {
	if !s.pages[server] {
		return
	}
	delete(s.pages, server)
	data, err := json.Marshal(wire.CompleteElicitationNotification{ElicitationID: pageID(server)})
	if err == nil {
		err = s.loop.server.conn.Notify(s.loop.ctx, "elicitation/complete", data)
	}
	if err != nil {
		s.loop.server.Log.Debug("acp: end of a login not sent", "server", server, "error", err)
	}
}
