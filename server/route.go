package server

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server/device"
	"github.com/lathe-agent/lathe/workspace"
)

// row is one route: its description and its handler. Rows are made with [route], and [answer] or
// [raw], which fill in the types.
type row struct {
	method  string
	path    string // as in net/http: /session/{sessionID}
	name    string // the operation ID, OpenCode's if it has one
	tag     string
	right   device.Right // needed by a paired device; the password has every right
	summary string
	fails   []failure // possible error responses

	locality locality // which nodes can answer
	plain    bool     // is never compressed
	tagged   bool     // rejects a bad body with OpenCode's second family of errors

	query, body, reply reflect.Type
	media              string // of a reply that is not JSON
	run                func(c *call) error
}

// route begins a row. pattern is a method and a path, fails are the errors it may answer with.
func route(pattern, name, tag string, right device.Right, summary string, fails []failure, traits ...trait) row {
	method, path, _ := strings.Cut(pattern, " ")
	r := row{method: method, path: path, name: name, tag: tag, right: right, summary: summary, fails: fails}
	for _, set := range traits {
		set(&r)
	}
	return r
}

// The rights that routes need, a column of the table. A device with the right to read sees sessions, one with the right
// to answer also settles requests and stops turns. Files, settings, credentials and terminals need all rights.
const (
	anyone    = device.Anyone // no credentials
	mayRead   = device.Read
	mayAnswer = device.Answer
	mayAll    = device.Full
)

// isPublic reports whether a route needs no credentials.
func (r *row) isPublic() bool { return r.right == anyone }

// trait is how a route differs from most.
type trait func(*row)

func withoutDirectory(r *row)   { r.locality = global }
func withoutCompression(r *row) { r.plain = true }
func tagErrors(r *row)          { r.tagged = true }

// none stands for a query, a body or a reply that does not exist.
type none struct{}

// answer completes a row with a function that reads a query and a body and returns a reply.
// A reply of none is status 204.
func answer[Q, In, Out any](r row, f func(c *call, q Q, in In) (Out, error)) row {
	r.query, r.body, r.reply = reflect.TypeFor[Q](), reflect.TypeFor[In](), reflect.TypeFor[Out]()
	tagged, hasBody := r.tagged, r.body != reflect.TypeFor[none]()
	r.run = func(c *call) error {
		var q Q
		var in In
		if err := c.readQuery(&q); err != nil {
			return err
		}
		if hasBody {
			if err := c.readBody(&in); err != nil {
				if tagged {
					return badTag(err)
				}
				return err
			}
		}
		out, err := f(c, q, in)
		if err != nil {
			return err
		}
		return reply(c, out)
	}
	return r
}

// inPlace is a function for [answer] that is about the directory of the request.
func inPlace[Q, In, Out any](f func(c *call, at workspace.Place, q Q, in In) (Out, error)) func(c *call, q Q, in In) (Out, error) {
	return func(c *call, q Q, in In) (out Out, err error) {
		at, _, err := c.place()
		if err != nil {
			return out, err
		}
		return f(c, at, q, in)
	}
}

// ofSession is a function for [answer] that is about the session the path names.
func ofSession[Q, In, Out any](f func(c *call, rec lathe.Session, q Q, in In) (Out, error)) func(c *call, q Q, in In) (Out, error) {
	return func(c *call, q Q, in In) (out Out, err error) {
		rec, err := c.session()
		if err != nil {
			return out, err
		}
		return f(c, rec, q, in)
	}
}

// raw completes a row with a function that writes the response itself: streams, pages,
// WebSockets. Its error is sent only if nothing was written yet.
func raw[Q any](r row, media string, f func(c *call, q Q) error) row {
	r.query, r.body, r.reply, r.media = reflect.TypeFor[Q](), reflect.TypeFor[none](), reflect.TypeFor[none](), media
	r.run = func(c *call) error {
		var q Q
		if err := c.readQuery(&q); err != nil {
			return err
		}
		return f(c, q)
	}
	return r
}

// held is raw for a route that reads a body.
func held[In any](r row, media string, f func(c *call, in In) error) row {
	r = raw(r, media, func(c *call, _ none) error {
		var in In
		if err := c.readBody(&in); err != nil {
			return err
		}
		return f(c, in)
	})
	r.body = reflect.TypeFor[In]()
	return r
}

// routes makes the handlers: one for each path with its methods, and one for unknown paths.
func (s *Server) routes(rows []row) *http.ServeMux {
	byPath := map[string]*endpoint{}
	mux := http.NewServeMux()
	for i := range rows {
		r := &rows[i]
		e := byPath[r.path]
		if e == nil {
			e = &endpoint{server: s, methods: map[string]*row{}}
			byPath[r.path] = e
			if r.path == "/" { // it is itself, not all below it
				mux.Handle("/{$}", e)
			} else {
				mux.Handle(r.path, e)
			}
		}
		e.methods[r.method] = r
	}
	mux.Handle("/", &endpoint{server: s})
	return mux
}

// endpoint is one path.
type endpoint struct {
	server  *Server
	methods map[string]*row // none for an unknown path
}

// find returns the row for a method; HEAD is a GET whose body is not sent.
func (e *endpoint) find(method string) *row {
	if r := e.methods[method]; r != nil || method != http.MethodHead {
		return r
	}
	return e.methods[http.MethodGet]
}

// allow lists the methods of the path.
func (e *endpoint) allow() string {
	names := slices.Collect(maps.Keys(e.methods))
	if e.methods[http.MethodGet] != nil {
		names = append(names, http.MethodHead)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// ServeHTTP is called by the mux of a server with what its ServeHTTP made of the writer.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{Request: r, server: e.server, w: w.(*writer), row: e.find(r.Method)}
	defer c.end()
	if err := e.serve(c); err != nil {
		c.fail(err)
	}
}

// serve checks and runs one request; its error becomes the reply.
func (e *endpoint) serve(c *call) error {
	if err := e.server.guard.checkFetchSite(c.Request, c.row != nil && c.row.isPublic()); err != nil {
		return err
	}
	if c.row == nil || !c.row.isPublic() { // public routes see no credentials
		if err := e.server.identify(c); err != nil {
			return err
		}
		if c.row != nil && c.right < c.row.right {
			return forbidden("This device has the right %q; this needs %q", c.right, c.row.right)
		}
	}
	switch {
	case len(e.methods) == 0:
		return unknownRoute(c)
	case c.row == nil:
		c.w.Header().Set("Allow", e.allow())
		return badStatus(http.StatusMethodNotAllowed, "Params", c.Method+" is not allowed here; "+e.allow()+" is", nil)
	}
	if err := checkContentType(c.Request); err != nil {
		return err
	}
	if err := c.checkPlace(); err != nil {
		return err
	}
	if to, err := c.elsewhere(); err != nil {
		return err
	} else if to != "" {
		return c.forward(to)
	}
	if c.row.body == reflect.TypeFor[none]() {
		if err := c.skipBody(); err != nil {
			return err
		}
	}
	c.w.plain = c.row.plain
	return c.row.run(c)
}
