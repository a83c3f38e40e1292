package wire

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/lathe-agent/lathe"
)

// Members are those of an object, in the order in which they came.
type Members struct {
	names  []string
	values [][]byte
}

// IsEmpty reports whether there are none.
func (m *Members) IsEmpty() bool { return len(m.names) == 0 }

// Set adds a member, or replaces it.
func (m *Members) Set(name string, value []byte) {
	if i := slices.Index(m.names, name); i >= 0 {
		m.values[i] = value
		return
	}
	m.names, m.values = append(m.names, name), append(m.values, value)
}

// SetString adds or replaces a text.
func (m *Members) SetString(name, value string) { m.Set(name, lathe.AppendJSONString(nil, value)) }

// SetInt adds or replaces a number.
func (m *Members) SetInt(name string, value int) {
	m.Set(name, strconv.AppendInt(nil, int64(value), 10))
}

// SetFloat adds or replaces a number, if it is one.
func (m *Members) SetFloat(name string, value *float64) {
	if value != nil && !math.IsNaN(*value) && !math.IsInf(*value, 0) {
		m.Set(name, strconv.AppendFloat(nil, *value, 'g', -1, 64))
	}
}

// Drop takes a member away.
func (m *Members) Drop(name string) {
	if i := slices.Index(m.names, name); i >= 0 {
		m.names, m.values = slices.Delete(m.names, i, i+1), slices.Delete(m.values, i, i+1)
	}
}

// Append writes the members, without the braces around them, each with a comma after it.
func (m *Members) Append(b []byte) []byte {
	for i, name := range m.names {
		b = append(lathe.AppendJSONString(b, name), ':')
		b = append(append(b, m.values[i]...), ',')
	}
	return b
}

// Object writes the members as an object.
func (m *Members) Object() []byte {
	return append(bytes.TrimSuffix(m.Append([]byte{'{'}), []byte{','}), '}')
}
