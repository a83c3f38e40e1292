package secret

import (
	_ "embed"
	"strings"
	"sync"
)

// base is a folder that paths of the table start from, as the table writes it.
type base string

const (
	home   base = "~"
	config base = "$config"
	data   base = "$data"
)

// row is one place of credentials; places.txt explains the columns.
type row struct {
	base   base
	path   string // with slashes
	tool   string
	reason string
	env    string
	below  string
	show   []string
	redact Format
}

//go:embed places.txt
var placesText string

// rows is the one table of what holds the user's credentials.
var rows = sync.OnceValue(func() (out []row) {
	for line := range strings.Lines(placesText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, readRow(strings.Split(line, " | ")))
		}
	}
	return out
})

func readRow(columns []string) row {
	from, path, _ := strings.Cut(columns[0], "/")
	r := row{base: base(from), path: path, tool: strings.TrimPrefix(columns[1], "-"), reason: columns[2]}
	for _, more := range columns[3:] {
		for option := range strings.FieldsSeq(more) {
			switch name, value, _ := strings.Cut(option, "="); name {
			case "env":
				r.env = value
			case "below":
				r.below = value
			case "show":
				r.show = strings.Split(value, ",")
			case "redact":
				r.redact = Format(value)
			default:
				panic("places.txt: unknown option " + option)
			}
		}
	}
	return r
}
