//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"syscall"
)

// newFront returns a load balancer: each request goes to the next node, and to the one after if that cannot be reached.
func newFront(nodes []*url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(nodes[0]) // the transport chooses
		},
		FlushInterval: -1, // event streams
		ErrorLog:      log.New(io.Discard, "", 0),
		Transport:     &balancer{nodes: nodes, transport: &http.Transport{MaxIdleConnsPerHost: 100}},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "no node can be reached: "+err.Error(), http.StatusBadGateway)
		},
	}
}

type balancer struct {
	nodes     []*url.URL
	next      atomic.Uint64
	transport http.RoundTripper
}

// RoundTrip sends a request to a node. Another node gets it only if the first did not accept the connection.
func (b *balancer) RoundTrip(r *http.Request) (res *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	first := b.next.Add(1)
	for i := range b.nodes {
		to := b.nodes[(first+uint64(i))%uint64(len(b.nodes))]
		one := r.Clone(r.Context())
		one.URL.Scheme, one.URL.Host, one.Host = to.Scheme, to.Host, to.Host
		if one.Body = http.NoBody; len(body) > 0 {
			one.Body = io.NopCloser(bytes.NewReader(body))
		}
		if res, err = b.transport.RoundTrip(one); err == nil || !neverArrived(err) {
			return res, err
		}
	}
	return nil, err
}

// neverArrived reports whether a node refused the connection, so that it cannot have done anything.
func neverArrived(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
