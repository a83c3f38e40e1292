package workspace

import (
	"crypto/sha1"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
)

// remoteID is the id of the project whose origin is remote, as every machine and
// every clone computes it. SHA-1 is a name here, not a protection.
func remoteID(remote string) string {
	sum := sha1.Sum([]byte("git-remote:" + remote))
	return hex.EncodeToString(sum[:])
}

// normalizeRemote reduces the URL of a remote to "host/path", so that the ways to
// reach one repository (protocol, user, port, suffix) give one name. It returns ""
// for what names no place others share: local paths, file: and helpers like ext::.
//
// The result must equal OpenCode's, or sessions imported from it would not be
// found. That decides the odd cases: the port is dropped; the path keeps its case
// and its percent signs; "host:path" without a user is a URL without a host, where
// the host could be a scheme.
func normalizeRemote(raw string) string {
	raw = strings.TrimSpace(raw)
	if strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	if scheme, rest, ok := cutScheme(raw); ok {
		return normalizeURL(scheme, rest)
	}
	return normalizeScp(raw)
}

// cutScheme splits "scheme:rest".
func cutScheme(raw string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(raw, ":")
	if !ok || scheme == "" || !isLetter(scheme[0]) {
		return "", "", false
	}
	for i := range len(scheme) {
		if c := scheme[i]; !isKey(c) && c != '+' && c != '.' {
			return "", "", false
		}
	}
	return strings.ToLower(scheme), rest, true
}

// normalizeURL handles "//user@host:port/path" after a scheme.
func normalizeURL(scheme, rest string) string {
	if scheme == "http" || scheme == "https" { // where URLs may have either slash
		rest = strings.ReplaceAll(rest, `\`, "/")
	}
	rest, ok := strings.CutPrefix(rest, "//")
	if !ok || scheme == "file" {
		return ""
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	authority, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:] // may hold a password
	}
	host, ok := cutPort(authority)
	if !ok {
		return ""
	}
	return join(host, escapePath(removeDots(path)))
}

// cutPort takes the port off an authority and says whether the rest can be a host.
func cutPort(authority string) (string, bool) {
	host, port := authority, ""
	if end := strings.LastIndexByte(authority, ']'); end >= 0 {
		host, port = authority[:end+1], authority[end+1:]
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil {
			return "", false
		}
	} else if colon := strings.IndexByte(authority, ':'); colon >= 0 {
		host, port = authority[:colon], authority[colon:]
	}
	if strings.ContainsAny(host, " <>^|\\") {
		return "", false
	}
	if port == "" || port == ":" {
		return host, true
	}
	if port[0] != ':' {
		return "", false
	}
	_, err := strconv.ParseUint(port[1:], 10, 16)
	return host, err == nil
}

// normalizeScp handles "user@host:path", whose path is taken as it is.
func normalizeScp(raw string) string {
	user, rest, ok := strings.Cut(raw, "@")
	if !ok || user == "" || strings.ContainsAny(user, "/:") {
		rest = raw
	}
	if strings.HasPrefix(rest, "[") { // an IPv6 address has colons of its own
		if end := strings.Index(rest, "]:"); end >= 0 {
			return join(rest[:end+1], rest[end+2:])
		}
	}
	host, path, ok := strings.Cut(rest, ":")
	if !ok || strings.Contains(host, "/") {
		return ""
	}
	return join(host, path)
}

func join(host, path string) string {
	path = strings.Trim(path, "/")
	path = strings.TrimRight(strings.TrimSuffix(path, ".git"), "/")
	if host == "" || path == "" {
		return ""
	}
	return strings.ToLower(host) + "/" + path
}

// removeDots resolves "." and ".." in the path of a URL, plain or percent-encoded.
func removeDots(path string) string {
	var out []string
	for part := range strings.SplitSeq(path, "/") {
		switch strings.ReplaceAll(strings.ToLower(part), "%2e", ".") {
		case ".":
		case "..":
			out = out[:max(0, len(out)-1)]
		default:
			out = append(out, part)
		}
	}
	return strings.Join(out, "/")
}

// escapePath writes a path as URLs show it. What is already escaped stays.
func escapePath(path string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(path) {
		c := path[i]
		if c > '~' || strings.IndexByte(" \"<>`{}", c) >= 0 {
			out.WriteByte('%')
			out.WriteByte(digits[c>>4])
			out.WriteByte(digits[c&15])
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isKey(c byte) bool    { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }
