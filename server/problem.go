package server

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// problem is an error as the wire has it. OpenCode has two families: {"name","data"}
// and {"_tag",…}; body is one of either, nil is an empty body.
type problem struct {
	status int
	body   any // a struct of this file
	cause  error
}

func (p *problem) Error() string {
	if p.cause != nil {
		return p.cause.Error()
	}
	text, _ := json.Marshal(p.body) // structs of strings
	return fmt.Sprintf("%d %s", p.status, text)
}

func (p *problem) Unwrap() error { return p.cause }

// The bodies of errors.
type (
	namedBody struct {
		Name string `json:"name"`
		Data any    `json:"data"`
	}
	badData struct {
		Message string `json:"message"`
		Kind    string `json:"kind"` // Params, Headers, Query, Body or Payload
	}
	messageData struct {
		Message string `json:"message"`
	}
	unknownData struct {
		Message string `json:"message"`
		Ref     string `json:"ref,omitempty"`
	}
	// taggedBody has a message and the ID of the subject, or only the tag.
	taggedBody struct {
		Tag     string          `json:"_tag"`
		Session lathe.SessionID `json:"sessionID,omitempty"`
		Project string          `json:"projectID,omitempty"`
		Request string          `json:"requestID,omitempty"`
		Pty     string          `json:"ptyID,omitempty"`
		Server  string          `json:"name,omitempty"`
		Message string          `json:"message,omitempty"`
	}
)

func named(name string, data any) namedBody { return namedBody{name, data} }

// mostMessage is how long a message about a bad request may be, in bytes.
const mostMessage = 1024

// badRequest describes the mistake in a part of the request.
func badRequest(kind, format string, args ...any) error {
	return badStatus(http.StatusBadRequest, kind, phrase.Shorten(fmt.Sprintf(format, args...), mostMessage-3), nil)
}

// badStatus is badRequest with another status.
func badStatus(status int, kind, message string, cause error) error {
	return &problem{status: status, body: named("BadRequest", badData{Message: message, Kind: kind}), cause: cause}
}

// checkMessage rejects an invalid message ID in a body.
func checkMessage(id lathe.MessageID) error {
	if id == "" {
		return nil
	}
	if err := lathe.CheckID(lathe.PrefixMessage, string(id)); err != nil {
		return badRequest("Body", "messageID: %v", err)
	}
	return nil
}

// badTag is a bad request in the second family.
func badTag(why error) error {
	return &problem{status: http.StatusBadRequest, body: taggedBody{Tag: "BadRequest"}, cause: why}
}

func notFound(format string, args ...any) error {
	return &problem{status: http.StatusNotFound, body: named("NotFoundError", messageData{fmt.Sprintf(format, args...)})}
}

func forbidden(format string, args ...any) error {
	return &problem{status: http.StatusForbidden, body: named("ForbiddenError", messageData{fmt.Sprintf(format, args...)})}
}

// errPassword asks for a name and a password.
var errPassword error = &problem{status: http.StatusUnauthorized}

// problemOf turns any error into one of the wire, by its code. ref names it in the log if it is
// not the caller's mistake.
func (c *call) problemOf(err error) (p *problem, ref string) {
	if errors.As(err, &p) {
		return p, ""
	}
	message := err.Error()
	if settings, ok := errors.AsType[*config.Error](err); ok {
		return &problem{status: http.StatusBadRequest, body: settings.Wire(), cause: err}, ""
	}
	if ours, ok := errors.AsType[*lathe.Error](err); ok && ours.Fault != nil {
		return &problem{status: statusOf(ours.Code), body: json.RawMessage(lathe.EncodeFault(ours.Fault)), cause: err}, ""
	}
	code := lathe.CodeOf(err)
	status := statusOf(code)
	switch code {
	case lathe.Invalid:
		return &problem{status: status, body: named("BadRequest", badData{phrase.Shorten(message, mostMessage-3), "Payload"}), cause: err}, ""
	case lathe.NotFound:
		return &problem{status: status, body: named("NotFoundError", messageData{message}), cause: err}, ""
	case lathe.Conflict:
		if id := lathe.SessionID(c.PathValue("sessionID")); id != "" {
			return &problem{status: status, body: taggedBody{Tag: "SessionBusyError", Session: id, Message: message}, cause: err}, ""
		}
	case lathe.Canceled: // the client is connected, so the server is shutting down
		message = "The server is shutting down; retry when it is back. Interrupted turns can be resumed"
	case lathe.Internal:
		ref := newRef()
		return &problem{status: status, body: named("UnknownError", unknownData{"Internal server error; see the server log at " + ref, ref}), cause: err}, ref
	default:
	}
	return &problem{status: status, body: named("UnknownError", unknownData{Message: message}), cause: err}, ""
}

// statusOf is the HTTP status of a code.
func statusOf(code lathe.Code) int {
	switch code {
	case lathe.Invalid:
		return http.StatusBadRequest
	case lathe.NotFound:
		return http.StatusNotFound
	case lathe.Conflict:
		return http.StatusConflict
	case lathe.Denied, lathe.Rejected:
		return http.StatusForbidden
	case lathe.Unauthorized:
		return http.StatusUnauthorized
	case lathe.Limited:
		return http.StatusTooManyRequests
	case lathe.Unavailable, lathe.Canceled:
		return http.StatusServiceUnavailable
	case lathe.Overflow:
		return http.StatusRequestEntityTooLarge
	case lathe.Refused:
		return http.StatusUnprocessableEntity
	default:
		return http.StatusInternalServerError
	}
}

// newRef returns an ID to find a failure in the log.
func newRef() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "err_" + hex.EncodeToString(b[:])
}

// failure is a kind of error that a route may answer, for the document.
type failure struct{ status, words, schema string }

// The failures.
var (
	failsBad     = failure{"400", "Bad request", "BadRequestError"} // the first family
	failsTag     = failure{"400", "Bad request", "BadRequestTag"}   // the second
	failsMissing = failure{"404", "Not found", "NotFoundError"}
	failsBusy    = failure{"409", "The session is busy", "SessionBusyError"}
	failsAsk     = failure{"404", "No such pending request", "RequestNotFoundError"}
	failsProject = failure{"404", "Project not found", "ProjectNotFoundError"}
	failsPty     = failure{"404", "Terminal not found", "PtyNotFoundError"}
	failsTicket  = failure{"403", "The ticket is not valid", "PtyForbiddenError"}
	failsDown    = failure{"503", "Not available", "BadRequestError"}
	failsApply   = failure{"400", "The patch cannot be applied", "VcsApplyError"}
)
