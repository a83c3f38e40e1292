package workspace

import (
	"strings"
	"testing"
)

func TestNormalizeRemote(t *testing.T) {
	const want = "github.com/Owner/Repo"
	for _, raw := range []string{
		"https://github.com/Owner/Repo",
		"https://github.com/Owner/Repo.git",
		"https://github.com/Owner/Repo.git/",
		"https://github.com/Owner/Repo/",
		"https://github.com//Owner/Repo//",
		"https://github.com/Owner/Repo/.git",
		"HTTPS://GitHub.COM/Owner/Repo.git",
		"http://github.com:8080/Owner/Repo.git",
		"https://user@github.com/Owner/Repo.git",
		"https://user:p%40ss@github.com/Owner/Repo.git",
		"https://user:p@ss@github.com/Owner/Repo.git",
		"https://github.com/Owner/Repo.git?x=1#y",
		"https://github.com/Owner/./x/../Repo",
		"https://github.com/Owner/%2E/x/.%2e/Repo",
		`https:\\github.com\Owner\Repo`,
		"ssh://git@github.com/Owner/Repo.git",
		"ssh://git@github.com:22/Owner/Repo.git",
		"ssh://git@github.com:/Owner/Repo.git",
		"git+ssh://git@github.com/Owner/Repo.git",
		"git://github.com/Owner/Repo.git",
		"git@github.com:Owner/Repo.git",
		"git@github.com:Owner/Repo",
		"git@GitHub.com:/Owner/Repo.git/",
		"  git@github.com:Owner/Repo.git\n",
	} {
		if got := normalizeRemote(raw); got != want {
			t.Errorf("normalizeRemote(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestNormalizeRemote_Others(t *testing.T) {
	for raw, want := range map[string]string{
		// The path is the host's business: case, escapes and tildes stay.
		"ssh://git@host/~me/My%20Repo": "host/~me/My%20Repo",
		"https://host/a b/ü":           "host/a%20b/%C3%BC",
		"git@host:a b/ü":               "host/a b/ü",
		"git@host:22/repo":             "host/22/repo", // scp-like addresses have no port
		"https://host/repo.git.git":    "host/repo.git",
		"https://host/.github":         "host/.github",
		"https://[::1]:8443/repo.git":  "[::1]/repo",
		"git@[fe80::1]:repo.git":       "[fe80::1]/repo",
		"10.0.0.1:repo.git":            "10.0.0.1/repo", // no scheme begins with a digit
		"my_host:repo.git":             "my_host/repo",
		"https://host/../repo":         "host/repo",
		"ssh://git@host/a\\b":          "host/a\\b",
		"custom+x.y-z://host/repo.git": "host/repo",
		// Nothing that others share.
		"":                                "",
		"   ":                             "",
		"/srv/git/repo.git":               "",
		"./repo":                          "",
		"../repo:x":                       "",
		"repo":                            "",
		"~/repo":                          "",
		`C:\git\repo`:                     "",
		"C:/git/repo":                     "",
		"file:///srv/git/repo.git":        "",
		"file://host/srv/repo.git":        "",
		"FILE:///srv/repo.git":            "",
		"host:repo.git":                   "", // as the reference reads it: scheme "host"
		"ext::sh -c whatever":             "",
		"codecommit::eu-west-1://repo":    "",
		"https://github.com":              "",
		"https://github.com/":             "",
		"https://github.com/.git":         "",
		"https:///repo":                   "",
		"https://user@/repo":              "",
		"https://:443/repo":               "",
		"ssh://git@host:owner/repo":       "", // neither a port nor scp-like
		"ssh://git@host:99999/repo":       "",
		"https://[::1/repo":               "",
		"https://[zz]/repo":               "",
		"https://[::1]x/repo":             "",
		"https://a b/repo":                "",
		"git@host:":                       "",
		"git@host:/":                      "",
		"git@:repo":                       "",
		"@host:repo":                      "@host/repo",
		"a/b@host:repo":                   "",
		"https://host/re\npo":             "",
		"git@host:re\x00po":               "",
		"git@host:re\x7fpo":               "",
		":repo":                           "",
		"https:host/repo":                 "",
		strings.Repeat("x", 10_000) + "@": "",
	} {
		if got := normalizeRemote(raw); got != want {
			t.Errorf("normalizeRemote(%q) = %q, want %q", raw, got, want)
		}
	}
}

// The id is part of every stored session: its bytes are fixed.
func TestRemoteID(t *testing.T) {
	// printf 'git-remote:github.com/Owner/Repo' | sha1sum
	const want = "11f3c80b242022192a49fbe6fa3d06af97909468"
	if got := remoteID("github.com/Owner/Repo"); got != want {
		t.Errorf("remoteID = %s, want %s", got, want)
	}
}

func FuzzNormalizeRemote(f *testing.F) {
	for _, raw := range []string{"https://u:p@h:1/a/../b.git", "git@h:a", "file:///x", "git@[::1]:x", `C:\x`} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := normalizeRemote(raw)
		if got == "" {
			return
		}
		host, path, ok := strings.Cut(got, "/")
		if !ok || host == "" || path == "" || host != strings.ToLower(host) {
			t.Fatalf("normalizeRemote(%q) = %q", raw, got)
		}
		if strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") {
			t.Fatalf("normalizeRemote(%q) = %q keeps slashes", raw, got)
		}
		if strings.ContainsAny(got, "\x00\r\n") {
			t.Fatalf("normalizeRemote(%q) = %q keeps control characters", raw, got)
		}
	})
}
