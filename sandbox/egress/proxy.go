package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// Limits of a proxy client.
const (
	mostConns   = 512              // at once; more wait to be accepted
	headerBytes = 64 << 10         // of a request
	answerBytes = 256 << 10        // of the header of an answer
	greetTime   = 30 * time.Second // from accepting a client to its request
	keepTime    = 2 * time.Minute  // between two requests
	answerTime  = 10 * time.Minute // until the header of an answer comes
)

// Config configures a [Proxy].
type Config struct {
	List List
	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
	// Forbidden reports addresses that no list opens: those of lathe's own server. nil means
	// none.
	Forbidden func(netip.AddrPort) bool
	// OnRefusal is called for each refusal, by many goroutines; it may be nil.
	OnRefusal func(*Refusal)
}

// Proxy connects the clients of its listeners to the hosts of its list: by HTTP (CONNECT, and plain
// requests), and by SOCKS 5. It is safe for use by many goroutines.
type Proxy struct {
	list     List
	resolver *net.Resolver
	never    func(netip.AddrPort) bool
	refused  func(*Refusal)
	forward  *httputil.ReverseProxy
	slots    chan struct{}

	ctx     context.Context // ends all connections
	stop    context.CancelFunc
	serving sync.WaitGroup // one for each listener
	work    sync.WaitGroup // one for each connection, and for what they share
}

// Open makes a proxy. It listens nowhere.
func Open(c Config) *Proxy {
	p := &Proxy{list: c.List, resolver: c.Resolver, never: c.Forbidden, refused: c.OnRefusal, slots: make(chan struct{}, mostConns)}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {}, // it goes where its URL says, and its header Host is made from that
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				host, port, err := net.SplitHostPort(address)
				if err != nil {
					return nil, err
				}
				return p.dial(ctx, host, port)
			},
			DisableCompression: true, IdleConnTimeout: keepTime, ResponseHeaderTimeout: answerTime, MaxResponseHeaderBytes: answerBytes,
		},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			code, text := p.explain(err)
			http.Error(w, text, code)
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return p
}

// Close closes the listeners, ends all connections and waits for them.
func (p *Proxy) Close() {
	p.stop()
	p.serving.Wait()
	p.work.Wait()
	p.forward.Transport.(*http.Transport).CloseIdleConnections()
}

// listen serves the connections of a listener until the proxy is closed.
func (p *Proxy) listen(l net.Listener, serve func(net.Conn)) {
	context.AfterFunc(p.ctx, func() { _ = l.Close() })
	p.serving.Go(func() { acceptAll(p.ctx, l, p.slots, &p.work, serve) })
}

// acceptAll gives each connection of a listener to serve, in its own goroutine, until the
// listener is closed or ctx has ended. There are at most cap(slots) at once.
func acceptAll(ctx context.Context, l net.Listener, slots chan struct{}, work *sync.WaitGroup, serve func(net.Conn)) {
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := l.Accept()
		if err != nil {
			<-slots
			if errors.Is(err, net.ErrClosed) {
				return
			}
			select { // out of files, most likely
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				return
			}
			continue
		}
		work.Go(func() {
			defer func() { <-slots }()
			serve(newIdleConn(conn))
		})
	}
}

// Serve begins to be the proxy on a listener, which is closed with it.
func (p *Proxy) Serve(l net.Listener) {
	conns := &handed{conns: make(chan net.Conn), addr: l.Addr(), over: p.ctx.Done()}
	web := &http.Server{
		Handler: p, ReadHeaderTimeout: greetTime, IdleTimeout: keepTime, MaxHeaderBytes: headerBytes,
		ErrorLog: log.New(io.Discard, "", 0), BaseContext: func(net.Listener) context.Context { return p.ctx },
	}
	p.work.Go(func() { _ = web.Serve(conns) }) // until the proxy is closed
	p.work.Go(func() {
		<-p.ctx.Done()
		_ = web.Close()
	})
	p.listen(l, func(c net.Conn) { p.greet(c, conns) })
}

// greet finds out by the first byte which protocol a client speaks.
func (p *Proxy) greet(c net.Conn, web *handed) {
	stop := context.AfterFunc(p.ctx, func() { _ = c.Close() })
	defer stop()
	_ = c.SetReadDeadline(time.Now().Add(greetTime))
	r := bufio.NewReader(c)
	first, err := r.Peek(1)
	if err != nil {
		_ = c.Close()
		return
	}
	if first[0] == socksVersion {
		p.socks(c, r)
		return
	}
	done := make(chan struct{})
	if !web.hand(&readConn{Conn: c, from: r, done: sync.OnceFunc(func() { close(done) })}) {
		_ = c.Close()
		return
	}
	<-done // its slot is in use as long
}

// ServeHTTP serves one request of a client.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.Scheme != "http" || r.URL.Host == "":
		http.Error(w, "This is the proxy of lathe's sandbox. It takes CONNECT, and requests for whole http:// URLs.", http.StatusBadRequest)
	default:
		p.forward.ServeHTTP(w, r)
	}
}

// connect opens a tunnel to an allowed host and copies both ways.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		http.Error(w, "CONNECT needs a host and a port.", http.StatusBadRequest)
		return
	}
	there, err := p.dial(r.Context(), host, port)
	code, text := http.StatusOK, "Connection established"
	if err != nil {
		code, text = p.explain(err)
	}
	here, buf, hijacked := http.NewResponseController(w).Hijack()
	if hijacked != nil {
		if there != nil {
			_ = there.Close()
		}
		return
	}
	if err != nil {
		// Many programs show the first line and not the body.
		_, _ = fmt.Fprintf(here, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n", code, text, len(text)+1, text)
		_ = here.Close()
		return
	}
	if _, err := fmt.Fprintf(here, "HTTP/1.1 %d %s\r\n\r\n", code, text); err != nil {
		_, _ = here.Close(), there.Close()
		return
	}
	_ = here.SetDeadline(time.Time{})
	carry(p.ctx, here, there, buf)
}

// explain says in one line of ASCII why there is no connection, and notes a refusal.
func (p *Proxy) explain(err error) (code int, text string) {
	code, text = http.StatusBadGateway, "lathe: "+err.Error()
	var refusal *Refusal
	var timeout net.Error
	switch {
	case errors.As(err, &refusal):
		code, text = http.StatusForbidden, "lathe: "+refusal.Error()
		if p.refused != nil {
			p.refused(refusal)
		}
	case errors.As(err, &timeout) && timeout.Timeout():
		code = http.StatusGatewayTimeout
	}
	return code, strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, text)
}

// Forward begins to carry the connections of a listener to a port on this machine, which the list
// must have. The listener is closed with the proxy.
func (p *Proxy) Forward(l net.Listener, port uint16) {
	p.listen(l, func(c net.Conn) {
		there, err := p.dial(p.ctx, "localhost", fmt.Sprint(port))
		if err != nil {
			_, _ = p.explain(err) // the protocol cannot carry an error
			_ = c.Close()
			return
		}
		carry(p.ctx, c, there, c)
	})
}

// handed is a listener for connections that others have accepted.
type handed struct {
	conns chan net.Conn
	addr  net.Addr
	over  <-chan struct{}
}

func (h *handed) hand(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.over:
		return false
	}
}

func (h *handed) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.over:
		return nil, net.ErrClosed
	}
}

func (h *handed) Close() error { return nil }

func (h *handed) Addr() net.Addr { return h.addr }

// readConn is a connection of which something was read already.
type readConn struct {
	net.Conn
	from *bufio.Reader
	done func() // it is closed
}

func (c *readConn) Read(b []byte) (int, error) { return c.from.Read(b) }

func (c *readConn) Close() error {
	defer c.done()
	return c.Conn.Close()
}

// CloseWrite tells the client that nothing more comes.
func (c *readConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
