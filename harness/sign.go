package harness

import (
	"github.com/lathe-agent/lathe/model/aws"
	"github.com/lathe-agent/lathe/model/provider"
)

// signer finds who signs requests for Amazon: the keys of settings, of the environment, or of
// Amazon's own files.
func (a *Host) signer(s provider.AWS) (provider.Signer, error) {
	out, err := aws.Open(aws.Config{
		Service: s.Service, Region: s.Region, Profile: s.Profile, AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretAccessKey, SessionToken: s.SessionToken,
		Env: a.Env, Home: a.Home(),
	})
	if err != nil {
		return nil, err // not a signer that is none
	}
	return out, nil
}
