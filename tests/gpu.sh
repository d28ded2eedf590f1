#!/bin/sh
# gpu.sh [BUILD_DIR]: every test that needs a GPU, in one call. Status: 0 all passed, 1 not, 77 no GPU
# (or a build without tests for one).
set -u
build=${1:-build/release}
test_gpu=$build/tests/test_gpu
gpufilter=$build/gpufilter
PATH=$PATH:/usr/local/cuda/bin
passed=0
failed=0

# report NAME STATUS LOG: counts, and shows the end of what failed.
report() {
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
    echo "ok - $1: $(tail -n 1 "$3")"
  else
    failed=$((failed + 1))
    tail -n 30 "$3"
    echo "not ok - $1"
  fi
}

[ -x "$test_gpu" ] || { echo "SKIP: there is no $test_gpu"; exit 77; }
log=$(mktemp -d) || exit 1
trap 'rm -rf "$log"' EXIT
"$test_gpu" > "$log/test_gpu" 2>&1
status=$?
[ $status -ne 77 ] || { cat "$log/test_gpu"; exit 77; }
report "test_gpu" $status "$log/test_gpu"

# The program: GPU and CPU agree on every filter and border, on every kind of PNG.
"$build/tests/scene" "$log" || exit 1
chains="gaussian:sigma=1.4,sobel unsharp:sigma=2:threshold=3,sharpen:amount=0.4"
for kernel in $("$gpufilter" filters | sed -n 's/^\([a-z]*\)  .*/\1/p') $chains; do
  for border in replicate reflect101 reflect wrap constant:90 zero valid; do
    "$gpufilter" "$log"/scene-*.png --kernel "$kernel" --border $border --device cuda --compare \
      > "$log/compare" 2>&1
    report "$kernel, border $border" $? "$log/compare"
  done
done

# Every access, race, uninitialised read and barrier of a part of the cases of test_gpu.
if command -v compute-sanitizer > /dev/null; then
  for tool in "memcheck --leak-check full" racecheck initcheck synccheck; do
    # shellcheck disable=SC2086 # a tool and its options
    compute-sanitizer --tool $tool --error-exitcode 1 --print-limit 5 "$test_gpu" --quick \
      > "$log/sanitizer" 2>&1
    report "compute-sanitizer $tool" $? "$log/sanitizer"
  done
else
  echo "# no compute-sanitizer here"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
