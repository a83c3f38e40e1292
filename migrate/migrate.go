// Package migrate reads the sessions of other coding agents: Claude Code, Codex, crush, Gemini CLI and OpenCode.
//
// It owns their formats on disk and the correspondence of their records to lathe's messages, parts and tool calls.
// It reads record by record and holds one step of a conversation at a time, so that a transcript may be
// longer than memory. It writes nothing and asks nobody: commands find the folders, and the store takes the
// messages. Whatever a file says is data of a stranger: a record that makes no sense is counted and left out, and
// the rest of the session is read.
//
// IDs are derived from those of the source, so that reading a session again gives the same IDs, and a session that
// grew gives the same messages and more.
//
// Start reading at [Session], then conversation.go; claude.go shows one format.
package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Tool is another program, by the name that `lathe import --from` has for it.
type Tool string

// The programs whose sessions can be read.
const (
	Claude   Tool = "claude"
	Codex    Tool = "codex"
	Crush    Tool = "crush"
	Gemini   Tool = "gemini"
	OpenCode Tool = "opencode"
)

// Tools lists the programs in the order of their names.
func Tools() []Tool { return []Tool{Claude, Codex, Crush, Gemini, OpenCode} }

// Title is the program's name as people write it.
func (t Tool) Title() string {
	switch t {
	case Claude:
		return "Claude Code"
	case Codex:
		return "Codex"
	case Crush:
		return "crush"
	case Gemini:
		return "Gemini CLI"
	default:
		return "OpenCode"
	}
}

// Session is a conversation that was found and not read yet.
type Session struct {
	ID    lathe.SessionID // the same in every run
	From  string          // its file, or its name in a database, for messages
	Size  int64           // bytes to read, 0 if unknown
	Stamp string          // differs when the source has changed

	read func(ctx context.Context, in Input) (lathe.Session, error)
}

// Input is what a reader works with.
type Input struct {
	// Add gets each message, oldest first.
	Add func(lathe.Message) error
	// Price returns the cost of a step; nil means that costs are unknown.
	Price func(model lathe.ModelRef, used lathe.Tokens) lathe.Money
	// Count counts the bytes that were read; it may be nil.
	Count func(n int)
	// Skipped counts the records that were left out, by kind.
	Skipped Skipped
}

// Read reads the session. A cancel ends it with the context's cause.
func (s Session) Read(ctx context.Context, in Input) (lathe.Session, error) {
	if in.Price == nil {
		in.Price = func(lathe.ModelRef, lathe.Tokens) lathe.Money { return 0 }
	}
	if in.Count == nil {
		in.Count = func(int) {}
	}
	if in.Skipped == nil {
		in.Skipped = Skipped{}
	}
	return s.read(ctx, in)
}

// Skipped counts records by kind.
type Skipped map[string]int

// add counts a record. Kinds come from files, so their number and length are limited.
func (s Skipped) add(kind string) {
	kind = strings.ToValidUTF8(kind[:min(len(kind), 40)], "")
	if _, ok := s[kind]; !ok && len(s) >= 50 {
		kind = "other"
	}
	s[kind]++
}

// Total is the number of records that were left out.
func (s Skipped) Total() (n int) {
	for _, k := range s {
		n += k
	}
	return n
}

// String lists the kinds, the most frequent first.
func (s Skipped) String() string {
	kinds := slices.SortedFunc(maps.Keys(s), func(a, b string) int {
		if s[a] != s[b] {
			return s[b] - s[a]
		}
		return strings.Compare(a, b)
	})
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%s %d", k, s[k])
	}
	return strings.Join(kinds, ", ")
}

// sessionID derives the ID of a session from that of its source.
func sessionID(tool Tool, source string) lathe.SessionID {
	return lathe.SessionID("ses_" + digest(string(tool), source)[:26])
}

// digest is a hash of texts; no two lists of texts have the same.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stamp describes the state of a file.
func stamp(info os.FileInfo) string {
	return fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixMilli())
}

// counted is a reader that counts its bytes and ends with a context.
type counted struct {
	ctx   context.Context
	r     io.Reader
	count func(int)
}

func (c counted) Read(b []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.r.Read(b)
	c.count(n)
	return n, err
}
