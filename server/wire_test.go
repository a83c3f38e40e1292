package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// described is the document of a server, and its schemas to hold values against.
type described struct {
	t    *testing.T
	defs map[string]json.RawMessage
}

func describe(t *testing.T) described {
	t.Helper()
	w := begin(t, "")
	var doc struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	w.want(http.StatusOK, &doc, "GET", "/doc", "")
	return described{t, doc.Components.Schemas}
}

// check holds a value against a named schema.
func (d described) check(name string, value []byte) {
	d.t.Helper()
	if err := d.fits(name, value); err != nil {
		d.t.Errorf("%s: %v\n%s", name, err, value)
	}
}

// fits tells what a value lacks to be of a named schema.
func (d described) fits(name string, value []byte) error {
	d.t.Helper()
	all, err := json.Marshal(map[string]any{"$ref": "#/$defs/" + name, "$defs": d.defs})
	if err != nil {
		d.t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(all), "#/components/schemas/", "#/$defs/")), &s); err != nil {
		d.t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		d.t.Fatal(err)
	}
	return r.Validate(v)
}

// TestWire_SamplesFitTheDocument holds every variant of the vocabulary against its schema.
func TestWire_SamplesFitTheDocument(t *testing.T) {
	d := describe(t)
	d.check("Session", lathetest.Session().AppendJSON(nil))
	for _, m := range lathetest.Messages() {
		d.check("MessageWithParts", m.AppendJSON(nil))
	}
	for _, p := range lathetest.Parts(lathetest.SessionID, "msg_1") {
		if _, other := p.Body.(*lathe.UnknownBody); !other {
			d.check("Part", p.AppendJSON(nil))
		}
	}
	for _, f := range append(lathetest.Stored(), lathetest.Ephemeral()...) {
		p, _ := f.(*lathe.PartChanged)
		if p != nil && p.Part.Body.Kind() == "x-body" {
			continue // of a version to come
		}
		if f.Type() != "x-event.sent" {
			d.check("Event", lathe.Event{ID: "evt_1", Fact: f}.AppendJSON(nil))
		}
	}
	for _, f := range lathetest.Faults() {
		if _, other := f.(*lathe.OtherFault); !other {
			d.check("MessageError", lathe.EncodeFault(f))
		}
	}
}

// TestWire_SchemasRefuse shows that the check above can fail.
func TestWire_SchemasRefuse(t *testing.T) {
	d := describe(t)
	for name, value := range map[string]string{
		"Session": `{"id":"ses_1"}`, "Part": `{"type":"text","id":"prt_1"}`, "Event": `{"id":"evt_1","type":"session.idle","properties":{}}`,
	} {
		if d.fits(name, []byte(value)) == nil {
			t.Errorf("%s takes %s", name, value)
		}
	}
}
