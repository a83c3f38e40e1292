package main

import (
	"bytes"
	"os"
	"testing"
)

// The types in the tree are those of the schema.
func TestTypes_MatchSchema(t *testing.T) {
	want, err := generate("../../" + schemaDir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../" + output)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not match the schema; run: go run ./scripts/acptypes", output)
	}
}
