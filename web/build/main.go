// Command build bundles the web app from web/src into web/dist: hashed names, and each file also compressed.
//
//	go run -C web/build . [-out DIR]
//
// It needs the packages of web/package.json (npm ci), and always writes the same bytes for the same sources.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/klauspost/compress/gzip"
)

func main() {
	out := flag.String("out", "../dist", "folder for the bundle, whose files are replaced")
	tests := flag.String("tests", "", "bundle the tests for Node into this folder instead")
	icons := flag.String("icons", "", "draw the icons into this folder instead")
	flag.Parse()
	err := errors.New("no arguments are expected")
	switch {
	case flag.NArg() > 0:
	case *icons != "":
		err = drawIcons(*icons)
	case *tests != "":
		err = bundleTests("..", *tests)
	default:
		err = build("..", *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// common are the options of every bundle.
func common(web string) (api.BuildOptions, error) {
	dir, err := filepath.Abs(web)
	return api.BuildOptions{
		AbsWorkingDir: dir, Bundle: true, LogLevel: api.LogLevelWarning, Target: api.ES2022, Charset: api.CharsetUTF8,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", LegalComments: api.LegalCommentsNone,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
	}, err
}

// bundleTests makes a module for Node of each test.
func bundleTests(web, out string) error {
	o, err := common(web)
	if err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(web, "src", "*.test.ts"))
	if err != nil {
		return err
	}
	for _, name := range names {
		o.EntryPoints = append(o.EntryPoints, "src/"+filepath.Base(name))
	}
	o.Format, o.Platform, o.Outdir, o.Write = api.FormatESModule, api.PlatformNode, out, true
	o.OutExtension = map[string]string{".js": ".mjs"}
	return problems(api.Build(o))
}

// build writes the bundle.
func build(web, out string) error {
	o, err := common(web)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	o.EntryPoints = []string{"src/main.tsx", "src/share.tsx", "src/style.css"}
	o.Format, o.Splitting, o.Metafile, o.Outdir = api.FormatESModule, true, true, "out"
	o.EntryNames, o.ChunkNames = "assets/[name]-[hash]", "assets/[name]-[hash]"
	done := api.Build(o)
	if err := problems(done); err != nil {
		return err
	}
	first := entries(done.Metafile)
	for _, f := range done.OutputFiles {
		name := filepath.ToSlash(f.Path)
		files[name[strings.LastIndex(name, "/out/")+len("/out/"):]] = f.Contents
	}
	page, err := os.ReadFile(filepath.Join(web, "src", "index.html"))
	if err != nil {
		return err
	}
	replace := strings.NewReplacer("{{script}}", "/"+first["src/main.tsx"], "{{style}}", "/"+first["src/style.css"], "{{chunks}}", preloads(done.Metafile, first["src/main.tsx"]))
	files["index.html"] = []byte(replace.Replace(string(page)))
	for _, name := range []string{"manifest.webmanifest", "icon.svg", "icon-192.png", "icon-512.png"} {
		if files[name], err = os.ReadFile(filepath.Join(web, "src", "static", name)); err != nil {
			return err
		}
	}
	if files["sw.js"], err = worker(web, files); err != nil {
		return err
	}
	return write(out, files)
}

// worker bundles the service worker, which knows the files of the shell and their version.
func worker(web string, files map[string][]byte) ([]byte, error) {
	o, err := common(web)
	if err != nil {
		return nil, err
	}
	names, sum := []string{"/"}, sha256.New()
	var all []string
	for name := range files {
		all = append(all, name)
	}
	slices.Sort(all)
	for _, name := range all {
		fmt.Fprintf(sum, "%s %d\n", name, len(files[name]))
		sum.Write(files[name])
		if name != "index.html" && !onDemand(name) {
			names = append(names, "/"+name)
		}
	}
	list, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	o.EntryPoints, o.Format = []string{"src/sw.ts"}, api.FormatIIFE
	o.Define = map[string]string{"SHELL": string(list), "VERSION": `"` + hex.EncodeToString(sum.Sum(nil))[:12] + `"`}
	done := api.Build(o)
	if err := problems(done); err != nil {
		return nil, err
	}
	return done.OutputFiles[0].Contents, nil
}

// onDemand reports whether the app works without a file until somebody opens a terminal, or never needs it.
func onDemand(name string) bool {
	return strings.HasPrefix(name, "assets/terminal-") || strings.HasPrefix(name, "assets/share-")
}

// entries maps a source to its file in the bundle.
func entries(metafile string) map[string]string {
	var meta struct {
		Outputs map[string]struct {
			EntryPoint string `json:"entryPoint"`
		} `json:"outputs"`
	}
	out := map[string]string{}
	if json.Unmarshal([]byte(metafile), &meta) == nil {
		for name, o := range meta.Outputs {
			if o.EntryPoint != "" {
				out[o.EntryPoint] = strings.TrimPrefix(name, "out/")
			}
		}
	}
	return out
}

// preloads are links to what a script imports at once, so that a browser requests all of it together.
func preloads(metafile, script string) string {
	var meta struct {
		Outputs map[string]struct {
			Imports []struct{ Path, Kind string } `json:"imports"`
		} `json:"outputs"`
	}
	var out []string
	if json.Unmarshal([]byte(metafile), &meta) == nil {
		for _, i := range meta.Outputs["out/"+script].Imports {
			if i.Kind == "import-statement" {
				out = append(out, `<link rel="modulepreload" href="/`+strings.TrimPrefix(i.Path, "out/")+`">`)
			}
		}
	}
	return strings.Join(out, "\n")
}

func problems(r api.BuildResult) error {
	var out []error
	for _, m := range r.Errors {
		where := ""
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d: ", m.Location.File, m.Location.Line)
		}
		out = append(out, errors.New(where+m.Text))
	}
	return errors.Join(out...)
}

// write replaces the files of a folder, and prints what the app weighs on the wire.
func write(out string, files map[string][]byte) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	total, lazy := 0, 0
	for name, data := range files {
		all := map[string][]byte{name: data}
		if !strings.HasSuffix(name, ".png") {
			var br, gz bytes.Buffer
			b := brotli.NewWriterLevel(&br, brotli.BestCompression)
			g, err := gzip.NewWriterLevel(&gz, gzip.BestCompression)
			if err != nil {
				return err
			}
			_, e1 := b.Write(data)
			_, e2 := g.Write(data)
			if err := errors.Join(e1, e2, b.Close(), g.Close()); err != nil {
				return err
			}
			all[name+".br"], all[name+".gz"] = br.Bytes(), gz.Bytes()
			fmt.Printf("%7d %6d %s\n", len(data), br.Len(), name)
			if onDemand(name) {
				lazy += br.Len()
			} else {
				total += br.Len()
			}
		}
		for name, data := range all {
			path := filepath.Join(out, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d bytes on the wire, %d on demand\n", total, lazy)
	return nil
}
