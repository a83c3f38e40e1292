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

// checkSchema reads the schema of the answer if a file is named, so that from here on the flag
// holds the schema itself.
func (f *runFlags) checkSchema() error {
	switch {
	case f.schema == "":
		return nil
	case f.format == "json":
		return cli.Usagef("--output-schema prints the answer alone; --format stream-json has it in its result, --format json has no place for it")
	case f.command != "" || f.resume:
		return cli.Usagef("--output-schema is for prompts; --command and --resume answer as they were written")
	}
	text := []byte(f.schema)
	if !strings.HasPrefix(strings.TrimSpace(f.schema), "{") {
		var err error
		text, err = os.ReadFile(f.schema)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return cli.Usagef("--output-schema: there is no file %s; name one, or write the schema itself: '{\"type\":\"object\"}'", termtext.Plain(f.schema))
		case err != nil:
			return cli.Usagef("--output-schema: %v", err)
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return cli.Usagef("--output-schema: this is no JSON object: %v", err)
	}
	delete(object, "$schema") // every one is read the same way
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

// formatOf is what a prompt says of a structured answer.
func formatOf(schema string) json.RawMessage {
	return json.RawMessage(`{"type":"json_schema","schema":` + schema + `}`)
}
