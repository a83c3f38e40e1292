package aws_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/aws"
	"github.com/lathe-agent/lathe/model/bedrock"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/wiretest"
)

const (
	keyID  = "AKIDEXAMPLE"
	secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == name {
				return v
			}
		}
		return ""
	}
}

// verify computes the signature of a request from what arrived, as the service does, and says
// what is wrong with the one it carries.
func verify(r *http.Request, body []byte, secret string) error {
	auth, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return fmt.Errorf("not signed: %q", r.Header.Get("Authorization"))
	}
	parts := map[string]string{}
	for _, p := range strings.Split(auth, ", ") {
		k, v, _ := strings.Cut(p, "=")
		parts[k] = v
	}
	scope := strings.SplitN(parts["Credential"], "/", 2)[1]
	names := strings.Split(parts["SignedHeaders"], ";")
	for _, must := range []string{"content-type", "host", "x-amz-date"} {
		if !slices.Contains(names, must) {
			return fmt.Errorf("%s is not signed: %v", must, names)
		}
	}
	var headers strings.Builder
	for _, n := range names {
		value := r.Header.Get(n)
		switch n {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		fmt.Fprintf(&headers, "%s:%s\n", n, strings.Join(strings.Fields(value), " "))
	}
	var path strings.Builder // each segment is escaped once more than it was sent
	for i, segment := range strings.Split(r.URL.EscapedPath(), "/") {
		if i > 0 {
			path.WriteByte('/')
		}
		path.WriteString(strings.ReplaceAll(url.QueryEscape(segment), "+", "%20"))
	}
	sum := sha256.Sum256(body)
	canonical := strings.Join([]string{r.Method, path.String(), r.URL.RawQuery, headers.String(), parts["SignedHeaders"], hex.EncodeToString(sum[:])}, "\n")
	hashed := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), scope, hex.EncodeToString(hashed[:])}, "\n")
	key := []byte("AWS4" + secret)
	for _, step := range strings.Split(scope, "/") {
		key = mac(key, step)
	}
	if want := hex.EncodeToString(mac(key, text)); want != parts["Signature"] {
		return fmt.Errorf("the signature is %s, want %s for\n%s", parts["Signature"], want, canonical)
	}
	return nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// A whole request, signed, to a server that checks the signature and answers in frames.
func TestSign_Bedrock(t *testing.T) {
	scripted := modeltest.New(modeltest.MustParse("text \"Hel\" \"lo\"\ncall bash {\"command\":\"ls\"}\nusage 7 3"))
	type seen struct {
		err   error
		auth  string
		token string
	}
	arrived := make(chan seen, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verify(r, body, secret)
		}
		arrived <- seen{err, r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token")}
		r.Body = io.NopCloser(bytes.NewReader(body))
		scripted.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	signer, err := aws.Open(aws.Config{
		Service: "bedrock", Region: "eu-west-1", Env: env("AWS_ACCESS_KEY_ID="+keyID, "AWS_SECRET_ACCESS_KEY="+secret, "AWS_SESSION_TOKEN=the-token"), Home: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	m := bedrock.New(model.Endpoint{Provider: "amazon-bedrock", BaseURL: s.URL, Client: s.Client(), Sign: signer.Sign, Header: map[string]string{"X-Mine": "a  b"}}, wiretest.IDs())
	r := model.Request{
		Model: "arn:aws:bedrock:eu-west-1:1:application-inference-profile/eu.anthropic.claude-x-v1:0", MaxOutput: 9,
		Messages: []model.Message{{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: "hi é"}}}},
	}
	events, err := wiretest.Collect(m.Stream(t.Context(), r))
	got := <-arrived
	if err != nil || got.err != nil || got.token != "the-token" || !strings.Contains(got.auth, keyID+"/") || !strings.Contains(got.auth, "/eu-west-1/bedrock/aws4_request") {
		t.Fatalf("%v %+v", err, got)
	}
	if shown := wiretest.Show(events, nil); !strings.Contains(shown, `"Hello"`) || !strings.Contains(shown, "call call_1_1 bash") || !strings.HasSuffix(shown, "finish tool-calls tool_use\n") {
		t.Error(shown)
	}
	if got := scripted.Last(); got.Problem != "" || got.Prompt.Model != "eu.anthropic.claude-x-v1:0" {
		t.Errorf("%+v", got)
	}
}

// The checker above notices what is wrong.
func TestSign_Verify(t *testing.T) {
	signer, err := aws.Open(aws.Config{Service: "bedrock", AccessKeyID: keyID, SecretAccessKey: secret, Home: t.TempDir(), Now: func() time.Time { return time.Unix(1440938160, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	request := func() *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%3A0/converse-stream", strings.NewReader("body"))
		r.Header.Set("Content-Type", "application/json")
		if err := signer.Sign(r, []byte("body")); err != nil {
			t.Fatal(err)
		}
		return r
	}
	good := request()
	if err := verify(good, []byte("body"), secret); err != nil || good.Header.Get("X-Amz-Date") != "20150830T123600Z" || signer.Region() != "us-east-1" {
		t.Error(err, good.Header)
	}
	for name, wrong := range map[string]func(r *http.Request) ([]byte, string){
		"body":   func(*http.Request) ([]byte, string) { return []byte("other"), secret },
		"secret": func(*http.Request) ([]byte, string) { return []byte("body"), "other" },
		"header": func(r *http.Request) ([]byte, string) {
			r.Header.Set("Content-Type", "text/plain")
			return []byte("body"), secret
		},
		"path": func(r *http.Request) ([]byte, string) {
			r.URL.Path, r.URL.RawPath = "/model/b", ""
			return []byte("body"), secret
		},
	} {
		r := request()
		body, key := wrong(r)
		if verify(r, body, key) == nil {
			t.Errorf("another %s is not noticed", name)
		}
	}
}

func TestOpen_Nothing(t *testing.T) {
	_, err := aws.Open(aws.Config{Service: "bedrock", Home: t.TempDir()})
	if lathe.CodeOf(err) != lathe.Unauthorized || !strings.Contains(err.Error(), "AWS_BEARER_TOKEN_BEDROCK") || !strings.Contains(err.Error(), "aws configure") {
		t.Error(err)
	}
}
