package server

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/server/device"
	"github.com/lathe-agent/lathe/workspace"
)

// call is one request with its response.
type call struct {
	*http.Request
	server *Server
	w      *writer
	row    *row
	right  device.Right  // of the client; none on public routes
	cookie *http.Cookie  // of the device; nil without one
	device device.Device // that sent the request; zero for the password and on public routes

	release func() // see [call.hold]; may be nil
}

// sessionID is the {sessionID} of the path.
func (c *call) sessionID() (lathe.SessionID, error) {
	id, err := c.pathID("sessionID", lathe.PrefixSession)
	return lathe.SessionID(id), err
}

// messageID is the {messageID} of the path.
func (c *call) messageID() (lathe.MessageID, error) {
	id, err := c.pathID("messageID", lathe.PrefixMessage)
	return lathe.MessageID(id), err
}

// pathID reads an id from the path.
func (c *call) pathID(name string, prefix lathe.Prefix) (string, error) {
	id := c.PathValue(name)
	if err := lathe.CheckID(prefix, id); err != nil {
		return "", badRequest("Params", "%s: %v", name, err)
	}
	return id, nil
}

// session returns the session the path names.
func (c *call) session() (lathe.Session, error) {
	id, err := c.sessionID()
	if err != nil {
		return lathe.Session{}, err
	}
	return c.server.engine.Get(c.Context(), id)
}

// directory is the directory of the request: from the query, a header or the server's default. It
// need not exist. Session routes use the session's directory instead.
func (c *call) directory() (string, error) {
	q := c.URL.Query()
	for _, name := range []string{"directory", "location[directory]"} {
		if dir := q.Get(name); dir != "" {
			return c.cleanDir("Query", dir)
		}
	}
	if dir := c.Header.Get("X-Opencode-Directory"); dir != "" {
		if plain, err := url.PathUnescape(dir); err == nil {
			dir = plain
		}
		return c.cleanDir("Headers", dir)
	}
	return c.server.options.Directory, nil
}

// cleanDir makes a directory absolute. Symbolic links stay.
func (c *call) cleanDir(kind, dir string) (string, error) {
	const most = 4096
	switch {
	case strings.ContainsRune(dir, 0):
		return "", badRequest(kind, "directory contains a null byte")
	case len(dir) > most:
		return "", badRequest(kind, "directory is longer than %d bytes", most)
	case !filepath.IsAbs(dir):
		return filepath.Join(c.server.options.Directory, dir), nil
	}
	return filepath.Clean(dir), nil
}

// longContext is the context of a long response, which also ends when the server closes.
func (c *call) longContext() (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(c.Context())
	forget := context.AfterFunc(c.server.closing, cancel)
	return ctx, func() { forget(); cancel() }
}

// place opens the instance of the request's directory.
func (c *call) place() (workspace.Place, lathe.Project, error) {
	dir, err := c.directory()
	if err != nil {
		return workspace.Place{}, lathe.Project{}, err
	}
	return c.placeOf(dir)
}

// placeOf opens the instance of a directory. A directory that cannot be opened is the caller's mistake.
func (c *call) placeOf(dir string) (workspace.Place, lathe.Project, error) {
	if at, p, ok, err := c.storedPlace(dir); err != nil || ok {
		return at, p, err
	}
	at, project, err := c.server.instances.Open(c.Context(), dir)
	switch lathe.CodeOf(err) {
	case lathe.NotFound, lathe.Denied, lathe.Invalid:
		return at, project, badRequest("Query", "directory: %v", err)
	}
	if err == nil {
		c.server.watch.add(at)
	}
	return at, project, err
}

// loose is a query parameter that is ignored unless it is a number.
type loose float64

// readQuery fills a struct whose fields name their parameter in a tag: strings, booleans,
// whole numbers, loose ones, and pointers to strings, which tell "" from nothing.
func (c *call) readQuery(to any) error {
	v := reflect.ValueOf(to).Elem()
	if v.NumField() == 0 {
		return nil
	}
	q := c.URL.Query()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("query")
		if !q.Has(name) {
			continue
		}
		if err := setQuery(v.Field(i), q.Get(name)); err != "" {
			return badRequest("Query", "%s: %s, not %q", name, err, phrase.Shorten(q.Get(name), 40))
		}
	}
	return nil
}

// setQuery reads one parameter; its error names the expected form.
func setQuery(f reflect.Value, text string) string {
	switch f.Interface().(type) {
	case string:
		f.SetString(text)
	case *string:
		f.Set(reflect.ValueOf(&text))
	case bool:
		if text != "true" && text != "false" {
			return "expected true or false"
		}
		f.SetBool(text == "true")
	case int:
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return "expected a whole number, 0 or more"
		}
		f.SetInt(int64(n))
	case loose:
		if n, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(n) < 1<<53 {
			f.SetFloat(n)
		}
	default:
		panic("server: a query cannot hold " + f.Type().String())
	}
	return ""
}
