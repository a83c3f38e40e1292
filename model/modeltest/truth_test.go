package modeltest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// fixtures is where recorded answers of real providers lie, if this checkout stands beside them.
const fixtures = "../../../shared/fixtures/streams"

// shapes collects, for each kind of event, the members that occur in it and their types.
type shapes map[string]map[string]bool

func (s shapes) read(t *testing.T, body io.Reader) {
	t.Helper()
	events := sse.NewReader(body)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if json.Unmarshal(e.Data, &v) != nil {
			continue // [DONE]
		}
		kind, _ := v["type"].(string)
		if s[kind] == nil {
			s[kind] = map[string]bool{}
		}
		s.walk(kind, "", v)
	}
}

// free names members whose content is free: what they hold is not the wire's.
var free = []string{".args", ".metadata"}

func (s shapes) walk(kind, path string, v any) {
	if slices.ContainsFunc(free, func(f string) bool { return strings.HasSuffix(path, f) }) {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		inner, _ := v["type"].(string)
		if path != "" && inner != "" {
			path += "<" + inner + ">"
		}
		for name, value := range v {
			s.walk(kind, path+"."+name, value)
		}
	case []any:
		for _, value := range v {
			s.walk(kind, path+"[]", value)
		}
	default:
		s[kind][fmt.Sprintf("%s %T", path, v)] = true
	}
}

// real reads every recorded stream of a protocol.
func real(t *testing.T, p modeltest.Protocol) shapes {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(fixtures, string(p)+"*.sse"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skipf("no recorded answers at %s: nothing to compare with", fixtures)
	}
	out := shapes{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		out.read(t, f)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// known is what we say and no recording shows: variants that providers document.
var known = map[modeltest.Protocol][]string{
	modeltest.Anthropic: {"error.", "content_block_start.content_block<redacted_thinking>"},
	modeltest.Chat:      {".choices[].delta.annotations[]<url_citation>", ".error<server_error>"},
	modeltest.Responses: {"response.incomplete.", "error.error<server_error>"},
	modeltest.Gemini:    {".candidates[].groundingMetadata", ".usageMetadata.cachedContentTokenCount", ".error."},
}

// Every member of every event we send was seen in an answer of the real provider, or is listed
// above.
func TestTruth_Shapes(t *testing.T) {
	scripts := []string{full, "text \"a\"\nfinish length", "reasoning signature=\"s\"\nfinish content-filter", "text \"a\"\nerror overloaded_error \"b\""}
	for _, p := range modeltest.Protocols() {
		t.Run(string(p), func(t *testing.T) {
			truth, ours := real(t, p), shapes{}
			for _, src := range scripts {
				s := modeltest.Start(t, modeltest.MustParse(src))
				path, body := asked(p, true)
				ours.read(t, post(t, s, path, body).Body)
			}
			for kind, members := range ours {
				for _, m := range slices.Sorted(maps.Keys(members)) {
					if !truth[kind][m] && !slices.ContainsFunc(known[p], func(k string) bool { return strings.HasPrefix(kind+m, k) }) {
						t.Errorf("%s: no provider was seen to send %s", kind, m)
					}
				}
			}
		})
	}
}

// Recorded answers come out byte for byte.
func TestTruth_Replay(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(fixtures, "*.sse"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skipf("no recorded answers at %s: nothing to replay", fixtures)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, status := string(data), 200
		if strings.HasPrefix(want, "HTTP 429") {
			_, want, _ = strings.Cut(want, "\n\n")
			status = 429
		}
		s := modeltest.Start(t, modeltest.Script{modeltest.Recorded(data)})
		path, body := asked(modeltest.Chat, true)
		resp := post(t, s, path, body)
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != want || resp.StatusCode != status {
			t.Errorf("%s: status %d, %d bytes of %d, %v", filepath.Base(name), resp.StatusCode, len(got), len(want), err)
		}
	}
}
