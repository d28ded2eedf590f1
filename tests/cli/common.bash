# What all tests of the command line share. GPUFILTER is the program, SCENE the maker of pictures
# (tests/scene.c). Each test runs in a fresh folder of its own.
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

setup() {
    mkdir "$BATS_TEST_TMPDIR/work" # bats keeps files of its own in the folder above
    cd "$BATS_TEST_TMPDIR/work" || return
}

# A test that failed shows what the program said last.
teardown() {
    [[ -n ${BATS_TEST_COMPLETED-} || -z ${stderr-} ]] || printf 'said at last: %s\n' "$stderr"
}

# scene KIND FILE [WxH]: a picture.
scene() {
    "$SCENE" --size "${3:-64x48}" --kind "$1" "$2"
}

# gf ARGUMENT...: runs the program; $status, $output and $stderr are what it said.
gf() {
    run --separate-stderr "$GPUFILTER" "$@"
}

# npy TYPE ELEMENT_BYTES SHAPE BYTES: an array on standard output, BYTES as \xNN.
npy() {
    local header="{'descr': '$1', 'fortran_order': False, 'shape': ($3), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    # shellcheck disable=SC2059
    printf "$4"
}

# values FORMAT FILE: the numbers of an array, in one line; FORMAT is od's, as u1 or f4.
values() {
    local header
    header=$(od -An -j8 -N2 -tu2 "$2")
    od -An -v -w1000000 -j$((10 + header)) -t"$1" "$2" | tr -s ' ' | sed 's/^ //; s/ $//'
}

# same_picture A B: both decode, and no sample differs.
same_picture() {
    "$GPUFILTER" compare "$1" "$2" >/dev/null
}

# different_picture A B: both decode, and some sample differs.
different_picture() {
    local status=0
    "$GPUFILTER" compare "$1" "$2" >/dev/null || status=$?
    [ "$status" -eq 1 ]
}

# nothing_hidden [FOLDER]: no temporary is left.
nothing_hidden() {
    [ -z "$(find "${1:-.}" -name '.*' ! -name . ! -name ..)" ]
}

# wait_for FILE: until it is there, at most half a minute.
wait_for() {
    local i
    for ((i = 0; i < 600; i++)); do
        [ ! -e "$1" ] || return 0
        sleep 0.05
    done
    return 1
}
