package modeltest

import (
	"errors"
	"fmt"
	"strings"
)

// Parse reads a script written as text: a step on each line, a line of -- between answers.
// Empty lines and those that begin with # mean nothing. Strings stand in quotes, as in Go.
//
//	text "Push" "ing."                        a delta for each
//	reasoning "let me see" signature="c2ln"
//	call bash {"command":"git push"}          id= and pieces= before the arguments;
//	and read {"path":"notes"}                 together with the call before it
//	call bash "not JSON"                      arguments in quotes may be anything
//	executed web_search {"query":"go"} https://go.dev "Go"
//	source https://go.dev "Go"
//	usage 100 20 cache-read=80 reasoning=5    or: usage none
//	finish tool-calls
//	chunks 3                                  each text and call after it comes in 3 deltas
//	when "a title"                            only for requests that hold this text, and that of others
//	pause 50ms · headers · stall · drip 1 50ms
//	cut · cut 120 · cut clean · cut reset
//	status 429 retry-after=2 "body"
//	error overloaded_error code=x "Overloaded"
//	raw "data: {\n\n"
func Parse(src string) (Script, error) {
	var script Script
	p, n := parser{}, 0
	for text := range strings.Lines(src) {
		n++
		text = strings.TrimSpace(text)
		switch {
		case text == "" || text[0] == '#':
			continue
		case text == "--":
			script = append(script, p.answer)
			p = parser{}
			continue
		}
		if err := p.line(text); err != nil {
			word, _, _ := strings.Cut(text, " ")
			return nil, fmt.Errorf("line %d: %s: %w", n, word, err)
		}
	}
	if p.answer != nil { // the line of -- may also stand at the end
		script = append(script, p.answer)
	}
	return script, nil
}

// MustParse is Parse for scripts that stand in the program.
func MustParse(src string) Script {
	s, err := Parse(src)
	if err != nil {
		panic("modeltest: " + err.Error())
	}
	return s
}

// parser reads the lines of one answer.
type parser struct {
	answer Answer
	chunks int
	scan   scanner
}

// line parses one line of a script and rejects extra words, so that a typo cannot pass silently.
func (p *parser) line(text string) error {
	p.scan = scanner{text}
	word := p.scan.word()
	step, err := p.read(word)
	if err != nil {
		return err
	}
	if p.scan.rest != "" {
		return fmt.Errorf("%s is too much here", quoteShort(p.scan.rest))
	}
	if step != nil {
		p.answer = append(p.answer, step)
	}
	return nil
}

// read returns the step of a line; none when the line changes what is around it.
func (p *parser) read(word string) (Step, error) {
	switch word {
	case "text":
		return p.text()
	case "reasoning":
		return p.reasoning()
	case "call":
		return p.call()
	case "and":
		return nil, p.and()
	case "executed":
		return p.executed()
	case "source":
		return p.scan.source()
	case "usage":
		return p.usage()
	case "finish":
		return oneWord[Finish](&p.scan, "a reason, like stop")
	case "chunks":
		n, err := p.scan.number("how many")
		p.chunks = n
		return nil, err
	case "when":
		text, err := p.scan.quoted("the text to look for")
		return When(text), err
	case "status":
		return p.status()
	case "error":
		return p.fail()
	case "raw":
		text, err := p.scan.quoted("the bytes")
		return Raw(text), err
	default:
		return p.connection(word)
	}
}

// connection reads the steps that are about the connection.
func (p *parser) connection(word string) (Step, error) {
	switch word {
	case "pause":
		d, err := p.scan.duration()
		return Pause(d), err
	case "headers":
		return Headers{}, nil
	case "stall":
		return Stall{}, nil
	case "drip":
		n, err := p.scan.number("bytes")
		if err != nil {
			return nil, err
		}
		d, err := p.scan.duration()
		return Drip{Bytes: n, Every: d}, err
	case "cut":
		return p.cut()
	default:
		return nil, errors.New("unknown step")
	}
}
