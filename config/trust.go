package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Risk is a setting of a project that runs or redirects something.
type Risk struct {
	Path  string   // of the file
	Line  int      // 0 for a whole file
	Key   []string // of the setting; empty for a whole file
	Value string   // as JSON; for a file, the hash of its content
}

// String names the setting for people.
func (r Risk) String() string {
	if len(r.Key) == 0 {
		return r.Path
	}
	return r.Path + ": " + strings.Join(r.Key, ".")
}

// Untrusted says which settings of a project do not count until it is trusted.
type Untrusted struct {
	Root   string // to trust: the real path of a checkout, or of a directory if there is none
	Digest string // of exactly these settings
	Risks  []Risk
}

// CodeDigest stands for the code of a project in a decision of the user about a project without risky settings: its own
// programs, and the code that language servers and formatters execute, may run.
const CodeDigest = "code"

// digest identifies the trusted content: if one of the keys changes, trust is asked for again.
func digest(risks []Risk) string {
	h := sha256.New()
	for _, r := range risks {
		for _, part := range append([]string{r.Path, r.Value}, r.Key...) {
			fmt.Fprintf(h, "%d:%s", len(part), part)
		}
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkTrust finds the config of the project that needs trust. If it is trusted, its files are
// read once more with variables and files put in; if not, risky values are removed.
func (l *loading) checkTrust() {
	find := riskFinder{loading: l, folders: map[string]Risk{}}
	var risks []Risk
	var safe []*source
	own := collectOwned(l.sources)
	for _, s := range l.sources {
		switch {
		case s.layer != Project:
			safe = append(safe, s)
		case s.leaves || s.opaque || s.foreign != nil && s.foreign.whole:
			risks = append(risks, find.fileRisk(s.name))
		default:
			bare := *s
			bare.root = s.root.clone()
			risks = append(risks, takeRisks(&bare, own)...)
			safe = append(safe, &bare)
		}
		if s.layer == Project {
			risks = append(risks, find.tokenRisks(s)...)
			risks = append(risks, find.programRisks(s)...)
		}
	}
	for _, path := range slices.Concat(l.outward, l.code) {
		risks = append(risks, find.fileRisk(path))
	}
	risks = append(risks, find.codeRisks()...)
	if len(risks) == 0 {
		return
	}
	d := &Untrusted{Root: realPath(l.root()), Digest: digest(risks), Risks: risks}
	if l.out.trusted = l.Trusted != nil && (l.Trusted(d.Root, d.Digest) || trustsOrigin(l, risks)); !l.out.trusted {
		l.sources, l.out.Untrusted = safe, d
		return
	}
	l.trust()
}

// trustsOrigin reports whether the user trusts the same settings in the checkout that this one is a copy of.
func trustsOrigin(l *loading, risks []Risk) bool {
	if l.TrustAs == "" {
		return false
	}
	there := slices.Clone(risks)
	for i := range there {
		if rel, err := filepath.Rel(l.root(), there[i].Path); err == nil && filepath.IsLocal(rel) {
			there[i].Path = filepath.Join(l.TrustAs, rel)
		}
	}
	return l.Trusted(l.TrustAs, digest(there))
}

// trust lets the project's config count.
func (l *loading) trust() {
	for _, s := range l.sources {
		if s.foreign != nil && s.foreign.again != nil {
			if err := s.foreign.again(l.substitution(User)); err != nil {
				l.leaveOut(err)
			}
			continue
		}
		if s.layer != Project || len(s.tokens) == 0 {
			continue
		}
		s.warns = nil // already reported
		if err := s.read(l.substitution(User)); err != nil {
			l.errs = append(l.errs, err)
		}
	}
	for _, path := range l.code {
		if base := filepath.Base(filepath.Dir(path)); base == "plugin" || base == "plugins" {
			l.out.Plugins = append(l.out.Plugins, path)
		} else {
			l.out.Tools = append(l.out.Tools, path)
		}
	}
}

// takeRisks removes from a project's source what needs trust and returns it. A value that asks
// for a variable or a file is a risk wherever it is.
func takeRisks(s *source, own ownedNames) []Risk {
	t := riskTaker{src: s, own: own}
	t.object(s.table, s.root)
	return t.found
}

type riskTaker struct {
	src   *source
	own   ownedNames
	path  []string
	found []Risk
}

// take reports whether the value must go.
func (t *riskTaker) take(s *spec, n *node) bool {
	taken := t.own.overrides(t.path, n)
	var fit *spec
	if s != nil {
		fit = s.pick(n)
	}
	if !taken && harmless(n) && (s == nil || s.all || fit == nil || fit.all) {
		return false
	}
	if taken || n.asks || n.leaves || s != nil && s.risky != nil && s.risky(n) || fit != nil && fit.risky != nil && fit.risky(n) {
		t.found = append(t.found, Risk{
			Path: t.src.name, Line: n.at.src.line(n.at.original()) + 1, Key: slices.Clone(t.path), Value: string(n.appendJSON(nil)),
		})
		return true
	}
	switch n.kind {
	case isObject:
		return t.object(fit, n)
	case isArray:
		return t.array(fit, n)
	}
	return false
}

// object reports whether nothing is left of the members, or not what must be there: the
// rest could change what a lower source says.
func (t *riskTaker) object(s *spec, n *node) (gone bool) {
	had := len(n.members)
	n.keep(func(m member) bool {
		var e entry
		if s != nil {
			e, _ = s.find(m.key)
		}
		t.path = append(t.path, m.key)
		defer func() { t.path = t.path[:len(t.path)-1] }()
		if t.src.inert && asksIn(m.key) {
			m.val.asks = true
		}
		takes := t.take(e.spec, m.val)
		gone = gone || takes && e.core
		return !takes
	})
	return gone || had > 0 && len(n.members) == 0
}

func (t *riskTaker) array(s *spec, n *node) (gone bool) {
	had := len(n.items)
	n.items = slices.DeleteFunc(n.items, func(it *node) bool {
		if s == nil {
			return t.take(nil, it)
		}
		return t.take(s.items, it)
	})
	return had > 0 && len(n.items) == 0
}

// harmless settings only switch something off.
func harmless(n *node) bool {
	if n.kind == isBool && n.text == "false" {
		return true
	}
	if n.kind != isObject || len(n.members) != 1 {
		return false
	}
	m := n.members[0]
	return m.key == "disabled" && m.val.text == "true" || m.key == "enabled" && m.val.text == "false"
}

// riskFinder finds what of a project needs trust.
type riskFinder struct {
	*loading
	folders map[string]Risk // of programs, by path
}

// tokenRisks are the files a source takes in. What those of the project say is part of the
// settings. Others are the user's: they may change, and are not even looked at before there
// is trust, because on a network share that alone would be a call.
func (l riskFinder) tokenRisks(s *source) (out []Risk) {
	for _, t := range s.tokens {
		switch path := s.target(t, l.Home); {
		case !t.file:
		case within(l.root(), path) || within(s.dir, path):
			out = append(out, l.fileRisk(path))
		default:
			out = append(out, Risk{Path: path})
		}
	}
	return out
}

// codeFiles notes the plugins and tools of a folder: code, not settings. Those of a
// project wait for trust.
func (l *loading) codeFiles(dir found) {
	plugins := append(l.scripts(dir.below("plugin")), l.scripts(dir.below("plugins"))...)
	tools := append(l.scripts(dir.below("tool")), l.scripts(dir.below("tools"))...)
	if dir.layer == Project {
		l.code = append(append(l.code, plugins...), tools...)
		return
	}
	l.out.Plugins = append(l.out.Plugins, plugins...)
	l.out.Tools = append(l.out.Tools, tools...)
}

func (l *loading) scripts(dir found) (out []string) {
	for _, e := range l.disk.list(dir.path, dir.layer) {
		if slices.Contains([]string{".ts", ".js", ".mjs"}, filepath.Ext(e.Name())) {
			out = append(out, filepath.Join(dir.path, e.Name()))
		}
	}
	return out
}

// fileRisk binds trust to the content of a file.
func (l riskFinder) fileRisk(path string) Risk {
	b, err := l.disk.read(path)
	if err == nil {
		sum := sha256.Sum256(b)
		return Risk{Path: path, Value: hex.EncodeToString(sum[:])}
	}
	value := errText(err)
	if info, statErr := l.disk.stat(path); statErr == nil { // too large, perhaps
		value += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
	}
	return Risk{Path: path, Value: value}
}
