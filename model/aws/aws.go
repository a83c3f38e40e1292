// Package aws signs requests for Amazon's cloud with the credentials that Amazon's own tools
// use: keys of the config and of the environment, profiles of the shared files, and the commands
// that profiles name.
//
// It is a separate package because it imports Amazon's SDK: only the program imports it, and
// passes [Signer.Sign] on. It reads no environment itself, only the two files, each time a
// request is signed, so that renewed keys count at once. Logins (SSO) and roles are left to the
// command that a profile names for them.
//
// A Signer is safe for use by many goroutines. Start reading at [Open].
package aws

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/lathe-agent/lathe"
)

// Config has the credentials, the service and the region for signing.
type Config struct {
	Service string // such as bedrock
	Region  string // "" leaves it to the environment and the profile
	Profile string // of the shared files; "" leaves it to the environment
	// Keys that settings hold themselves. They win over everything else.
	AccessKeyID, SecretAccessKey, SessionToken string

	Env  func(name string) string
	Home string           // the user's directory
	Now  func() time.Time // nil means the clock
}

// defaultRegion is the region when none is configured.
const defaultRegion = "us-east-1"

// Signer signs requests.
type Signer struct {
	settings Config
	region   string

	mu    sync.Mutex // guards what follows
	given aws.Credentials
}

// Open finds out where requests go and whether there is anything to sign them with. It runs no
// command yet.
func Open(s Config) (*Signer, error) {
	if s.Env == nil {
		s.Env = func(string) string { return "" }
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	out := &Signer{settings: s}
	p, err := out.profile()
	if err != nil {
		return nil, err
	}
	if _, _, err := out.find(p); err != nil {
		return nil, err
	}
	out.region = cmp.Or(s.Region, s.Env("AWS_REGION"), s.Env("AWS_DEFAULT_REGION"), p["region"], defaultRegion)
	return out, nil
}

// Region is where requests go.
func (s *Signer) Region() string { return s.region }

// Sign puts the signature into the headers of a request.
func (s *Signer) Sign(req *http.Request, body []byte) error {
	c, err := s.credentials(req.Context())
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(req.Context(), c, req, hex.EncodeToString(sum[:]), s.settings.Service, s.region, s.settings.Now())
	if err != nil {
		return lathe.Errorf(lathe.Unauthorized, "cannot sign the AWS request: %s", err)
	}
	return nil
}

// profile reads the profile that counts. One that is asked for by name must be there.
func (s *Signer) profile() (profile, error) {
	name := s.name()
	files := []struct{ variable, place string }{
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials"},
		{"AWS_CONFIG_FILE", "config"},
	}
	out := profile{}
	found := false
	for _, f := range files {
		path := cmp.Or(s.settings.Env(f.variable), filepath.Join(s.settings.Home, ".aws", f.place))
		has, err := out.read(path, name)
		if err != nil {
			return nil, err
		}
		found = found || has
	}
	if !found && name != "default" {
		return nil, lathe.Errorf(lathe.Unauthorized, "AWS profile %q not found: \"aws configure list-profiles\" lists the profiles", name)
	}
	return out, nil
}

func (s *Signer) name() string {
	return cmp.Or(s.settings.Profile, s.settings.Env("AWS_PROFILE"), "default")
}
