#!/bin/sh
# Installs lathe in a dev container. It runs as root while the container is built; VERSION is the option of the feature.
set -eu
base=${LATHE_RELEASES_URL:-https://github.com/lathe-agent/lathe/releases}
version=${VERSION:-latest}
[ "$version" != latest ] || version=

if ! command -v curl >/dev/null && ! command -v wget >/dev/null; then
	if command -v apt-get >/dev/null; then
		apt-get update && apt-get install -y --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/*
	elif command -v apk >/dev/null; then
		apk add --no-cache ca-certificates curl
	elif command -v dnf >/dev/null; then
		dnf install -y ca-certificates curl
	else
		echo "lathe: install curl or wget in the image first" >&2
		exit 1
	fi
fi
script=$(mktemp)
trap 'rm -f "$script"' EXIT
from=$base/latest/download/install.sh
[ -z "$version" ] || from=$base/download/v${version#v}/install.sh
case $from in
file://*) cp "${from#file://}" "$script" ;;
*) if command -v curl >/dev/null; then curl -fsSL -o "$script" "$from"; else wget -q -O "$script" "$from"; fi ;;
esac
LATHE_RELEASES_URL=$base LATHE_VERSION=$version LATHE_INSTALL_DIR=/usr/local/bin sh "$script"
