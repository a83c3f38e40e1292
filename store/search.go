package store

import (
	"context"
	"math"
	"strconv"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/fulltext"
	"github.com/lathe-agent/lathe/store/searchtext"
)

// The limits of a search. The work of one is bounded, about 40 ms, whatever it searches for: after that it returns what it has,
// and a cursor to continue.
const (
	searchLimit    = 20
	maxSearchLimit = 200
	perSession     = 3       // places of one session, so that others are seen too
	maxWork        = 2 << 20 // bytes of text that are read and do not fit
	candidateWork  = 512     // bytes: the work of a candidate without its text
	hitShare       = 4       // a text that fits is read only until it does
	maxSkipped     = 16      // candidates of sessions that have their places, before the index skips these sessions
	snippetBytes   = 160
)

// errSearchOff is the answer without an index.
func errSearchOff() error {
	return lathe.Errorf(lathe.Unavailable, `search is off; set "search" to true in the config, then search again`)
}

// Search finds places in all sessions, newest first. The index proposes parts; the text of each is
// verified, because it may have changed since in another process.
func Search(ctx context.Context, s *Store, q lathe.SearchQuery) (lathe.SearchResult, error) {
	out := lathe.SearchResult{Hits: []lathe.SearchHit{}, Indexed: 1}
	if s.index == nil {
		return out, errSearchOff()
	}
	text, err := fulltext.Parse(q.Text, q.Typing)
	if err != nil {
		return out, lathe.Errorf(lathe.Invalid, "%w", err)
	}
	if q.Limit < 0 || q.Limit > maxSearchLimit {
		return out, lathe.Errorf(lathe.Invalid, "the limit of a search is a number from 1 to %d", maxSearchLimit)
	}
	if q.Limit == 0 {
		q.Limit = searchLimit
	}
	before, err := parseCursor(q.Cursor)
	if err != nil {
		return out, err
	}
	err = s.readFiles(ctx, func(r Reader) error {
		f := finder{store: s, r: r, q: q, text: text, seen: map[lathe.SessionID]int{}, last: before}
		counter, state, err := readFeed(r)
		if err == nil {
			err = f.run(ctx)
		}
		out.Hits, out.More, out.Indexed = append(out.Hits[:0], f.hits...), f.more, state.indexed(counter)
		if f.stopped {
			out.Next = strconv.FormatInt(f.last, 36)
		}
		return err
	})
	return out, err
}

// parseCursor reads the number of the part that the search before ended with.
func parseCursor(text string) (int64, error) {
	if text == "" {
		return math.MaxInt64, nil
	}
	n, err := strconv.ParseInt(text, 36, 64)
	if err != nil || n < 1 {
		return 0, lathe.Errorf(lathe.Invalid, "invalid search cursor; pass the \"next\" value of a search result")
	}
	return n, nil
}

// finder collects the hits of one search.
type finder struct {
	store *Store
	r     Reader
	q     lathe.SearchQuery
	text  fulltext.Query
	hits  []lathe.SearchHit
	last  int64 // the part that was tried last
	work  int
	more  bool
	// stopped says that candidates are left.
	stopped bool
	seen    map[lathe.SessionID]int
	// full are the words of sessions that have their places, and skipped counts candidates in vain since the index
	// was asked: a long session must not use up the search.
	full    []string
	skipped int
}

// run asks the index, and again without the sessions that have their places.
func (f *finder) run(ctx context.Context) error {
	words := f.words()
	for again := true; again; {
		again = false
		query := IndexQuery{All: words, None: f.full, Before: f.last}
		err := f.store.index.Find(f.r, query, func(part int64) (bool, error) {
			if len(f.hits) >= f.q.Limit || f.work > maxWork {
				f.more, f.stopped = true, true
				return false, context.Cause(ctx)
			}
			f.last = part
			err := f.take(part)
			again = f.skipped >= maxSkipped
			return !again, err
		})
		if err != nil {
			return err
		}
		f.skipped = 0
	}
	return nil
}

// words are what the index must have for a part: all words of the query, and its filters.
func (f *finder) words() (out []IndexWord) {
	for _, e := range f.text.Entries() {
		out = append(out, IndexWord(e))
	}
	for _, w := range searchtext.Filters(f.q.Session, f.q.Project, f.q.Tool, f.q.Model) {
		out = append(out, IndexWord{Text: w})
	}
	return out
}

const hitSQL = `SELECT session.id, session.title, session.project, session.directory, message.id, message.role, message.created, message.data,
	part.id, part.type, part.data FROM part JOIN message ON message.n = part.message JOIN session ON session.n = message.session
	WHERE part.n = $1 AND part.open = 0 AND message.created >= $2 AND ($3 = '' OR session.path = $3 OR session.path > $4 AND session.path < $5)`

// take reads a candidate, and adds it if it fits.
func (f *finder) take(part int64) error {
	f.work += candidateWork
	return f.r.Query(hitSQL, []any{part, float64(f.q.Since), f.q.Path, f.q.Path + "/", f.q.Path + "0"}, func(row Row) error {
		h := lathe.SearchHit{
			Session: lathe.SessionID(row.Text(0)), Title: row.Text(1), Project: row.Text(2), Directory: row.Text(3),
			Message: lathe.MessageID(row.Text(4)), Time: lathe.Time(row.Float(6)),
		}
		if f.q.Session == "" && f.seen[h.Session] >= perSession {
			f.more = true
			f.skipped++
			return nil
		}
		p, err := partOf(row, 8, h.Session, h.Message, f.store.blobs.expand)
		if err != nil {
			return err
		}
		model, err := modelOf(row.Text(5), row.Bytes(7))
		if err != nil {
			return err
		}
		if f.fill(&h, p, row.Text(5), model) {
			f.hits = append(f.hits, h)
			if f.seen[h.Session]++; f.q.Session == "" && f.seen[h.Session] == perSession {
				f.full = append(f.full, searchtext.Filters(h.Session, "", "")...)
			}
		}
		return nil
	})
}

// fill completes a hit, if the part fits the query.
func (f *finder) fill(h *lathe.SearchHit, p lathe.Part, role string, model lathe.ModelRef) bool {
	if call, ok := p.Body.(*lathe.ToolCall); ok {
		h.Tool = call.Tool
	}
	if model.Model != "" {
		h.Model = model.Provider + "/" + model.Model
	}
	switch q := f.q; {
	case q.Session != "" && q.Session != h.Session, q.Project != "" && q.Project != h.Project, q.Tool != "" && q.Tool != h.Tool:
		return false
	case q.Model != "" && q.Model != h.Model && q.Model != model.Model:
		return false
	}
	texts, size := searchtext.Of(p.Body, role), 0
	for _, t := range texts {
		size += len(t.Text)
	}
	if !f.text.Matches(searchtext.Strings(texts)...) {
		f.work += size
		return false
	}
	f.work += size / hitShare
	best := 0
	for _, t := range texts {
		if n := f.text.Count(t.Text); n > best {
			best, h.Place, h.Snippet = n, t.Place, snippet(f.text, t.Text)
		}
	}
	h.Part = p.ID
	return best > 0
}

func snippet(q fulltext.Query, text string) (out []lathe.SearchText) {
	for _, f := range q.Snippet(text, snippetBytes) {
		out = append(out, lathe.SearchText{Text: f.Text, Match: f.Match})
	}
	return out
}

// modelOf reads the model of a message.
func modelOf(role string, data []byte) (lathe.ModelRef, error) {
	data, err := withoutLarge(data)
	if err != nil {
		return lathe.ModelRef{}, err
	}
	var m lathe.Message
	if err := m.ReadRow(role, data); err != nil {
		return lathe.ModelRef{}, err
	}
	switch d := m.Data.(type) {
	case *lathe.User:
		return d.Model, nil
	case *lathe.Assistant:
		return d.Model, nil
	default:
		return lathe.ModelRef{}, nil
	}
}
