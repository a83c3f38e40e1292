package modeltest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxBody is how much of a request is read.
const maxBody = 256 << 20

// Server plays a script. It is an http.Handler, so a test may use its own listener.
type Server struct {
	URL    string       // the address, without a slash at its end
	Client *http.Client // reaches the server; over a pipe no other can

	http *http.Server
	live sync.WaitGroup // the goroutine that serves

	mu       sync.Mutex // guards what follows
	queue    []Answer
	respond  func(Request) Answer
	requests []Request
	models   []string
}

// New returns a server that does not listen yet.
func New(script Script) *Server { return &Server{queue: slices.Clone(script)} }

// Listen starts a server on the loopback. It is closed by Close.
func Listen(script Script) (*Server, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("modeltest: %w", err)
	}
	s := New(script)
	s.serve(l, "http://"+l.Addr().String(), &http.Transport{})
	return s, nil
}

// Start is Listen for tests: the server is closed at the end of t, which may be nil.
func Start(t Cleaner, script Script) *Server {
	s, err := Listen(script)
	if err != nil {
		panic(err)
	}
	s.closeWith(t)
	return s
}

// Pipe starts a server that only its Client reaches, without a socket: in a bubble of
// testing/synctest a real one holds the virtual clock.
func Pipe(t Cleaner, script Script) *Server {
	s, l := New(script), newPipes()
	s.serve(l, "http://modeltest", &http.Transport{DialContext: l.dial})
	s.closeWith(t)
	return s
}

// Cleaner is the used part of testing.TB, so that the program does not link package testing.
type Cleaner interface{ Cleanup(func()) }

func (s *Server) closeWith(t Cleaner) {
	if t != nil {
		t.Cleanup(s.Close)
	}
}

func (s *Server) serve(l net.Listener, url string, t *http.Transport) {
	s.URL, s.Client, s.http = url, &http.Client{Transport: t}, &http.Server{Handler: s}
	s.live.Go(func() { _ = s.http.Serve(l) }) // it ends with ErrServerClosed; other errors cannot be reported
}

// Close ends every running answer and waits for the server to stop.
func (s *Server) Close() {
	if s.http == nil {
		return
	}
	_ = s.http.Close() // a listener that fails to close is closed
	s.live.Wait()
	for _, r := range s.Requests() {
		<-r.Done()
	}
	s.Client.CloseIdleConnections()
}

// Add appends answers to the script.
func (s *Server) Add(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, answers...)
}

// Respond lets a function answer. Where it returns nil, the script does. It is called by many
// goroutines.
func (s *Server) Respond(f func(Request) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.respond = f
}

// ListModels names the models that the server lists at GET …/models, in the form of OpenAI. Answers
// are given to requests for any model.
func (s *Server) ListModels(models ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = slices.Clone(models)
}

// list are the models that the server offers.
func (s *Server) list() js {
	s.mu.Lock()
	defer s.mu.Unlock()
	var models []js
	for _, id := range s.models {
		models = append(models, obj("id", id, "object", "model", "created", created, "owned_by", "modeltest"))
	}
	return obj("object", "list", "data", list(models...))
}

// Requests returns what was asked so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Last returns the last request; none is an empty one.
func (s *Server) Last() Request {
	all := s.Requests()
	if len(all) == 0 {
		return Request{}
	}
	return all[len(all)-1]
}

// Remaining returns the number of unused answers.
func (s *Server) Remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, h.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r := s.arrived(h, body)
	defer close(r.outcome.done)
	if r.isList() {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, string(s.list())) // a client that went away needs none
		return
	}
	play(w, h, r, s.choose(r))
}

// arrived keeps the request. It is decoded under the lock so that the numbers follow the order
// of arrival.
func (s *Server) arrived(h *http.Request, body []byte) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := newRequest(len(s.requests)+1, h, body)
	s.requests = append(s.requests, r)
	return r
}

// choose finds the answer: the refusal of a wrong request, the function's, or the next of the
// script that is for this request.
func (s *Server) choose(r Request) Answer {
	if r.Protocol == "" {
		return Answer{Status{Code: 404}, Fail{Type: "not_found_error", Message: r.Problem}}
	}
	if r.Problem != "" {
		return Answer{Status{Code: 400}, Fail{Type: "invalid_request_error", Message: r.Problem}}
	}
	s.mu.Lock()
	respond := s.respond
	s.mu.Unlock()
	if respond != nil {
		if a := respond(r); a != nil {
			return a
		}
	}
	if a, ok := s.take(r); ok {
		return a
	}
	return Answer{Status{Code: 400}, Fail{
		Type:    "invalid_request_error",
		Message: fmt.Sprintf("modeltest: the script has no answer left for request %d", r.N),
	}}
}

// take removes the answer from the script: the first that is for such requests, else the first
// that is for any.
func (s *Server) take(r Request) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.queue, func(a Answer) bool {
		texts := a.when()
		return len(texts) > 0 && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(string(r.Body), text) })
	})
	if i < 0 {
		i = slices.IndexFunc(s.queue, func(a Answer) bool { return len(a.when()) == 0 })
	}
	if i < 0 {
		return nil, false
	}
	a := s.queue[i]
	s.queue = slices.Delete(slices.Clone(s.queue), i, i+1)
	return a, true
}

func (a Answer) when() (texts []string) {
	for _, s := range a {
		if w, ok := s.(When); ok {
			texts = append(texts, string(w))
		}
	}
	return texts
}
