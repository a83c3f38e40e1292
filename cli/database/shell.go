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
	mostAsked = 1 << 20 // bytes of one question
	mostRows  = 1000    // of a table; who wants more wants no table
)

// sqlShell asks the database what is typed, question by question.
type sqlShell struct {
	app    *cli.App
	from   *bufio.Reader
	typed  bool // by a person at a terminal
	format string
	asked  int
}

// shellSQL reads questions from standard input until its end. At a terminal a mistake is told and the
// next question awaited; elsewhere it ends the command.
func shellSQL(a *cli.App, c *cobra.Command, format string) error {
	at, err := datadir.Find(a.Env)
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
		a.Notify("%s, to be read only. A question ends with ; — .tables lists the tables, .schema TABLE its columns, .quit ends.", a.DisplayPath(at.Database()))
	}
	if err := s.run(c.Context()); err != nil || s.asked > 0 || s.typed {
		return err
	}
	return cli.RequireSubcommand(c, nil) // nothing was asked: this is how
}

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
			if quit || s.told(err) != nil {
				return err
			}
			continue
		}
		pending += line
		if len(pending) > mostAsked {
			return cli.Usagef("a question has at most %s; does it end with ;?", termtext.ByteSize(mostAsked))
		}
		for {
			question, rest, whole := SplitStatement(pending)
			if !whole && !ended {
				break
			}
			if pending = rest; !IsBlank(question) {
				if err := s.told(s.ask(ctx, question)); err != nil {
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

// line reads the next one, with its end.
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

// told tells a person of a mistake and goes on; elsewhere it is the end.
func (s *sqlShell) told(err error) error {
	if err == nil || !s.typed || errors.As(err, new(cli.Interrupt)) {
		return err
	}
	s.app.Flush()
	s.app.Fail(err)
	return nil
}

// command is a line that begins with a dot.
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
		return false, cli.Usagef(".schema TABLE shows the columns of one; .tables lists them")
	default:
		return false, cli.Usagef("there is no %s; there are .tables, .schema TABLE and .quit", termtext.Plain(words[0]))
	}
}

// ask answers one question.
func (s *sqlShell) ask(ctx context.Context, question string) error {
	if s.asked++; s.format != "table" {
		err := answerSQL(ctx, s.app, question, s.format == "json")
		s.app.Flush() // what was answered stays, whatever comes next
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
		s.app.Notify("The first %s; `lathe db \"…\"` prints all.", termtext.Count(mostRows))
	} else {
		s.app.Notify("%s.", termtext.Plural(rows, "row"))
	}
	return nil
}

var errEnoughRows = errors.New("enough rows")

// IsBlank reports whether there is nothing in a question but comments.
func IsBlank(question string) bool {
	return strings.Trim(regexp.MustCompile(`(?s)--[^\n]*|/\*.*?(\*/|$)`).ReplaceAllString(question, ""), "; \t\r\n") == ""
}

// SplitStatement cuts the first statement off, with its semicolon. One in a text, a name or a comment
// ends nothing.
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
