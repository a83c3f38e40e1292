package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe/sandbox/egress"
)

// Network is the network access of a command. Its zero value is that of its user.
type Network struct {
	// Limited gives it its own network, in which Hosts are reached and nothing else: by a proxy
	// that its environment names, or at the same port for localhost:PORT. Ports that it listens
	// on are forwarded to the same port on the host's 127.0.0.1.
	Limited bool `json:"limited,omitempty"`
	// Hosts is read by [egress.Parse]. With none of them a kernel that has no network namespaces
	// for us is made do: then there is no loopback either.
	Hosts []string `json:"hosts,omitempty"`
	// Private forwards no ports that it listens on: nobody else uses them, and looking for them costs processor time.
	Private bool `json:"private,omitempty"`
}

// None reports whether nothing can be reached.
func (n Network) None() bool { return n.Limited && len(n.Hosts) == 0 }

func (n Network) check() error {
	_, err := egress.Parse(n.Hosts)
	if err == nil && len(n.Hosts) > 0 && !n.Limited {
		return fmt.Errorf("the sandbox is given hosts for a network that is not limited")
	}
	return err
}

// String says it in words.
func (n Network) String() string {
	switch {
	case !n.Limited:
		return "on"
	case n.None():
		return "off"
	}
	return strings.Join(n.Hosts, ", ")
}

// proxyPort is where the proxy listens inside: above the ports that systems choose from.
func proxyPort(list egress.List) uint16 {
	port := uint16(61080)
	for slices.Contains(list.LocalPorts(), port) {
		port++
	}
	return port
}

// proxied is an environment that names the proxy, if there is one.
func (n Network) proxied(env []string) []string {
	list, err := egress.Parse(n.Hosts)
	if err != nil || !n.Limited || n.None() {
		return env
	}
	proxy := fmt.Sprintf("http://127.0.0.1:%d", proxyPort(list))
	own := map[string]string{
		"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "ALL_PROXY": proxy, "NO_PROXY": "localhost,127.0.0.1,::1",
		"NODE_USE_ENV_PROXY": "1", // or its fetch ignores the others
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, replaced := own[strings.ToUpper(name)]
		return replaced
	})
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		env = append(env, name+"="+own[name], strings.ToLower(name)+"="+own[name])
	}
	return append(env, "NODE_USE_ENV_PROXY="+own["NODE_USE_ENV_PROXY"])
}

// notes are the notices for the next result, each once.
type notes struct {
	mu   sync.Mutex
	list []string
}

func (n *notes) add(text string) {
	const most = 10
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) < most && !slices.Contains(n.list, text) {
		n.list = append(n.list, text)
	}
}

func (n *notes) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.list
	n.list = nil
	return out
}
