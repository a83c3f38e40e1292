package plugin

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
)

//go:embed host/*.mjs
var hostFS embed.FS

// embedded are the files of the JavaScript host.
func embedded() (names []string, files map[string][]byte, err error) {
	entries, err := fs.ReadDir(hostFS, "host")
	if err != nil {
		return nil, nil, err
	}
	files = map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = hostFS.ReadFile("host/" + e.Name()); err != nil {
			return nil, nil, err
		}
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names, files, nil
}

// oldestNode is the first version of Node that the host runs on, which it checks itself.
const oldestNode = 20

// hostCommand is how the JavaScript host is started.
func (c *Hub) hostCommand() (path string, args []string, err error) {
	file, err := c.hostFiles()
	if err != nil {
		return "", nil, err
	}
	args = []string{"--no-install", file}
	if path, err = lookPath(c.opt.Dir, c.opt.Env, "bun"); err != nil {
		args = []string{"--no-warnings", file}
		if path, err = lookPath(c.opt.Dir, c.opt.Env, "node"); err != nil {
			return "", nil, fmt.Errorf("JavaScript plugins need bun, or Node.js %d or newer; neither is on the PATH", oldestNode)
		}
	}
	shell, err := lookPath(c.opt.Dir, c.opt.Env, "sh")
	if err != nil {
		return path, args, nil // the host then keeps standard output to itself as well as it can
	}
	return shell, append([]string{"-c", moveFiles, "sh", path}, append(args, "3", "4")...), nil
}

// moveFiles has a shell put the pipes of the protocol out of the way of what plugins and their
// children print and read: standard output becomes the error output, which is stored for
// people.
const moveFiles = `exec "$@" 3>&1 4<&0 1>&2 0</dev/null`
