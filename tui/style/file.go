package style

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxFile is the most bytes of a theme file that are read.
const maxFile = 1 << 20

// Files lists the theme files of folders by the names of their themes. Folders come nearest first, and the
// nearest file of a name counts. No file is opened.
func Files(dirs []string) map[string]string {
	out := map[string]string{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // most folders that may have themes are not there
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".json")
			if _, nearer := out[name]; !ok || name == "" || nearer || e.IsDir() {
				continue
			}
			out[name] = filepath.Join(dir, e.Name())
		}
	}
	return out
}

// Load makes the theme of a name: of a file of the folders, or one of our own.
func Load(dirs []string, name string, dark bool) (*Theme, error) {
	path, ok := Files(dirs)[name]
	if !ok {
		if t, ok := Builtin(name, dark); ok {
			return t, nil
		}
		return nil, fmt.Errorf("theme %q not found: /themes lists the themes", name)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read theme %s: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("read theme %s: %w", name, err)
	}
	t, err := Parse(name, data, dark)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Parse reads a theme file. Colors it does not give come from those it does, and what even those leave open
// from our own theme.
func Parse(name string, data []byte, dark bool) (*Theme, error) {
	var f struct {
		Defs  map[string]json.RawMessage `json:"defs"`
		Theme map[string]json.RawMessage `json:"theme"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("theme %s is not JSON of the form {\"defs\": {…}, \"theme\": {…}}: %w", name, err)
	}
	if f.Theme == nil {
		return nil, fmt.Errorf("theme %s: the key %q with the colors is missing", name, "theme")
	}
	r := resolver{defs: f.Defs, theme: f.Theme, dark: dark, known: map[string]value{}}
	t, err := r.build(name)
	if err != nil {
		return nil, fmt.Errorf("theme %s: %w", name, err)
	}
	return t, nil
}

// resolver resolves the values of a theme file.
type resolver struct {
	defs, theme map[string]json.RawMessage
	dark        bool
	known       map[string]value
	path        []string // names that are being looked up, to find circles
}

// value is a color before it is laid over the background.
type value struct {
	color Color
	alpha float64
}

// build reads the base colors first, derives a theme from them, and then applies the other colors.
func (r *resolver) build(name string) (*Theme, error) {
	if err := r.checkNames(); err != nil {
		return nil, err
	}
	base := defaultSeed(r.dark)
	for _, n := range base.names() {
		if err := r.set(n, base.bg); err != nil {
			return nil, err
		}
	}
	t := derive(name, base)
	for _, n := range t.names() {
		if err := r.set(n, t.Background); err != nil {
			return nil, err
		}
	}
	if _, said := r.theme["selectedListItemText"]; !said && !t.SelectedText.IsSet() {
		t.SelectedText = defaultSeed(r.dark).bg // on a line of the primary color something must be read
	}
	if raw, ok := r.theme["thinkingOpacity"]; ok {
		if err := json.Unmarshal(raw, &t.ThinkingOpacity); err != nil || t.ThinkingOpacity < 0 || t.ThinkingOpacity > 1 {
			return nil, fmt.Errorf("thinkingOpacity: %s is not a number from 0 to 1", brief(raw))
		}
	}
	return t, nil
}

// names are the colors of a theme that others grow from; the background is the first.
func (s *seed) names() []named {
	return []named{
		{"background", &s.bg},
		{"text", &s.text},
		{"textMuted", &s.muted},
		{"primary", &s.primary},
		{"secondary", &s.secondary},
		{"accent", &s.accent},
		{"error", &s.red},
		{"warning", &s.yellow},
		{"success", &s.green},
		{"info", &s.blue},
	}
}

// set gives a color the value the file has for it, if it has one.
func (r *resolver) set(n named, bg Color) error {
	raw, ok := r.theme[n.name]
	if !ok {
		return nil
	}
	v, err := r.lookUp(n.name, "theme."+n.name, raw)
	if err != nil {
		return err
	}
	switch {
	case v.alpha <= 0:
		*n.color = Color{}
	case v.alpha < 1 && n.name != "background":
		*n.color = v.color.Blend(bg, v.alpha)
	default:
		*n.color = v.color
	}
	return nil
}

// lookUp finds the value of a member, once.
func (r *resolver) lookUp(key, place string, raw json.RawMessage) (value, error) {
	if v, ok := r.known[place]; ok {
		return v, nil
	}
	for i, p := range r.path {
		if p == place {
			return value{}, fmt.Errorf("%s: circular reference: %s", key, strings.Join(append(r.path[i:], place), " → "))
		}
	}
	r.path = append(r.path, place)
	defer func() { r.path = r.path[:len(r.path)-1] }()
	v, err := r.value(key, raw, true)
	if err == nil {
		r.known[place] = v
	}
	return v, err
}

// value reads a color: a name, a number of the palette, or a pair for dark and light.
func (r *resolver) value(key string, raw json.RawMessage, mayBePair bool) (value, error) {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return value{}, badColor(key, raw)
		}
		return r.word(key, s, raw)
	case len(raw) > 0 && raw[0] == '{' && mayBePair:
		var pair struct{ Dark, Light json.RawMessage }
		if err := json.Unmarshal(raw, &pair); err != nil || pair.Dark == nil || pair.Light == nil {
			return value{}, fmt.Errorf("%s: %s must have the keys dark and light", key, brief(raw))
		}
		if r.dark {
			return r.value(key+".dark", pair.Dark, false)
		}
		return r.value(key+".light", pair.Light, false)
	default:
		n, err := strconv.ParseUint(string(raw), 10, 8)
		if err != nil {
			return value{}, badColor(key, raw)
		}
		return value{Palette(uint8(n)), 1}, nil
	}
}

// word parses a color, or resolves the name of another one.
func (r *resolver) word(key, s string, raw json.RawMessage) (value, error) {
	if s == "none" || s == "transparent" {
		return value{}, nil
	}
	if strings.HasPrefix(s, "#") {
		if v, ok := parseHex(s[1:]); ok {
			return v, nil
		}
		return value{}, badColor(key, raw)
	}
	if def, ok := r.defs[s]; ok {
		return r.lookUp(key, "defs."+s, def)
	}
	if other, ok := r.theme[s]; ok {
		return r.lookUp(key, "theme."+s, other)
	}
	for _, n := range Default(r.dark).names() {
		if n.name == s { // a color that the file leaves to us
			return value{*n.color, 1}, nil
		}
	}
	return value{}, badColor(key, raw)
}

// parseHex reads rgb, rrggbb or rrggbbaa.
func parseHex(s string) (value, bool) {
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil || strings.HasPrefix(s, "+") {
		return value{}, false
	}
	switch v := uint32(n); len(s) {
	case 3:
		r, g, b := uint8(v>>8&15), uint8(v>>4&15), uint8(v&15)
		return value{RGB(r*17, g*17, b*17), 1}, true
	case 6:
		return value{Hex(v), 1}, true
	case 8:
		return value{Hex(v >> 8), float64(v&0xff) / 255}, true
	default:
		return value{}, false
	}
}

func badColor(key string, raw json.RawMessage) error {
	return fmt.Errorf("%s: %s is not a color: use \"#rrggbb\", \"#rrggbbaa\", a number from 0 to 255, \"none\", or the name of a def or another key", key, brief(raw))
}

// brief is as much of a value as fits into a message.
func brief(raw json.RawMessage) string { return Plain(string(raw)).Truncate(40).Text() }
