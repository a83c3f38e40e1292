package aws_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/aws"
)

// home makes a directory with the two shared files.
func home(t *testing.T, credentials, config string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"credentials": credentials, "config": config} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, ".aws", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// signedBy returns the key that a request is signed with.
func signedBy(t *testing.T, s *aws.Signer) (key, token string, err error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "https://h/x", nil)
	if err := s.Sign(r, nil); err != nil {
		return "", "", err
	}
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ = strings.Cut(rest, "/")
	return key, r.Header.Get("X-Amz-Security-Token"), nil
}

const credentialsFile = `
# a remark
[default]
aws_access_key_id = DEFAULT
aws_secret_access_key = s
[ work ]
AWS_Access_Key_ID=WORK   # another
aws_secret_access_key = s#not a remark
aws_session_token = token
[half]
aws_access_key_id = HALF
`

const configFile = `
[default]
region = us-west-2
[profile work]
region = ap-northeast-1
s3 =
  max_concurrent_requests = 20
  region = elsewhere
[profile  login]
sso_session = corp
[profile role]
role_arn = arn:aws:iam::1:role/r
source_profile = default
[sso-session corp]
sso_region = us-east-1
`

func TestOpen_WhoSigns(t *testing.T) {
	dir := home(t, credentialsFile, configFile)
	elsewhere := home(t, "[default]\naws_access_key_id = ELSEWHERE\naws_secret_access_key = s\n", "")
	inEnv := []string{"AWS_ACCESS_KEY_ID=ENV", "AWS_SECRET_ACCESS_KEY=s", "AWS_SESSION_TOKEN=env-token"}
	for _, c := range []struct {
		name                       string
		settings                   aws.Config
		env                        []string
		key, token, region, wanted string
	}{
		{name: "the default profile", key: "DEFAULT", region: "us-west-2"},
		{name: "the environment", env: inEnv, key: "ENV", token: "env-token", region: "us-west-2"},
		{name: "half of the environment", env: inEnv[:1], key: "DEFAULT", region: "us-west-2"},
		{name: "a profile of the environment", env: []string{"AWS_PROFILE=work"}, key: "WORK", token: "token", region: "ap-northeast-1"},
		{name: "a profile of settings wins over keys of the environment", settings: aws.Config{Profile: "work"}, env: inEnv, key: "WORK", token: "token", region: "ap-northeast-1"},
		{name: "keys of settings win over everything", settings: aws.Config{AccessKeyID: "OWN", SecretAccessKey: "s", Profile: "work"}, env: inEnv, key: "OWN", region: "ap-northeast-1"},
		{name: "a region of settings", settings: aws.Config{Region: "eu-west-1"}, env: []string{"AWS_REGION=x"}, key: "DEFAULT", region: "eu-west-1"},
		{name: "a region of the environment", env: []string{"AWS_DEFAULT_REGION=y", "AWS_REGION=x"}, key: "DEFAULT", region: "x"},
		{name: "another file", env: []string{"AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(elsewhere, ".aws", "credentials")}, key: "ELSEWHERE", region: "us-west-2"},
		{name: "no such profile", settings: aws.Config{Profile: "none"}, wanted: `AWS profile "none" not found`},
		{name: "half a profile", settings: aws.Config{Profile: "half"}, wanted: "no AWS credentials"},
		{name: "a login", settings: aws.Config{Profile: "login"}, wanted: "credential_process = aws configure export-credentials --profile login --format process"},
		{name: "a role", settings: aws.Config{Profile: "role"}, wanted: "--profile role"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.settings.Service, c.settings.Home, c.settings.Env = "bedrock", dir, env(c.env...)
			s, err := aws.Open(c.settings)
			if c.wanted != "" {
				if lathe.CodeOf(err) != lathe.Unauthorized || !strings.Contains(err.Error(), c.wanted) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			key, token, err := signedBy(t, s)
			if err != nil || key != c.key || token != c.token || s.Region() != c.region {
				t.Errorf("%s %s %s %v", key, token, s.Region(), err)
			}
		})
	}
}

// Keys that are renewed in the file count at once.
func TestSign_RenewedFile(t *testing.T) {
	dir := home(t, credentialsFile, "")
	s, err := aws.Open(aws.Config{Service: "bedrock", Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	next := strings.Replace(credentialsFile, "DEFAULT", "RENEWED", 1)
	if err := os.WriteFile(filepath.Join(dir, ".aws", "credentials"), []byte(next), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, _, err := signedBy(t, s); err != nil || key != "RENEWED" {
		t.Error(key, err)
	}
}

// A profile may name a command that gives keys. It runs when they are needed, and again before
// they end; what it says is never shown.
func TestSign_Command(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	counted := filepath.Join(dir, "count")
	command := func(out string) string {
		script := filepath.Join(dir, "give.sh")
		if err := os.WriteFile(script, []byte("echo x >>"+counted+"\n"+out+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return "sh " + script
	}
	runs := func() int {
		b, err := os.ReadFile(counted)
		if err != nil {
			return 0
		}
		return strings.Count(string(b), "x")
	}
	line := command(`echo '{"Version":1,"AccessKeyId":"GIVEN","SecretAccessKey":"hush","SessionToken":"tok","Expiration":"2026-01-02T04:00:00Z"}'`)
	at := home(t, "", "[profile p]\ncredential_process = "+line+"\n")
	s, err := aws.Open(aws.Config{Service: "bedrock", Profile: "p", Home: at, Now: func() time.Time { return now }})
	if err != nil || runs() != 0 {
		t.Fatal(err, runs())
	}
	for range 3 {
		if key, token, err := signedBy(t, s); err != nil || key != "GIVEN" || token != "tok" {
			t.Fatal(key, token, err)
		}
	}
	if runs() != 1 {
		t.Errorf("it ran %d times", runs())
	}
	now = now.Add(56 * time.Minute)
	if _, _, err := signedBy(t, s); err != nil || runs() != 2 {
		t.Error(err, runs())
	}
	now = now.Add(time.Hour)
	for out, want := range map[string]string{"echo hush; exit 3": "exit status 3", "echo '{\"AccessKeyId\":\"hush\"}'": "returned no keys", "echo hush": "returned no keys"} {
		command(out)
		if _, _, err := signedBy(t, s); lathe.CodeOf(err) != lathe.Unauthorized || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", out, err)
		}
	}
}

func TestOpen_UnreadableFile(t *testing.T) {
	dir := home(t, strings.Repeat("#", 2<<20), "")
	if _, err := aws.Open(aws.Config{Service: "bedrock", Home: dir}); lathe.CodeOf(err) != lathe.Unauthorized || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
}
