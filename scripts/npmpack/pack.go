package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// packed is the time of every file, the one that npm itself uses: the same input gives the same bytes.
const packed = 499162500

// pack writes a package in the format of npm: a compressed tar file below the folder package.
func pack(m manifest, files []file) ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	files = append(files, file{"package.json", 0o644, append(text, '\n')})
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	to := tar.NewWriter(zip)
	for _, f := range files {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: "package/" + f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: time.Unix(packed, 0).UTC(), Format: tar.FormatUSTAR}
		if err := to.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := to.Write(f.data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(to.Close(), zip.Close())
	return out.Bytes(), err
}
