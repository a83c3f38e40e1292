package push

import (
	"strings"
	"testing"
)

func TestCheckKeys(t *testing.T) {
	// The key of a browser in RFC 8291, appendix A.
	const key, auth = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg"
	if err := checkKeys(key+"=", auth+"=="); err != nil {
		t.Errorf("padded: %v", err)
	}
	for _, c := range [][2]string{{"", auth}, {key, ""}, {key[:20], auth}, {key, auth + "AA"}, {strings.Replace(key, "C", "D", 1), auth}, {"%%", auth}, {key, "%%"}} {
		if err := checkKeys(c[0], c[1]); err == nil {
			t.Errorf("%q is accepted", c)
		}
	}
}

func TestPublicKey_Bad(t *testing.T) {
	for _, bad := range []string{"", "%%", "AAAA", NewKey()[1:]} {
		if got, err := publicKey(bad); err == nil {
			t.Errorf("%q has the public key %q", bad, got)
		}
	}
}
