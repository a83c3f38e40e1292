//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// composeFile is where the demo finds the services that users start with Docker Compose.
const composeFile = "packaging/cluster/compose.yaml"

// composed is a service of a Compose file: the command of its container and its environment.
type composed struct {
	Command     []string
	Environment map[string]string
}

// readComposed returns a service of a file.
func readComposed(path, name string) (out composed, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return out, fmt.Errorf("%w; run this in the folder of the repository", err)
	}
	var file struct {
		Services map[string]map[string]any
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return out, fmt.Errorf("%s: %w", path, err)
	}
	one := file.Services[name]
	command, _ := one["command"].([]any)
	for _, word := range command {
		out.Command = append(out.Command, fmt.Sprint(word))
	}
	variables, _ := one["environment"].(map[string]any)
	out.Environment = map[string]string{}
	for k, v := range variables {
		out.Environment[k] = fmt.Sprint(v)
	}
	if !slices.Contains(out.Command, "--place") || out.Environment["LATHE_STORE"] == "" {
		return out, fmt.Errorf("%s: service %q is not a node", path, name)
	}
	return out, nil
}

// process translates the service of a node into arguments and variables of a process here: the same flags,
// with the addresses and folders that this cluster has. Servers on loopback need no password.
func (n *node) process(s composed) (args, env []string) {
	c := n.cluster
	data := filepath.Join(c.dir, "data")
	here := strings.NewReplacer("0.0.0.0", "127.0.0.1", "/work", c.place, "/data", data)
	for i, a := range s.Command {
		switch {
		case i > 0 && s.Command[i-1] == "--port":
			a = n.url.Port()
		case i > 0 && s.Command[i-1] == "--node-addr":
			a = n.url.String()
		}
		args = append(args, here.Replace(a))
	}
	args = append(args, "-C", c.place)
	for name, value := range s.Environment {
		switch name {
		case "LATHE_STORE":
			value = c.primary.Load().dsn(n.store.addr()) + "&" + lifeSetting + "=" + n.life()
		case "LATHE_BUS":
			value = "nats://" + n.bus.addr()
		case "LATHE_BLOBS":
			value = "s3://" + bucket + "/values"
		case "XDG_DATA_HOME":
			value = here.Replace(value)
		case "LATHE_SERVER_PASSWORD":
			name, value = "LATHE_NO_AUTH", "1"
		default: // keys, and the address of the bucket: those of this cluster
			continue
		}
		env = append(env, name+"="+value)
	}
	return args, env
}

// composed returns the arguments and the environment of this node as the Compose file has it.
func (n *node) composed(base []string) (args, env []string, err error) {
	s, err := readComposed(n.cluster.compose, "lathe"+strings.TrimPrefix(n.name, "n"))
	if err != nil {
		return nil, nil, err
	}
	args, env = n.process(s)
	base = slices.DeleteFunc(base, func(v string) bool { return strings.HasPrefix(v, "LATHE_DATA=") })
	return args, append(base, env...), nil
}
