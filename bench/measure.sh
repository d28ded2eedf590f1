#!/usr/bin/env bash
# measure.sh OUT_DIR [BUILD_DIR [SECONDS]]: all measurements of a card in one call: the suites that need
# it, each within SECONDS (default 75); the search for tiles, each within a third of that; and, where
# ncu is installed, the durations that it counts beside the bench's, and profiles. OUT_DIR gets suites.json and .md,
# summary.md, search-METHOD.json and .md, networks.txt, ncu.csv and profile.md. Status: 1 when a result was wrong or a
# part failed.
set -euo pipefail

out=${1:?a folder for the results}
build=${2:-build/release}
seconds=${3:-75}
bench=$build/bench/gpufilter-bench
here=$(dirname "${BASH_SOURCE[0]}")
status=0
mkdir -p "$out"

# part NAME COMMAND...: goes on when a part fails.
part() {
    echo "#### $1"
    shift
    "$@" || status=1
}

part 'suites' "$bench" --suite special,u8,general,sources --seconds "$seconds" \
    --json "$out/suites.json" --table "$out/suites.md"
if command -v python3 >/dev/null; then
    echo '#### summary'
    python3 "$here/summary.py" "$out/suites.json" >"$out/summary.md" || status=1
    cat "$out/summary.md"
fi
for method in special general tiled shared; do
    part "tiles of $method" "$bench" --search "$method" --peer none --seconds $((seconds / 3)) \
        --json "$out/search-$method.json" --table "$out/search-$method.md"
done

# A whole network beside PyTorch, where there is one.
if python3 -c 'import torch, safetensors' 2>/dev/null; then
    echo '#### networks'
    python3 "$here/networks.py" "$build/gpufilter" >"$out/networks.txt" || status=1
    cat "$out/networks.txt"
fi

# The same launches, timed by the card's own counters.
if command -v ncu >/dev/null; then
    part 'durations by ncu' ncu --csv --metrics gpu__time_duration.sum --clock-control none \
        --kernel-name regex:special --launch-count 40 --log-file "$out/ncu.csv" \
        "$bench" --suite u8 --algorithm special --peer none --quick --json "$out/ncu.json"
    echo '#### profiles'
    python3 "$here/profile.py" "$bench" >"$out/profile.md" || status=1
    cat "$out/profile.md"
fi
exit "$status"
