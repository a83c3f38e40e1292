package session

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/migrate"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/store"
)

// fromFlags are the flags of `lathe import --from`.
type fromFlags struct {
	tool   string // as the user wrote it
	dryRun bool
	only   string // sessions or settings, else both
}

// migration is one run of `lathe import --from`.
type migration struct {
	a      *cli.App
	tool   migrate.Tool
	home   string // the folder of the other program
	path   string // a file or folder that the user named, in place of it
	dir    string // the directory of the command
	dryRun bool
	out    fromReport // the result so far
	prices map[lathe.ModelRef]model.Price
	all    *catalog.Catalog // nil without one
	// temporary are the folders of a dry run.
	temporary []string
}

// newMigration checks the flags.
func newMigration(a *cli.App, f fromFlags, args []string) (*migration, error) {
	tool := migrate.Tool(f.tool)
	if !slices.Contains(migrate.Tools(), tool) {
		return nil, cli.Usagef("--from %s: want claude, codex, crush, gemini or opencode", phrase.Shorten(f.tool, 40))
	}
	if f.only != "" && f.only != "sessions" && f.only != "settings" {
		return nil, cli.Usagef("--only %s: want sessions or settings", phrase.Shorten(f.only, 40))
	}
	m := &migration{a: a, tool: tool, dryRun: f.dryRun, prices: map[lathe.ModelRef]model.Price{}}
	m.out = fromReport{From: f.tool, DryRun: f.dryRun, Skipped: migrate.Skipped{}}
	m.home = toolHome(a, tool)
	var err error
	if len(args) > 0 {
		m.path, err = filepath.Abs(args[0])
	}
	if err == nil {
		m.dir, err = filepath.Abs(a.Dir)
	}
	return m, err
}

// toolHome is the folder where a program keeps its sessions, by its own variables.
func toolHome(a *cli.App, tool migrate.Tool) string {
	data := filepath.Join(a.Home(), ".local", "share")
	if dir := a.Env("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		data = dir
	}
	switch tool {
	case migrate.Claude:
		return cmp.Or(a.Env("CLAUDE_CONFIG_DIR"), filepath.Join(a.Home(), ".claude"))
	case migrate.Codex:
		return cmp.Or(a.Env("CODEX_HOME"), filepath.Join(a.Home(), ".codex"))
	case migrate.Gemini:
		return filepath.Join(a.Home(), ".gemini")
	case migrate.Crush:
		return filepath.Join(data, "crush")
	default:
		return filepath.Join(data, "opencode")
	}
}

// run imports settings, then sessions, and reports both.
func (m *migration) run(ctx context.Context, only string) error {
	defer limitMemory()()
	defer func() {
		for _, dir := range m.temporary {
			_ = os.RemoveAll(dir) // the system removes it in time
		}
	}()
	if only != "sessions" && m.path == "" {
		if err := m.settings(); err != nil {
			return err
		}
	}
	if only != "settings" {
		if err := m.sessions(ctx); err != nil {
			return err
		}
	}
	if err := m.out.print(m.a, m.tool); err != nil {
		return err
	}
	if n := len(m.out.Sessions.Failed); n > 0 {
		return lathe.Errorf(lathe.Invalid, "%s could not be imported; all others were", phrase.Count(n, "session"))
	}
	return nil
}

// list finds the sessions of the program, or of the path that the user named.
func (m *migration) list(ctx context.Context) ([]migrate.Session, error) {
	home := cmp.Or(m.path, m.home)
	if info, err := os.Stat(home); m.path != "" && err != nil {
		return nil, fileError(err)
	} else if err == nil && !info.IsDir() {
		return m.listFile(ctx, home)
	}
	switch m.tool {
	case migrate.Claude:
		return migrate.ClaudeSessions(home)
	case migrate.Codex:
		return migrate.CodexSessions(home)
	case migrate.Gemini:
		return migrate.GeminiSessions(home, []string{m.dir})
	case migrate.OpenCode:
		return migrate.OpenCodeSessions(ctx, home)
	default:
		return m.listCrush(ctx)
	}
}

// listFile describes a single transcript, or lists a single database.
func (m *migration) listFile(ctx context.Context, name string) ([]migrate.Session, error) {
	one := func(s migrate.Session, err error) ([]migrate.Session, error) { return []migrate.Session{s}, err }
	switch m.tool {
	case migrate.Claude:
		return one(migrate.ClaudeFile(name))
	case migrate.Codex:
		return one(migrate.CodexFile(name))
	case migrate.Gemini:
		return one(migrate.GeminiFile(name))
	case migrate.OpenCode:
		return migrate.OpenCodeDatabase(ctx, name)
	default:
		return migrate.CrushSessions(ctx, name, filepath.Dir(filepath.Dir(name)))
	}
}

// listCrush lists the databases of the project and of all projects that crush knows. One that cannot be read does
// not keep the others out.
func (m *migration) listCrush(ctx context.Context) (out []migrate.Session, err error) {
	project := cmp.Or(m.path, m.dir)
	for name, dir := range migrate.CrushDatabases(project, m.home) {
		list, err := migrate.CrushSessions(ctx, name, dir)
		if err != nil {
			m.out.Sessions.fail(name, err)
			continue
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, func(a, b migrate.Session) int { return strings.Compare(a.From, b.From) })
	return out, nil
}

// sessions imports what was found, one session at a time. Without a session there is no database to open.
func (m *migration) sessions(ctx context.Context) error {
	list, err := m.list(ctx)
	if err != nil {
		return notImported(cmp.Or(m.path, m.home), err)
	}
	m.out.Sessions.Found = len(list)
	if len(list) == 0 {
		return nil
	}
	if m.dryRun {
		return m.preview(ctx, list)
	}
	e, err := m.a.Open(ctx)
	if err != nil {
		return err
	}
	if p, err := m.a.Providers(); err == nil { // without prices costs are 0
		m.all = p.With(catalog.Filter{Experimental: true})
	}
	// Databases do not know how long their sessions are, so the total may be less than what is read.
	var total int64
	for _, s := range list {
		total += s.Size
	}
	shown := startProgress(m.a, total)
	for _, s := range list {
		if err = m.one(ctx, e, s, shown); err != nil {
			break
		}
	}
	shown.end()
	return cli.CloseAfter(e, err)
}

// preview says which sessions an import would bring. It reads none of them and creates no database.
func (m *migration) preview(ctx context.Context, list []migrate.Session) error {
	state := func(s migrate.Session) error {
		m.out.Sessions.Imported = append(m.out.Sessions.Imported, sessionLine{ID: s.ID, From: s.From})
		return nil
	}
	if _, err := m.a.ExistingFolders(); err != nil {
		for _, s := range list {
			_ = state(s) // it returns nil
		}
		return nil
	}
	return m.a.WithEngine(ctx, func(e *engine.Engine) error {
		for _, s := range list {
			known, err := e.IsImported(ctx, s.ID, s.Stamp)
			if err != nil {
				return err
			}
			if known {
				m.out.Sessions.Unchanged++
				continue
			}
			if _, err := e.Get(ctx, s.ID); err == nil {
				m.out.Sessions.Updated = append(m.out.Sessions.Updated, sessionLine{ID: s.ID, From: s.From})
				continue
			}
			_ = state(s) // it returns nil
		}
		return nil
	})
}

// one imports a session. Its own faults are reported at the end; only a cancel, or a database that cannot be
// written, ends the run.
func (m *migration) one(ctx context.Context, e *engine.Engine, s migrate.Session, shown *progress) error {
	if err := checkLeft(ctx); err != nil {
		return err
	}
	shown.name = filepath.Base(s.From)
	rec, got, err := e.Refresh(ctx, s.ID, s.Stamp, func(add func(lathe.Message) error) (lathe.Session, error) {
		rec, err := s.Read(ctx, migrate.Input{Add: add, Price: m.price, Skipped: m.out.Skipped, Count: func(n int) { shown.add(int64(n)) }})
		if !filepath.IsAbs(rec.Directory) { // the transcript names none, or one of another system
			rec.Directory = m.dir
		}
		return rec, err
	})
	// A fault of one file must not cost the sessions of all others.
	line := sessionLine{ID: s.ID, Title: rec.Title, Directory: rec.Directory, From: s.From, Messages: got.Messages}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case migrate.IsEmpty(err):
		m.out.Sessions.Empty++
	case errors.As(err, new(store.Continued)):
		m.out.Sessions.Continued = append(m.out.Sessions.Continued, line)
	case lathe.CodeOf(err) == lathe.Unavailable: // the disk is full, or another process holds the database
		return err
	case err != nil:
		m.out.Sessions.fail(s.From, fileError(err))
	case got.New:
		m.out.Sessions.Imported = append(m.out.Sessions.Imported, line)
	case got.Added+got.Changed > 0:
		m.out.Sessions.Updated = append(m.out.Sessions.Updated, line)
	default:
		m.out.Sessions.Unchanged++
	}
	return nil
}

// price computes the cost of a step with the prices of the catalog: most programs record tokens only.
func (m *migration) price(ref lathe.ModelRef, used lathe.Tokens) lathe.Money {
	p, ok := m.prices[ref]
	if !ok && m.all != nil {
		if known := m.find(ref); known != nil {
			p = known.Cost.Price()
		}
		m.prices[ref] = p
	}
	// Count wants the provider's form, in which cached tokens are part of the input and reasoning of the output.
	_, cost := model.Count(model.Usage{
		Input:  used.Input + used.Cache.Read + used.Cache.Write,
		Output: used.Output + used.Reasoning, Reasoning: used.Reasoning, CacheRead: used.Cache.Read, CacheWrite: used.Cache.Write,
	}, p)
	return cost
}

// find looks a model up in the catalog, where some have a date at the end of their names.
func (m *migration) find(ref lathe.ModelRef) *catalog.Model {
	if known, err := m.all.Model(ref.Provider, ref.Model); err == nil {
		return known
	}
	if p := m.all.Provider(ref.Provider); p != nil {
		for id, known := range p.Models {
			if strings.HasPrefix(id, ref.Model+"-2") {
				return known
			}
		}
	}
	return nil
}
