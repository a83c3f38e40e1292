package database

import (
	"bufio"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/store/sqlite"
)

const (
	mostAsked = 1 << 20 // bytes of one query
	mostRows  = 1000    // rows of a table
)

// sqlShell reads queries and prints their results.
type sqlShell struct {
	app    *cli.App
	from   *bufio.Reader
	typed  bool // reads from a terminal
	format string
	asked  int
}

// shellSQL runs the queries from standard input. On a terminal it continues after an error; otherwise an error ends it.
func shellSQL(a *cli.App, c *cobra.Command, format string) error {
	at, err := datadir.Find(a.Env)
	if err == nil {
		err = refuseServer(at)
	}
	if err != nil {
		return err
	}
	s := &sqlShell{app: a, from: bufio.NewReader(a.Stdin), typed: cli.IsTerminal(a.Stdin), format: format}
	if s.typed && !at.Exists() {
		return cli.NoDatabase{Path: at.Database()}
	}
	if s.format == "" && cli.IsTerminal(a.Stdout.File) {
		s.format = "table"
	}
	if s.typed {
		a.Notify("%s (read-only). End a query with ; — .tables lists the tables, .schema TABLE shows the columns, .quit exits.", a.DisplayPath(at.Database()))
	}
	if err := s.run(c.Context()); err != nil || s.asked > 0 || s.typed {
		return err
	}
	return cli.RequireSubcommand(c, nil) // no query given
}

// run reads lines until a statement is complete. At the end of the input, the last one needs no semicolon.
func (s *sqlShell) run(ctx context.Context) error {
	pending := ""
	for {
		line, err := s.line(ctx, pending != "")
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return err
		}
		if pending == "" && strings.HasPrefix(strings.TrimSpace(line), ".") {
			quit, err := s.command(ctx, strings.Fields(line))
			if quit || s.report(err) != nil {
				return err
			}
			continue
		}
		pending += line
		if len(pending) > mostAsked {
			return cli.Usagef("a query can have at most %s; does it end with ;?", termtext.ByteSize(mostAsked))
		}
		for {
			question, rest, whole := SplitStatement(pending)
			if !whole && !ended {
				break
			}
			if pending = rest; !IsBlank(question) {
				if err := s.report(s.ask(ctx, question)); err != nil {
					return err
				}
			}
			if pending == "" {
				break
			}
		}
		if strings.TrimSpace(pending) == "" {
			pending = ""
		}
		if ended {
			if s.typed {
				s.app.Notify("")
			}
			return nil
		}
	}
}

// line reads the next line, including its end.
func (s *sqlShell) line(ctx context.Context, goesOn bool) (string, error) {
	if s.typed {
		prompt := "lathe> "
		if goesOn {
			prompt = "  ...> "
		}
		s.app.Flush()
		if _, err := s.app.Stderr.WriteString(prompt); err != nil {
			return "", err
		}
	}
	line, err := cli.ReadOrCancel(ctx, func() ([]byte, error) { return s.from.ReadBytes('\n') })
	return string(line), err
}

// report prints an error on a terminal and continues; otherwise it returns the error.
func (s *sqlShell) report(err error) error {
	if err == nil || !s.typed || errors.As(err, new(cli.Interrupt)) {
		return err
	}
	s.app.Flush()
	s.app.Fail(err)
	return nil
}

// command runs a line that starts with a dot.
func (s *sqlShell) command(ctx context.Context, words []string) (quit bool, err error) {
	s.asked++
	switch words[0] {
	case ".quit", ".exit":
		return true, nil
	case ".tables":
		return false, s.ask(ctx, sqlite.TablesQuery)
	case ".schema":
		if len(words) == 2 {
			return false, s.ask(ctx, sqlite.SchemaQuery(words[1]))
		}
		return false, cli.Usagef(".schema needs a table; .tables lists them")
	default:
		return false, cli.Usagef("unknown command %s; use .tables, .schema TABLE or .quit", termtext.Plain(words[0]))
	}
}

// ask runs one query.
func (s *sqlShell) ask(ctx context.Context, question string) error {
	if s.asked++; s.format != "table" {
		err := answerSQL(ctx, s.app, question, s.format == "json")
		s.app.Flush() // flush the result before the next query
		return err
	}
	at, err := datadir.Find(s.app.Env)
	if err != nil {
		return err
	}
	t, rows := layout.Table{Paths: -1}, 0
	err = sqlite.Query(ctx, at.Database(), question, func(columns []string, cells []sqlite.Cell) error {
		if rows++; rows > mostRows {
			return errEnoughRows
		}
		if rows == 1 {
			for i, c := range columns {
				t.Head, t.Flexible = append(t.Head, oneCell(c)), append(t.Flexible, len(columns)-1-i)
			}
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = oneCell(c.Text)
		}
		t.Rows = append(t.Rows, row)
		return nil
	})
	if err != nil && !errors.Is(err, errEnoughRows) {
		return err
	}
	if rows > 0 {
		if err := t.Write(s.app.Out, s.app.Width()); err != nil {
			return err
		}
	}
	s.app.Flush()
	if rows > mostRows {
		s.app.Notify("Only the first %s; `lathe db \"…\"` prints all.", termtext.Count(mostRows))
	} else {
		s.app.Notify("%s.", termtext.Plural(rows, "row"))
	}
	return nil
}

var errEnoughRows = errors.New("enough rows")

// IsBlank reports whether a query contains only comments.
func IsBlank(question string) bool {
	return strings.Trim(regexp.MustCompile(`(?s)--[^\n]*|/\*.*?(\*/|$)`).ReplaceAllString(question, ""), "; \t\r\n") == ""
}

// SplitStatement splits off the first statement with its semicolon, ignoring semicolons in strings, names and comments.
func SplitStatement(text string) (first, rest string, whole bool) {
	for i := 0; i < len(text); i++ {
		end := ""
		switch {
		case text[i] == ';':
			return text[:i+1], text[i+1:], true
		case text[i] == '\'' || text[i] == '"' || text[i] == '`':
			end = text[i : i+1]
		case text[i] == '[':
			end = "]"
		case strings.HasPrefix(text[i:], "--"):
			end = "\n"
		case strings.HasPrefix(text[i:], "/*"):
			end = "*/"
		default:
			continue
		}
		skip := 1
		if end == "*/" {
			skip = 2
		}
		n := strings.Index(text[i+skip:], end)
		if n < 0 {
			break
		}
		i += skip + n + len(end) - 1
	}
	return text, "", false
}
