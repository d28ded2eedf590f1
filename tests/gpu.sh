#!/usr/bin/env bash
# gpu.sh [BUILD_DIR [PART...]]: every test that needs a GPU, in one call, or parts of them: `methods` (test_gpu),
# `program`, `loads`, `sanitizers`. Status: 0 all passed, 1 not, 77 no GPU (or a build without tests for one).
set -euo pipefail

build=${1:-build/release}
parts=("${@:2}")
[ "${#parts[@]}" -gt 0 ] || parts=(methods program loads sanitizers)
test_gpu=$build/tests/test_gpu
gpufilter=$build/gpufilter
PATH=$PATH:/usr/local/cuda/bin
passed=0
failed=0

if ! [ -x "$test_gpu" ]; then
    echo "SKIP: there is no $test_gpu"
    exit 77
fi
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# report NAME STATUS: counts; shows the last line of what passed and the end of what failed.
report() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok - $1: $(tail -n 1 "$log/output")"
    else
        failed=$((failed + 1))
        tail -n 30 "$log/output"
        echo "not ok - $1"
    fi
}

# check NAME COMMAND...
check() {
    local name=$1 status=0
    shift
    "$@" >"$log/output" 2>&1 || status=$?
    report "$name" "$status"
}

methods() {
    check test_gpu "$test_gpu"
}

# numpy_array SHAPE COUNT: so many numbers, 1/32, 1/64 and 3/64 in turn, as an .npy file.
numpy_array() {
    local i bytes=('\x00\x00\x00\x3d' '\x00\x00\x80\x3c' '\x00\x00\x40\x3d')
    printf '\x93NUMPY\x01\x00v\x00%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': ($1), }"
    for ((i = 0; i < $2; i++)); do
        # shellcheck disable=SC2059 # bytes are what it is for
        printf "${bytes[i % 3]}"
    done
}

# Each method by its name: it agrees with the CPU, or says that it is not made for that filter.
by_name() {
    local method name status taken
    numpy_array '3, 3, 5, 5' 225 >"$log/layer.npy"
    numpy_array '8, 3, 3, 3' 216 >"$log/maps.npy"
    numpy_array '3, 8, 3, 3' 216 >"$log/colours.npy"
    local -A filter
    filter[sobel]=sobel
    filter[gaussian]=gaussian:sigma=2
    filter[box]=box:size=5
    filter[layer]=conv:weights=$log/layer.npy:padding=2
    filter[network]=conv:weights=$log/maps.npy:padding=same,relu,maxpool,conv:weights=$log/colours.npy
    while read -r method; do
        taken=0
        for name in "${!filter[@]}"; do
            status=0
            "$gpufilter" "$log/scene-rgb8.png" --kernel "${filter[$name]}" --algorithm "$method" \
                --compare >"$log/output" 2>&1 || status=$?
            if [ "$status" -ne 0 ] && grep -q ": $method: " "$log/output"; then
                echo "# $method, $name: $(sed -n "s/.*: $method: //p" "$log/output")"
            else
                taken=$((taken + 1))
                report "--algorithm $method, $name" "$status"
            fi
        done
        echo "takes $taken of ${#filter[@]} filters" >"$log/output"
        report "--algorithm $method" $((taken == 0))
    done < <("$gpufilter" algorithms | sed -n 's/^\([a-z0-9]\{1,\}\) .*/\1/p')
}

# The program: GPU and CPU agree on every filter and border, on every kind of PNG.
program() {
    local arguments border kernel kernels kind length angle
    "$build/tests/scene" "$log"
    # Those two need files.
    mapfile -t kernels < <("$gpufilter" filters |
        sed -n '/^\(conv\|wpool\) /d; s/^\([a-z0-9]*\)  .*/\1/p')
    [ "${#kernels[@]}" -gt 0 ]
    kernels+=('gaussian:sigma=1.4,sobel' 'unsharp:sigma=2:threshold=3,sharpen:amount=0.4')
    arguments=()
    for kernel in "${kernels[@]}"; do
        arguments+=(--kernel "$kernel")
    done
    for border in replicate reflect101 reflect wrap constant:90 zero valid; do
        check "all filters, border $border" "$gpufilter" "$log"/scene-*.png "${arguments[@]}" \
            --border "$border" --device cuda --compare
    done

    # The same where kernels are taken that only large pictures have, at more than the filters' own sizes.
    for kind in gray8 rgb8 gray16 rgb16; do
        "$build/tests/scene" --size 1201x1003 --kind "$kind" "$log/large-$kind.png"
    done
    arguments=()
    for length in 9 13 15 17 19 21 25 31; do
        for angle in 0 20 45 70; do
            arguments+=(--kernel "motion:length=$length:angle=$angle")
        done
        arguments+=(--kernel "box:size=$length" --kernel "disk:radius=$((length / 2))")
    done
    check 'large pictures, kernels of 9 to 31' "$gpufilter" "$log"/large-*.png "${kernels[@]/#/--kernel=}" \
        "${arguments[@]}" --device cuda --compare

    by_name
}

# What methods load, by a profiler's counters.
loads() {
    local status=0
    "$(dirname "$0")/gpu/loads.sh" "$test_gpu" >"$log/output" 2>&1 || status=$?
    sed 's/^/# /' "$log/output"
    if [ "$status" -ne 77 ]; then
        report 'loads agree with the model' "$status"
    fi
}

# sanitize GROUP TOOL [OPTION...]: a part of the cases of test_gpu; of all groups where GROUP is `all`.
sanitize() {
    local group=() name=$1
    shift
    [ "$name" = all ] || group=(--group "$name")
    check "compute-sanitizer $1, $name" compute-sanitizer --tool "$@" --error-exitcode 1 --print-limit 5 \
        "$test_gpu" --quick "${group[@]}"
}

# Every access, race, uninitialised read and barrier. A group at a time by racecheck, which takes much memory: of one group
# 128 GiB were too few.
sanitizers() {
    local group
    if command -v compute-sanitizer >/dev/null; then
        sanitize all memcheck --leak-check full
        sanitize all initcheck
        sanitize all synccheck
        while read -r group <&3; do
            sanitize "$group" racecheck
        done 3< <("$test_gpu" --quick --list)
    else
        echo '# no compute-sanitizer here'
    fi
}

status=0
"$test_gpu" --group none >"$log/output" 2>&1 || status=$?
if [ "$status" -eq 77 ]; then
    cat "$log/output"
    exit 77
fi
for part in "${parts[@]}"; do
    case $part in
        methods | program | loads | sanitizers) "$part" ;;
        *)
            echo "gpu.sh: there is no part '$part'" >&2
            exit 2
            ;;
    esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
