package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tool/args"
)

// checkSchema replaces a file name in the flag by the schema in that file, and validates it.
func (f *runFlags) checkSchema() error {
	switch {
	case f.schema == "":
		return nil
	case f.format == "json":
		return cli.Usagef("--output-schema prints only the answer; use --format stream-json, whose result contains it, instead of --format json")
	case f.command != "" || f.resume:
		return cli.Usagef("--output-schema cannot be combined with --command or --resume")
	}
	text := []byte(f.schema)
	if !strings.HasPrefix(strings.TrimSpace(f.schema), "{") {
		var err error
		text, err = os.ReadFile(f.schema)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return cli.Usagef("--output-schema: file not found: %s; give a file, or the schema itself: '{\"type\":\"object\"}'", termtext.Plain(f.schema))
		case err != nil:
			return cli.Usagef("--output-schema: %v", err)
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return cli.Usagef("--output-schema: not a JSON object: %v", err)
	}
	delete(object, "$schema") // all drafts are read the same way
	bare, err := json.Marshal(object)
	if err == nil {
		err = args.CheckSchema(bare)
	}
	if err != nil {
		return cli.Usagef("--output-schema: %v", err)
	}
	f.schema = string(bytes.TrimSpace(text))
	return nil
}

// formatOf returns the prompt's request for a structured answer.
func formatOf(schema string) json.RawMessage {
	return json.RawMessage(`{"type":"json_schema","schema":` + schema + `}`)
}
