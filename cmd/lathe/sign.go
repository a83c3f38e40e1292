package main

import (
	"github.com/lathe-agent/lathe/model/aws"
	"github.com/lathe-agent/lathe/model/provider"
)

// signer finds who signs requests for Amazon: the keys of settings, of the environment, or of
// Amazon's own files.
func (a *hostEnv) signer(s provider.AWS) (provider.Signer, error) {
	out, err := aws.Open(aws.Settings{
		Service: s.Service, Region: s.Region, Profile: s.Profile, AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretAccessKey, SessionToken: s.SessionToken,
		Env: a.env, Home: a.home(),
	})
	if err != nil {
		return nil, err // not a signer that is none
	}
	return out, nil
}
