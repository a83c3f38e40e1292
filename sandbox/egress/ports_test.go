package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox/egress"
)

func TestListening(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 00000000:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   2: 0100007F:D000 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 1 1
   3: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   4: 00000000000000000000000000000000:1435 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   5: zz:1 0 0A
   6: 0100007F:0000 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
`
	got := egress.Listening(strings.NewReader(table))
	var want []netip.AddrPort
	for _, at := range []string{"127.0.0.1:8080", "0.0.0.0:3000", "[::1]:80", "[::]:5173"} {
		want = append(want, netip.MustParseAddrPort(at))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// freePort is one of 127.0.0.1 without a listener.
func freePort(t *testing.T) uint16 {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return netip.MustParseAddrPort(l.Addr().String()).Port()
}

func TestWatch(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port, busy := freePort(t), netip.MustParseAddrPort(taken.Addr().String()).Port()
	local := netip.MustParseAddr("127.0.0.1")
	ports := []netip.AddrPort{netip.AddrPortFrom(netip.IPv4Unspecified(), port), netip.AddrPortFrom(local, busy)}
	looked, tick := make(chan []netip.AddrPort), make(chan time.Time)
	var skipped []uint16
	done := make(chan struct{})
	go func() {
		defer close(done)
		egress.ForwardPorts(t.Context(), egress.Namespace{
			Ports: func() ([]netip.AddrPort, error) {
				list, ok := <-looked
				if !ok {
					return nil, io.EOF
				}
				return list, nil
			},
			Dial: func(at netip.AddrPort) (net.Conn, error) {
				if at != netip.AddrPortFrom(local, port) {
					return nil, errors.New("wrong address")
				}
				here, there := net.Pipe()
				go func() { defer there.Close(); _, _ = io.WriteString(there, "inside") }()
				return here, nil
			},
			PortTaken: func(p uint16, _ error) { skipped = append(skipped, p) },
		}, tick)
	}()
	look := func(list []netip.AddrPort) { tick <- time.Time{}; looked <- list }
	read := func() string {
		c, err := new(net.Dialer).DialContext(context.Background(), "tcp4", "127.0.0.1:"+strconv.Itoa(int(port)))
		if err != nil {
			return "refused"
		}
		defer c.Close()
		b, _ := io.ReadAll(c)
		return string(b)
	}
	look(ports)
	look(nil) // which begins when the last has been seen to
	if got := read(); got != "refused" {
		t.Errorf("seen once: %s", got)
	}
	look(ports)
	look(ports)
	look(ports)
	if got := read(); got != "inside" {
		t.Errorf("seen twice: %s", got)
	}
	look(nil)
	look(nil)
	if got := read(); got != "refused" {
		t.Errorf("gone: %s", got)
	}
	look(ports)
	look(ports)
	tick <- time.Time{}
	close(looked) // the namespace is gone
	<-done
	if got := read(); got != "refused" {
		t.Errorf("after the end: %s", got)
	}
	if !reflect.DeepEqual(skipped, []uint16{busy, busy}) {
		t.Errorf("not told of the port that is taken, once each time: %v", skipped)
	}
}
