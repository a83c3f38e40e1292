package migrate

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"io"

	"github.com/lathe-agent/lathe"
)

// A chat of Gemini CLI is a log: a later record of a message replaces an earlier one, a record can take messages back,
// and one can replace them all. So it is read twice: first to see which records count, then those.

// geminiLine is a record of the log, with the members that say what it is.
type geminiLine struct {
	ID       string  `json:"id"`
	RewindTo *string `json:"$rewindTo"`
	Set      *struct {
		Messages []json.RawMessage `json:"messages"`
	} `json:"$set"`
}

// geminiLog is where the messages that count are. It holds no text, because a log may be longer than memory.
type geminiLog struct {
	seed    maphash.Seed
	entries []geminiEntry
	at      map[uint64]int // index in entries by hash of the ID
}

type geminiEntry struct {
	id     uint64
	offset int64 // of the line
	size   int
}

func (g *geminiLog) hash(id string) uint64 { return maphash.String(g.seed, id) }

// put notes the last record of a message. It keeps the place of the first.
func (g *geminiLog) put(id string, offset int64, size int) {
	e := geminiEntry{g.hash(id), offset, size}
	if i, ok := g.at[e.id]; ok {
		g.entries[i] = e
		return
	}
	g.at[e.id] = len(g.entries)
	g.entries = append(g.entries, e)
}

// cut removes a message and all after it; for an unknown one, all.
func (g *geminiLog) cut(id string) {
	from := 0
	if i, ok := g.at[g.hash(id)]; ok {
		from = i
	}
	for _, e := range g.entries[from:] {
		delete(g.at, e.id)
	}
	g.entries = g.entries[:from]
}

// record notes what a line says.
func (g *geminiLog) record(line []byte, offset int64) bool {
	var rec geminiLine
	if json.Unmarshal(line, &rec) != nil {
		return false
	}
	switch {
	case rec.RewindTo != nil:
		g.cut(*rec.RewindTo)
	case rec.ID != "":
		g.put(rec.ID, offset, len(line))
	case rec.Set != nil && rec.Set.Messages != nil:
		g.cut("")
		for _, m := range rec.Set.Messages {
			var head geminiLine
			if json.Unmarshal(m, &head) == nil && head.ID != "" {
				g.put(head.ID, offset, len(line))
			}
		}
	}
	return true
}

// readLines reads a chat of JSON lines.
func (r *geminiReader) readLines(ctx context.Context, in Input) (lathe.Session, error) {
	r.start(in)
	log := geminiLog{seed: maphash.MakeSeed(), at: map[uint64]int{}}
	file, err := openFile(r.name)
	if err != nil {
		return lathe.Session{}, err
	}
	defer func() { _ = file.Close() }() // only read
	err = eachLineAt(ctx, file, in, func(line []byte, offset int64) error {
		if !log.record(line, offset) {
			in.Skipped.add("unknown")
		}
		return nil
	})
	if err != nil {
		return lathe.Session{}, err
	}
	for i := 0; i < len(log.entries); {
		n := 1 // the entries of one line
		for i+n < len(log.entries) && log.entries[i+n].offset == log.entries[i].offset {
			n++
		}
		if ctx.Err() != nil {
			return lathe.Session{}, context.Cause(ctx)
		}
		if err := r.entries(file, &log, log.entries[i:i+n]); err != nil {
			return lathe.Session{}, err
		}
		i += n
	}
	return r.c.end()
}

// entries reads the messages of one line that count.
func (r *geminiReader) entries(file io.ReaderAt, log *geminiLog, entries []geminiEntry) error {
	line := make([]byte, entries[0].size)
	if _, err := file.ReadAt(line, entries[0].offset); err != nil {
		return err
	}
	var rec geminiLine
	if json.Unmarshal(line, &rec) != nil { // the file was replaced meanwhile
		r.c.in.Skipped.add("unknown")
		return nil
	}
	messages := []json.RawMessage{line}
	if rec.Set != nil {
		messages = rec.Set.Messages
	}
	for _, raw := range messages {
		var m geminiMessage
		if json.Unmarshal(raw, &m) != nil {
			r.c.in.Skipped.add("unknown")
			continue
		}
		if i, ok := log.at[log.hash(m.ID)]; !ok || log.entries[i].offset != entries[0].offset {
			continue // a later record has replaced it
		}
		if err := r.message(m); err != nil {
			return err
		}
	}
	return nil
}
