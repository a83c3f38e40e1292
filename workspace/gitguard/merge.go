package gitguard

import (
	"errors"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
)

// Merged is the result of [Merge].
type Merged struct {
	// Text is the configuration file with the allowed changes; nil means that nothing changes.
	Text []byte
	// Applied are the keys that were taken over, Refused the keys that may not be, and Kept the
	// keys that another process changed meanwhile: its value stays.
	Applied, Refused, Conflicts []string
}

var (
	errUnreadable = errors.New("the configuration cannot be read as git reads it")
	errMerge      = errors.New("the change does not fit into the configuration")
)

// Merge takes over into a configuration file what a command changed in its copy: base is the file
// as it was copied, copied what became of it, and now the file as it is. Only allowed keys change,
// and all else in the file keeps its place and its form. Further values may be allowed by a function.
func Merge(base, copied, now []byte, further ...func(key, value string) bool) (Merged, error) {
	was, err1 := parse(base)
	made, err2 := parse(copied)
	has, err3 := parse(now)
	if errors.Join(err1, err2, err3) != nil {
		return Merged{}, errUnreadable
	}
	var out Merged
	text := now
	for _, key := range changedKeys(was, made) {
		old, want, real := was.values[key], made.values[key], has.values[key]
		switch {
		case !mayChange(key, old, want, further):
			out.Refused = append(out.Refused, key)
			continue
		case slices.Equal(real, want):
			continue
		case !slices.Equal(real, old) && !several(key):
			out.Conflicts = append(out.Conflicts, key)
			continue
		case !slices.Equal(real, old):
			want = join(old, want, real)
		}
		next, err := setValues(text, key, made.names[key], want)
		if err != nil {
			return Merged{}, err
		}
		text, out.Text, out.Applied = next, next, append(out.Applied, key)
	}
	return out, nil
}

// settings are the ordered values of a file by key.
type settings struct {
	keys   []string
	values map[string][]string
	names  map[string]string // as they are spelled
}

func parse(data []byte) (settings, error) {
	s := settings{values: map[string][]string{}, names: map[string]string{}}
	lines, err := gitobj.ConfigLines(data)
	for _, l := range lines {
		if l.Header {
			continue
		}
		if _, known := s.values[l.Key]; !known {
			s.keys = append(s.keys, l.Key)
		}
		s.values[l.Key] = append(s.values[l.Key], valueOf(l))
		s.names[l.Key] = string(data[l.Start : l.Start+len(l.Key)-strings.LastIndexByte(l.Key, '.')-1])
	}
	return s, err
}

// valueOf is the value that counts: a setting without one is true.
func valueOf(l gitobj.ConfigLine) string {
	if l.Bare {
		return "true"
	}
	return l.Value
}

// changedKeys are those whose values differ, in the order of the files.
func changedKeys(was, made settings) (keys []string) {
	for _, key := range slices.Concat(was.keys, made.keys) {
		if !slices.Equal(was.values[key], made.values[key]) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// mayChange reports whether all values that are new are allowed, and no others than allowed ones
// disappear.
func mayChange(key string, old, want []string, further []func(key, value string) bool) bool {
	also := func(v string) bool {
		return slices.ContainsFunc(further, func(ok func(string, string) bool) bool { return ok(key, v) })
	}
	for _, v := range want {
		if !slices.Contains(old, v) && !allowed(key, v) && !also(v) {
			return false
		}
	}
	return removable(key) || !slices.ContainsFunc(slices.Concat(old, want), func(v string) bool { return !also(v) })
}

// several reports whether a key has as many values as people want.
func several(key string) bool {
	section, _, name := splitKey(key)
	return section == "remote" && slices.Contains([]string{"url", "pushurl", "fetch", "push"}, name)
}

// join does to real what was done to old to make want of it.
func join(old, want, real []string) (out []string) {
	for _, v := range real {
		if !slices.Contains(old, v) || slices.Contains(want, v) {
			out = append(out, v)
		}
	}
	for _, v := range want {
		if !slices.Contains(old, v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// setValues gives a key exactly these values. The result is read again, so that a text which is
// understood in another way than expected is never written.
func setValues(text []byte, key, name string, values []string) ([]byte, error) {
	lines, err := gitobj.ConfigLines(text)
	if err != nil {
		return nil, errUnreadable
	}
	var own []gitobj.ConfigLine
	for _, l := range lines {
		if !l.Header && l.Key == key {
			own = append(own, l)
		}
	}
	out := text
	if len(own) < len(values) {
		at, head := placeFor(text, lines, own, key)
		var b strings.Builder
		b.WriteString(head)
		for _, v := range values[len(own):] {
			b.WriteString(render(name, v))
		}
		out = slices.Concat(out[:at], []byte(b.String()), out[at:])
	}
	for i, l := range slices.Backward(own) { // from the end, so that offsets stay true
		switch {
		case i >= len(values):
			out = cutLine(out, l, headerBefore(lines, l))
		case valueOf(l) != values[i]:
			out = slices.Concat(out[:l.Start], []byte(strings.TrimPrefix(render(name, values[i]), "\t")), out[l.End:])
		}
	}
	if !holds(lines, out, key, values) {
		return nil, errMerge
	}
	return out, nil
}

// placeFor is where further values of a key go, and what must stand before them.
func placeFor(text []byte, lines, own []gitobj.ConfigLine, key string) (at int, head string) {
	section := key[:strings.LastIndexByte(key, '.')+1]
	if len(own) > 0 {
		at = own[len(own)-1].End
		return at, newlineAt(text, at)
	}
	for i := range lines {
		if lines[i].Header && lines[i].Key == section {
			at = lines[i].End
			for _, l := range lines[i+1:] {
				if l.Header {
					break
				}
				at = l.End
			}
		}
	}
	if at > 0 {
		return at, newlineAt(text, at)
	}
	return len(text), newlineAt(text, len(text)) + header(key)
}

func newlineAt(text []byte, at int) string {
	if at == 0 || text[at-1] == '\n' {
		return ""
	}
	return "\n"
}

// cutLine removes a setting, and the header of its section if nothing else is in it.
func cutLine(text []byte, l gitobj.ConfigLine, head gitobj.ConfigLine) []byte {
	start := l.Start
	for start > 0 && (text[start-1] == ' ' || text[start-1] == '\t') {
		start--
	}
	if start > 0 && text[start-1] != '\n' { // it is after its header
		return slices.Concat(text[:start], []byte("\n"), text[l.End:])
	}
	rest := strings.TrimLeft(string(text[l.End:]), " \t\r\n")
	if head.Header && strings.TrimSpace(string(text[head.End:start])) == "" && (rest == "" || rest[0] == '[') {
		begin := head.Start
		for begin > 0 && (text[begin-1] == ' ' || text[begin-1] == '\t') {
			begin--
		}
		if begin == 0 || text[begin-1] == '\n' {
			return slices.Concat(text[:begin], text[l.End:])
		}
	}
	return slices.Concat(text[:start], text[l.End:])
}

// headerBefore is the header of the section that a setting stands in.
func headerBefore(lines []gitobj.ConfigLine, l gitobj.ConfigLine) (head gitobj.ConfigLine) {
	for _, h := range lines {
		if h.Header && h.Start < l.Start {
			head = h
		}
	}
	return head
}

func header(key string) string {
	section, sub, _ := splitKey(key)
	if sub == "" {
		return "[" + section + "]\n"
	}
	return "[" + section + ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub) + "\"]\n"
}

// render writes a setting as git does, with quotes around all that is not plain.
func render(name, value string) string {
	plain := value != "" && !strings.ContainsFunc(value, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("+-_./:@*=,~^", r))
	})
	if !plain {
		value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(value) + `"`
	}
	return "\t" + name + " = " + value + "\n"
}

// holds reports whether a text says for one key what it should and for all others what it did.
func holds(before []gitobj.ConfigLine, text []byte, key string, values []string) bool {
	after, err := gitobj.ConfigLines(text)
	if err != nil {
		return false
	}
	type pair struct{ key, value string }
	list := func(lines []gitobj.ConfigLine) (own []string, rest []pair) {
		for _, l := range lines {
			switch {
			case l.Header:
			case l.Key == key:
				own = append(own, valueOf(l))
			default:
				rest = append(rest, pair{l.Key, valueOf(l)})
			}
		}
		return own, rest
	}
	own, rest := list(after)
	_, was := list(before)
	return slices.Equal(own, values) && slices.Equal(rest, was)
}
