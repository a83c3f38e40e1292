package push

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
)

// checkKeys refuses keys with which nothing can be encrypted for a browser. They are base64url with or without padding.
func checkKeys(p256dh, auth string) error {
	point, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(p256dh, "="))
	if err != nil {
		return lathe.Errorf(lathe.Invalid, "p256dh is not base64url")
	}
	if _, err := ecdh.P256().NewPublicKey(point); err != nil { // also checks that it is on the curve
		return lathe.Errorf(lathe.Invalid, "p256dh is not a P-256 key")
	}
	secret, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(auth, "="))
	if err != nil || len(secret) != 16 {
		return lathe.Errorf(lathe.Invalid, "auth is not 16 bytes in base64url")
	}
	return nil
}

// NewKey makes a private key that signs requests to push services, as text.
func NewKey() string {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // there are random numbers
	}
	return base64.RawURLEncoding.EncodeToString(key.Bytes())
}

// publicKey is the public part of a key of NewKey, as browsers want it.
func publicKey(private string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(private)
	if err != nil {
		return "", fmt.Errorf("read the key for notifications: %w", err)
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return "", fmt.Errorf("read the key for notifications: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), nil
}
