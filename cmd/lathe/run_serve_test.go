package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// While a turn runs with --port, others reach it there; afterwards no client listens.
func TestRun_Port(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + free.Addr().String()
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	model := modeltest.Start(t, nil)
	seen := make(chan string, 10)
	model.Respond(func(modeltest.Request) modeltest.Answer {
		r, err := http.Get(at + "/session")
		if err != nil {
			seen <- err.Error()
		} else {
			body, _ := io.ReadAll(r.Body)
			_ = r.Body.Close()
			seen <- fmt.Sprint(r.StatusCode, " ", strings.Contains(string(body), `"title":"Watched"`))
		}
		return modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
	})
	home := serveHome(t, model.URL)
	cmd := command(t, home, "run", "--port", fmt.Sprint(port), "--title", "Watched", "hello")
	cmd.Env = append(cmd.Env, "LATHE_NO_AUTH=1")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || string(out) != "Done.\n" {
		t.Errorf("%q, %v\n%s", out, err, said.String())
	}
	if got := <-seen; got != "200 true" {
		t.Errorf("who asks meanwhile gets %q", got)
	}
	if want := "Other clients can follow at " + at; !strings.Contains(said.String(), want) {
		t.Errorf("it says %q, not %q", said.String(), want)
	}
	if r, err := http.Get(at + "/session"); err == nil {
		_ = r.Body.Close()
		t.Error("it listens after its end")
	}
}
