package push

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

const (
	recordSize = 4096 // bytes, the most that push services take
	// padTo hides the length of short payloads, and with it what they are about.
	padTo    = 512
	saltSize = 16
	overhead = saltSize + 4 + 1 + 65 + 16 + 1 // header, tag, delimiter
)

// keys are those of a browser's subscription.
type keys struct {
	public *ecdh.PublicKey
	auth   []byte
}

// parseKeys reads the keys of a subscription, which are base64url with or without padding.
func parseKeys(p256dh, auth string) (keys, error) {
	point, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(p256dh, "="))
	if err != nil {
		return keys{}, lathe.Errorf(lathe.Invalid, "p256dh is not base64url")
	}
	public, err := ecdh.P256().NewPublicKey(point) // also checks that it is on the curve
	if err != nil {
		return keys{}, lathe.Errorf(lathe.Invalid, "p256dh is not a P-256 key")
	}
	secret, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(auth, "="))
	if err != nil || len(secret) != 16 {
		return keys{}, lathe.Errorf(lathe.Invalid, "auth is not 16 bytes in base64url")
	}
	return keys{public, secret}, nil
}

// encrypt makes a body that only the browser can read (RFC 8291).
func encrypt(text []byte, to keys) ([]byte, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // it never fails
	plain := append(text[:len(text):len(text)], 2)
	for len(plain) < padTo {
		plain = append(plain, 0)
	}
	return seal(plain, to, own, salt)
}

// seal encrypts one record, which has its delimiter.
func seal(plain []byte, to keys, own *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(plain)+overhead > recordSize {
		return nil, lathe.Errorf(lathe.Invalid, "a notification of %d bytes is too long", len(plain))
	}
	shared, err := own.ECDH(to.public)
	if err != nil {
		return nil, err
	}
	from := own.PublicKey().Bytes()
	secret, err := hkdf.Key(sha256.New, shared, to.auth, "WebPush: info\x00"+string(to.public.Bytes())+string(from), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	out := append(binary.BigEndian.AppendUint32(salt[:saltSize:saltSize], recordSize), byte(len(from)))
	return gcm.Seal(append(out, from...), nonce, plain, nil), nil
}

// NewKey makes a private key that signs requests to push services, as text.
func NewKey() string {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // there are random numbers
	}
	return base64.RawURLEncoding.EncodeToString(key.Bytes())
}

// PublicKey is the public part of a key of NewKey, as browsers want it.
func PublicKey(private string) (string, error) {
	key, err := parseKey(private)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), nil
}

func parseKey(private string) (*ecdh.PrivateKey, error) {
	raw, err := base64.RawURLEncoding.DecodeString(private)
	if err != nil {
		return nil, fmt.Errorf("read the key for notifications: %w", err)
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("read the key for notifications: %w", err)
	}
	return key, nil
}

// tokenTime is how long a signature is valid. Services accept at most a day.
const tokenTime = 12 * time.Hour

// contact is how the operator of a push service finds out what sends the requests. Services require an address.
const contact = "https://github.com/lathe-agent/lathe"

// authorize signs a request to a push service (RFC 8292).
func authorize(private string, endpoint *url.URL, now time.Time) (string, error) {
	key, err := parseKey(private)
	if err != nil {
		return "", err
	}
	signer, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), key.Bytes())
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"aud": endpoint.Scheme + "://" + endpoint.Host, "exp": now.Add(tokenTime).Unix(), "sub": contact})
	if err != nil {
		return "", err
	}
	e := base64.RawURLEncoding
	text := e.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + e.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, signer, sum[:])
	if err != nil {
		return "", err
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + text + "." + e.EncodeToString(signature[:]) + ", k=" + e.EncodeToString(key.PublicKey().Bytes()), nil
}
