package othertool

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/model/auth"
)

// copilot is the provider of both tools of GitHub.
const copilot = "github-copilot"

// copilotFiles are those of Copilot in editors: apps.json is the newer one and comes first.
func copilotFiles(m Machine) []source {
	dir := filepath.Join(m.config(), "github-copilot")
	return []source{{filepath.Join(dir, "apps.json"), parseCopilot}, {filepath.Join(dir, "hosts.json"), parseCopilot}}
}

// parseCopilot reads the file that Copilot's editor extensions share: logins by host, or by host and app.
func parseCopilot(src []byte) (out []Login, err error) {
	var f map[string]struct {
		User  string `json:"user"`
		Token string `json:"oauth_token"`
	}
	if json.Unmarshal(src, &f) != nil {
		return nil, errNotJSON
	}
	for entry, one := range f {
		host, _, _ := strings.Cut(entry, ":")
		if l, ok := lasting(host, one.Token); ok {
			l.Entry, l.Account = entry, one.User
			out = append(out, l)
		}
	}
	slices.SortFunc(out, byEntry)
	return out, nil
}

// lasting is a login whose token does not expire and does not change. GitHub gives a short-lived token
// for it.
func lasting(host, text string) (Login, bool) {
	secret := token(text)
	login := auth.OAuth{Refresh: secret}
	server, ok := enterprise(host)
	login.EnterpriseURL = server
	return Login{Provider: copilot, Credential: login}, ok && !secret.IsEmpty()
}

// enterprise is the address of a host other than GitHub itself; ok is false for a name that is none.
func enterprise(host string) (string, bool) {
	host = strings.ToLower(host)
	if host == "github.com" {
		return "", true
	}
	bad := strings.ContainsFunc(host, func(r rune) bool {
		return r != '.' && r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return "https://" + host, !bad && strings.Contains(host, ".")
}

// ghFiles is gh's list of hosts. Newer versions keep only the tokens elsewhere.
func ghFiles(m Machine) []source {
	dir := filepath.Join(m.config(), "gh")
	if m.Windows {
		dir = filepath.Join(m.dir("APPDATA", "AppData", "Roaming"), "GitHub CLI")
	}
	return []source{{filepath.Join(m.folder("GH_CONFIG_DIR", dir), "hosts.yml"), parseGH}}
}

// errKeyring is the state of a gh that keeps its token where no file has it.
var errKeyring = errors.New("gh keeps its token in the system keyring; pipe it with `gh auth token | lathe auth login github-copilot --method key`")

// parseGH reads gh's hosts. Copilot's own command-line tool uses these tokens as they are.
func parseGH(src []byte) (out []Login, err error) {
	hosts := map[string]*[2]string{} // token and user
	for _, e := range readYAML(src) {
		if len(e.path) == 1 && e.value == "" || len(e.path) == 2 {
			if hosts[e.path[0]] == nil {
				hosts[e.path[0]] = &[2]string{}
			}
		}
		if len(e.path) != 2 {
			continue
		}
		switch e.path[1] {
		case "oauth_token":
			hosts[e.path[0]][0] = e.value
		case "user":
			hosts[e.path[0]][1] = e.value
		}
	}
	for host, one := range hosts {
		server, ok := enterprise(host)
		if secret := token(one[0]); ok && !secret.IsEmpty() {
			out = append(out, Login{
				Provider: copilot, Entry: host, Account: one[1],
				Credential: auth.OAuth{Access: secret, Refresh: secret, EnterpriseURL: server},
			})
		}
	}
	slices.SortFunc(out, byEntry)
	if len(out) == 0 && len(hosts) > 0 {
		return nil, errKeyring
	}
	return out, nil
}
