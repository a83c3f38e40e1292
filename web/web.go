// Package web holds the web app that the server sends to browsers: the bundle that make web builds from web/src.
//
// Every file lies there compressed as well, so that serving one costs a copy. The package has no state and needs only
// the standard library. Start reading at Open; docs/web.md describes the app.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
)

// Policy is the Content-Security-Policy of the page: its own scripts and styles, requests to its own server, pictures
// that it was given as data, and nothing else. A script that a model or a repository smuggles in does not run.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"

//go:embed dist
var dist embed.FS

// File is one file of the app.
type File struct {
	Type         string // for Content-Type
	Immutable    bool   // its name has a hash of the content, so that it never changes
	ETag         string // with quotes
	Body         []byte
	Gzip, Brotli []byte // nil if compression does not help
}

// types maps an extension to a media type.
func types(ext string) string {
	switch ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".webmanifest":
		return "application/manifest+json"
	default:
		return ""
	}
}

// Open returns a file by its path in a URL; "/" is the page. The path is a name, never a location on a disk.
func Open(name string) (File, bool) {
	name = strings.TrimPrefix(name, "/")
	if name == "" {
		name = "index.html"
	}
	f := File{Type: types(path.Ext(name)), Immutable: strings.HasPrefix(name, "assets/")}
	body, err := dist.ReadFile("dist/" + name)
	if f.Type == "" || err != nil {
		return File{}, false
	}
	sum := sha256.Sum256(body)
	f.Body, f.ETag = body, `"`+hex.EncodeToString(sum[:12])+`"`
	f.Gzip, f.Brotli = smaller("dist/"+name+".gz", body), smaller("dist/"+name+".br", body)
	return f, true
}

// Asset returns the path of the script or style of this name. Its file name has a hash.
func Asset(name, ext string) string {
	all, err := fs.Glob(dist, "dist/assets/"+name+"-*"+ext)
	if err != nil || len(all) != 1 {
		return "" // web_test.go forbids it
	}
	return strings.TrimPrefix(all[0], "dist")
}

// smaller returns a compressed form unless it is not smaller.
func smaller(name string, than []byte) []byte {
	b, err := fs.ReadFile(dist, name)
	if err != nil || len(b) >= len(than) {
		return nil
	}
	return b
}
