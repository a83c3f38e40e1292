package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// scribe writes events in short: ids get names in the order in which they appear, times count
// from the beginning, and of a known record only the changes are written. The first character
// says whether a reader may note the number here (*), the event has one (+), or none (-).
type scribe struct {
	replace *strings.Replacer            // what differs from run to run
	names   map[string]string            // of ids
	count   map[string]int               // names given, by kind
	last    map[string]map[string]string // the last published record
}

func newScribe(replace ...string) *scribe {
	return &scribe{
		replace: strings.NewReplacer(replace...), names: map[string]string{},
		count: map[string]int{}, last: map[string]map[string]string{},
	}
}

func (s *scribe) lines(events []lathe.Event) []string {
	out := []string{}
	for _, e := range events {
		out = append(out, s.line(e))
	}
	return out
}

func (s *scribe) line(e lathe.Event) string {
	sign := "-"
	if e.Seq > 0 {
		sign = "+"
	}
	if e.Last {
		sign = "*"
	}
	var wire struct{ Properties map[string]any }
	if err := json.Unmarshal(e.AppendWithOffset(nil), &wire); err != nil {
		panic(err)
	}
	now := map[string]string{}
	s.flatten(now, "", wire.Properties)
	words := []string{sign, e.Fact.Type()}
	record := s.record(e)
	if record == "" {
		return strings.Join(append(words, fields(now, nil)...), " ")
	}
	words = append(words, s.name(record))
	words = append(words, fields(now, s.last[record])...)
	s.last[record] = now
	return strings.Join(words, " ")
}

// record is the id of the row an event carries, "" if it carries none.
func (s *scribe) record(e lathe.Event) string {
	switch f := e.Fact.(type) {
	case *lathe.SessionCreated:
		return string(f.Info.ID)
	case *lathe.SessionChanged:
		return string(f.Info.ID)
	case *lathe.SessionDeleted:
		return string(f.Info.ID)
	case *lathe.MessageChanged:
		return string(f.Info.ID)
	case *lathe.PartChanged:
		return string(f.Part.ID)
	case *lathe.ProjectChanged:
		return f.ID
	default:
		return ""
	}
}

// fields writes what differs from before, sorted by name.
func fields(now, before map[string]string) []string {
	out := []string{}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if was, received := before[key]; !received || was != now[key] {
			out = append(out, key+"="+now[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, still := now[key]; !still {
			out = append(out, key+" gone")
		}
	}
	return out
}

// flatten writes the leaves of a JSON value under their paths.
func (s *scribe) flatten(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			name := strings.TrimPrefix(path+"."+key, ".")
			if path == "" && (key == "info" || key == "part") {
				name = ""
			}
			s.flatten(out, name, inner)
		}
		if len(v) == 0 && path != "" {
			out[path] = "{}"
		}
	case []any:
		for i, inner := range v {
			s.flatten(out, fmt.Sprintf("%s.%d", path, i), inner)
		}
		if len(v) == 0 {
			out[path] = "[]"
		}
	case float64:
		if ms := v - float64(lathetest.Now); ms > -1e9 && ms < 1e9 {
			out[path] = fmt.Sprintf("%+g", ms)
			return
		}
		out[path] = fmt.Sprint(v)
	case string:
		if out[path] = fmt.Sprintf("%q", s.name(v)); path == "slug" {
			out[path] = "(random)"
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}

var anID = regexp.MustCompile(`\b(ses|msg|prt|per|que)_[0-9A-Za-z]+`)

// name writes ids and paths so that they are the same in each run.
func (s *scribe) name(text string) string {
	return anID.ReplaceAllStringFunc(s.replace.Replace(text), func(id string) string {
		if s.names[id] == "" {
			kind := id[:3]
			s.count[kind]++
			s.names[id] = fmt.Sprintf("%s%d", kind, s.count[kind])
		}
		return s.names[id]
	})
}
