#!/usr/bin/env bash
# Makes the Debian package of a build, installs it, runs it, removes it and looks for what is left; and archives of the
# build and of its sources: package.sh BUILD-FOLDER SCENE [--system]. The package goes into a root of its own, so that nothing of this machine changes,
# unless --system is given: then into the machine itself, for containers that are thrown away. Exit status 77: cannot be
# tried here.
set -euo pipefail

build=$(realpath "$1") scene=$(realpath "$2") where=${3-}
fail() {
    printf 'package: %s\n' "$*"
    exit 1
}
skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

for tool in dpkg dpkg-deb dpkg-shlibdeps cpack gzip; do
    command -v "$tool" >/dev/null || skip "no $tool here"
done
if grep -qE '^GPUFILTER_SANITIZE:[A-Z]+=.' "$build/CMakeCache.txt"; then skip 'a build with sanitizers'; fi
if [ "$where" = --system ] && [ "$(id -u)" -ne 0 ]; then skip 'only root installs into the machine'; fi

work=$(mktemp -d)
root=$work/root
installed=no
clean() {
    [ "$installed" = no ] || dpkg --purge gpufilter || :
    rm -rf "$work"
}
trap clean EXIT
mkdir -p "$root/var/lib/dpkg" "$work/elsewhere"
: >"$root/var/lib/dpkg/status"

# pack CONFIG KIND, under a umask that must not matter.
pack() {
    (umask 077 && cpack --config "$build/$1" -G "$2" -B "$work" >"$work/log" 2>&1) || fail "cpack: $(cat "$work/log")"
}
pack CPackConfig.cmake DEB
deb=$(echo "$work"/gpufilter_*.deb)
[ -f "$deb" ] || fail 'cpack made no package'

# ---- what the package says ----

! grep -v '^drwxr-xr-x' <<<"$(dpkg-deb -c "$deb" | grep '^d')" || fail 'folders that are not for everybody'
grep -qE '^libc6 \(>=' <<<"$(dpkg-deb -f "$deb" Depends)" || fail 'no dependency on the C library'
for field in Maintainer Section Description Installed-Size; do
    [ -n "$(dpkg-deb -f "$deb" "$field")" ] || fail "no field $field"
done
mkdir "$work/plain"
dpkg-deb -x "$deb" "$work/plain"
if command -v lintian >/dev/null; then
    runner=()
    [ "$(id -u)" -ne 0 ] || runner=(--allow-root)
    lintian "${runner[@]}" --fail-on error "$deb" || fail 'lintian finds errors'
fi

# The files of "cmake --install", but for what Debian has elsewhere or otherwise.
files() { (cd "$1" && find . -type f -o -type l) | LC_ALL=C sort; }
cmake --install "$build" --prefix "$work/installed/usr" >"$work/log" || fail "cmake --install: $(cat "$work/log")"
as_debian() {
    sed -E 's,(/man[0-9]/.*)$,\1.gz,; s,/zsh/site-functions/,/zsh/vendor-completions/,
        s,/CHANGELOG\.md$,/changelog.gz,; s,/LICENSE$,/copyright,; $a./usr/share/doc/gpufilter/changelog.Debian.gz' |
        LC_ALL=C sort
}
diff <(files "$work/installed" | as_debian) <(files "$work/plain") ||
    fail 'cmake --install (<) and the package (>) have different files'

# ---- archives ----

# unpack NAME: NAME.tar.gz, which has a folder of that name; its path is in $unpacked.
unpack() {
    unpacked=$work/$1
    [ -f "$unpacked.tar.gz" ] || fail "no archive $1.tar.gz"
    tar -C "$work" -xpzf "$unpacked.tar.gz"
    [ -d "$unpacked" ] || fail "$1.tar.gz has no folder $1"
    [ -z "$(find "$unpacked" -mindepth 1 -type d ! -perm 755)" ] || fail "$1.tar.gz: folders that are not for everybody"
}
version=$(dpkg-deb -f "$deb" Version)
version=${version%-*}
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

pack CPackConfig.cmake TGZ
unpack "gpufilter-$version-linux-$(uname -m)"
diff <(files "$work/installed/usr") <(files "$unpacked") || fail 'cmake --install (<) and the archive (>) have different files'
"$unpacked/bin/gpufilter" --version | grep -E '^gpufilter [0-9]' > /dev/null || fail 'the program of the archive has no version'

pack CPackSourceConfig.cmake TGZ
unpack "gpufilter-$version"
[ -x "$unpacked/quickstart.sh" ] || fail 'the sources have no quickstart.sh that can be run'
for left in .git build CMakeCache.txt; do
    [ ! -e "$unpacked/$left" ] || fail "the sources have $left"
done
missing=$(cd "$(cached CMAKE_HOME_DIRECTORY)" && git ls-files 2>/dev/null | while read -r file; do
    [ -e "$unpacked/$file" ] || printf '%s\n' "$file"
done)
[ -z "$missing" ] || fail "not among the sources: $missing"

# ---- install, run, remove ----

dpkg_there() {
    if [ "$where" = --system ]; then
        dpkg "$@"
    else # its libraries are this machine's, which its own list of packages does not know
        dpkg --root="$root" --force-not-root --force-depends --log="$work/dpkg.log" "$@"
    fi >"$work/log" 2>&1 || fail "dpkg $*: $(cat "$work/log")"
}
# Files that are there, but for dpkg's own.
present() { find "$root" -mindepth 1 ! -path "$root/var*" | LC_ALL=C sort; }
removable=yes
if [ "$where" = --system ]; then
    if dpkg-query -W gpufilter >/dev/null 2>&1; then skip 'a package gpufilter is installed'; fi
    root=''
    installed=yes
    dpkg_there -i "$deb"
elif [ "$(id -u)" -eq 0 ]; then
    dpkg_there -i "$deb"
else # only root may give files to root
    rm -r "$root"
    cp -a "$work/plain" "$root"
    removable=no
fi

cd "$work/elsewhere"
"$root/usr/bin/gpufilter" --version | grep -E '^gpufilter [0-9]' > /dev/null || fail 'the program has no version'
"$scene" --size 31x17 --kind rgb8 in.png
"$root/usr/bin/gpufilter" in.png --kernel sobel -o out.png --device cpu || fail 'the program does not filter'
[ -s out.png ] || fail 'no output'
for page in man1/gpufilter.1 man7/gpufilter-filters.7; do
    gzip -dc "$root/usr/share/man/$page.gz" | grep '^\.Sh NAME' > /dev/null || fail "no manual page $page"
done
gzip -dc "$root/usr/share/doc/gpufilter/changelog.gz" | grep '^# Changes' > /dev/null || fail 'no changes'
grep -q '^License: Apache-2.0' "$root/usr/share/doc/gpufilter/copyright" || fail 'no licence'
# Stripped: no table of symbols.
if command -v readelf >/dev/null; then
    ! readelf -S "$root/usr/bin/gpufilter" | grep '\.symtab' > /dev/null || fail 'the program is not stripped'
fi

# Each shell finds its script by itself.
PATH=$root/usr/bin:$PATH
export XDG_DATA_DIRS=$root/usr/share:/usr/share HOME=$work/elsewhere
if [ -e /usr/share/bash-completion/bash_completion ]; then
    # shellcheck disable=SC2016
    bash --norc -c '. /usr/share/bash-completion/bash_completion; _completion_loader gpufilter
        complete -p gpufilter' | grep ' -F ' > /dev/null || fail 'bash does not find its completions'
fi
if command -v zsh >/dev/null; then
    # shellcheck disable=SC2016
    found=$(ROOT=$root zsh -fc '[[ -z $ROOT ]] || fpath=($ROOT/usr/share/zsh/vendor-completions $fpath)
        autoload -U compinit; compinit -uD; print $_comps[gpufilter]')
    [ "$found" = _gpufilter ] || fail 'zsh does not find its completions'
fi
if command -v fish >/dev/null; then
    fish -c "complete -C 'gpufilter a.png --over'" | grep -- --overwrite > /dev/null || fail 'fish does not find its completions'
fi

cd "$work"
if [ "$removable" = no ]; then
    printf 'installed and run; removed only by root\n'
    exit 0
fi
dpkg_there --purge gpufilter
installed=no
if [ "$where" = --system ]; then
    left=$(cd "$work/plain" && find . -type f | while read -r file; do
        [ ! -e "/$file" ] || printf '%s\n' "$file"
    done)
    ! dpkg-query -W gpufilter >/dev/null 2>&1 || fail 'dpkg still knows the package'
    [ ! -e /usr/share/doc/gpufilter ] || fail 'its documents are left'
else
    left=$(present)
fi
[ -z "$left" ] || fail "left behind: $left"
printf 'installed, run and removed\n'
