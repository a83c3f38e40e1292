package modeltest

import (
	"bufio"
	"bytes"
	"net/textproto"
	"strconv"
	"strings"
)

// Recorded is a recorded answer, sent as it is: the bytes of a stream, or a refusal that begins
// with a line "HTTP 429", headers and an empty line.
func Recorded(data []byte) Answer {
	first, rest, ok := bytes.Cut(data, []byte("\n"))
	word, number, _ := strings.Cut(strings.TrimSpace(string(first)), " ")
	code, err := strconv.Atoi(number)
	if !ok || err != nil || word != "HTTP" {
		return Answer{Raw(data)}
	}
	s := Status{Code: code, Header: map[string]string{}}
	r := bufio.NewReader(bytes.NewReader(rest))
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		s.Body = string(rest)
		return Answer{s}
	}
	for name := range header {
		s.Header[name] = header.Get(name)
	}
	var body bytes.Buffer
	_, _ = body.ReadFrom(r) // reads memory
	s.Body = body.String()
	return Answer{s}
}
