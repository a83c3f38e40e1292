package push

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/url"
	"strings"
	"testing"
	"time"
)

func decode(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The example of RFC 8291, appendix A.
func TestSeal_RFC8291(t *testing.T) {
	to, err := parseKeys("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg")
	if err != nil {
		t.Fatal(err)
	}
	own, err := ecdh.P256().NewPrivateKey(decode(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := seal([]byte("When I grow up, I want to be a watermelon\x02"), to, own, decode(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	if err != nil {
		t.Fatal(err)
	}
	want := decode(t, "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	if !bytes.Equal(got, want) {
		t.Errorf("%x", got)
	}
}

func TestParseKeys_Bad(t *testing.T) {
	const key, auth = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg"
	if _, err := parseKeys(key+"=", auth+"=="); err != nil {
		t.Errorf("padded: %v", err)
	}
	for _, c := range [][2]string{{"", auth}, {key, ""}, {key[:20], auth}, {key, auth + "AA"}, {strings.Replace(key, "C", "D", 1), auth}, {"%%", auth}, {key, "%%"}} {
		if _, err := parseKeys(c[0], c[1]); err == nil {
			t.Errorf("%q is accepted", c)
		}
	}
}

// A service can check who sends a request.
func TestAuthorize(t *testing.T) {
	private := NewKey()
	to, _ := url.Parse("https://push.example:8443/a/b?c=d")
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	header, err := authorize(private, to, now)
	if err != nil {
		t.Fatal(err)
	}
	public, err := PublicKey(private)
	if err != nil {
		t.Fatal(err)
	}
	token, rest, _ := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if rest != public || len(parts) != 3 {
		t.Fatal(header)
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(decode(t, parts[1]), &claims); err != nil || claims.Aud != "https://push.example:8443" || claims.Exp != now.Add(12*time.Hour).Unix() || !strings.HasPrefix(claims.Sub, "https://") {
		t.Errorf("%+v, %v", claims, err)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), decode(t, public))
	if err != nil {
		t.Fatal(err)
	}
	sum, signature := sha256.Sum256([]byte(parts[0]+"."+parts[1])), decode(t, parts[2])
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the signature is wrong")
	}
}

// Short payloads have one length, and long ones are refused.
func TestEncrypt_Length(t *testing.T) {
	to, err := parseKeys("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg")
	if err != nil {
		t.Fatal(err)
	}
	short, err1 := encrypt([]byte("a"), to)
	longer, err2 := encrypt(bytes.Repeat([]byte("a"), 400), to)
	if err1 != nil || err2 != nil || len(short) != len(longer) || bytes.Equal(short[:16], longer[:16]) {
		t.Errorf("%d and %d bytes, %v, %v", len(short), len(longer), err1, err2)
	}
	if _, err := encrypt(make([]byte, recordSize), to); err == nil {
		t.Error("a long one is sent")
	}
}
