package model

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Digest stands for what a model reads and how it answers: model, messages, tools and options, and apart from these the
// system prompt. It leaves out what may differ between two equal requests: credentials in headers, the budget that is
// left, and cache marks.
func (r Request) Digest() (rest, system string) {
	return digest(r.addTo), digest(func(d digester) { d.put(r.System...) })
}

func digest(add func(digester)) string {
	sum := sha256.New()
	d := digester{bufio.NewWriterSize(sum, 16<<10)}
	add(d)
	_ = d.w.Flush() // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// addTo adds all but the system prompt.
func (r Request) addTo(d digester) {
	d.put(r.Model, r.Choice)
	d.list(len(r.Messages))
	for _, m := range r.Messages {
		d.put(string(m.Role))
		d.list(len(m.Content))
		for _, c := range m.Content {
			d.content(c)
		}
	}
	d.list(len(r.Tools))
	for _, t := range r.Tools {
		d.put(t.Name, t.Description, string(t.Schema))
		if t.Freeform != nil {
			d.put(t.Freeform.Argument, t.Freeform.Grammar)
		}
	}
	for _, n := range []any{pointed(r.Temperature), pointed(r.TopP), pointed(r.TopK)} {
		d.put(fmt.Sprint(n))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Options)) {
		d.put(name, string(r.Options[name]))
	}
}

// pointed is the value of a number that may be missing.
func pointed[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// digester writes texts so that no two lists of them are the same bytes.
type digester struct{ w *bufio.Writer }

func (d digester) list(n int) { _, _ = d.w.WriteString(strconv.Itoa(n) + "[") }

func (d digester) put(texts ...string) {
	for _, t := range texts {
		_, _ = d.w.WriteString(strconv.Itoa(len(t)) + ":")
		_, _ = d.w.WriteString(t)
	}
}

func (d digester) content(c Content) {
	switch c := c.(type) {
	case TextContent:
		d.put("text", c.Text, string(c.Meta))
	case ReasoningContent:
		d.put("reasoning", c.Text, string(c.Meta))
	case FileContent:
		d.put("file", c.Mime, c.Name, c.Data, c.URL)
	case CallContent:
		d.put("call", c.ID, c.Name, string(c.Input), strconv.FormatBool(c.Executed), string(c.Meta))
	case ResultContent:
		d.put("result", c.ID, c.Name, c.Text, strconv.FormatBool(c.Failed), strconv.FormatBool(c.Executed), string(c.Meta))
		d.list(len(c.Media))
		for _, f := range c.Media {
			d.content(f)
		}
	}
}
