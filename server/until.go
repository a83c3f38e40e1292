package server

import (
	"bytes"
	"net/http"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// untilAPI serves runs that a command ends. The client sends the prompts; the server protects the files that decide the
// result for as long as the client holds its request. A backend without such runs refuses.
type untilAPI struct{ untils api.Untils }

// untilBody begins a run with a prompt, or continues that of a session.
type untilBody struct {
	Command string          `json:"command,omitempty" doc:"exit code 0 means that the work is done"`
	Tries   int             `json:"tries,omitempty" doc:"how often the command may run"`
	Parts   []lathe.Part    `json:"parts,omitempty" doc:"of the first prompt"`
	Session lathe.SessionID `json:"sessionID,omitempty" doc:"continue the run of this session; needs nothing else"`
}

// untilMarked is the first line of a held request.
type untilMarked struct {
	Parts []lathe.Part `json:"parts"`
}

func (a untilAPI) routes() []row {
	missing := []failure{failsBad, failsMissing}
	return []row{
		held(route("POST /lathe/until", "lathe.until", "lathe", mayAll,
			"Protect the files that a command names while the request is open. The first line has the parts of the prompt to send", missing), "application/x-ndjson", a.hold),
		answer(route("POST /lathe/session/{sessionID}/until", "lathe.session.until", "lathe", mayAll,
			"Run the command of a session in the sandbox, and get the verdict and the next prompt", missing, withoutCompression), ofSession(a.check)),
	}
}

// hold protects the files until the client leaves.
func (a untilAPI) hold(c *call, in untilBody) error {
	if a.untils == nil {
		return errNoUntils()
	}
	ctx, stop := c.longContext()
	defer stop()
	p := lathe.Prompt{Parts: in.Parts}
	release, err := a.begin(c, in, &p)
	if err != nil {
		return err
	}
	defer release()
	first, err := encode(untilMarked{p.Parts})
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/x-ndjson")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Content-Type-Options", "nosniff")
	control, tick := http.NewResponseController(c.w), time.NewTicker(c.server.options.Heartbeat)
	defer tick.Stop()
	for line := append(bytes.TrimSpace(first), '\n'); ; line = []byte("\n") {
		_ = control.SetWriteDeadline(time.Now().Add(stuckTime)) // it fails only without deadlines
		if _, err := c.w.Write(line); err != nil || control.Flush() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (a untilAPI) begin(c *call, in untilBody, p *lathe.Prompt) (release func(), err error) {
	if in.Session != "" {
		if err := lathe.CheckID(lathe.PrefixSession, string(in.Session)); err != nil {
			return nil, badRequest("Body", "sessionID: %v", err)
		}
		return a.untils.ResumeUntil(c.Context(), in.Session)
	}
	at, _, err := c.place()
	if err != nil {
		return nil, err
	}
	if len(in.Command) > mostCommand {
		return nil, badRequest("Body", "command is longer than %d bytes", mostCommand)
	}
	return a.untils.BeginUntil(c.Context(), at.Directory, api.UntilSpec{Command: in.Command, Tries: in.Tries}, p)
}

func (a untilAPI) check(c *call, rec lathe.Session, _, _ none) (api.UntilRound, error) {
	if a.untils == nil {
		return api.UntilRound{}, errNoUntils()
	}
	ctx, stop := c.longContext()
	defer stop()
	return a.untils.CheckUntil(ctx, rec.ID)
}

func errNoUntils() error {
	return lathe.Errorf(lathe.Unavailable, "this server cannot run commands that decide")
}
