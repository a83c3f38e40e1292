package config

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	lex "github.com/goccy/go-yaml/token"
)

// maxHeadDepth is how deep the head of a markdown file may nest.
const maxHeadDepth = 100

// nesting is at least as large as the depth of a head: brackets that are open at once, or what
// is before the first word of a line.
func nesting(head []byte) (deepest int) {
	open := 0
	for line := range bytes.Lines(head) {
		text := bytes.TrimLeft(line, " ")
		marks := (len(line) - len(text)) / 2
		for len(text) > 1 && (text[0] == '-' || text[0] == '?') && (text[1] == ' ' || text[1] == '\t') {
			marks++
			text = bytes.TrimLeft(text[2:], " \t")
		}
		for _, c := range line {
			switch c {
			case '[', '{':
				open++
				deepest = max(deepest, open)
			case ']', '}':
				open = max(open-1, 0)
			}
		}
		deepest = max(deepest, marks)
	}
	return deepest
}

// yamlReader copies a YAML tree.
type yamlReader struct {
	src   *source
	start int // of the head in the file
	lines []int
	wrong *Problem // the first thing that cannot be copied
}

// parseYAML reads a head that begins at an offset of the file.
func (s *source) parseYAML(head []byte, start int) (root *node, problem *Problem) {
	r := yamlReader{src: s, start: start, lines: lineStarts(s.text[start:])}
	warned := len(s.warns)
	defer func() {
		if bug := recover(); bug != nil { // a bug in the parser, on unusual input
			root, problem = nil, r.problem(nil, "the frontmatter is not YAML")
		}
		if problem != nil {
			s.warns = s.warns[:warned]
		}
	}()
	file, err := parser.ParseBytes(bytes.ReplaceAll(head, []byte("\r\n"), []byte("\n")), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, r.syntax(err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return objectNode(location{s, start}), nil
	}
	root = r.node(file.Docs[0].Body)
	if root.kind != isObject && r.wrong == nil {
		return nil, r.problem(nil, "the frontmatter must be lines of keys and values")
	}
	return root, r.wrong
}

func (r *yamlReader) syntax(err error) *Problem {
	var told interface {
		GetMessage() string
		GetToken() *lex.Token
	}
	if !errors.As(err, &told) {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return r.problem(nil, "is not YAML: "+shorten(message, 100))
	}
	return r.problem(told.GetToken(), "is not YAML: "+shorten(told.GetMessage(), 100))
}

func (r *yamlReader) problem(t *lex.Token, message string) *Problem {
	p := problemIn(r.src, r.place(t).offset, nil, message)
	return &p
}

// place finds a token by its line and column; the parser's offsets count characters.
func (r *yamlReader) place(t *lex.Token) location {
	at := location{r.src, r.start}
	if t == nil || t.Position == nil || t.Position.Line < 1 || t.Position.Line > len(r.lines) {
		return at
	}
	at.offset += r.lines[t.Position.Line-1]
	for i := 1; i < t.Position.Column; i++ {
		c, n := utf8.DecodeRune(r.src.text[at.offset:])
		if n == 0 || c == '\n' {
			break
		}
		at.offset += n
	}
	return at
}

// node converts a YAML value, so that front matter is checked by the same rules as JSON.
func (r *yamlReader) node(n ast.Node) *node {
	at := r.place(n.GetToken())
	switch n := n.(type) {
	case *ast.MappingNode:
		out := objectNode(at)
		for _, v := range n.Values {
			r.member(out, v)
		}
		return out
	case *ast.MappingValueNode:
		out := objectNode(at)
		r.member(out, n)
		return out
	case *ast.SequenceNode:
		out := &node{kind: isArray, at: at}
		for _, v := range n.Values {
			out.items = append(out.items, r.node(v))
		}
		return out
	case *ast.StringNode:
		return stringNode(n.Value, at)
	case *ast.LiteralNode:
		return stringNode(n.Value.Value, at)
	case *ast.BoolNode:
		return boolNode(n.Value, at)
	case *ast.NullNode:
		return &node{kind: isNull, text: "null", at: at}
	case *ast.IntegerNode:
		return integerNode(n, at)
	case *ast.FloatNode:
		if !math.IsInf(n.Value, 0) && !math.IsNaN(n.Value) {
			return &node{kind: isNumber, text: strconv.FormatFloat(n.Value, 'g', -1, 64), at: at}
		}
	}
	if r.wrong == nil {
		r.wrong = r.problem(n.GetToken(), "is not a valid frontmatter value; quote it")
	}
	return stringNode("", at)
}

// member adds a key and its value. Anchors, aliases and keys that are not words have no
// use in a head.
func (r *yamlReader) member(out *node, v *ast.MappingValueNode) {
	t := v.Key.GetToken()
	if t == nil || v.Value == nil {
		return
	}
	key := t.Value
	if s, ok := v.Key.(*ast.StringNode); ok {
		key = s.Value
	}
	out.set(member{key, r.place(t), r.node(v.Value)}, r.src)
}

func integerNode(n *ast.IntegerNode, at location) *node {
	out := &node{kind: isNumber, at: at}
	switch v := n.Value.(type) {
	case int64:
		out.text = strconv.FormatInt(v, 10)
	case uint64:
		out.text = strconv.FormatUint(v, 10)
	default:
		out.kind, out.text = isString, n.GetToken().Value
	}
	return out
}
