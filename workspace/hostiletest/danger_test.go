package hostiletest

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
)

// dangers lists the config keys that run, redirect or allow something, from any source. It
// judges the result alone and knows nothing of how config comes to it.
func dangers(l *config.Loaded) []string {
	d := &finder{}
	c := &l.Config
	raw := value(c.Raw)
	d.set("shell", c.Shell)
	d.set("server", c.Server)
	d.set("enterprise.url", raw.member("enterprise").member("url"))
	d.set("plugin", c.Plugins)
	d.set("plugin files", l.Plugins)
	d.set("tool files", l.Tools)
	d.set("skills.urls", c.Skills.URLs)
	d.note("formatter", raw.member("formatter").isOn())
	d.note("lsp", raw.member("lsp").isOn())
	d.set("tui.plugin", l.TUI.Plugins)
	d.set("tui.plugin_enabled", l.TUI.PluginEnabled)
	d.set("tui.attention.sounds", l.TUI.Attention.Sounds)
	d.set("tui.attention.sound_pack", l.TUI.Attention.SoundPack)
	d.set("tui.keybinds", l.TUI.Keybinds)
	d.note("experimental.openTelemetry", string(raw.member("experimental").member("openTelemetry")) == "true")
	d.note("share", c.Share == "auto")
	d.note("autoupdate", string(raw.member("autoupdate")) == "true")
	for name, s := range c.MCP {
		d.note("mcp."+name, s.Enabled == nil || *s.Enabled)
	}
	for name, cmd := range c.Commands {
		d.note("command."+name, shellIn.MatchString(cmd.Template))
	}
	for name, r := range c.References {
		d.note("references."+name, r.Repository != "" || !inside(l, r.Path))
	}
	d.note("skills.paths", slices.ContainsFunc(c.Skills.Paths, leads))
	d.note("instructions", slices.ContainsFunc(c.Instructions, leads))
	for _, i := range l.Instructions {
		d.note("instructions", i.URL != "")
	}
	d.note("permission", allows(c.Permission))
	for name, a := range c.Agents {
		d.note("agent."+name+".permission", allows(a.Permission))
		for key, val := range a.Options {
			d.note("agent."+name+".options."+key, strings.Contains(string(val), "://"))
		}
	}
	d.providers(raw.member("provider"))
	slices.Sort(d.out)
	return slices.Compact(d.out)
}

type finder struct{ out []string }

func (d *finder) note(what string, bad bool) {
	if bad {
		d.out = append(d.out, what)
	}
}

func (d *finder) set(what string, value any) { d.note(what, !reflect.ValueOf(value).IsZero()) }

func (d *finder) providers(all value) {
	for name, p := range all.members() {
		at := "provider." + name
		d.set(at+".api", p.member("api"))
		d.set(at+".env", p.member("env"))
		d.set(at+".npm", p.member("npm"))
		for key := range p.member("options").members() {
			d.note(at+".options", !slices.Contains([]string{"setCacheKey", "timeout", "headerTimeout", "chunkTimeout"}, key))
		}
		for id, m := range p.member("models").members() {
			d.set(at+".models."+id+".headers", m.member("headers"))
			own := m.member("provider")
			d.note(at+".models."+id+".provider", own.member("npm") != nil || own.member("api") != nil)
			for key, val := range m.member("options").members() {
				d.note(at+".models."+id+".options."+key, strings.Contains(string(val), "://"))
			}
		}
	}
}

// value is a JSON value. Its members are found letter by letter, as the catalog of models finds them.
type value json.RawMessage

func (v value) members() (out map[string]value) {
	var raw map[string]json.RawMessage
	_ = json.Unmarshal(v, &raw) // what is no object has none
	out = make(map[string]value, len(raw))
	for name, m := range raw {
		out[name] = value(m)
	}
	return out
}

// isOn reports whether a switch, or a set of things by name, is there and not false.
func (v value) isOn() bool { return v != nil && string(v) != "false" }

func (v value) member(name string) value { return v.members()[name] }

// shellIn finds a command in a template, also one that a missing argument uncovers.
var shellIn = regexp.MustCompile("!(\\$(\\d+|ARGUMENTS))*`")

// leads reports whether a path or pattern can lead out of the project, or is an address.
func leads(path string) bool {
	slashed := filepath.ToSlash(path)
	return strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") || filepath.IsAbs(path) || strings.HasPrefix(slashed, "/") ||
		path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "$HOME") || slices.Contains(strings.Split(slashed, "/"), "..")
}

// inside reports whether a complete path lies below a folder with settings of the project.
func inside(l *config.Loaded, path string) bool {
	return slices.ContainsFunc(l.Sources, func(s config.Source) bool {
		rel, err := filepath.Rel(filepath.Dir(s.Name), path)
		return s.Layer == config.Project && err == nil && filepath.IsLocal(rel)
	})
}

func allows(p config.Permission) bool {
	return slices.ContainsFunc(p, func(r lathe.Rule) bool { return r.Action == lathe.Allow })
}
