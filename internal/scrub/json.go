package scrub

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// JSON is JSON of settings without the keys in it: values of members whose names say so, all headers and
// variables for programs, passwords in addresses, and arguments such as --token.
func JSON(raw []byte) []byte {
	var out bytes.Buffer
	m := masker{in: json.NewDecoder(bytes.NewReader(raw)), raw: raw, out: &out}
	m.in.UseNumber()
	if m.value(nil) != nil {
		return []byte(`"` + Mark + `"`) // it was JSON, or nothing is shown
	}
	out.Write(raw[m.at:])
	return out.Bytes()
}

// masker copies JSON and replaces some of its strings, so that the order of members stays.
type masker struct {
	in  *json.Decoder
	raw []byte
	out *bytes.Buffer
	at  int // how far it is copied
}

// value goes over one value; path are the names of the members around it.
func (m *masker) value(path []string) error {
	t, err := m.in.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case string:
		m.put(t, maskValue(path, t))
	case json.Delim:
		if t == '[' {
			return m.list(path)
		}
		for m.in.More() {
			name, err := m.in.Token()
			if err != nil {
				return err
			}
			if err := m.value(append(slices.Clip(path), name.(string))); err != nil {
				return err
			}
		}
		_, err = m.in.Token()
	}
	return err
}

// list goes over an array. The argument behind one that names a secret is one.
func (m *masker) list(path []string) error {
	secret := false
	for m.in.More() {
		if !secret {
			before := m.at
			end := m.in.InputOffset()
			if err := m.value(path); err != nil {
				return err
			}
			secret = m.at == before && namesSecret(m.raw[end:m.in.InputOffset()])
			continue
		}
		t, err := m.in.Token()
		if err != nil {
			return err
		}
		if s, ok := t.(string); ok {
			m.put(s, Mark)
		}
		secret = false
	}
	_, err := m.in.Token()
	return err
}

// namesSecret reports whether an element of an array is an option whose value comes next.
func namesSecret(element []byte) bool {
	var s string
	if json.Unmarshal(bytes.TrimLeft(element, ", \t\r\n["), &s) != nil {
		return false
	}
	return strings.HasPrefix(s, "-") && !strings.Contains(s, "=") && isSecretName(s)
}

// put copies up to the string that was read last, and another one in its place.
func (m *masker) put(was, now string) {
	if was == now {
		return
	}
	end := int(m.in.InputOffset())
	start := end - 2
	for m.raw[start] != '"' || isEscaped(m.raw[:start]) {
		start--
	}
	m.out.Write(m.raw[m.at:start])
	text, _ := json.Marshal(now) // a string always can be
	m.out.Write(text)
	m.at = end
}

// isEscaped reports whether the byte after a text is escaped by it.
func isEscaped(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}

func maskValue(path []string, value string) string {
	if value == "" || len(path) == 0 {
		return value
	}
	name := path[len(path)-1]
	if path[0] != "keybinds" && isSecretName(name) {
		return Mark
	}
	if len(path) > 1 && HoldsSecrets(path[len(path)-2]) {
		return Mark
	}
	if option, _, ok := strings.Cut(value, "="); ok && strings.HasPrefix(option, "-") && isSecretName(option) {
		return option + "=" + Mark
	}
	if u, err := url.Parse(value); err == nil && u.Host != "" && len(Secrets(nil, u)) > 0 {
		return String(value, Secrets(nil, u))
	}
	return value
}

// HoldsSecrets reports whether all that a setting of this name has in it may be secret: headers, and
// variables for programs.
func HoldsSecrets(name string) bool {
	return slices.Contains([]string{"headers", "environment", "env"}, name)
}

// isSecretName reports whether a setting of this name holds a secret.
func isSecretName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	for _, word := range []string{"apikey", "accesskey", "secret", "password", "passwd", "authorization", "cookie", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasSuffix(name, "token") || name == "key" || strings.HasSuffix(name, "privatekey")
}
