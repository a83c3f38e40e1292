#!/bin/sh
# Prepares a release: writes the shell completions, the manual page and the npm package that starts the right
# binary, and builds the program that packs binaries for npm. GoReleaser runs it before it builds:
# packaging/prepare.sh VERSION. The output depends on the source and the version only.
set -eu
cd "$(dirname "$0")/.."
out=bin/release
rm -rf "$out"
mkdir -p "$out/completions" "$out/man"
unset GOOS GOARCH
export CGO_ENABLED=0
go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$1" -o "$out/lathe" ./cmd/lathe
"$out/lathe" completion bash >"$out/completions/lathe.bash"
"$out/lathe" completion zsh >"$out/completions/_lathe"
"$out/lathe" completion fish >"$out/completions/lathe.fish"
"$out/lathe" completion powershell >"$out/completions/lathe.ps1"
"$out/lathe" man | gzip -9n >"$out/man/lathe.1.gz"
rm "$out/lathe"
go build -trimpath -buildvcs=false -o "$out/npmpack" ./scripts/npmpack
"$out/npmpack" -version "$1" -o "$out/npm"
