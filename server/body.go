package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// Time limits for a body, so that a slow client cannot hold a connection open.
const (
	bodyPause = 20 * time.Second // between two reads
	bodyTime  = 5 * time.Minute  // as a whole
)

// readBody reads the body into a value. Invalid JSON, wrong types and missing members are the
// caller's mistakes. Without a body all members are absent.
func (c *call) readBody(to any) error {
	data, err := c.bytes()
	if err != nil {
		return err
	}
	t := reflect.TypeOf(to).Elem()
	if t == reflect.TypeFor[object]() && string(bytes.TrimSpace(data)) == "null" {
		return badRequest("Body", "Expected object, got null")
	}
	if len(data) == 0 && t.Kind() == reflect.Struct {
		data = []byte("{}")
	}
	if err := json.Unmarshal(data, to); err != nil {
		return badBody(data, err)
	}
	if path := missing(t, data); path != "" {
		return badRequest("Body", "Missing key at [%q]", path)
	}
	return nil
}

// bytes reads the whole body within limits of size and time.
func (c *call) bytes() ([]byte, error) {
	if c.Body == nil || c.Body == http.NoBody {
		return nil, nil
	}
	control := http.NewResponseController(c.w)
	slow := &deadlineReader{r: http.MaxBytesReader(c.w, c.Body, c.server.options.MaxBody), control: control, until: time.Now().Add(bodyTime)}
	data, err := io.ReadAll(slow)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		limitUnread(c.w)
		return nil, badStatus(http.StatusRequestEntityTooLarge, "Body", "the request body is too large", nil)
	case err != nil:
		limitUnread(c.w)
		return nil, badStatus(http.StatusRequestTimeout, "Body", "the request body is incomplete or timed out", err)
	}
	_ = control.SetReadDeadline(time.Time{}) // the connection is reused; it fails only without deadlines
	return data, nil
}

// skipBody reads past an unwanted body before anything waits or streams. An announced body that
// never arrives would hold the connection and hide that its client has gone.
func (c *call) skipBody() error {
	if c.Body == nil || c.Body == http.NoBody {
		return nil
	}
	// ServeHTTP has set the time.
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(c.w, c.Body, c.server.options.MaxBody)); err != nil {
		c.w.Header().Set("Connection", "close")
		return badStatus(http.StatusRequestTimeout, "Body", "this route takes no body, and the announced one timed out", err)
	}
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{}) // the connection lives on
	return nil
}

// unreadTime limits the reading of an unused rest of a body.
const unreadTime = time.Second

// limitUnread limits how long net/http reads the rest of a body before it responds.
func limitUnread(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadTime)) // as above
}

// deadlineReader reads with a deadline that each piece moves on, up to a last one.
type deadlineReader struct {
	r       io.Reader
	control *http.ResponseController
	until   time.Time
}

func (p *deadlineReader) Read(b []byte) (int, error) {
	next := time.Now().Add(bodyPause)
	if next.After(p.until) {
		next = p.until
	}
	_ = p.control.SetReadDeadline(next) // a connection without deadlines is one of a test
	return p.r.Read(b)
}

// badBody describes the mistake in a body.
func badBody(data []byte, err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return badRequest("Body", "the request body is not JSON: %v (at byte %d of %d)", syntax, syntax.Offset, len(data))
	case errors.As(err, &wrong) && wrong.Field != "":
		return badRequest("Body", "Expected %s, got %s at [%q]", typeName(wrong.Type), wrong.Value, wrong.Field)
	case errors.As(err, &wrong):
		return badRequest("Body", "Expected %s, got %s", typeName(wrong.Type), wrong.Value)
	default:
		return badRequest("Body", "%v", err)
	}
}

// typeName is how JSON calls a type.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Pointer:
		return typeName(t.Elem())
	default:
		return "number"
	}
}

// missing returns the path of the first member that a type needs and the data, which is known
// to fit otherwise, does not have. A member is needed unless its tag says omitempty or omitzero.
func missing(t reflect.Type, data []byte) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return "" // it knows itself
	}
	switch t.Kind() {
	case reflect.Struct:
		return missingMember(t, data)
	case reflect.Slice:
		if e := t.Elem().Kind(); e != reflect.Struct && e != reflect.Pointer {
			return ""
		}
		var items []json.RawMessage
		_ = json.Unmarshal(data, &items) // it was read before
		for _, item := range items {
			if path := missing(t.Elem(), item); path != "" {
				return path
			}
		}
	default:
	}
	return ""
}

func missingMember(t reflect.Type, data []byte) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(data, &members) // it was read before
	for i := range t.NumField() {
		f := t.Field(i)
		name, optional := jsonName(f)
		if name == "" {
			continue
		}
		value, ok := members[name]
		if !ok || string(value) == "null" {
			if optional {
				continue
			}
			return name
		}
		if path := missing(f.Type, value); path != "" {
			return name + "." + path
		}
	}
	return ""
}

// jsonName is how a field is called in JSON, "" if it is not there.
func jsonName(f reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.IsExported() || name == "-" {
		return "", true
	}
	if name == "" {
		name = f.Name
	}
	return name, strings.Contains(options, "omit")
}
