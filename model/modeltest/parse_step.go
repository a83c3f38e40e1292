package modeltest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

func (p *parser) text() (Step, error) {
	var chunks []string
	for p.scan.rest != "" || chunks == nil {
		s, err := p.scan.quoted("the text")
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, s)
	}
	return Text(p.cutChunks(chunks)), nil
}

// cutChunks cuts a text that is not in pieces already.
func (p *parser) cutChunks(chunks []string) []string {
	if len(chunks) == 1 && p.chunks > 1 {
		return cut(chunks[0], p.chunks)
	}
	return chunks
}

// reasoning parses the chunks of a thought and its signature, in any order.
func (p *parser) reasoning() (Step, error) {
	var r Reasoning
	for p.scan.rest != "" {
		if sig, ok, err := p.scan.option("signature"); ok || err != nil {
			r.Signature = sig
			if err != nil {
				return nil, err
			}
			continue
		}
		s, err := p.scan.quoted("the thought")
		if err != nil {
			return nil, err
		}
		r.Chunks = append(r.Chunks, s)
	}
	if r.Chunks == nil && r.Signature == "" {
		return nil, errors.New("it needs the thought in quotes, or a signature=")
	}
	r.Chunks = p.cutChunks(r.Chunks)
	return r, nil
}

// call parses a tool call: its name, its options, and its arguments as JSON or as a quoted text.
func (p *parser) call() (Step, error) {
	c := Call{Name: p.scan.word(), Pieces: p.chunks}
	if c.Name == "" || strings.ContainsAny(c.Name, "\"{=`") {
		return nil, errors.New("it needs the name of a tool")
	}
	for {
		if id, ok, err := p.scan.option("id"); ok || err != nil {
			if err != nil {
				return nil, err
			}
			c.ID = id
			continue
		}
		pieces, ok, err := p.scan.option("pieces")
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if c.Pieces, err = strconv.Atoi(pieces); err != nil || c.Pieces < 0 {
			return nil, fmt.Errorf("pieces=%s is not a number", pieces)
		}
	}
	var err error
	c.Args, err = p.scan.arguments()
	return c, err
}

// and joins a call to the one before it.
func (p *parser) and() error {
	step, err := p.call()
	if err != nil {
		return err
	}
	if n := len(p.answer); n > 0 {
		switch before := p.answer[n-1].(type) {
		case Call:
			p.answer[n-1] = Parallel{before, step.(Call)}
			return nil
		case Parallel:
			p.answer[n-1] = append(before[:len(before):len(before)], step.(Call))
			return nil
		default:
		}
	}
	return errors.New("no call before it")
}

// executed parses a call that the provider runs itself, with its sources or its error.
func (p *parser) executed() (Step, error) {
	e := Executed{Name: p.scan.word()}
	if e.Name == "" || strings.ContainsAny(e.Name, "\"{=`") {
		return nil, errors.New("it needs the name of a tool")
	}
	for _, o := range []struct {
		name string
		to   *string
	}{{"id", &e.ID}, {"failed", &e.Failed}} {
		value, ok, err := p.scan.option(o.name)
		if err != nil {
			return nil, err
		}
		if ok {
			*o.to = value
		}
	}
	var err error
	if e.Args, err = p.scan.arguments(); err != nil {
		return nil, err
	}
	for p.scan.rest != "" {
		s, err := p.scan.source()
		if err != nil {
			return nil, err
		}
		e.Sources = append(e.Sources, s)
	}
	return e, nil
}

// usage parses token counts, or none for a provider that does not report them.
func (p *parser) usage() (Step, error) {
	if p.scan.rest == "none" {
		p.scan.rest = ""
		return Usage{None: true}, nil
	}
	var u Usage
	numbers := []*int64{&u.Input, &u.Output}
	for _, to := range numbers {
		word := p.scan.word()
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, errors.New("it needs two numbers, of input and of output, or none")
		}
		*to = n
	}
	names := map[string]*int64{"cache-read": &u.CacheRead, "cache-write": &u.CacheWrite, "reasoning": &u.Reasoning}
	for p.scan.rest != "" {
		word := p.scan.word()
		name, value, _ := strings.Cut(word, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		if names[name] == nil || err != nil {
			return nil, fmt.Errorf("%s is none of cache-read=, cache-write=, reasoning= and a number", quoteShort(word))
		}
		*names[name] = n
	}
	return u, nil
}

// status parses an HTTP status with its headers and body.
func (p *parser) status() (Step, error) {
	code, err := p.scan.number("the code")
	if err != nil || code < 200 || code > 999 {
		return nil, errors.New("it needs the code, like 429")
	}
	s := Status{Code: code}
	for p.scan.rest != "" && !p.scan.atQuote() {
		name, value, err := p.scan.pair()
		if err != nil {
			return nil, err
		}
		if s.Header == nil {
			s.Header = map[string]string{}
		}
		s.Header[name] = value
	}
	if p.scan.rest != "" {
		s.Body, err = p.scan.quoted("the body")
	}
	return s, err
}

// fail parses an error in the middle of a stream.
func (p *parser) fail() (Step, error) {
	f := Fail{}
	if !p.scan.atQuote() && !p.scan.atOption("code") {
		f.Type = p.scan.word()
	}
	code, ok, err := p.scan.option("code")
	if err != nil {
		return nil, err
	}
	if ok {
		f.Code = code
	}
	f.Message, err = p.scan.quoted("the message")
	return f, err
}

// cut parses the point at which the connection breaks, and how it breaks.
func (p *parser) cut() (Step, error) {
	switch word := p.scan.word(); word {
	case "":
		return Cut{}, nil
	case string(Clean), string(Reset):
		return Cut{How: Ending(word)}, nil
	default:
		at, err := strconv.Atoi(word)
		if err != nil || at < 1 {
			return nil, fmt.Errorf("%s is not a byte count, clean or reset", quoteShort(word))
		}
		c := Cut{At: at, How: Ending(p.scan.word())}
		if c.How != Abrupt && c.How != Clean && c.How != Reset {
			return nil, fmt.Errorf("%s is not clean or reset", quoteShort(string(c.How)))
		}
		return c, nil
	}
}

func oneWord[T ~string](s *scanner, what string) (Step, error) {
	w := s.word()
	if w == "" {
		return nil, fmt.Errorf("it needs %s", what)
	}
	return any(T(w)).(Step), nil
}
