package config

import (
	"bytes"
	"fmt"
	"strings"
)

// syntaxProblem finds the offset of a syntax error and says it in words for people.
func syntaxProblem(err error, text []byte) (at int, message string) {
	line, column := 1, 1
	message = err.Error()
	if n, _ := fmt.Sscanf(message, "hujson: line %d, column %d:", &line, &column); n == 2 {
		message = strings.SplitN(message, ": ", 3)[2]
	}
	at = min(lineStart(text, line)+column-1, len(bytes.TrimRight(text, " \t\r\n")))
	return at, plainSyntax(message, text[at:])
}

// lineStart is the offset of a line, counted from 1.
func lineStart(text []byte, line int) (at int) {
	for ; line > 1; line-- {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}

// plainSyntax says a syntax error of the JSON library in words for people.
func plainSyntax(message string, rest []byte) string {
	word, wrong := strings.CutPrefix(message, "invalid literal: ")
	switch {
	case wrong && bytes.HasPrefix(rest, []byte(`"`)):
		return stringProblem(word)
	case wrong:
		return shorten(word, 40) + " is not a value; put keys and strings in double quotes"
	case bytes.HasPrefix(rest, []byte("'")):
		return `put strings in double quotes (")`
	case strings.Contains(message, "parsing comment"):
		return "the comment is not closed"
	case strings.Contains(message, "parsing string"):
		return "the string is not closed"
	case strings.Contains(message, "unexpected EOF"):
		return "the file ends too early: a } or ] is missing"
	case strings.Contains(message, "expecting ','"):
		return "a comma is missing before this"
	case strings.Contains(message, "after object name"):
		return "a colon is missing before this"
	case strings.Contains(message, "start of value"):
		return "a value is missing before this"
	case strings.Contains(message, "after top-level value"):
		return "unexpected text after the config object"
	default:
		return shorten(message, 100)
	}
}

// stringProblem says why a string is not valid.
func stringProblem(literal string) string {
	for _, c := range literal {
		switch {
		case c == '\n':
			return "the string is not closed on its line"
		case c < ' ':
			return fmt.Sprintf(`a string cannot hold the control character U+%04X; write \u%04x`, c, c)
		}
	}
	return `invalid escape in the string; write \\ for a backslash`
}

// shorten keeps a message from filling the screen.
func shorten(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}
