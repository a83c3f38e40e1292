package aws

import (
	"context"
	"encoding/json"
	"os/exec"
	"runtime"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lathe-agent/lathe"
)

const (
	commandTime = time.Minute     // how long a command for credentials may take
	renewBefore = 5 * time.Minute // how long before their end credentials are asked for again
)

// find returns the keys that are at hand, or the command that gives some. Keys of the config win,
// then a profile that settings name, then the environment, then the profile that counts anyway.
func (s *Signer) find(p profile) (keys aws.Credentials, command string, err error) {
	env := s.settings.Env
	fromEnv := aws.Credentials{
		AccessKeyID: env("AWS_ACCESS_KEY_ID"), SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"), SessionToken: env("AWS_SESSION_TOKEN"),
	}
	fromProfile := aws.Credentials{
		AccessKeyID: p["aws_access_key_id"], SecretAccessKey: p["aws_secret_access_key"], SessionToken: p["aws_session_token"],
	}
	own := aws.Credentials{
		AccessKeyID: s.settings.AccessKeyID, SecretAccessKey: s.settings.SecretAccessKey, SessionToken: s.settings.SessionToken,
	}
	switch {
	case own.HasKeys():
		return own, "", nil
	case s.settings.Profile == "" && fromEnv.HasKeys():
		return fromEnv, "", nil
	case fromProfile.HasKeys():
		return fromProfile, "", nil
	case p["credential_process"] != "":
		return aws.Credentials{}, p["credential_process"], nil
	}
	return aws.Credentials{}, "", s.nothing(p)
}

// nothing says why there is nothing to sign with, and what to do.
func (s *Signer) nothing(p profile) error {
	name := s.name()
	if p["sso_session"] != "" || p["sso_start_url"] != "" || p["role_arn"] != "" {
		return lathe.Errorf(lathe.Unauthorized, "the AWS profile %q uses a login or a role, which needs the aws command: "+
			"add the line \"credential_process = aws configure export-credentials --profile %s --format process\" to it", name, name)
	}
	token := ""
	if s.settings.Service == "bedrock" {
		token = "AWS_BEARER_TOKEN_BEDROCK, or "
	}
	return lathe.Errorf(lathe.Unauthorized, "no AWS credentials: set %sAWS_ACCESS_KEY_ID and "+
		"AWS_SECRET_ACCESS_KEY, or run \"aws configure --profile %s\"", token, name)
}

// credentials returns keys that are good now.
func (s *Signer) credentials(ctx context.Context) (aws.Credentials, error) {
	p, err := s.profile()
	if err != nil {
		return aws.Credentials{}, err
	}
	keys, command, err := s.find(p)
	if err != nil || command == "" {
		return keys, err
	}
	s.mu.Lock()
	given := s.given
	s.mu.Unlock()
	if given.HasKeys() && (!given.CanExpire || s.settings.Now().Before(given.Expires.Add(-renewBefore))) {
		return given, nil
	}
	if given, err = run(ctx, s.name(), command); err != nil {
		return aws.Credentials{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = given
	return given, nil
}

// run asks the command of a profile for keys. What it writes is never shown: it holds them.
func run(ctx context.Context, name, command string) (aws.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	shell := []string{"sh", "-c", command}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd.exe", "/C", command}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1:]...)
	cmd.WaitDelay = time.Second // a child of it may hold the pipe
	out, err := cmd.Output()
	if err != nil {
		return aws.Credentials{}, lathe.Errorf(lathe.Unauthorized, "the credential_process of the AWS profile %q failed (%s): run it yourself to see why", name, err)
	}
	var said struct {
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		SessionToken    string
		Expiration      time.Time
	}
	if json.Unmarshal(out, &said) != nil || said.AccessKeyID == "" || said.SecretAccessKey == "" {
		return aws.Credentials{}, lathe.Errorf(lathe.Unauthorized, "the credential_process of the AWS profile %q returned no keys: run it yourself to see why", name)
	}
	return aws.Credentials{
		AccessKeyID: said.AccessKeyID, SecretAccessKey: said.SecretAccessKey, SessionToken: said.SessionToken,
		CanExpire: !said.Expiration.IsZero(), Expires: said.Expiration,
	}, nil
}
