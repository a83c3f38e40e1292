package release_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/cli/install/release"
)

// files are the files of releases, by their path below the address.
type files map[string][]byte

// publish adds a release whose program is a shell script.
func (f files) publish(version, script string) files {
	name := archiveName(version)
	archive := pack("lathe", script)
	list := fmt.Appendf(nil, "%x  %s\n%064d  lathe_%s_plan9_mips.tar.gz\n", sha256.Sum256(archive), name, 7, version)
	for _, dir := range []string{"latest/download/", "download/v" + version + "/"} {
		f[dir+"checksums.txt"], f[dir+name] = list, archive
	}
	return f
}

func archiveName(version string) string {
	return "lathe_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
}

func pack(name, script string) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	to := tar.NewWriter(zip)
	_ = to.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "lathe", Linkname: "/etc/passwd"}) // a link is not the program
	_ = to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(script))})
	_, _ = to.Write([]byte(script))
	_, _ = to.Close(), zip.Close()
	return out.Bytes()
}

func (f files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := f[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

// installed makes a folder with a program of version 1.0.0.
func installed(t *testing.T) (program string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program of the test is a shell script")
	}
	program = filepath.Join(t.TempDir(), "lathe")
	if err := os.WriteFile(program, []byte(says("1.0.0")), 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

func says(version string) string { return "#!/bin/sh\necho " + version + "\n" }

// contents lists a folder with the texts of its files.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

func upgrade(ctx context.Context, s *release.Source, version, program string) error {
	r, err := s.Find(ctx, version)
	if err != nil {
		return err
	}
	return s.Install(ctx, r, program)
}

func openSource(t *testing.T, address string) *release.Source {
	t.Helper()
	s, err := release.Open(address)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInstall_AndRollback(t *testing.T) {
	t.Parallel()
	served := httptest.NewServer(files{}.publish("1.1.0", says("1.1.0")).publish("1.2.0-rc.1", says("1.2.0-rc.1")))
	t.Cleanup(served.Close)
	folder := t.TempDir()
	for path, data := range (files{}).publish("1.1.0", says("1.1.0")).publish("1.2.0-rc.1", says("1.2.0-rc.1")) {
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range []string{served.URL, "file://" + folder + "/"} {
		program := installed(t)
		dir, s := filepath.Dir(program), openSource(t, address)
		step := func(what string, err error, now, before string) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			want := map[string]string{"lathe": says(now), "lathe.previous": says(before)}
			if got := contents(t, dir); !maps.Equal(got, want) {
				t.Fatalf("%s: %q, want %q", what, got, want)
			}
		}
		step("latest", upgrade(t.Context(), s, "", program), "1.2.0-rc.1", "1.0.0")
		step("older", upgrade(t.Context(), s, "1.1.0", program), "1.1.0", "1.2.0-rc.1")
		for _, want := range []string{"1.2.0-rc.1", "1.1.0"} {
			got, err := release.Rollback(t.Context(), program)
			if got != want {
				t.Errorf("rolled back to %q, want %q", got, want)
			}
			step("rollback", err, want, map[string]string{"1.1.0": "1.2.0-rc.1", "1.2.0-rc.1": "1.1.0"}[want])
		}
		if info, err := os.Stat(program); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
}

// Whatever is wrong with a release, the error says so and the folder stays as it was.
func TestInstall_Refused(t *testing.T) {
	t.Parallel()
	good := func() files { return files{}.publish("1.1.0", says("1.1.0")) }
	archive := "download/v1.1.0/" + archiveName("1.1.0")
	list := "latest/download/checksums.txt"
	edit := func(name string, change func([]byte) []byte) http.Handler {
		f := good()
		f[name] = change(slices.Clone(f[name]))
		return f
	}
	for name, c := range map[string]struct {
		server http.Handler
		want   string
	}{
		"nothing there":      {files{}, "no release found at"},
		"server error":       {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }), "answers with status 503"},
		"changed archive":    {edit(archive, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }), "does not match its checksum"},
		"short archive":      {edit(archive, func(b []byte) []byte { return b[:len(b)/2] }), "does not match its checksum"},
		"truncated download": {truncated(good(), archive), "ended after"},
		"missing archive":    {edit(list, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("_1.1.0_"), []byte("_1.1.1_")) }), "lists " + archiveName("1.1.1") + " but does not have it"},
		"malformed checksum": {edit(list, func(b []byte) []byte { return append([]byte("z"), b[1:]...) }), "is malformed"},
		"hostile version":    {edit(list, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("_1.1.0_"), []byte("_../../x_")) }), "is malformed"},
		"another platform":   {edit(list, func(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] }), "has no binary for " + runtime.GOOS},
		"endless list":       {edit(list, func([]byte) []byte { return bytes.Repeat([]byte("x"), 2<<20) }), "is larger than"},
		"no program inside":  {foreign(pack("other", says("1.1.0"))), "it has no file lathe"},
		"not an archive":     {foreign([]byte("<html>")), "unpack"},
		"cut archive":        {foreign(pack("lathe", strings.Repeat("x", 5000))[:60]), "unpack"},
		"another version":    {files{}.publish("1.1.0", says("0.9.0")), `says that it is version "0.9.0"`},
		"program that fails": {files{}.publish("1.1.0", "#!/bin/sh\nexit 3\n"), "does not start"},
		"redirect outward":   {http.RedirectHandler("http://example.com/x", http.StatusFound), "cannot use releases from"},
		"redirect to a file": {http.RedirectHandler("file:///etc/passwd", http.StatusFound), "refused the redirect"},
		"redirect forever":   {http.RedirectHandler("/x", http.StatusFound), "too many redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := installed(t)
			before := contents(t, filepath.Dir(program))
			server := httptest.NewServer(c.server)
			defer server.Close()
			err := upgrade(t.Context(), openSource(t, server.URL), "", program)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if got := contents(t, filepath.Dir(program)); !maps.Equal(got, before) {
				t.Errorf("left %q", got)
			}
		})
	}
}

// foreign is a release with a right checksum of a wrong archive.
func foreign(archive []byte) files {
	f := files{}.publish("1.1.0", says("1.1.0"))
	list := fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(archive), archiveName("1.1.0"))
	f["latest/download/checksums.txt"], f["download/v1.1.0/"+archiveName("1.1.0")] = list, archive
	return f
}

// truncated announces more of a file than it sends.
func truncated(f files, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.TrimPrefix(r.URL.Path, "/") == name {
			w.Header().Set("Content-Length", fmt.Sprint(len(f[name])+1000))
		}
		f.ServeHTTP(w, r)
	})
}

func TestInstall_ReadOnlyFolder(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(files{}.publish("1.1.0", says("1.1.0")))
	defer server.Close()
	program := "/proc/lathe" // nobody may write there, not even root
	if runtime.GOOS != "linux" {
		program = filepath.Join(filepath.Dir(installed(t)), "locked", "lathe")
	}
	err := upgrade(t.Context(), openSource(t, server.URL), "", program)
	if err == nil || !strings.Contains(err.Error(), "cannot write to "+filepath.Dir(program)) {
		t.Error(err)
	}
}

// A download that is canceled leaves nothing.
func TestInstall_Canceled(t *testing.T) {
	t.Parallel()
	program := installed(t)
	ctx, cancel := context.WithCancel(t.Context())
	f := files{}.publish("1.1.0", says("1.1.0"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tar.gz") {
			cancel()
			<-r.Context().Done()
			return
		}
		f.ServeHTTP(w, r)
	}))
	defer server.Close()
	if err := upgrade(ctx, openSource(t, server.URL), "", program); err == nil {
		t.Error("it was installed")
	}
	if got := contents(t, filepath.Dir(program)); len(got) != 1 || got["lathe"] != says("1.0.0") {
		t.Errorf("left %q", got)
	}
}

// With a key, only a list of checksums that is signed with it counts.
func TestInstall_Signature(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	f := files{}.publish("1.1.0", says("1.1.0"))
	server := httptest.NewServer(f)
	defer server.Close()
	s := openSource(t, server.URL).WithKey(base64.StdEncoding.EncodeToString(der))
	sign := func(list []byte) []byte {
		sum := sha256.Sum256(list)
		sig, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return []byte(base64.StdEncoding.EncodeToString(sig) + "\n")
	}
	list := f["latest/download/checksums.txt"]
	for _, c := range []struct {
		signature []byte
		want      string
	}{
		{nil, "has no signature"},
		{[]byte("bm9uZQ=="), "does not match the built-in public key"},
		{sign(append([]byte("x"), list...)), "does not match the built-in public key"},
		{sign(list), ""},
	} {
		if delete(f, "latest/download/checksums.txt.sig"); c.signature != nil {
			f["latest/download/checksums.txt.sig"] = c.signature
		}
		_, err := s.Find(t.Context(), "")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestOpen_Addresses(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"": true, "https://example.com/releases": true, "http://127.0.0.1:8080/x": true, "http://localhost/x": true, "http://[::1]:1/": true, "file:///srv/lathe": true,
		"http://example.com/releases": false, "http://127.0.0.1.example.com": false, "ftp://example.com": false, "https://u:p@example.com": false,
		"file://host/share": false, "/srv/lathe": false, "https://": false, "javascript:x": false, "http://localhost@example.com/": false, "%zz": false,
	} {
		if _, err := release.Open(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"1.2.3": true, "v1.2.3": true, "1.2.3-rc.1": true, "1.2": false, "": false, "latest": false, "1.2.3/../x": false, "01.2.3": false, "1.2.3-": false, "1.2.3 ": false} {
		if _, err := release.CheckVersion(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, c := range []struct {
		version, installed string
		want               bool
	}{
		{"1.2.3", "1.2.2", true},
		{"1.2.3", "1.2.3", false},
		{"1.2.3", "1.10.0", false},
		{"1.2.3", "1.2.3-rc.1", true},
		{"1.2.3", "ce40d276-dirty", true},
		{"1.2.3", "v1.2.3", false},
		{"x", "1.0.0", false},
	} {
		if got := release.IsNewer(c.version, c.installed); got != c.want {
			t.Errorf("IsNewer(%s, %s) is %t", c.version, c.installed, got)
		}
	}
}
