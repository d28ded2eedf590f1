#!/usr/bin/env bash
# Builds gpufilter on a fresh Debian 12 or Ubuntu 24.04, and tries or tests it. Installs what is
# missing by apt, asks nothing, and needs neither root nor network when everything is there.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"

usage='usage: ./quickstart.sh                  build, and filter a sample picture
       ./quickstart.sh build            build; the last line printed is the path of the program
       ./quickstart.sh test [PRESET...] build, and run all tests; presets: release, and asan (with
                                        sanitizers), where none are named
       ./quickstart.sh packages [STEP]  only install what STEP (build, test, ci or more) needs
       ./quickstart.sh --help           this text
The GPU backend is built when nvcc, the compiler of CUDA, is on the PATH or in /usr/local/cuda/bin.'

# What is needed: for which step, a command or a header, its package, and why. A step needs what the
# steps before it need.
needed='build command gcc             gcc             compiles the program
build   header  stdio.h         libc6-dev       the C library
build   command make            make            runs the compiler
build   command cmake           cmake           configures the build
build   header  png.h           libpng-dev      reads and writes PNG
build   header  jpeglib.h       libjpeg-dev     reads and writes JPEG
build   header  zlib.h          zlib1g-dev      compresses PNG and colour profiles
build   header  isa-l.h         libisal-dev     reads and compresses PNG
build   header  libdeflate.h    libdeflate-dev  compresses PNG
build   header  lcms2.h         liblcms2-dev    reads colour profiles
build   header  jansson.h       libjansson-dev  writes JSON
build   header  cmocka.h        libcmocka-dev   runs the unit tests
test    command bats            bats            runs the tests of the command line
test    command python3         python3         reads JSON in the tests
ci      command clang-format-14 clang-format-14 checks the layout of the code
ci      command cppcheck        cppcheck        looks for defects in the code
ci      command shellcheck      shellcheck      looks for defects in the scripts
ci      command mandoc          mandoc          checks the manual pages
more    command lintian         lintian         checks the Debian package
more    command zsh             zsh             completes words in the tests
more    command fish            fish            completes words in the tests
more    command sbatch          slurm-wlm       runs shards in the tests
more    command mpirun          openmpi-bin     runs shards in the tests'

say() { printf '== %s\n' "$*"; }
die() {
    printf 'quickstart.sh: %s\n' "$*" >&2
    exit 1
}

have_nvcc() { command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; }

# Looks for the thing, not its package: what was installed by other means counts too.
there() { # command|header NAME
    if [ "$1" = command ]; then
        command -v "$2" >/dev/null
    else
        [ -e "/usr/include/$2" ] || compgen -G "/usr/include/*-linux-gnu/$2" >/dev/null ||
            gcc -E -include "$2" -x c /dev/null >/dev/null 2>&1
    fi
}

install_missing() { # STEP
    local missing=() root=() step kind thing package why
    if have_nvcc; then needed="build command g++ g++ nvcc compiles host code with it"$'\n'$needed; fi
    while read -r step kind thing package why; do
        case "$1 $step" in build\ test | build\ ci | test\ ci | build\ more | test\ more | ci\ more) continue ;; esac
        there "$kind" "$thing" && continue
        [ ${#missing[@]} -gt 0 ] || say 'Missing packages:'
        printf '   %-16s %s\n' "$package" "$why"
        missing+=("$package")
    done <<<"$needed"
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null ||
        die 'no apt-get here: please install these (or what your system calls them) and start again'
    local by_hand="apt-get install ${missing[*]}"
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

build() { # PRESET, in build/PRESET
    local cache=build/$1/CMakeCache.txt fresh=()
    # A build folder that was copied here with the sources belongs to another place.
    if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
        fresh=(--fresh)
    fi
    say "Building in build/$1"
    cmake --preset "$1" "${fresh[@]}"
    cmake --build --preset "$1" --parallel "$(nproc)"
}

# Runs CTest and adds its counts to the totals. A failure is remembered, and the other builds tested.
passed=0 failed=0 skipped=0
run_tests() { # PRESET
    local report=$PWD/build/$1/tests.xml status=0 fixed_layout=() tests failures left_out
    say "Testing build/$1"
    rm -f "$report"
    # Sanitizers know only some layouts of memory; without randomisation they get one of those.
    if setarch -R true 2>/dev/null; then fixed_layout=(setarch -R); fi
    "${fixed_layout[@]}" ctest --preset "$1" --parallel "$(nproc)" --no-tests=error \
        --output-junit "$report" </dev/null || status=$?
    [ -s "$report" ] || die "ctest did not run in build/$1"
    # The first NAME="..." of the file is the test suite's.
    count() { grep -o "\b$1=\"[0-9]*\"" "$report" | head -n 1 | tr -dc 0-9; }
    tests=$(count tests) failures=$(count failures) left_out=$(($(count skipped) + $(count disabled)))
    [ "$status" -eq 0 ] || [ "$failures" -gt 0 ] || failures=1
    passed=$((passed + tests - failures - left_out))
    failed=$((failed + failures))
    skipped=$((skipped + left_out))
}

program=$PWD/build/release/gpufilter
case ${1-} in
'')
    install_missing build
    build release
    "$program" tests/pictures/scene.png --kernel sobel --overwrite -o build/scene.sobel.png
    say 'Filtered a sample picture:'
    printf '   program  %s\n   input    %s\n   output   %s\n' \
        "$program" "$PWD/tests/pictures/scene.png" "$PWD/build/scene.sobel.png"
    if [ -e /dev/nvidiactl ] && ! have_nvcc; then
        say 'There is a GPU here but no nvcc: install the CUDA toolkit and start again to use it.'
    fi
    ;;
build)
    install_missing build
    build release
    printf '%s\n' "$program"
    ;;
test)
    install_missing test
    shift
    [ $# -gt 0 ] || set -- release asan
    for preset; do
        build "$preset"
        run_tests "$preset"
    done
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
    ;;
packages)
    case ${2:-test} in
    build | test | ci | more) install_missing "${2:-test}" ;;
    *)
        printf '%s\n' "$usage" >&2
        exit 2
        ;;
    esac
    ;;
-h | --help) printf '%s\n' "$usage" ;;
*)
    printf '%s\n' "$usage" >&2
    exit 2
    ;;
esac
