// Package wire has the messages of the Agent Client Protocol as Go types.
//
// types.go is generated from the schema in schema by scripts/acptypes. This file has the encoding of unions. The
// package knows no behavior; package acp gives the messages their meaning.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
)

// union is a type of which one variant is set.
type union interface {
	variants() (tag string, all []variant)
}

// variant is one possibility of a union.
type variant struct {
	value string // of the tag; "" has no tag
	isSet bool
	data  any             // the value that is set
	fresh func() (to any) // makes and sets an empty value
}

func of[T any](value string, at **T) variant {
	return variant{value: value, isSet: *at != nil, data: *at, fresh: func() any {
		*at = new(T)
		return *at
	}}
}

var errNoVariant = errors.New("no variant of the union is set")

// encodeUnion writes the variant that is set, after its tag and the members that all variants have.
func encodeUnion(u union, common any) ([]byte, error) {
	tag, all := u.variants()
	for _, v := range all {
		if !v.isSet {
			continue
		}
		out := []byte{'{'}
		if v.value != "" {
			out = append(append(append(append(append(out, '"'), tag...), `":"`...), v.value...), '"')
		}
		for _, part := range []any{common, v.data} {
			if part == nil {
				continue
			}
			data, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			if inner := bytes.TrimSpace(data[1 : len(data)-1]); len(inner) > 0 {
				if len(out) > 1 {
					out = append(out, ',')
				}
				out = append(out, inner...)
			}
		}
		return append(out, '}'), nil
	}
	return nil, errNoVariant
}

// decodeUnion reads the variant that the tag names. An unknown one leaves all variants unset.
func decodeUnion(data []byte, u union, common any) error {
	tag, all := u.variants()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	var value string
	if raw, ok := members[tag]; ok {
		if err := json.Unmarshal(raw, &value); err != nil {
			return err
		}
	}
	if common != nil {
		if err := json.Unmarshal(data, common); err != nil {
			return err
		}
	}
	for _, v := range all {
		if v.value == value {
			return json.Unmarshal(data, v.fresh())
		}
	}
	return nil
}
