package lathe

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Extra holds the unknown members of an object as received, without braces, so that a record
// that is read, changed and written loses nothing.
type Extra string

// record is a JSON object whose members are listed once, for reading and writing.
type record interface{ fields(c *codec) }

// codec walks a record in one of two directions. Writing appends each member to
// buf; reading finds each among the members of the present object.
//
// Reading is tolerant, as old data demands: a missing member is the zero value, null
// is absent, numbers may be fractional. Only a wrong type is an error.
type codec struct {
	form
	reading  bool
	attached bool // inside the attachments of a tool call

	buf []byte // writing

	members []member // reading: a stack, the present object's from base on
	base    int
	path    []string
	err     error
}

// form is how the wire's objects are written elsewhere; its zero value is the wire's.
type form struct {
	row     bool // as rows are stored: ids and what has a column are left out
	offsets bool // deltas say where they belong
	request bool // as requests have it: ids that are empty are left out, and models have no variant
}

type member struct {
	key, val []byte
	used     bool
}

// codecs pools codecs to reuse their buffers, because most records are small.
var codecs = sync.Pool{New: func() any { return &codec{members: make([]member, 0, 32), path: make([]string, 0, 8)} }}

// encode appends the object to dst.
func encode(dst []byte, r record) []byte { return encodeAs(dst, r, form{}) }

func encodeAs(dst []byte, r record, f form) []byte {
	c := codecs.Get().(*codec)
	c.form = f
	c.buf = append(dst, '{')
	r.fields(c)
	out := append(c.buf, '}')
	c.free()
	return out
}

// decode reads an object that is known to be valid JSON.
func decode(data []byte, what string, r record) error { return decodeAs(data, what, r, form{}) }

func decodeAs(data []byte, what string, r record, f form) error {
	c := codecs.Get().(*codec)
	c.form, c.reading = f, true
	c.path = append(c.path, what)
	c.enter(data, r)
	err := c.err
	c.free()
	return err
}

// free gives the codec back without what it was used on.
func (c *codec) free() {
	members := c.members[:0]
	if c.reading {
		clear(members[:cap(members)])
	}
	if cap(members) <= 1024 { // else an unusual object, too large a buffer to pool
		*c = codec{members: members, path: c.path[:0]}
		codecs.Put(c)
	}
}

// enter reads one object with a record, on top of the stack of members.
func (c *codec) enter(data []byte, r record) {
	base := c.base
	c.base = len(c.members)
	var err error
	if c.members, err = scanObject(data, c.members); err != nil {
		c.fail("an object", data)
	} else {
		r.fields(c)
	}
	c.members = c.members[:c.base]
	c.base = base
}

// find returns the value of a member and marks it known; the last of several counts.
func (c *codec) find(key string) []byte {
	var val []byte
	for i := len(c.members) - 1; i >= c.base; i-- {
		if m := &c.members[i]; string(m.key) == key {
			m.used = true
			if val == nil {
				val = m.val
			}
		}
	}
	if string(val) == "null" {
		return nil
	}
	return val
}

func (c *codec) fail(want string, got []byte) {
	if c.err != nil {
		return
	}
	shown := "nothing"
	if len(got) > 0 {
		shown = clip(string(got[:min(len(got), 64)]), 40)
	}
	c.err = Errorf(Invalid, "%s: want %s, got %s", strings.Join(c.path, "."), want, shown)
}

// failAt is fail for a member that was read already.
func (c *codec) failAt(key, want string) {
	val := c.find(key)
	c.path = append(c.path, key)
	c.fail(want, val)
	c.path = c.path[:len(c.path)-1]
}

// key begins a member when writing.
func (c *codec) key(k string) {
	if b := c.buf; b[len(b)-1] != '{' {
		c.buf = append(c.buf, ',')
	}
	c.buf = append(c.buf, '"')
	c.buf = append(c.buf, k...)
	c.buf = append(c.buf, '"', ':')
}

// value runs f on the member's value when reading and there is one.
func (c *codec) value(key string, f func(val []byte)) {
	if val := c.find(key); val != nil {
		c.path = append(c.path, key)
		f(val)
		c.path = c.path[:len(c.path)-1]
	}
}

// rest reads or writes the members that nothing else has named. It comes last.
func (c *codec) rest(x *Extra) {
	if !c.reading {
		if *x != "" {
			if b := c.buf; b[len(b)-1] != '{' {
				c.buf = append(c.buf, ',')
			}
			c.buf = append(c.buf, *x...)
		}
		return
	}
	var out []byte
	markRepeated(c.members[c.base:])
	for _, m := range c.members[c.base:] {
		if m.used {
			continue
		}
		if len(out) > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), m.key...), '"', ':')
		out = append(out, compactJSON(m.val)...)
	}
	*x = Extra(out)
}

// markRepeated marks what a later member of the same key replaces as used.
func markRepeated(members []member) {
	if len(members) > 64 { // a map is slower for few and the only way for many
		seen := make(map[string]bool, len(members))
		for i := len(members) - 1; i >= 0; i-- {
			m := &members[i]
			m.used = m.used || seen[string(m.key)]
			seen[string(m.key)] = true
		}
		return
	}
	for i := range members {
		m := &members[i]
		m.used = m.used || slices.ContainsFunc(members[i+1:], func(n member) bool { return bytes.Equal(m.key, n.key) })
	}
}

func str[T ~string](c *codec, key string, v *T) {
	if !c.reading {
		c.key(key)
		c.buf = appendString(c.buf, string(*v))
		return
	}
	c.value(key, func(val []byte) { readText(c, val, v) })
}

// optStr leaves an empty string out.
func optStr[T ~string](c *codec, key string, v *T) {
	if c.reading || *v != "" {
		str(c, key, v)
	}
}

// optional is a member that is left out while its pointer is nil. Its zero value has its own
// meaning.
func optional[T any](c *codec, key string, v **T, field func(c *codec, key string, v *T)) {
	if c.reading {
		if c.find(key) == nil {
			return
		}
		*v = new(T)
	}
	if *v != nil {
		field(c, key, *v)
	}
}

func number[T ~float64](c *codec, key string, v *T) {
	if !c.reading {
		c.key(key)
		c.buf = appendNumber(c.buf, float64(*v))
		return
	}
	c.value(key, func(val []byte) {
		f, err := strconv.ParseFloat(string(val), 64)
		if err != nil && !math.IsInf(f, 0) {
			c.fail("a number", val)
			return
		}
		*v = T(f)
		if math.IsInf(f, 0) { // 1e999 is valid JSON; JSON cannot write infinity back
			*v = T(math.Copysign(math.MaxFloat64, f))
		}
	})
}

func optNumber[T ~float64](c *codec, key string, v *T) {
	if c.reading || *v != 0 {
		number(c, key, v)
	}
}

func integer[T ~int | ~int64](c *codec, key string, v *T) {
	if !c.reading {
		c.key(key)
		c.buf = strconv.AppendInt(c.buf, int64(*v), 10)
		return
	}
	val := c.find(key)
	if val == nil {
		return
	}
	n, err := strconv.ParseInt(string(val), 10, 64)
	if err != nil {
		f := float64(0)
		number(c, key, &f)
		n = truncate(f)
	}
	if *v = T(n); int64(*v) != n { // an int of 32 bits
		*v = math.MaxInt
	}
}

// truncate cuts off the fraction; what does not fit saturates.
func truncate(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	default:
		return int64(f)
	}
}

func optInt[T ~int | ~int64](c *codec, key string, v *T) {
	if c.reading || *v != 0 {
		integer(c, key, v)
	}
}

func money(c *codec, key string, v *Money) {
	d := v.Dollars()
	number(c, key, &d)
	if c.reading {
		*v = Dollars(d)
	}
}

func boolean(c *codec, key string, v *bool) {
	if !c.reading {
		c.key(key)
		c.buf = strconv.AppendBool(c.buf, *v)
		return
	}
	c.value(key, func(val []byte) {
		switch string(val) {
		case "true":
			*v = true
		case "false":
			*v = false
		default:
			c.fail("true or false", val)
		}
	})
}

// flag is an optional boolean that keeps an explicit false.
func flag(c *codec, key string, v *Flag) {
	b := *v == Yes
	if c.reading {
		if c.find(key) == nil {
			return
		}
	} else if *v == Unset {
		return
	}
	boolean(c, key, &b)
	if c.reading { // a writer may share the value with others
		*v = FlagOf(b)
	}
}

// raw stores a value as received. Absent is nil, and so are null and nothing.
func raw(c *codec, key string, v *json.RawMessage) {
	if !c.reading {
		if len(*v) > 0 && string(*v) != "null" {
			c.key(key)
			c.buf = append(c.buf, *v...)
		}
		return
	}
	c.value(key, func(val []byte) { *v = bytes.Clone(compactJSON(val)) })
}

// rawObject is a required object stored as received; absent writes {}.
func rawObject(c *codec, key string, v *json.RawMessage) {
	if c.reading {
		raw(c, key, v)
		if *v != nil && (*v)[0] != '{' {
			c.failAt(key, "an object")
		}
		return
	}
	if len(*v) == 0 || string(*v) == "null" {
		c.key(key)
		c.buf = append(c.buf, '{', '}')
		return
	}
	raw(c, key, v)
}

func object(c *codec, key string, v record) {
	if !c.reading {
		c.key(key)
		c.buf = append(c.buf, '{')
		v.fields(c)
		c.buf = append(c.buf, '}')
		return
	}
	c.value(key, func(val []byte) { c.enter(val, v) })
}

// optObject leaves a nil pointer out.
func optObject[T any, P interface {
	*T
	record
}](c *codec, key string, v **T) {
	optional(c, key, v, func(c *codec, key string, v *T) { object(c, key, P(v)) })
}

// list is a required array; nil writes [].
func list[T any, P interface {
	*T
	record
}](c *codec, key string, v *[]T) {
	array(c, key, v, func(x *T) {
		c.buf = append(c.buf, '{')
		P(x).fields(c)
		c.buf = append(c.buf, '}')
	}, func(item []byte, x *T) { c.enter(item, P(x)) })
}

// optList leaves nil out and keeps an empty array.
func optList[T any, P interface {
	*T
	record
}](c *codec, key string, v *[]T) {
	if c.reading || *v != nil {
		list[T, P](c, key, v)
	}
}

func strList[T ~string](c *codec, key string, v *[]T) {
	array(c, key, v, func(s *T) { c.buf = appendString(c.buf, string(*s)) }, func(item []byte, s *T) { readText(c, item, s) })
}

func readText[T ~string](c *codec, item []byte, v *T) {
	s, ok := unquote(item)
	if !ok {
		c.fail("a string", item)
	}
	*v = T(s)
}

// array is a required array of anything; nil writes [].
func array[T any](c *codec, key string, v *[]T, write func(*T), read func(item []byte, to *T)) {
	if !c.reading {
		c.key(key)
		writeItems(c, *v, write)
		return
	}
	c.value(key, func(val []byte) { readItems(c, val, v, read) })
}

func writeItems[T any](c *codec, v []T, write func(*T)) {
	c.buf = append(c.buf, '[')
	for i := range v {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		write(&v[i])
	}
	c.buf = append(c.buf, ']')
}

func readItems[T any](c *codec, val []byte, v *[]T, read func(item []byte, to *T)) {
	*v = []T{}
	err := scanArray(val, func(item []byte) {
		var x T
		read(item, &x)
		*v = append(*v, x)
	})
	if err != nil {
		c.fail("an array", val)
	}
}
