#!/usr/bin/env bash
# gpu.sh [BUILD_DIR]: every test that needs a GPU, in one call. Status: 0 all passed, 1 not, 77 no GPU
# (or a build without tests for one).
set -euo pipefail

build=${1:-build/release}
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

status=0
"$test_gpu" >"$log/output" 2>&1 || status=$?
if [ "$status" -eq 77 ]; then
    cat "$log/output"
    exit 77
fi
report test_gpu "$status"

# The program: GPU and CPU agree on every filter and border, on every kind of PNG.
"$build/tests/scene" "$log"
mapfile -t kernels < <("$gpufilter" filters | sed -n 's/^\([a-z]*\)  .*/\1/p')
[ "${#kernels[@]}" -gt 0 ]
kernels+=('gaussian:sigma=1.4,sobel' 'unsharp:sigma=2:threshold=3,sharpen:amount=0.4')
for kernel in "${kernels[@]}"; do
    for border in replicate reflect101 reflect wrap constant:90 zero valid; do
        check "$kernel, border $border" "$gpufilter" "$log"/scene-*.png --kernel "$kernel" \
            --border "$border" --device cuda --compare
    done
done

# Every access, race, uninitialised read and barrier of a part of the cases of test_gpu.
if command -v compute-sanitizer >/dev/null; then
    for tool in 'memcheck --leak-check full' racecheck initcheck synccheck; do
        # shellcheck disable=SC2086 # a tool and its options
        check "compute-sanitizer $tool" compute-sanitizer --tool $tool --error-exitcode 1 \
            --print-limit 5 "$test_gpu" --quick
    done
else
    echo '# no compute-sanitizer here'
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
