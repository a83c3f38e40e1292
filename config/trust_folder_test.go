package config

import (
	"testing"
)

// Trust covers the folder that a plugin or a server loads from: a change to any file there asks again,
// one elsewhere does not.
func TestTrust_ProgramFolder(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		files    []string // that programs consist of
	}{
		"server":          {`{"mcp": {"s": {"type": "local", "command": ["node", "tools/mcp/server.js"]}}}`, []string{"tools/mcp/server.js", "tools/mcp/lib/helper.js", "tools/mcp/node_modules/x/index.js"}},
		"program":         {`{"mcp": {"s": {"type": "local", "command": ["./bin/server", "--config=etc/x.yaml"]}}}`, []string{"bin/server", "bin/lib.so", "etc/x.yaml"}},
		"in a folder":     {`{"mcp": {"s": {"type": "local", "command": ["node", "./server.js"], "cwd": "tools/mcp"}}}`, []string{"tools/mcp/server.js", "tools/mcp/lib/helper.js"}},
		"in the root":     {`{"mcp": {"s": {"type": "local", "command": ["node", "server.js"]}}}`, []string{"server.js", "helper.js", "package.json"}},
		"by npm":          {`{"mcp": {"s": {"type": "local", "command": ["npm", "run", "mcp"]}}}`, []string{"package.json"}},
		"plugin":          {`{"plugin": ["./plug/in.js"]}`, []string{"plug/in.js", "plug/lib/deep/x.js"}},
		"plugin folder":   {`{"plugin": [["./plug", {"a": 1}]]}`, []string{"plug/index.js"}},
		"plugin as file":  {`{}`, []string{".lathe/plugins/a.js", ".lathe/plugins/lib/b.js"}},
		"tool as file":    {`{}`, []string{".opencode/tools/a.ts", ".opencode/tools/lib/b.json"}},
		"same in a array": {`{"mcp": {"s": {"type": "local", "command": ["sh", "-c", "x", "tools/mcp"]}}}`, []string{"tools/mcp/server.js"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.write("top/lathe.json", c.settings)
			w.write("top/other/readme.md", "x")
			for _, file := range c.files {
				w.write("top/"+file, "good")
			}
			digest := func() string {
				t.Helper()
				d := w.load().Untrusted
				if d == nil {
					t.Fatal("nothing needs trust")
				}
				return d.Digest
			}
			was := digest()
			w.write("top/other/readme.md", "y")
			if digest() != was {
				t.Error("a file elsewhere asks again")
			}
			for _, file := range c.files {
				w.write("top/"+file, "evil")
				if digest() == was {
					t.Errorf("%s can be changed", file)
				}
				w.write("top/"+file, "good")
				if digest() != was {
					t.Errorf("%s as it was is not trusted", file)
				}
			}
		})
	}
}
