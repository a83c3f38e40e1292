package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// The codes of errors that the protocol names.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeBusy           = -32000 // too many requests are being answered
	CodeCanceled       = -32800 // the one that asked gave up
)

// Error is an error that the other side returned.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// The errors that end a call or a connection without an answer.
var (
	// ErrClosed says that the connection is closed.
	ErrClosed = errors.New("the connection is closed")
	// ErrTooLarge says that a message is longer than the limit.
	ErrTooLarge = errors.New("the message is longer than allowed")
	// ErrFull says that the other side does not read as fast as it is written to.
	ErrFull = errors.New("too much waits to be written")
	// ErrInvalid says that the other side wrote too many invalid messages.
	ErrInvalid = errors.New("too many invalid messages")
)

// message is any message that comes in. The kinds differ in what is there.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method *string         `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// readMessage parses a message, or reports that it is invalid. That a program forgets to say
// "jsonrpc" is forgiven.
func readMessage(data []byte) (message, error) {
	var m message
	if t := bytes.TrimLeft(data, " \t\r\n"); len(t) == 0 || t[0] != '{' {
		return m, errors.New("expected a JSON object")
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, err
	}
	if bytes.Equal(m.ID, []byte("null")) {
		m.ID = nil
	}
	if len(m.ID) > 0 && m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9') {
		return m, errors.New("the id is neither a text nor a number")
	}
	switch {
	case m.Method != nil:
		return m, nil
	case m.ID == nil:
		return m, errors.New("neither a method nor an id")
	case m.Result == nil && m.Error == nil:
		return m, errors.New("an answer without result or error")
	}
	return m, nil
}

// request encodes a call, or a notification where id is 0.
func request(id int64, method string, params json.RawMessage) []byte {
	b := append(make([]byte, 0, 64+len(method)+len(params)), `{"jsonrpc":"2.0",`...)
	if id != 0 {
		b = append(strconv.AppendInt(append(b, `"id":`...), id, 10), ',')
	}
	name, _ := json.Marshal(method) // a text always can be
	b = append(append(b, `"method":`...), name...)
	if len(params) > 0 {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// answer encodes the result of a request, which is null if there is none.
func answer(id, result json.RawMessage) []byte {
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func failure(id json.RawMessage, err error) []byte {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: CodeInternal, Message: err.Error()}
	}
	data, encoding := json.Marshal(e)
	if encoding != nil { // its data is no JSON
		data, _ = json.Marshal(&Error{Code: e.Code, Message: e.Message})
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, data)
}

// number reads the id of an answer to one of our calls, which all are numbers above 0.
func number(id json.RawMessage) int64 {
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// headID finds the id of a message of which only the beginning was read, so that the call it
// answers fails at once and not at its deadline. It is found where it is before what is long.
func headID(head []byte) int64 {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return 0
	}
	for {
		key, err := d.Token()
		if err != nil {
			return 0
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return 0
		}
		switch key {
		case "id":
			return number(value)
		case "method":
			return 0
		}
	}
}
