package server

import (
	"github.com/lathe-agent/lathe"
)

// messageAPI answers for the messages and parts of a session.
type messageAPI struct{ engine Engine }

func (a messageAPI) routes() []row {
	missing, busy := []failure{failsBad, failsMissing}, []failure{failsBad, failsMissing, failsBusy}
	return []row{
		answer(route("GET /session/{sessionID}/message", "session.messages", "session", mayRead,
			"List the messages of a session, oldest first; with limit, the newest ones and a cursor to earlier ones", []failure{failsBad, failsTag, failsMissing}), ofSession(a.listMessages)),
		answer(route("GET /session/{sessionID}/message/{messageID}", "session.message", "session", mayRead,
			"Get a message with its parts", missing), a.getMessage),
		answer(route("DELETE /session/{sessionID}/message/{messageID}", "session.deleteMessage", "session", mayAll,
			"Delete a message of an idle session", busy), a.deleteMessage),
		answer(route("PATCH /session/{sessionID}/message/{messageID}/part/{partID}", "part.update", "session", mayAll,
			"Replace a part of a message", busy), a.updatePart),
		answer(route("DELETE /session/{sessionID}/message/{messageID}/part/{partID}", "part.delete", "session", mayAll,
			"Delete a part of a message", busy), a.deletePart),
	}
}

type pageQuery struct {
	Limit  int    `query:"limit"`
	Before string `query:"before"`
}

// listMessages returns a page, with the cursor of the next older one in headers.
func (a messageAPI) listMessages(c *call, rec lathe.Session, q pageQuery, _ none) (messages, error) {
	var before lathe.Position
	if q.Before != "" {
		if q.Limit == 0 {
			return nil, badTag(lathe.Errorf(lathe.Invalid, "before needs a limit"))
		}
		var err error
		if before, err = lathe.ParsePosition(q.Before); err != nil {
			return nil, badTag(err)
		}
	}
	page, err := a.engine.Messages(c.Context(), rec.ID, before, q.Limit)
	if err != nil {
		return nil, err
	}
	if page.More && q.Limit > 0 {
		c.setNextPage(page.Next.Token())
	}
	return page.Messages, nil
}

// setNextPage sets the headers with the next page.
func (c *call) setNextPage(cursor string) {
	next := *c.URL
	q := next.Query()
	q.Set("before", cursor)
	q.Del("auth_token")
	next.RawQuery, next.Scheme, next.Host = q.Encode(), scheme(c.Request), c.Host
	h := c.w.Header()
	h.Set("X-Next-Cursor", cursor)
	h.Set("Link", "<"+next.String()+`>; rel="next"`)
	h.Set("Access-Control-Expose-Headers", "Link, X-Next-Cursor")
}

// message returns the message the path names.
func (a messageAPI) message(c *call) (lathe.Message, error) {
	rec, err := c.session()
	if err != nil {
		return lathe.Message{}, err
	}
	id, err := c.messageID()
	if err != nil {
		return lathe.Message{}, err
	}
	return a.engine.Message(c.Context(), rec.ID, id)
}

func (a messageAPI) getMessage(c *call, _, _ none) (lathe.Message, error) { return a.message(c) }

func (a messageAPI) deleteMessage(c *call, _, _ none) (bool, error) {
	m, err := a.message(c)
	if err != nil {
		return false, err
	}
	return true, a.engine.RemoveMessage(c.Context(), m.Session, m.ID)
}

// updatePart replaces an existing part; the body must have the IDs of the path.
func (a messageAPI) updatePart(c *call, _ none, in lathe.Part) (lathe.Part, error) {
	m, err := a.message(c)
	if err != nil {
		return in, err
	}
	id, err := c.pathID("partID", lathe.PrefixPart)
	switch {
	case err != nil:
		return in, err
	case in.Body == nil:
		return in, badRequest("Body", "Missing key at [%q]", "type")
	case in.ID != lathe.PartID(id), in.Message != m.ID, in.Session != m.Session:
		return in, badRequest("Body", "Part mismatch: the ids in the body are not those of the path")
	}
	return a.engine.UpdatePart(c.Context(), in, "")
}

func (a messageAPI) deletePart(c *call, _, _ none) (bool, error) {
	m, err := a.message(c)
	if err != nil {
		return false, err
	}
	id, err := c.pathID("partID", lathe.PrefixPart)
	if err != nil {
		return false, err
	}
	return true, a.engine.RemovePart(c.Context(), m.Session, m.ID, lathe.PartID(id))
}

// messages are written one after the other, without a second look at each: histories are long.
type messages []lathe.Message

// AppendJSON appends the list.
func (m messages) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range m {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = m[i].AppendJSON(dst)
	}
	return append(dst, ']')
}

// appender writes its own JSON into a buffer.
type appender interface{ AppendJSON(dst []byte) []byte }
