package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Install downloads a release and puts it in place of the program. The old program stays beside it, for [Rollback].
// Everything happens in a folder beside the program first, which is removed whatever happens.
func (s *Source) Install(ctx context.Context, r Release, program string) (err error) {
	work, err := workFolder(program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	archive := filepath.Join(work, "archive")
	if err := s.download(ctx, r, archive); err != nil {
		return err
	}
	fresh := filepath.Join(work, filepath.Base(program))
	if err := s.unpack(archive, fresh); err != nil {
		return lathe.Errorf(lathe.Invalid, "unpack %s: %w; nothing was installed", r.archive, err)
	}
	if err := try(ctx, fresh, r.Version); err != nil {
		return err
	}
	return swap(program, fresh)
}

// workFolder makes a folder beside the program: on the same disk, so that a rename is atomic.
func workFolder(program string) (string, error) {
	dir := filepath.Dir(program)
	work, err := os.MkdirTemp(dir, ".lathe-upgrade-*")
	if err != nil {
		if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		return "", lathe.Errorf(lathe.Denied, "cannot write to %s: %w; nothing was installed. Run the upgrade as a user who may write there", termtext.Plain(dir), err)
	}
	return work, nil
}

// download writes the archive of a release to a file and compares its checksum.
func (s *Source) download(ctx context.Context, r Release, to string) (err error) {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := sha256.New()
	err = s.fetch(ctx, r.folder+"/"+r.archive, maxArchive, io.MultiWriter(f, hash))
	if errors.Is(err, errMissing) {
		return lathe.Errorf(lathe.NotFound, "the release at %s lists %s but does not have it; nothing was installed", s.base, r.archive)
	}
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != r.sum {
		return lathe.Errorf(lathe.Invalid, "%s does not match its checksum (want %s…, got %s…): the download is incomplete or was changed; nothing was installed",
			r.archive, r.sum[:12], got[:12])
	}
	return nil
}

// unpack writes the program of an archive to a file. Nothing else in the archive is looked at.
func (s *Source) unpack(archive, to string) error {
	name := "lathe"
	if s.os == "windows" {
		return unpackZip(archive, name+".exe", to)
	}
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for all := tar.NewReader(zipped); ; {
		head, err := all.Next()
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("it has no file %s", name)
		case err != nil:
			return err
		case head.Typeflag == tar.TypeReg && path.Clean(head.Name) == name:
			return writeProgram(to, all)
		}
	}
}

func unpackZip(archive, name, to string) error {
	all, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = all.Close() }() // it is only read
	for _, f := range all.File {
		if f.Name != name || !f.Mode().IsRegular() {
			continue
		}
		from, err := f.Open()
		if err != nil {
			return err
		}
		return errors.Join(writeProgram(to, from), from.Close())
	}
	return fmt.Errorf("it has no file %s", name)
}

func writeProgram(to string, from io.Reader) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(from, maxProgram+1))
	if n > maxProgram {
		err = fmt.Errorf("the program is larger than %s", termtext.ByteSize(maxProgram))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// try starts the new program: a wrong platform, a missing right to execute or a broken build is found before it is
// installed.
func try(ctx context.Context, program, version string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := runVersion(ctx, program)
	if err != nil {
		return lathe.Errorf(lathe.Invalid, "the new version does not start: %w; nothing was installed", err)
	}
	if got := string(bytes.TrimSpace(out)); got != version {
		return lathe.Errorf(lathe.Invalid, "the new program says that it is version %s, not %s; nothing was installed", termtext.Quote(clip(got)), version)
	}
	return nil
}

// runVersion runs `lathe version`, again if another process of ours still had the new file open when it forked.
func runVersion(ctx context.Context, program string) (out []byte, err error) {
	for range 20 {
		cmd := exec.CommandContext(ctx, program, "version")
		cmd.Dir = filepath.Dir(program)
		if out, err = cmd.Output(); err == nil || !strings.Contains(err.Error(), "text file busy") {
			return out, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return out, err
}

// Previous returns the path of the program that an installation replaced.
func Previous(program string) string {
	base, exe := strings.CutSuffix(program, ".exe")
	if exe {
		return base + ".previous.exe"
	}
	return program + ".previous"
}

// Rollback exchanges the program and the one before it. A second rollback returns to the first.
func Rollback(ctx context.Context, program string) (version string, err error) {
	before := Previous(program)
	if info, err := os.Lstat(before); err != nil || !info.Mode().IsRegular() {
		return "", lathe.Errorf(lathe.NotFound, "no previous version at %s; only `lathe upgrade` saves one", termtext.Plain(before))
	}
	out, err := runVersion(ctx, before)
	if err != nil {
		return "", lathe.Errorf(lathe.Invalid, "the previous version at %s does not start: %w; nothing was changed", termtext.Plain(before), err)
	}
	work, err := workFolder(program)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	fresh := filepath.Join(work, filepath.Base(program))
	if err := copyFile(before, fresh); err != nil {
		return "", err
	}
	if err := swap(program, fresh); err != nil {
		return "", err
	}
	return termtext.Plain(strings.TrimSpace(string(out))), nil
}

// swap puts a new program in place and keeps the old one. Where a running program can be linked and replaced, the
// path leads to one of the two at every moment. Windows can only rename it: there a crash between the two renames
// leaves the old program under its other name.
func swap(program, fresh string) error {
	before := Previous(program)
	kept := fresh + ".kept"
	if err := keepOld(program, fresh, kept, before); err != nil {
		return lathe.Errorf(lathe.Denied, "cannot replace %s: %w; the old program is still there", termtext.Plain(program), err)
	}
	atomicfile.SyncDir(filepath.Dir(program))
	return nil
}

// copyFile copies a program.
func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	return cmp.Or(writeProgram(to, f), f.Close())
}
