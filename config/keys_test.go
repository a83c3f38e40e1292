package config

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// onlyInRaw are the keys that are checked and shown, but that Config has no field for: the catalog of models reads them from
// Raw, or nothing does yet.
var onlyInRaw = regexp.MustCompile(`^config\.([$]schema|logLevel|watcher|autoupdate|enterprise|provider\.\*\..*|experimental\.(disable_paste_summary|batch_tool|openTelemetry))$`)

// agrees walks the table and the types side by side: every key of the one has a place in
// the other, of a kind that can hold it.
type agrees struct{ t *testing.T }

func (a agrees) value(path string, s *spec, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[Permission](), typ == reflect.TypeFor[ProviderOptions]():
		return // whose keys have no names
	case typ == reflect.TypeFor[json.RawMessage]():
		if s.kind != "" {
			a.t.Errorf("%s: the table knows what it is, the type does not", path)
		}
	case s.any != nil:
		a.alternatives(path, s, typ)
	case s.kind == isObject:
		a.object(path, []*spec{s}, typ)
	case s.kind == isArray && typ.Kind() == reflect.Slice:
		a.value(path+"[]", s.items, typ.Elem())
	case s.kind == isString && typ.Kind() == reflect.String,
		s.kind == isBool && typ.Kind() == reflect.Bool,
		s.whole && typ.Kind() == reflect.Int,
		s.kind == isNumber && !s.whole && typ.Kind() == reflect.Float64:
	default:
		a.t.Errorf("%s: the table has %s, the type %s", path, s.allowedValues(), typ)
	}
}

// alternatives are held by a type that reads all of them; its objects are still looked at.
func (a agrees) alternatives(path string, s *spec, typ reflect.Type) {
	var objects []*spec
	for _, alt := range s.any {
		if alt.kind == isObject {
			objects = append(objects, alt)
		}
	}
	_, reads := reflect.New(typ).Interface().(json.Unmarshaler)
	if !reads && len(objects) != len(s.any) {
		a.t.Errorf("%s: %s cannot read %s", path, typ, s.allowedValues())
	}
	if len(objects) > 0 {
		a.object(path, objects, typ)
	}
}

func (a agrees) object(path string, all []*spec, typ reflect.Type) {
	if typ.Kind() == reflect.Map {
		if all[0].rest != nil {
			a.value(path+".*", all[0].rest, typ.Elem())
		}
		for _, e := range all[0].keys {
			a.value(path+"."+e.key, e.spec, typ.Elem())
		}
		return
	}
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "-" && name != "" {
			fields[name] = f.Type
		}
	}
	known := map[string]bool{}
	for _, s := range all {
		for _, e := range s.keys {
			known[e.key] = true
			switch field, ok := fields[e.key]; {
			case ok:
				a.value(path+"."+e.key, e.spec, field)
			case e.old == "" && !onlyInRaw.MatchString(path+"."+e.key):
				a.t.Errorf("%s.%s: the table has it, %s does not", path, e.key, typ)
			}
		}
	}
	for _, name := range names(fields) {
		if !known[name] {
			a.t.Errorf("%s.%s: %s has it, the table does not", path, name, typ)
		}
	}
}

func TestKeys_HaveTypes(t *testing.T) {
	agrees{t}.value("config", settings(), reflect.TypeFor[Config]())
	agrees{t}.value("tui", tuiTable(), reflect.TypeFor[TUI]())
}

// Every key the reference documents is in the table, and nothing else but ours.
func TestKeys_OfTheReference(t *testing.T) {
	known := map[string]bool{}
	paths(settings(), nil, known)
	list, err := os.ReadFile("testdata/reference-keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range strings.Fields(string(list)) {
		if !known[k] {
			t.Errorf("the table lacks %s", k)
		}
		delete(known, k)
	}
	ours := []string{
		"overview", "search", "survey", "permission_mode", "permission_unattended", "prompt_cache",
		"server.auth", // decisions: an explicit way to serve without a password
		"server.metrics", "server.traces", "server.tls", "server.push", "server.push.text", "lsp.install", "lsp.memory", "formatter.scope",
		// older settings
		"theme", "keybinds", "editor", "tui", "agent.*.name", "mode.*.name",
		// described with models, not in the schema of the API
		"provider.*.models.*.cost.tiers",
	}
	// how turns last, what they may use and reach
	lasting := regexp.MustCompile(`^(resume|(retry|deadline|fallback|budget|webfetch|sandbox|subagents|checks|worktree)(\..*)?|snapshot\..*|(agent|mode|mcp)\.\*\.(fallback|sandbox|isolation|allowed_tools)(\..*)?|hooks(\..*)?|disable_hooks|env|provider\.\*\.options\.oauth(\..*)?)$`)
	for _, k := range names(known) {
		old := strings.HasPrefix(k, "tui.") || strings.HasPrefix(k, "keybinds.")
		permission := strings.HasSuffix(k, "permission.todoread") || strings.HasSuffix(k, "permission.codesearch")
		if !old && !permission && !lasting.MatchString(k) && !slices.Contains(ours, k) {
			t.Errorf("the reference does not have %s", k)
		}
	}
}

// paths lists the named keys of a table; a * stands for names of the user's.
func paths(s *spec, path []string, out map[string]bool) {
	for _, a := range s.any {
		paths(a, path, out)
	}
	for _, e := range s.keys {
		below := append(slices.Clone(path), e.key)
		out[strings.Join(below, ".")] = true
		paths(e.spec, below, out)
	}
	if s.rest != nil {
		paths(s.rest, append(slices.Clone(path), "*"), out)
	}
	if s.items != nil {
		paths(s.items, path, out)
	}
}

// The schema is for editors: it must be JSON, and have all keys.
func TestSchema(t *testing.T) {
	for name, schema := range map[string][]byte{"settings": Schema(), "tui": schemaOf(tuiTable(), "lathe config's terminal program")} {
		golden(t, "testdata/schema-"+name+".json", string(schema))
		if !json.Valid(schema) || !bytes.HasSuffix(schema, []byte("}\n")) {
			t.Errorf("%s is not JSON", name)
		}
	}
}

// One settings file with every key, each with a value that is not zero, fills every field.
func TestKeys_AllFilled(t *testing.T) {
	w := newFixture(t)
	w.trust = yes
	all, err := os.ReadFile("testdata/every-key.jsonc")
	if err != nil {
		t.Fatal(err)
	}
	tui, err := os.ReadFile("testdata/every-tui-key.jsonc")
	if err != nil {
		t.Fatal(err)
	}
	w.write("home/.config/lathe/lathe.jsonc", string(all))
	w.write("home/.config/lathe/tui.jsonc", string(tui))
	l := w.load()
	unsupported := func(text string) bool { return strings.Contains(text, "is not supported: ") }
	equal(t, slices.DeleteFunc(w.warnings(l), unsupported), []string{})
	for _, v := range []any{l.Config, l.TUI} {
		for _, field := range unfilled("", reflect.ValueOf(v)) {
			t.Errorf("%T%s is not filled", v, field)
		}
	}
}

// unfilled lists the fields that no value reached; of a map or list any element may do it.
func unfilled(path string, v reflect.Value) (out []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return unfilled(path, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Width]() || v.Type() == reflect.TypeFor[Limit]() || v.Type() == reflect.TypeFor[Network]() || v.Type() == reflect.TypeFor[LSP]() || v.Type() == reflect.TypeFor[Formatters]() {
			break // one of several
		}
		for i := range v.NumField() {
			out = append(out, unfilled(path+"."+v.Type().Field(i).Name, v.Field(i))...)
		}
		return out
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.Struct && v.Len() > 0 {
			var each [][]string
			for _, k := range v.MapKeys() {
				each = append(each, unfilled(path+"[]", v.MapIndex(k)))
			}
			return inAll(each)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct && v.Len() > 0 {
			var each [][]string
			for i := range v.Len() {
				each = append(each, unfilled(path+"[]", v.Index(i)))
			}
			return inAll(each)
		}
	}
	if v.IsZero() {
		return []string{path}
	}
	return nil
}

func inAll(each [][]string) (out []string) {
	for _, f := range each[0] {
		if !slices.ContainsFunc(each[1:], func(other []string) bool { return !slices.Contains(other, f) }) && !strings.HasSuffix(f, ".Extra") {
			out = append(out, f)
		}
	}
	return out
}
