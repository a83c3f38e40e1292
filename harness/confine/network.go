package confine

import (
	"strings"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/sandbox"
)

// networkOf is what commands reach by the settings of a sandbox.
func networkOf(box config.Sandbox) sandbox.Network {
	if box.Network == nil || box.Network.All {
		return sandbox.Network{}
	}
	return sandbox.Network{Limited: true, Hosts: box.Network.Hosts}
}

// DescribeNetwork tell a model what its commands reach; "" is everything.
func DescribeNetwork(box config.Sandbox) string {
	switch n := networkOf(box); {
	case box.Mode == string(sandbox.Off) || !n.Limited:
		return ""
	case n.None():
		return "no network"
	default:
		return "network only to " + strings.Join(n.Hosts, ", ") + ", through the proxy in HTTP_PROXY"
	}
}
