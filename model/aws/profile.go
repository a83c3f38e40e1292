package aws

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/lathe-agent/lathe"
)

// maxFile is how much of a shared file is read; real ones have a few kilobytes.
const maxFile = 1 << 20

// profile is the config of one profile, by their names in lower case.
type profile map[string]string

// read adds what a file says about a profile, and reports whether it knows it. Existing values
// stay: the credentials file comes first.
func (p profile) read(path, name string) (found bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && info.Size() > maxFile {
		err = errors.New("it is too large")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return false, lathe.Errorf(lathe.Unauthorized, "the AWS profiles in %s cannot be read: %w", path, err)
	}
	inside := false
	for line := range strings.Lines(string(data)) {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case text[0] == '[':
			inside = section(text) == name
			found = found || inside
		case inside && line[0] != ' ' && line[0] != '\t': // indented lines belong to the line before
			p.add(text)
		}
	}
	return found, nil
}

// section is the name of the profile that a line begins: the file of the config writes the word
// before all but the default one.
func section(line string) string {
	name, _, _ := strings.Cut(line[1:], "]")
	name = strings.TrimSpace(name)
	if rest, ok := strings.CutPrefix(name, "profile"); ok && rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		return strings.TrimSpace(rest)
	}
	return name
}

func (p profile) add(line string) {
	name, value, ok := strings.Cut(line, "=")
	if !ok {
		return
	}
	for _, mark := range []string{" #", "\t#", " ;", "\t;"} { // a comment follows
		value, _, _ = strings.Cut(value, mark)
	}
	name = strings.ToLower(strings.TrimSpace(name))
	if _, has := p[name]; !has {
		p[name] = strings.TrimSpace(value)
	}
}
