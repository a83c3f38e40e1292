// Package jsonrepair repairs JSON that a language model wrote almost right.
//
// It knows the mistakes models make and repairs one only where a single reading is left:
// a code fence around the value, a comma before a bracket, single quotes, bare names as
// keys, line breaks inside strings, True, False and None, a missing closing bracket.
// An open string or a number at the very end is never closed: the rest of it is lost, and
// what was lost may be what mattered.
//
// Nothing here keeps state; every function may be called from anywhere. Start at Repair.
package jsonrepair

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Error says where the text stops making sense.
type Error struct {
	Offset int    // in bytes, from the start of what was given
	Reason string // the problem
	Near   string // a few characters from there on
	Cut    bool   // the text ended too early; there is nothing wrong with what is there
}

func (e *Error) Error() string {
	switch {
	case e.Cut:
		return fmt.Sprintf("cut off after %d bytes: %s", e.Offset, e.Reason)
	case e.Near == "":
		return fmt.Sprintf("at byte %d: %s", e.Offset, e.Reason)
	default:
		return fmt.Sprintf("at byte %d, %q: %s", e.Offset, e.Near, e.Reason)
	}
}

// Repair returns src itself when it is JSON, else the JSON it was meant to be, else an
// [*Error]. It reads src once and does not change it.
func Repair(src []byte) ([]byte, error) {
	if json.Valid(src) {
		return src, nil
	}
	start, end := body(src)
	p := parser{src: src[:end], pos: start, out: make([]byte, 0, end-start+16)}
	if err := p.run(); err != nil {
		return nil, err
	}
	if !json.Valid(p.out) { // nested deeper than any reader goes
		return nil, &Error{Offset: start, Reason: "not JSON"}
	}
	return p.out, nil
}

// body returns where the value starts and ends inside a byte order mark, white space and
// a code fence. White space at the end stays: it says that a number before it is complete.
func body(src []byte) (start, end int) {
	end = len(src)
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		start = 3
	}
	start = skipSpace(src, start)
	fence := []byte("```")
	if !bytes.HasPrefix(src[start:], fence) {
		return start, end
	}
	start += len(fence)
	for start < end && isLetter(src[start]) { // the language
		start++
	}
	if text := bytes.TrimRight(src[start:], " \t\r\n"); bytes.HasSuffix(text, fence) {
		end = start + len(text) - len(fence)
	}
	return start, end
}

// state is what may come next.
type state byte

const (
	value    state = iota // a value
	element               // a value of an array, or its end
	key                   // a key of an object, or its end
	colon                 // the colon after a key
	after                 // a comma or the end of what is open
	complete              // nothing
)

// parser copies the value to out and repairs it on the way.
type parser struct {
	src    []byte
	pos    int
	out    []byte
	open   []byte // the brackets that are open
	state  state
	comma  bool // one was read and not yet written: the next value needs it, a bracket does not
	number bool // the last value was a number, which might have gone on
}

func (p *parser) run() error {
	for {
		space := p.pos
		p.pos = skipSpace(p.src, p.pos)
		if p.pos > space {
			p.number = false
		}
		if p.pos == len(p.src) {
			return p.finish()
		}
		if err := p.next(p.src[p.pos]); err != nil {
			return err
		}
	}
}

// next reads one token, which starts with c.
func (p *parser) next(c byte) error {
	switch p.state {
	case value, element:
		if p.state == element && (c == ']' || c == '}') {
			return p.end(c)
		}
		return p.value(c)
	case key:
		if c == '}' || c == ']' {
			return p.end(c)
		}
		return p.key(c)
	case colon:
		if c != ':' {
			return p.fail("a colon must follow the key")
		}
		p.out = append(p.out, ':')
		p.pos++
		p.state = value
		return nil
	case after:
		if c == ',' {
			return p.separate()
		}
		if c == ']' || c == '}' {
			return p.end(c)
		}
		return p.fail("a comma or a closing bracket must come here; quotes inside a string are written \\\"")
	default:
		return p.fail("something follows the end of the value")
	}
}

// finish closes what was left open, if nothing else can be missing.
func (p *parser) finish() error {
	switch {
	case p.state == complete:
		return nil
	case p.state != after || p.number:
		return p.cut("the value is not complete")
	}
	for i := len(p.open) - 1; i >= 0; i-- {
		p.out = append(p.out, closer(p.open[i]))
	}
	return nil
}

func (p *parser) separate() error {
	p.pos++
	p.comma = true
	if p.open[len(p.open)-1] == '{' {
		p.state = key
	} else {
		p.state = element
	}
	return nil
}

// end closes the innermost bracket with c, and before it one whose own end was forgotten.
func (p *parser) end(c byte) error {
	n := len(p.open)
	if closer(p.open[n-1]) != c {
		if n < 2 || closer(p.open[n-2]) != c || p.state != after {
			return p.fail("this bracket closes nothing that is open")
		}
		p.out = append(p.out, closer(p.open[n-1]))
		n--
	}
	p.out = append(p.out, c)
	p.open = p.open[:n-1]
	p.comma = false
	p.pos++
	p.endValue()
	return nil
}

// endValue says that a value is complete.
func (p *parser) endValue() {
	p.number = false
	p.state = after
	if len(p.open) == 0 {
		p.state = complete
	}
}

// begin writes the comma that the next value or key needs.
func (p *parser) begin() {
	if p.comma {
		p.out = append(p.out, ',')
		p.comma = false
	}
}

// value reads any JSON value and repairs what models get wrong in it.
func (p *parser) value(c byte) error {
	p.begin()
	switch {
	case c == '{' || c == '[':
		p.open = append(p.open, c)
		p.out = append(p.out, c)
		p.pos++
		if p.state = element; c == '{' {
			p.state = key
		}
		return nil
	case c == '"' || c == '\'':
		if err := p.text(c); err != nil {
			return err
		}
		p.endValue()
		return nil
	case c == '-' || isDigit(c):
		return p.numeral()
	default:
		return p.word()
	}
}

func (p *parser) key(c byte) error {
	p.begin()
	p.state = colon
	if c == '"' || c == '\'' {
		return p.text(c)
	}
	name := p.name()
	if len(name) == 0 {
		return p.fail("a key in double quotes must come here")
	}
	if p.pos += len(name); p.pos == len(p.src) {
		return p.cut("the key is not complete")
	}
	p.out = append(append(append(p.out, '"'), name...), '"')
	return nil
}

func (p *parser) numeral() error {
	i := p.pos
	for i < len(p.src) && (isDigit(p.src[i]) || bytes.IndexByte([]byte("+-.eE"), p.src[i]) >= 0) {
		i++
	}
	if !json.Valid(p.src[p.pos:i]) {
		if i == len(p.src) {
			return p.cut("the number is not complete")
		}
		return p.fail("this is not a number")
	}
	p.out = append(p.out, p.src[p.pos:i]...)
	p.pos = i
	p.endValue()
	p.number = true
	return nil
}

// word reads true, false and null, also as Python writes them.
func (p *parser) word() error {
	name := p.name()
	var plain string
	switch string(name) {
	case "true", "True":
		plain = "true"
	case "false", "False":
		plain = "false"
	case "null", "None":
		plain = "null"
	default:
		if len(name) > 0 && p.pos+len(name) == len(p.src) {
			return p.cut("the value is not complete")
		}
		return p.fail("a value must come here; text is written in double quotes")
	}
	p.out = append(p.out, plain...)
	p.pos += len(name)
	p.endValue()
	return nil
}

// name returns the bare name that starts here.
func (p *parser) name() []byte {
	i := p.pos
	for i < len(p.src) && (isLetter(p.src[i]) || p.src[i] == '_' || p.src[i] == '$' ||
		i > p.pos && (isDigit(p.src[i]) || p.src[i] == '-')) {
		i++
	}
	return p.src[p.pos:i]
}

func (p *parser) fail(reason string) error {
	near := p.src[p.pos:min(p.pos+24, len(p.src))]
	return &Error{Offset: p.pos, Reason: reason, Near: string(bytes.ToValidUTF8(near, nil))}
}

func (p *parser) cut(reason string) error {
	return &Error{Offset: len(p.src), Reason: reason, Cut: true}
}

func closer(open byte) byte {
	if open == '{' {
		return '}'
	}
	return ']'
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
