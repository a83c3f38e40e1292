package config

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// The list of keys and the schema for editors are two views of one table: whatever editors
// offer, the reference tells.
func TestKeys_AllOfTheSchema(t *testing.T) {
	for name, c := range map[string]struct {
		schema []byte
		keys   []Setting
	}{"settings": {Schema(), Keys()}, "tui": {schemaOf(tuiTable(), "lathe config's terminal program"), TUIKeys()}} {
		t.Run(name, func(t *testing.T) {
			var top schemaPart
			if err := json.Unmarshal(c.schema, &top); err != nil {
				t.Fatal(err)
			}
			documented := map[string]bool{}
			for _, k := range c.keys {
				documented[k.Key] = true
			}
			seen := 0
			top.walk("", func(path string) {
				seen++
				if same, ok := sameAs(c.keys, path); !documented[path] && !(ok && documented[same]) {
					t.Errorf("the reference does not tell %s", path)
				}
			})
			if seen < 10 {
				t.Errorf("the schema has %d keys: this test has lost its way", seen)
			}
		})
	}
}

// schemaPart is what of a JSON schema leads to keys.
type schemaPart struct {
	Properties map[string]*schemaPart `json:"properties"`
	AnyOf      []*schemaPart          `json:"anyOf"`
	Rest       *schemaPart            `json:"additionalProperties"`
	Deprecated bool                   `json:"deprecated"`
}

func (p *schemaPart) walk(path string, see func(string)) {
	for key, below := range p.Properties {
		if below.Deprecated && path != "" {
			continue
		}
		see(path + key)
		if !below.Deprecated {
			below.walk(path+key+".", see)
		}
	}
	for _, a := range p.AnyOf {
		a.walk(path, see)
	}
	if p.Rest != nil && p.Properties == nil {
		p.Rest.walk(path+"NAME.", see)
	}
}

// sameAs is where a key is documented that is below one with its own entry.
func sameAs(keys []Setting, path string) (string, bool) {
	for _, k := range keys {
		if rest, ok := strings.CutPrefix(path, k.Key+"."); ok && k.Same != "" {
			return k.Same + "." + rest, true
		}
	}
	return "", false
}

func TestKeys_Rows(t *testing.T) {
	want := []Setting{
		{Key: "shell", Type: "string", Default: "$SHELL", Trust: "yes", Doc: "Shell that runs commands"},
		{Key: "snapshot.max_days", Type: "whole number from 1", Default: "30", Doc: "Days to keep snapshots for undo"},
		{Key: "agent.NAME.sandbox", Type: `"workspace", "read-only", "off" or object`, Default: "workspace if the kernel supports it", Trust: "`\"workspace\"`, `\"off\"`", Doc: "Sandbox for the model's commands", Same: "sandbox"},
		{Key: "permission.bash", Type: `"ask", "allow", "deny" or object of "ask", "allow" or "deny"`, Trust: "`\"allow\"`", Doc: "Action, or actions by pattern; the last match wins"},
		{Key: "references", Type: "object of strings or objects", Trust: "a repository, a path out of the project", Doc: "Named folders and repositories to mention as @name"},
		{Key: "webfetch.private", Type: "true or false", Default: "false", Trust: "`true`", Doc: "Allow loopback and private network addresses"},
		{Key: "autoshare", Type: "true or false", Trust: "`true`", Old: `use "share": "auto"`},
	}
	keys := Keys()
	for _, w := range want {
		i := slices.IndexFunc(keys, func(k Setting) bool { return k.Key == w.Key })
		if i < 0 {
			t.Errorf("there is no %s", w.Key)
		} else if keys[i] != w {
			t.Errorf("got  %+v\nwant %+v", keys[i], w)
		}
	}
}

// No key is left without a word: one that says nothing is one that users must look up in the code.
func TestKeys_Reported(t *testing.T) {
	for _, k := range append(Keys(), TUIKeys()...) {
		plain := strings.HasSuffix(k.Key, ".input") || strings.HasSuffix(k.Key, ".output") || strings.HasSuffix(k.Key, ".enabled")
		if k.Doc == "" && k.Old == "" && !plain && !strings.HasPrefix(k.Key, "permission.") && !strings.HasSuffix(k.Key, "*") {
			t.Errorf("%s has no description", k.Key)
		}
	}
}
