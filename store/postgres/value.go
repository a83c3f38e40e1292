package postgres

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/jackc/pgx/v5/pgconn"
)

// The types of PostgreSQL that we read and write in binary. Others travel as text.
const (
	oidBool   = 16
	oidBytea  = 17
	oidInt8   = 20
	oidInt2   = 21
	oidInt4   = 23
	oidText   = 25
	oidFloat8 = 701
)

// escape begins an escaped byte in a text: PostgreSQL's texts hold neither NUL nor invalid UTF-8, ours may. Two
// hexadecimal digits follow. The character itself is escaped too. It is not assigned and never will be.
const escape = "\U0010FFFF"

// escapeText writes any bytes as a text that PostgreSQL accepts.
func escapeText(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") && !strings.Contains(s, escape) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || r == 0 || r == utf8.MaxRune {
			for _, c := range []byte(s[:n]) {
				b.WriteString(escape)
				b.WriteString(hex.EncodeToString([]byte{c}))
			}
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// unescapeText undoes escapeText.
func unescapeText(s string) string {
	before, rest, found := strings.Cut(s, escape)
	if !found {
		return s
	}
	out := []byte(before)
	for found {
		if len(rest) >= 2 {
			if c, err := hex.DecodeString(rest[:2]); err == nil {
				out, rest = append(out, c...), rest[2:]
			}
		}
		before, rest, found = strings.Cut(rest, escape)
		out = append(out, before...)
	}
	return string(out)
}

// encode writes the arguments of a statement for the types of its parameters.
func encode(oids []uint32, args []any) (values [][]byte, formats []int16, err error) {
	if len(oids) != len(args) {
		return nil, nil, fmt.Errorf("postgres: the statement has %d parameters, not %d", len(oids), len(args))
	}
	values, formats = make([][]byte, len(args)), make([]int16, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case nil:
		case int64:
			values[i], formats[i] = encodeInt(oids[i], a)
		case int:
			values[i], formats[i] = encodeInt(oids[i], int64(a))
		case float64:
			values[i], formats[i] = encodeFloat(oids[i], a)
		case string:
			if values[i] = []byte(a); oids[i] == oidBytea {
				formats[i] = 1
			} else if oids[i] == oidText {
				values[i] = []byte(escapeText(a))
			}
		case []byte:
			if a == nil {
				a = []byte{}
			}
			if oids[i] == oidBytea {
				values[i], formats[i] = bytes.Clone(a), 1 // the statement may wait
			} else {
				values[i] = []byte(escapeText(viewOf(a)))
			}
		default:
			return nil, nil, fmt.Errorf("postgres: cannot bind a %T", a)
		}
	}
	return values, formats, nil
}

// encodeInt writes a number for the type that its parameter has: SQLite does not care, PostgreSQL does.
func encodeInt(oid uint32, n int64) ([]byte, int16) {
	switch oid {
	case oidInt8:
		return binary.BigEndian.AppendUint64(nil, uint64(n)), 1
	case oidFloat8:
		return encodeFloat(oid, float64(n))
	default:
		return strconv.AppendInt(nil, n, 10), 0
	}
}

// encodeFloat keeps all bits where the type can.
func encodeFloat(oid uint32, f float64) ([]byte, int16) {
	switch oid {
	case oidFloat8:
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(f)), 1
	case oidInt8:
		return encodeInt(oid, int64(f))
	default:
		return strconv.AppendFloat(nil, f, 'g', -1, 64), 0
	}
}

// viewOf is a string with the bytes of b, which must not change.
func viewOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// formatOf is 1 for types that we read in binary.
func formatOf(oid uint32) int16 {
	switch oid {
	case oidBool, oidBytea, oidInt8, oidInt2, oidInt4, oidText, oidFloat8:
		return 1
	default:
		return 0
	}
}

// rows is a whole result.
type rows struct {
	fields []pgconn.FieldDescription
	values [][][]byte
	tag    pgconn.CommandTag
}

// row is one of its rows.
type row struct {
	fields []pgconn.FieldDescription
	values [][]byte
}

func (r *row) Null(i int) bool { return r.values[i] == nil }

// Int reads any type as a number, 0 for NULL.
func (r *row) Int(i int) int64 {
	v := r.values[i]
	if len(v) == 0 {
		return 0
	}
	switch r.fields[i].DataTypeOID {
	case oidBool:
		return int64(v[0])
	case oidInt2:
		return int64(int16(binary.BigEndian.Uint16(v)))
	case oidInt4:
		return int64(int32(binary.BigEndian.Uint32(v)))
	case oidInt8:
		return int64(binary.BigEndian.Uint64(v))
	case oidFloat8:
		return int64(r.Float(i))
	default:
		n, _ := strconv.ParseInt(viewOf(v), 10, 64)
		return n
	}
}

// Float reads any type as a number, 0 for NULL.
func (r *row) Float(i int) float64 {
	v := r.values[i]
	switch {
	case len(v) == 0:
		return 0
	case r.fields[i].DataTypeOID == oidFloat8:
		return math.Float64frombits(binary.BigEndian.Uint64(v))
	case formatOf(r.fields[i].DataTypeOID) == 1 && r.fields[i].DataTypeOID != oidText:
		return float64(r.Int(i))
	default:
		f, _ := strconv.ParseFloat(viewOf(v), 64)
		return f
	}
}

// Text reads any type as text, "" for NULL.
func (r *row) Text(i int) string {
	v := r.values[i]
	switch r.fields[i].DataTypeOID {
	case oidBool, oidInt2, oidInt4, oidInt8:
		if v == nil {
			return ""
		}
		return strconv.FormatInt(r.Int(i), 10)
	case oidFloat8:
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(r.Float(i), 'g', -1, 64)
	case oidBytea:
		return string(v)
	default:
		return unescapeText(string(v))
	}
}

// Bytes reads texts and bytes.
func (r *row) Bytes(i int) []byte {
	if formatOf(r.fields[i].DataTypeOID) == 1 && r.fields[i].DataTypeOID == oidBytea {
		return r.values[i]
	}
	if r.values[i] == nil {
		return nil
	}
	return []byte(r.Text(i))
}
