#!/bin/sh
# gpu.sh [BUILD_DIR]: every test that needs a GPU, in one call. Status: 0 all passed, 1 not, 77 no GPU
# (or a build without tests for one).
set -u
build=${1:-build/release}
test_gpu=$build/tests/test_gpu
PATH=$PATH:/usr/local/cuda/bin
failures=0

[ -x "$test_gpu" ] || { echo "SKIP: there is no $test_gpu"; exit 77; }
echo "# test_gpu"
"$test_gpu"
status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] || failures=$((failures + 1))

# Every access, race, uninitialised read and barrier of a part of the same cases.
if command -v compute-sanitizer > /dev/null; then
  for tool in memcheck racecheck initcheck synccheck; do
    echo "# compute-sanitizer $tool"
    options="--tool $tool --error-exitcode 1 --print-limit 5"
    [ $tool != memcheck ] || options="$options --leak-check full"
    # shellcheck disable=SC2086
    if compute-sanitizer $options "$test_gpu" --quick > "$build/$tool.log" 2>&1; then
      tail -n 1 "$build/$tool.log"
    else
      tail -n 30 "$build/$tool.log"
      failures=$((failures + 1))
    fi
  done
else
  echo "# no compute-sanitizer here"
fi

echo "$failures of the GPU's test programs failed"
[ $failures -eq 0 ]
