package othertool

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/model/auth"
)

// errNotJSON says nothing of the content, which is secret.
var errNotJSON = errors.New("it is not a JSON object of the known format")

// codexFiles is the one file of Codex. With its keyring setting there is none, which the hint of the tool
// explains.
func codexFiles(m Machine) []source {
	return []source{{filepath.Join(m.dir("CODEX_HOME", ".codex"), "auth.json"), parseCodex}}
}

// codexFile is Codex's auth.json: an API key, or the tokens of a ChatGPT plan.
type codexFile struct {
	Mode   string  `json:"auth_mode"`
	Key    *string `json:"OPENAI_API_KEY"`
	Tokens *struct {
		ID      string `json:"id_token"`
		Access  string `json:"access_token"`
		Account string `json:"account_id"`
	} `json:"tokens"`
}

// parseCodex reads no refresh token: OpenAI's change on use, so that only Codex may use them.
func parseCodex(src []byte) (out []Login, err error) {
	var f codexFile
	if json.Unmarshal(src, &f) != nil {
		return nil, errNotJSON
	}
	if f.Tokens != nil && !token(f.Tokens.Access).IsEmpty() {
		access, id := claimsOf(f.Tokens.Access), claimsOf(f.Tokens.ID)
		l := chatGPT(token(f.Tokens.Access), access.expires(), cmp.Or(f.Tokens.Account, id.OpenAI.Account, access.OpenAI.Account))
		l.Entry, l.Account = "tokens", cmp.Or(id.Email, id.OpenAI.Plan)
		out = append(out, l)
	}
	if f.Key != nil {
		if l, ok := key("openai", "OPENAI_API_KEY", *f.Key); ok {
			out = append(out, l)
		}
	}
	if strings.EqualFold(f.Mode, "apikey") && len(out) == 2 { // Codex itself prefers the key
		out[0], out[1] = out[1], out[0]
	}
	return out, nil
}

// chatGPT is a login with a ChatGPT plan.
func chatGPT(access auth.Secret, expires time.Time, account string) Login {
	if strings.ContainsFunc(account, func(r rune) bool { return r <= ' ' || r > '~' }) { // it is sent in a header
		account = ""
	}
	return Login{Provider: "openai", Expires: expires, Credential: auth.OAuth{Access: access, Expires: expires, AccountID: account}}
}

// claims are the parts of a token that we read. Its signature is not ours to check: they only tell when
// it ends and whose it is.
type claims struct {
	Expires float64 `json:"exp"` // seconds since 1970
	Email   string  `json:"email"`
	OpenAI  struct {
		Account string `json:"chatgpt_account_id"`
		Plan    string `json:"chatgpt_plan_type"`
	} `json:"https://api.openai.com/auth"`
}

// claimsOf reads the middle part of a token. Text that is no such token has no claims, and then neither an
// end nor an account is known.
func claimsOf(token string) (c claims) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims{}
	}
	src, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(src, &c) != nil {
		return claims{}
	}
	return c
}

// expires is the end of a token, zero if it has none.
func (c claims) expires() time.Time {
	if c.Expires <= 0 || c.Expires > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(c.Expires), 0)
}
