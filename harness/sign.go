package harness

import (
	"github.com/lathe-agent/lathe/model/aws"
	"github.com/lathe-agent/lathe/model/provider"
)

// signer returns the signer of Amazon requests, with keys from the config, the environment, or Amazon's own files.
func (a *Host) signer(s provider.AWS) (provider.Signer, error) {
	out, err := aws.Open(aws.Config{
		Service: s.Service, Region: s.Region, Profile: s.Profile, AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretAccessKey, SessionToken: s.SessionToken,
		Env: a.Env, Home: a.Home(),
	})
	if err != nil {
		return nil, err // not an interface that holds nil
	}
	return out, nil
}
