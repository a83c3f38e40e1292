package server

import (
	"encoding/json"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// The routes that drive terminal clients: each publishes an event that they obey. Callers of
// /tui/control/next get the requests themselves.

// tuiAPI drives terminal clients.
type tuiAPI struct {
	publisher
	control control
}

// routes are those by which editors drive a terminal UI.
func (a *tuiAPI) routes() []row {
	bad := []failure{failsBad}
	rows := []row{
		answer(route("POST /tui/append-prompt", "tui.appendPrompt", "tui", mayAll, "Append a text to the prompt", bad), a.appendPrompt),
		answer(route("POST /tui/execute-command", "tui.executeCommand", "tui", mayAll,
			"Run a command by its old or new name, such as session_new or session.new", bad), a.executeCommand),
		answer(route("POST /tui/show-toast", "tui.showToast", "tui", mayAll, "Show a short message", bad), a.showToast),
		answer(route("POST /tui/publish", "tui.publish", "tui", mayAll, "Publish an event for terminal clients", bad), a.publishTUI),
		answer(route("POST /tui/select-session", "tui.selectSession", "tui", mayAll,
			"Open a session", []failure{failsBad, failsMissing}), a.selectSession),
		answer(route("GET /tui/control/next", "tui.control.next", "tui", mayAll,
			"Wait for the next request to terminal clients", bad), a.nextControl),
		answer(route("POST /tui/control/response", "tui.control.response", "tui", mayAll,
			"Answer the most recent request", bad), a.answerControl),
	}
	for _, one := range []struct{ path, name, command, summary string }{
		{"/tui/submit-prompt", "tui.submitPrompt", "prompt.submit", "Send the prompt"},
		{"/tui/clear-prompt", "tui.clearPrompt", "prompt.clear", "Clear the prompt"},
		{"/tui/open-help", "tui.openHelp", "help.show", "Open the help"},
		{"/tui/open-sessions", "tui.openSessions", "session.list", "Open the list of sessions"},
		{"/tui/open-themes", "tui.openThemes", "theme.switch", "Open the list of themes"},
		{"/tui/open-models", "tui.openModels", "model.list", "Open the list of models"},
	} {
		rows = append(rows, answer(route("POST "+one.path, one.name, "tui", mayAll, one.summary, bad),
			func(c *call, _, _ none) (bool, error) {
				return a.drive(c, &lathe.TUICommand{Command: one.command}, none{})
			}))
	}
	return rows
}

// drive publishes an event to terminal clients, and passes the request to one that waits for it.
func (a *tuiAPI) drive(c *call, f lathe.Fact, body any) (bool, error) {
	at, _, err := c.place()
	if err != nil {
		return false, err
	}
	text, err := encode(body)
	if err != nil {
		return false, err
	}
	a.publish(at, f)
	a.control.put(at.Directory, controlRequest{Path: c.URL.Path, Body: text})
	return true, nil
}

type promptText struct {
	Text string `json:"text"`
}

func (a *tuiAPI) appendPrompt(c *call, _ none, in promptText) (bool, error) {
	return a.drive(c, &lathe.TUIPromptAppend{Text: in.Text}, in)
}

type tuiCommand struct {
	Command string `json:"command"`
}

// oldCommands maps old command names to current ones.
var oldCommands = map[string]string{
	"session_new": "session.new", "session_share": "session.share", "session_interrupt": "session.interrupt", "session_compact": "session.compact",
	"messages_page_up": "session.page.up", "messages_page_down": "session.page.down", "messages_line_up": "session.line.up",
	"messages_line_down": "session.line.down", "messages_half_page_up": "session.half.page.up", "messages_half_page_down": "session.half.page.down",
	"messages_first": "session.first", "messages_last": "session.last", "agent_cycle": "agent.cycle",
}

// executeCommand passes names with a dot on as they are. Unknown names do nothing.
func (a *tuiAPI) executeCommand(c *call, _ none, in tuiCommand) (bool, error) {
	name := oldCommands[in.Command]
	if name == "" && strings.Contains(in.Command, ".") {
		name = in.Command
	}
	if name == "" {
		_, _, err := c.place()
		return err == nil, err
	}
	return a.drive(c, &lathe.TUICommand{Command: name}, in)
}

type toastBody struct {
	Title    string `json:"title,omitempty"`
	Message  string `json:"message"`
	Variant  string `json:"variant" enum:"info,success,warning,error"`
	Duration *int   `json:"duration,omitempty" doc:"milliseconds"`
}

func (in toastBody) fact() (*lathe.TUIToast, error) {
	switch in.Variant {
	case "info", "success", "warning", "error":
	default:
		return nil, badRequest("Body", "Expected info, success, warning or error, got %q at [\"variant\"]", phrase.Shorten(in.Variant, 40))
	}
	f := &lathe.TUIToast{Title: in.Title, Message: in.Message, Variant: in.Variant}
	if in.Duration != nil {
		if f.Duration = *in.Duration; f.Duration <= 0 {
			return nil, badRequest("Body", "Expected a number above 0, got %d at [\"duration\"]", f.Duration)
		}
	}
	return f, nil
}

func (a *tuiAPI) showToast(c *call, _ none, in toastBody) (bool, error) {
	f, err := in.fact()
	if err != nil {
		return false, err
	}
	return a.drive(c, f, in)
}

type sessionBody struct {
	Session lathe.SessionID `json:"sessionID"`
}

func (a *tuiAPI) selectSession(c *call, _ none, in sessionBody) (bool, error) {
	f, err := a.selected(c, in)
	if err != nil {
		return false, err
	}
	return a.drive(c, f, in)
}

// selected is the event that opens a session, which must be there.
func (a *tuiAPI) selected(c *call, in sessionBody) (lathe.Fact, error) {
	if err := lathe.CheckID(lathe.PrefixSession, string(in.Session)); err != nil {
		return nil, badRequest("Body", "sessionID: %v", err)
	}
	if _, err := a.engine.Get(c.Context(), in.Session); err != nil {
		return nil, err
	}
	return &lathe.TUISessionSelect{Session: in.Session}, nil
}

type publishBody struct {
	Type       string `json:"type" enum:"tui.prompt.append,tui.command.execute,tui.toast.show,tui.session.select"`
	Properties object `json:"properties"`
}

// publishTUI publishes one of the four events, each with the members it needs.
func (a *tuiAPI) publishTUI(c *call, _ none, in publishBody) (bool, error) {
	var f lathe.Fact
	var err error
	switch in.Type {
	case "tui.prompt.append":
		var p promptText
		err = c.readProperties(in.Properties, &p)
		f = &lathe.TUIPromptAppend{Text: p.Text}
	case "tui.command.execute":
		var p tuiCommand
		err = c.readProperties(in.Properties, &p)
		f = &lathe.TUICommand{Command: p.Command}
	case "tui.toast.show":
		var p toastBody
		if err = c.readProperties(in.Properties, &p); err == nil {
			f, err = p.fact()
		}
	case "tui.session.select":
		var p sessionBody
		if err = c.readProperties(in.Properties, &p); err == nil {
			f, err = a.selected(c, p)
		}
	default:
		return false, badRequest("Body", "Expected an event of terminal clients, as tui.toast.show, got %q at [\"type\"]", phrase.Shorten(in.Type, 40))
	}
	if err != nil {
		return false, err
	}
	return a.drive(c, f, in)
}

// readProperties is readBody for a part of it.
func (c *call) readProperties(data object, to any) error {
	if err := json.Unmarshal(data, to); err != nil {
		return badBody(data, err)
	}
	if path := missing(typeOf(to), data); path != "" {
		return badRequest("Body", "Missing key at [\"properties\"][%q]", path)
	}
	return nil
}
