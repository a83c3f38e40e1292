// Package release finds releases of lathe, downloads and verifies one, and puts it in place of the installed program.
//
// It trusts the origin of the releases (https, loopback for tests, or a local folder) for the list of checksums, and
// nothing that does not match that list. If a public key is built in, the list must be signed with it. Every failure
// leaves the installed program as it was.
//
// It owns no goroutine. Callers serialize installations with a lock. Start reading at [Source.Find] and [Install].
package release

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// DefaultBase is the address of the published releases.
const DefaultBase = "https://github.com/lathe-agent/lathe/releases"

// publicKey is the key of the release signatures, in base64 of its DER form. The linker sets it in signed releases
// (see .goreleaser.yaml); without it, signatures are not checked.
var publicKey string

// Names and limits of the files of a release.
const (
	checksumsName  = "checksums.txt"
	signatureName  = checksumsName + ".sig"
	maxChecksums   = 1 << 20
	maxArchive     = 256 << 20
	maxProgram     = 512 << 20
	platformFormat = "_%s_%s%s"
)

// Source is where releases are published: <base>/latest/download/FILE and <base>/download/vVERSION/FILE.
type Source struct {
	base string
	key  string
	os   string
	arch string
}

// Open returns the source at an address. "" is [DefaultBase].
func Open(base string) (*Source, error) {
	if base == "" {
		base = DefaultBase
	}
	if err := checkAddress(base); err != nil {
		return nil, err
	}
	return &Source{base: strings.TrimRight(base, "/"), key: publicKey, os: runtime.GOOS, arch: runtime.GOARCH}, nil
}

// Base returns the address of the releases.
func (s *Source) Base() string { return s.base }

// Release is one version for this platform.
type Release struct {
	Version string // without v
	archive string
	sum     string // SHA-256 of the archive, in hex
	folder  string // address of its files
}

// isVersion reports whether a text is a whole version without build metadata, with or without its v.
func isVersion(text string) bool {
	v := "v" + strings.TrimPrefix(text, "v")
	return len(v) <= 96 && semver.Canonical(v) == v
}

// CheckVersion returns a version without its v, or an error if it is none.
func CheckVersion(v string) (string, error) {
	if !isVersion(v) {
		return "", lathe.Errorf(lathe.Invalid, "%s is not a version; want one such as 1.2.3", termtext.Quote(v))
	}
	return strings.TrimPrefix(v, "v"), nil
}

// IsNewer reports whether a version is newer than the installed one. A development build is older than any release.
func IsNewer(version, installed string) bool {
	version, installed = "v"+strings.TrimPrefix(version, "v"), "v"+strings.TrimPrefix(installed, "v")
	return semver.IsValid(version) && (!semver.IsValid(installed) || semver.Compare(version, installed) > 0)
}

// Find returns a version, or the latest one for "". It downloads the list of checksums only.
func (s *Source) Find(ctx context.Context, version string) (Release, error) {
	folder := s.base + "/latest/download"
	if version != "" {
		folder = s.base + "/download/v" + version
	}
	list, err := s.fetchSmall(ctx, folder+"/"+checksumsName)
	switch {
	case errors.Is(err, errMissing) && version != "":
		return Release{}, lathe.Errorf(lathe.NotFound, "release %s not found at %s", version, s.base)
	case errors.Is(err, errMissing):
		return Release{}, lathe.Errorf(lathe.NotFound, "no release found at %s", s.base)
	case err != nil:
		return Release{}, err
	}
	if err := s.checkSignature(ctx, folder, list); err != nil {
		return Release{}, err
	}
	r, err := s.pick(list)
	if err != nil {
		return Release{}, err
	}
	if version != "" && r.Version != version {
		return Release{}, lathe.Errorf(lathe.Invalid, "the release %s at %s lists the version %s; nothing was installed", version, s.base, r.Version)
	}
	r.folder = s.base + "/download/v" + r.Version
	return r, nil
}

// pick finds the archive of this platform in a list of checksums.
func (s *Source) pick(list []byte) (Release, error) {
	ext := ".tar.gz"
	if s.os == "windows" {
		ext = ".zip"
	}
	suffix := fmt.Sprintf(platformFormat, s.os, s.arch, ext)
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		version, found := strings.CutSuffix(strings.TrimPrefix(name, "lathe_"), suffix)
		if !ok || !found || !strings.HasPrefix(name, "lathe_") {
			continue
		}
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size || !isVersion(version) || version[0] == 'v' {
			return Release{}, lathe.Errorf(lathe.Invalid, "the list of checksums at %s is malformed: %s", s.base, termtext.Quote(clip(lines.Text())))
		}
		return Release{Version: version, archive: name, sum: strings.ToLower(sum)}, nil
	}
	return Release{}, lathe.Errorf(lathe.NotFound, "the release at %s has no binary for %s/%s; build it from source with `go install`", s.base, s.os, s.arch)
}

// checkSignature verifies the list of checksums as `cosign verify-blob --key` does: ECDSA over SHA-256, in base64.
func (s *Source) checkSignature(ctx context.Context, folder string, list []byte) error {
	if s.key == "" {
		return nil
	}
	bad := func(why string) error {
		return lathe.Errorf(lathe.Invalid, "the signature of the release at %s cannot be verified: %s; nothing was installed", s.base, why)
	}
	der, err := base64.StdEncoding.DecodeString(s.key)
	if err != nil {
		return bad("the built-in public key is malformed")
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	key, ok := parsed.(*ecdsa.PublicKey)
	if err != nil || !ok {
		return bad("the built-in public key is malformed")
	}
	text, err := s.fetchSmall(ctx, folder+"/"+signatureName)
	switch {
	case errors.Is(err, errMissing):
		return bad("it has no signature")
	case err != nil:
		return err
	}
	signature, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	sum := sha256.Sum256(list)
	if err != nil || !ecdsa.VerifyASN1(key, sum[:], signature) {
		return bad("it does not match the built-in public key")
	}
	return nil
}

// clip shortens foreign text for a message.
func clip(text string) string { return text[:min(len(text), 80)] }
