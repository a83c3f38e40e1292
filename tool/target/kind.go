package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

const SampleSize = 4096

// ReadSample reads the beginning of a file and goes back.
func ReadSample(file *os.File) ([]byte, error) {
	sample := make([]byte, SampleSize)
	n, err := file.ReadAt(sample, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return sample[:n], nil
}

// MediaType returns the type of an image or document that models can be shown, by what it
// begins with. The name alone does not count: what is called an image and is none (a pointer
// of git lfs, an error page) makes providers refuse the whole conversation from then on.
func MediaType(path string, sample []byte) string {
	for _, m := range []struct{ magic, mime string }{
		{"\x89PNG\r\n\x1a\n", "image/png"},
		{"\xff\xd8\xff", "image/jpeg"},
		{"GIF87a", "image/gif"},
		{"GIF89a", "image/gif"},
		{"%PDF-", "application/pdf"},
	} {
		if bytes.HasPrefix(sample, []byte(m.magic)) {
			return m.mime
		}
	}
	if bytes.HasPrefix(sample, []byte("RIFF")) && len(sample) >= 12 && string(sample[8:12]) == "WEBP" {
		return "image/webp"
	}
	// Some programs put a few bytes before the head of a document, and readers allow it.
	if extension(path) == "pdf" && bytes.Contains(sample[:min(len(sample), 1024)], []byte("%PDF-")) {
		return "application/pdf"
	}
	return ""
}

// RefuseBinary refuses what is no text, and names a way to look at it.
func RefuseBinary(t Target, sample []byte, size int64) error {
	what, command := BinaryKind(t.Path, sample)
	if what == "" {
		return nil
	}
	return tool.Failf("Cannot read binary file: %s is %s of %s. To look at it: bash with %s", t.Shown, what, phrase.Size(size),
		fmt.Sprintf(command, "'"+strings.ReplaceAll(t.Shown, "'", `'\''`)+"'"))
}

// BinaryKind says what a file is that is no text, and a command that shows it; "" for text.
func BinaryKind(path string, sample []byte) (what, command string) {
	ext := extension(path)
	switch ext {
	case "zip", "jar", "war":
		return "an archive (" + ext + ")", "unzip -l %s"
	case "docx", "xlsx", "pptx", "odt", "ods", "odp":
		return "an office document (" + ext + ")", "unzip -l %s"
	case "tar", "gz":
		return "an archive (" + ext + ")", "tar -tf %s, or zcat and head"
	case "7z":
		return "an archive (" + ext + ")", "7z l %s"
	case "exe", "dll", "so", "class", "doc", "xls", "ppt", "bin", "dat", "obj", "o", "a", "lib", "wasm", "pyc", "pyo":
		return "a binary file (" + ext + ")", "file %s, or xxd and head"
	}
	if bytes.HasPrefix(sample, []byte("\xff\xfe")) || bytes.HasPrefix(sample, []byte("\xfe\xff")) {
		return "a text in UTF-16", "iconv -f UTF-16 -t UTF-8 %s"
	}
	odd := 0
	for _, b := range sample {
		switch {
		case b == 0:
			return "a binary file", "file %s, or xxd and head"
		case b < 9 || b > 13 && b < 32:
			odd++
		}
	}
	if odd*10 > len(sample)*3 {
		return "a binary file", "file %s, or xxd and head"
	}
	return "", ""
}

func extension(path string) string {
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
}
