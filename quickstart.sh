#!/usr/bin/env bash
# Builds gpufilter on a fresh Debian 12 or Ubuntu 24.04, and tries or tests it. Installs what is
# missing by apt, asks nothing, and needs neither root nor network when everything is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
    cat <<'END'
usage: ./quickstart.sh               build, and filter a sample picture
       ./quickstart.sh build         build; the last line printed is the program's path
       ./quickstart.sh test          build, and run all tests, also with sanitizers
       ./quickstart.sh packages      only install what build and tests need
       ./quickstart.sh --help        this text

The GPU backend is built when CUDA's compiler, nvcc, is on the PATH or in /usr/local/cuda/bin.
END
}

say() { printf '== %s\n' "$*"; }
die() {
    printf 'quickstart.sh: %s\n' "$*" >&2
    exit 1
}

nvcc_there() { command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; }

# A program on the PATH, or a header where the compiler looks. Packages are not asked for: what was
# installed by other means counts too.
there() {
    case $1 in
    command) command -v "$2" >/dev/null ;;
    header)
        [ -e "/usr/include/$2" ] || compgen -G "/usr/include/*-linux-gnu/$2" >/dev/null ||
            gcc -E -include "$2" -x c /dev/null >/dev/null 2>&1
        ;;
    esac
}

# need KIND THING PACKAGE WHY: notes the package when the thing is missing.
missing=()
reasons=()
need() {
    if ! there "$1" "$2"; then
        missing+=("$3")
        reasons+=("$(printf '   %-18s %s' "$3" "$4")")
    fi
}

need_to_build() {
    need command gcc gcc 'compiles the program'
    need header stdio.h libc6-dev 'the C library'
    need command make make 'runs the compiler'
    need command cmake cmake 'configures the build'
    need header png.h libpng-dev 'reads and writes PNG'
    need header jpeglib.h libjpeg-dev 'reads and writes JPEG'
    need header zlib.h zlib1g-dev 'compresses PNG and ICC profiles'
    need header jansson.h libjansson-dev 'reads and writes JSON'
    need header cmocka.h libcmocka-dev 'runs the unit tests'
    if nvcc_there; then
        need command g++ g++ 'nvcc compiles the host side of kernel files with it'
    fi
}

need_to_test() {
    need_to_build
    need command bats bats 'runs the tests of the command line'
}

need_to_check() {
    need_to_test
    need command clang-format-14 clang-format-14 'checks the layout of the code'
    need command cppcheck cppcheck 'looks for defects in the code'
    need command shellcheck shellcheck 'looks for defects in the scripts'
    need command mandoc mandoc 'checks the manual pages'
}

install_missing() {
    [ ${#missing[@]} -gt 0 ] || return 0
    say 'These packages are missing:'
    printf '%s\n' "${reasons[@]}"
    command -v apt-get >/dev/null ||
        die 'no apt-get here: please install these (or what your system calls them), then start again'
    local by_hand="apt-get install ${missing[*]}"
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        root=(sudo -n) # fails rather than ask for a password
        "${root[@]}" true 2>/dev/null || die "neither root nor sudo here; please run as root: $by_hand"
    fi
    local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3)
    say "Installing: ${missing[*]}"
    "${apt[@]}" update </dev/null || say 'apt-get update failed; trying with the lists that are there'
    "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null ||
        die "apt-get could not install them (is the network there?); by hand: $by_hand"
}

# build PRESET: configures and builds in build/PRESET.
build() {
    local cache=build/$1/CMakeCache.txt fresh=()
    # A build folder that was copied here with the sources belongs to another place.
    if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
        fresh=(--fresh)
    fi
    say "Building in build/$1"
    cmake --preset "$1" "${fresh[@]}"
    cmake --build --preset "$1" --parallel "$(nproc)"
}

# run_tests PRESET: runs CTest and adds its counts to the totals. A failure is remembered, not fatal:
# the other builds are still tested.
passed=0 failed=0 skipped=0
run_tests() {
    local junit=$PWD/build/$1/tests.xml status=0 tests failures left_out
    say "Testing build/$1"
    rm -f "$junit"
    ctest --preset "$1" --parallel "$(nproc)" --no-tests=error --output-junit "$junit" </dev/null ||
        status=$?
    [ -s "$junit" ] || die "ctest did not run in build/$1"
    # count NAME: the number in the first NAME="..." of the file, which is the test suite's.
    count() { grep -o "\b$1=\"[0-9]*\"" "$junit" | head -n 1 | tr -dc 0-9; }
    tests=$(count tests) failures=$(count failures) left_out=$(($(count skipped) + $(count disabled)))
    [ "$status" -eq 0 ] || [ "$failures" -gt 0 ] || failures=1
    passed=$((passed + tests - failures - left_out))
    failed=$((failed + failures))
    skipped=$((skipped + left_out))
}

program=$PWD/build/release/gpufilter
case ${1-} in
'' | build)
    need_to_build
    install_missing
    build release
    if [ "${1-}" = build ]; then
        printf '%s\n' "$program"
        exit
    fi
    "$program" tests/pictures/scene.png --kernel sobel --overwrite -o build/scene.sobel.png
    say 'Filtered a sample picture:'
    printf '   program  %s\n   input    %s\n   output   %s\n' \
        "$program" "$PWD/tests/pictures/scene.png" "$PWD/build/scene.sobel.png"
    if [ -e /dev/nvidiactl ] && ! nvcc_there; then
        say 'There is a GPU here but no nvcc: install the CUDA toolkit and start again to use it.'
    fi
    ;;
test)
    need_to_test
    install_missing
    for preset in release asan; do
        build "$preset"
        run_tests "$preset"
    done
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
    ;;
packages | ci-packages)
    if [ "$1" = packages ]; then need_to_test; else need_to_check; fi
    install_missing
    ;;
-h | --help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
