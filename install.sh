#!/bin/sh
# Installs lathe for the current user, without root:
#
#   curl -fsSL https://github.com/lathe-agent/lathe/releases/latest/download/install.sh | sh
#
# It downloads the binary of this platform, compares its SHA-256 checksum with that of the release, starts it once and
# moves it into place. If anything fails, nothing is installed. Variables:
#
#   LATHE_VERSION        version to install, such as 1.2.3; default: the latest
#   LATHE_INSTALL_DIR    folder for the program; default: ~/.local/bin
#   LATHE_RELEASES_URL   address of the releases: https, file:///folder, or http on this machine
set -eu

say() { printf '%s\n' "$*"; }

fail() {
	printf 'install.sh: %s\n' "$1" >&2
	shift
	for line in "$@"; do printf '  %s\n' "$line" >&2; done
	exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# fetch URL FILE: the status is 1 if the file cannot be downloaded whole.
fetch() {
	case $1 in
	file://*) cp "${1#file://}" "$2" 2>/dev/null ;;
	*)
		if has curl; then
			curl -fsSL --proto-redir "$redirects" --retry 2 -o "$2" "$1"
		else
			wget -q -O "$2" "$1"
		fi
		;;
	esac
}

sum() {
	if has sha256sum; then
		sha256sum "$1" | cut -d ' ' -f 1
	elif has shasum; then
		shasum -a 256 "$1" | cut -d ' ' -f 1
	else
		openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
	fi
}

find_platform() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	MINGW* | MSYS* | CYGWIN*) fail "this script does not install on Windows" "Use Scoop (scoop install lathe), npm, or the .zip file of the release." ;;
	*) fail "there is no binary for $(uname -s)" "Build lathe from source: go install github.com/lathe-agent/lathe/cmd/lathe@latest" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no binary for $os on $(uname -m)" "Build lathe from source: go install github.com/lathe-agent/lathe/cmd/lathe@latest" ;;
	esac
	if [ "$os" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
		arch=arm64 # this shell runs in Rosetta
	fi
}

check_address() {
	redirects='=https'
	case $base in
	https://?*) ;;
	file:///*) ;;
	http://localhost | http://localhost[:/]* | http://127.0.0.1 | http://127.0.0.1[:/]* | http://\[::1\]*) redirects='=https,http' ;;
	*) fail "cannot use releases from $base" "Use https://…, file:///folder, or http:// on this machine." ;;
	esac
	case $base in
	*@*) fail "cannot use releases from an address with a user name" ;;
	file:*) ;;
	*) has curl || has wget || fail "neither curl nor wget is installed" "Install one of them and try again." ;;
	esac
	has sha256sum || has shasum || has openssl || fail "no program computes SHA-256 checksums here" "Install coreutils, perl or openssl and try again."
}

# find_release sets version, archive and want, from the list of checksums.
find_release() {
	version=${LATHE_VERSION:-}
	version=${version#v}
	case $version in
	'') list=$base/latest/download/checksums.txt ;;
	*[!0-9A-Za-z.-]*) fail "\"$version\" is not a version" "Set LATHE_VERSION to one such as 1.2.3, or leave it out." ;;
	*) list=$base/download/v$version/checksums.txt ;;
	esac
	say "Looking for ${version:-the latest version} at $base"
	fetch "$list" "$work/checksums.txt" || fail "cannot download $list" "Check the version, your network and https_proxy."
	archive=$(sed -n "s/^[0-9a-f]\{64\}  \(lathe_[0-9A-Za-z.-]*_${os}_${arch}\.tar\.gz\)\$/\1/p" "$work/checksums.txt" | head -n 1)
	[ -n "$archive" ] || fail "the release has no binary for $os/$arch" "Build lathe from source: go install github.com/lathe-agent/lathe/cmd/lathe@latest"
	want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/checksums.txt" | head -n 1)
	found=${archive#lathe_}
	found=${found%_"${os}_${arch}".tar.gz}
	[ -z "$version" ] || [ "$version" = "$found" ] || fail "the release $version lists the version $found"
	version=$found
}

# for_missing sets made to the topmost folder of a path that has to be made.
for_missing() {
	path=$1
	while [ ! -d "$path" ]; do
		made=$path
		path=$(dirname "$path")
	done
}

# clean removes the work, and folders that were made and are still empty.
clean() {
	[ -z "$work" ] || rm -rf "$work"
	path=$dir
	while [ -n "$made" ] && rmdir "$path" 2>/dev/null && [ "$path" != "$made" ]; do
		path=$(dirname "$path")
	done
}

main() {
	base=${LATHE_RELEASES_URL:-https://github.com/lathe-agent/lathe/releases}
	base=${base%/}
	dir=${LATHE_INSTALL_DIR:-${HOME:?HOME is not set}/.local/bin}
	find_platform
	check_address
	umask 022
	work='' made=''
	trap clean EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	for_missing "$dir"
	mkdir -p "$dir" 2>/dev/null || fail "cannot make the folder $dir; nothing was installed" "Set LATHE_INSTALL_DIR to a folder that you may write to."
	work=$(mktemp -d "$dir/.lathe-install.XXXXXX" 2>/dev/null) ||
		fail "cannot write to the folder $dir; nothing was installed" "Set LATHE_INSTALL_DIR to a folder that you may write to."

	find_release
	say "Downloading $archive"
	fetch "$base/download/v$version/$archive" "$work/$archive" || fail "the download of $archive failed; nothing was installed" "Check your network and try again."
	got=$(sum "$work/$archive")
	[ "$got" = "$want" ] || fail "$archive does not match its checksum; nothing was installed" "want $want" "got  $got" "The download is incomplete or was changed. Try again."
	say "Verified the SHA-256 checksum $want"
	tar -xzf "$work/$archive" -C "$work" lathe 2>/dev/null || fail "$archive cannot be unpacked; nothing was installed" "Is the disk full?"
	chmod 755 "$work/lathe"
	said=$("$work/lathe" version 2>&1) || fail "the program does not start here; nothing was installed" "$said"
	[ "$said" = "$version" ] || fail "the program says that it is version $said, not $version; nothing was installed"
	[ ! -d "$dir/lathe" ] || fail "$dir/lathe is a folder; nothing was installed"
	mv -f "$work/lathe" "$dir/lathe" || fail "cannot replace $dir/lathe; nothing was installed"
	say "Installed lathe $version as $dir/lathe"
	case :${PATH:-}: in
	*:"$dir":*) say "Try it: lathe demo" ;;
	*) say "Add the folder to your PATH: export PATH=\"$dir:\$PATH\""
		say "Then try it: lathe demo" ;;
	esac
	say "Upgrade later with: lathe upgrade"
}

# The last line calls it, so that a script that arrived by half does nothing.
main
