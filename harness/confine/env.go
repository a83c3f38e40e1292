package confine

import (
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/sandbox"
)

// setEnv gives a confined command a variable.
func setEnv(p *sandbox.Profile, name, value string) { p.Env = append(p.Env, name+"="+value) }

// setGit adds a setting of git to those that a confined command has by GIT_CONFIG_COUNT, which win
// over those of files. env is the environment of the command, which may have some as well.
func setGit(p *sandbox.Profile, env func(string) string, key, value string) {
	const count = "GIT_CONFIG_COUNT"
	n, _ := strconv.Atoi(env(count)) // git takes what is no number for a mistake; with ours it is none
	for i, v := range p.Env {
		if own, ok := strings.CutPrefix(v, count+"="); ok {
			n, _ = strconv.Atoi(own)
			p.Env = append(p.Env[:i], p.Env[i+1:]...)
			break
		}
	}
	at := strconv.Itoa(n)
	setEnv(p, "GIT_CONFIG_KEY_"+at, key)
	setEnv(p, "GIT_CONFIG_VALUE_"+at, value)
	setEnv(p, count, strconv.Itoa(n+1))
}
