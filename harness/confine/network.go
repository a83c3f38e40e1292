package confine

import (
	"strings"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/sandbox"
)

// networkOf returns the network that the sandbox options allow to commands.
func networkOf(box config.Sandbox) sandbox.Network {
	if box.Network == nil || box.Network.All {
		return sandbox.Network{}
	}
	return sandbox.Network{Limited: true, Hosts: box.Network.Hosts}
}

// DescribeNetwork describes the network of commands to a model; "" means no limit.
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
