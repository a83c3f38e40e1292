package eval

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// mostOpen is how many brackets and dashes may be open at once.
const mostOpen = 64

// document is a YAML text that is read into Go values. The first problem ends the reading.
type document struct {
	name string // of the file, safe to show
	err  error  // the first problem
}

// fail keeps the first problem, with its line.
func (d *document) fail(n ast.Node, format string, args ...any) {
	if d.err != nil {
		return
	}
	at := ""
	if l := lineOf(n); l > 0 {
		at = fmt.Sprintf(":%d", l)
	}
	d.err = lathe.Errorf(lathe.Invalid, "%s%s: %s", d.name, at, fmt.Sprintf(format, args...))
}

// lineOf is the line of a value, 0 if it is not known.
func lineOf(n ast.Node) int {
	if n == nil {
		return 0
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// parse reads a text that may come from a stranger. Anchors and aliases are refused where they are read, so that a short
// text cannot become a long one.
func (d *document) parse(text []byte) (root ast.Node) {
	defer func() {
		if recover() != nil { // a bug of the parser, on unusual input
			d.fail(nil, "it is not valid YAML")
			root = nil
		}
	}()
	switch {
	case len(text) > MaxFile:
		d.fail(nil, "it has more than %s; split it", termtext.ByteSize(MaxFile))
		return nil
	case !utf8.Valid(text) || slices.Contains(text, 0):
		d.fail(nil, "it is not a text file in UTF-8")
		return nil
	}
	tokens := lexer.Tokenize(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if isDeep(tokens) {
		d.fail(nil, "it nests more than %d levels", mostOpen)
		return nil
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		d.syntax(err)
		return nil
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		d.fail(nil, "it must have one YAML document with keys and values")
		return nil
	}
	return file.Docs[0].Body
}

// isDeep reports whether a text nests so deep that the parser would recurse far. Other nesting costs a space for each
// level on each line.
func isDeep(all token.Tokens) bool {
	open, marks, line := 0, 0, 0
	for _, t := range all {
		if t.Position != nil && t.Position.Line != line {
			line, marks = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
		case token.SequenceEndType, token.MappingEndType:
			open = max(open-1, 0)
		case token.SequenceEntryType, token.MappingKeyType:
			marks++
		default:
		}
		if open > mostOpen || marks > mostOpen {
			return true
		}
	}
	return false
}

// syntax keeps the first line of an error of the parser: its excerpt of the file may be long.
func (d *document) syntax(err error) {
	var told interface {
		GetMessage() string
		GetToken() *token.Token
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	at := ""
	if errors.As(err, &told) {
		message = told.GetMessage()
		if t := told.GetToken(); t != nil && t.Position != nil {
			at = fmt.Sprintf(":%d", t.Position.Line)
		}
	}
	d.err = lathe.Errorf(lathe.Invalid, "%s%s: it is not valid YAML: %s", d.name, at, termtext.Clip(termtext.OneLine(termtext.Plain(message)), 120))
}

// members returns the keys and values of a mapping. Keys that are not known are an error that names the nearest.
func (d *document) members(n ast.Node, where string, known map[string]func(ast.Node)) {
	for _, v := range d.pairs(n, where) {
		key := termtext.Plain(v.Key.GetToken().Value)
		read, ok := known[key]
		switch {
		case ok:
			read(v.Value)
		default:
			names := slices.Sorted(maps.Keys(known))
			hint := "known keys: " + strings.Join(names, ", ")
			if near := phrase.Nearest(key, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			d.fail(v.Key, "unknown key %s in %s; %s", termtext.Quote(key), where, hint)
		}
		if d.err != nil {
			return
		}
	}
}

// pairs returns the members of a mapping, each key once.
func (d *document) pairs(n ast.Node, where string) (out []*ast.MappingValueNode) {
	switch n := n.(type) {
	case *ast.MappingNode:
		out = n.Values
	case *ast.MappingValueNode:
		out = []*ast.MappingValueNode{n}
	default:
		d.wrong(n, where, "keys and values")
		return nil
	}
	seen := map[string]bool{}
	for _, v := range out {
		t := v.Key.GetToken()
		if t == nil || v.Value == nil || v.Key.IsMergeKey() {
			d.fail(v, "%s has a key that is not a word", where)
			return nil
		}
		if seen[t.Value] {
			d.fail(v.Key, "%s has the key %s twice", where, termtext.Quote(t.Value))
			return nil
		}
		seen[t.Value] = true
	}
	return out
}

// wrong is a value of another type than wanted.
func (d *document) wrong(n ast.Node, key, want string) {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		d.fail(n, "%s: anchors and aliases are not supported; write the value out", key)
	case *ast.TagNode:
		d.fail(n, "%s: tags are not supported; write the value without it", key)
	default:
		d.fail(n, "%s must be %s", key, want)
	}
}

// text reads a text of limited length. Numbers and words such as true are read as they are written.
func (d *document) text(n ast.Node, key string, most int) string {
	var s string
	switch n := n.(type) {
	case *ast.StringNode:
		s = n.Value
	case *ast.LiteralNode:
		s = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		s = n.GetToken().Value
	default:
		d.wrong(n, key, "a text")
		return ""
	}
	switch {
	case strings.TrimSpace(s) == "":
		d.fail(n, "%s is empty", key)
	case len(s) > most:
		d.fail(n, "%s has more than %s", key, termtext.ByteSize(int64(most)))
	case strings.ContainsRune(s, 0):
		d.fail(n, "%s has a NUL byte", key)
	}
	return s
}

// texts reads one text or a list of them.
func (d *document) texts(n ast.Node, key string) (out []string) {
	const most = 1000
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return []string{d.text(n, key, 4096)}
	}
	if len(list.Values) > most {
		d.fail(n, "%s has more than %d entries", key, most)
		return nil
	}
	for _, v := range list.Values {
		out = append(out, d.text(v, key, 4096))
	}
	return out
}

// whole reads an integer in a range.
func (d *document) whole(n ast.Node, key string, least, most int64) int64 {
	if x := integer(n); x >= least && x <= most {
		return x
	}
	d.wrong(n, key, fmt.Sprintf("a whole number from %d to %d", least, most))
	return 0
}

// integer returns the value of one, 0 for other nodes.
func integer(n ast.Node) int64 {
	if v, ok := n.(*ast.IntegerNode); ok {
		switch i := v.Value.(type) {
		case int64:
			return i
		case uint64:
			return int64(min(i, math.MaxInt64))
		}
	}
	return 0
}

// dollars reads an amount above 0.
func (d *document) dollars(n ast.Node, key string) float64 {
	x := 0.0
	switch v := n.(type) {
	case *ast.FloatNode:
		x = v.Value
	case *ast.IntegerNode:
		x = float64(integer(n))
	}
	if !(x > 0) || x > 1_000_000 { // NaN too
		d.wrong(n, key, "an amount in dollars above 0, such as 1.50")
	}
	return x
}

// span reads a duration such as 10m, or seconds.
func (d *document) span(n ast.Node, key string) time.Duration {
	const most = 7 * 24 * time.Hour
	if v, ok := n.(*ast.IntegerNode); ok {
		return time.Duration(d.whole(v, key, 1, int64(most/time.Second))) * time.Second
	}
	s, ok := n.(*ast.StringNode)
	if ok {
		if t, err := time.ParseDuration(s.Value); err == nil && t >= time.Millisecond && t <= most {
			return t
		}
	}
	d.wrong(n, key, "a duration such as 90s, 10m or 1h, at most a week")
	return 0
}
