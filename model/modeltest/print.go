package modeltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// String writes the script as [Parse] reads it.
func (s Script) String() string {
	var b strings.Builder
	for i, a := range s {
		for _, step := range a {
			b.WriteString(printed(step))
			b.WriteByte('\n')
		}
		if i < len(s)-1 || len(a) == 0 {
			b.WriteString("--\n")
		}
	}
	return b.String()
}

// printed writes a step in the script's syntax. Parse reads it back to an equal step.
func printed(s Step) string {
	switch s := s.(type) {
	case Text:
		return "text" + quotedAll(s)
	case Reasoning:
		return "reasoning" + quotedAll(s.Chunks) + optional("signature", s.Signature)
	case Call:
		return "call " + s.print()
	case Parallel:
		lines := make([]string, len(s))
		for i, c := range s {
			lines[i] = c.print()
		}
		return "call " + strings.Join(lines, "\nand ")
	case Executed:
		out := "executed " + s.Name + optional("id", s.ID) + optional("failed", s.Failed) + " " + printedArgs(s.Args)
		for _, src := range s.Sources {
			out += " " + src.print()
		}
		return out
	case Source:
		return "source " + s.print()
	case Usage:
		return s.print()
	case Finish:
		return "finish " + string(s)
	case When:
		return "when " + strconv.Quote(string(s))
	case Raw:
		return "raw " + strconv.Quote(string(s))
	case Fail:
		out := "error"
		if s.Type != "" {
			out += " " + s.Type
		}
		return out + optional("code", s.Code) + " " + strconv.Quote(s.Message)
	case Status:
		return s.print()
	default:
		return printedConnection(s)
	}
}

// printedConnection writes the steps that are about the connection.
func printedConnection(s Step) string {
	switch s := s.(type) {
	case Pause:
		return "pause " + time.Duration(s).String()
	case Headers:
		return "headers"
	case Stall:
		return "stall"
	case Drip:
		return fmt.Sprintf("drip %d %s", s.Bytes, s.Every)
	case Cut:
		out := "cut"
		if s.At > 0 {
			out += " " + strconv.Itoa(s.At)
		}
		if s.How != Abrupt {
			out += " " + string(s.How)
		}
		return out
	default:
		return fmt.Sprintf("# %T", s)
	}
}

func (c Call) print() string {
	out := c.Name + optional("id", c.ID)
	if c.Pieces > 0 {
		out += " pieces=" + strconv.Itoa(c.Pieces)
	}
	return out + " " + printedArgs(c.Args)
}

func (s Source) print() string { return s.URL + " " + strconv.Quote(s.Title) }

func (u Usage) print() string {
	if u.None {
		return "usage none"
	}
	out := fmt.Sprintf("usage %d %d", u.Input, u.Output)
	for _, o := range []struct {
		name string
		n    int64
	}{{"cache-read", u.CacheRead}, {"cache-write", u.CacheWrite}, {"reasoning", u.Reasoning}} {
		if o.n != 0 {
			out += fmt.Sprintf(" %s=%d", o.name, o.n)
		}
	}
	return out
}

func (s Status) print() string {
	out := "status " + strconv.Itoa(s.Code)
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		out += " " + name + "=" + strconv.Quote(s.Header[name])
	}
	if s.Body != "" {
		out += " " + strconv.Quote(s.Body)
	}
	return out
}

// printedArgs leaves JSON of one line as it is; all else needs quotes.
func printedArgs(args string) string {
	if json.Valid([]byte(args)) && args[0] == '{' && !strings.ContainsAny(args, "\n\r") {
		return args
	}
	return strconv.Quote(args)
}

func quotedAll(chunks []string) string {
	out := ""
	for _, c := range chunks {
		out += " " + strconv.Quote(c)
	}
	return out
}

func optional(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + "=" + strconv.Quote(value)
}
