package acp

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

const (
	bufferTime = 10 * time.Second // for the editor to answer
	maxBuffer  = 10 << 20         // bytes of a text that is taken from the editor
)

// The server is the Buffers of its own sessions. Tools call it from their goroutines, so it must not use the loop's fields.
var _ Buffers = (*server)(nil)

// editorOf finds the session of the client that a tool works for: its own, or the one above a subagent.
func (s *server) editorOf(ctx context.Context, id lathe.SessionID) (root lathe.SessionID, ok bool) {
	s.mu.Lock()
	l := s.loop
	s.mu.Unlock()
	if l == nil {
		return "", false
	}
	err := l.run(ctx, func() {
		if v := l.views[id]; v != nil {
			root, ok = v.root.id, true
		}
	})
	return root, ok && err == nil
}

// ReadBuffer asks the editor for the text of a file.
func (s *server) ReadBuffer(ctx context.Context, id lathe.SessionID, path string) (string, bool) {
	can := s.capabilities().FS
	if can == nil || !can.ReadTextFile {
		return "", false
	}
	ctx, stop := context.WithTimeout(ctx, bufferTime)
	defer stop()
	root, ok := s.editorOf(ctx, id)
	if !ok {
		return "", false
	}
	var res wire.ReadTextFileResponse
	err := s.call(ctx, "fs/read_text_file", wire.ReadTextFileRequest{SessionID: wire.SessionID(root), Path: path}, &res)
	if err != nil || len(res.Content) > maxBuffer {
		s.Log.Debug("acp: file not read from the editor", "path", path, "error", err)
		return "", false
	}
	return res.Content, true
}

// CanWriteBuffer reports whether the editor of a session can write files.
func (s *server) CanWriteBuffer(id lathe.SessionID) bool {
	can := s.capabilities().FS
	return can != nil && can.WriteTextFile
}

// WriteBuffer has the editor change and save a file.
func (s *server) WriteBuffer(ctx context.Context, id lathe.SessionID, path, text string) error {
	ctx, stop := context.WithTimeout(ctx, bufferTime)
	defer stop()
	root, ok := s.editorOf(ctx, id)
	if !ok || !s.CanWriteBuffer(id) {
		return lathe.Errorf(lathe.Unavailable, "the editor cannot write files")
	}
	return s.call(ctx, "fs/write_text_file", wire.WriteTextFileRequest{SessionID: wire.SessionID(root), Path: path, Content: text}, nil)
}

// withUnsaved replaces links to files with unsaved changes by the text in the editor, so that the model sees what the
// user sees.
func (s *server) withUnsaved(ctx context.Context, _ *loop, p wire.PromptRequest) ([]wire.ContentBlock, error) {
	out := make([]wire.ContentBlock, len(p.Prompt))
	for i, b := range p.Prompt {
		out[i] = b
		if b.ResourceLink == nil || s.Remote {
			continue
		}
		file, first, last, ok := filePath(b.ResourceLink.URI)
		if !ok || linkType(file, b.ResourceLink.MimeType) != "text/plain" {
			continue
		}
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxBuffer {
			continue
		}
		text, ok := s.ReadBuffer(ctx, lathe.SessionID(p.SessionID), file)
		saved, err := os.ReadFile(file)
		if !ok || err != nil || string(saved) == text || text == "" {
			continue
		}
		out[i] = wire.ContentBlock{Resource: &wire.EmbeddedResource{Resource: wire.EmbeddedResourceResource{
			URI: b.ResourceLink.URI, MimeType: "text/plain", Text: lines(text, first, last),
		}}}
	}
	return out, nil
}

// lines are some lines of a text, or all without a first.
func lines(text string, first, last int) string {
	if first < 1 {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	first = min(first, len(all)+1)
	return strings.Join(all[first-1:max(first-1, min(last, len(all)))], "")
}
