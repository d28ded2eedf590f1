#!/usr/bin/env bash
# loads.sh TEST_GPU: holds kernels to filters/model.h by what a profiler counts. `test_gpu --loads
# METHOD` launches one step and prints the model's count; Nsight Compute counts, for each load
# instruction of the kernels, the threads that executed it.
#
# What is counted are input samples. They are bytes (u8) in those steps, so that where the method
# loads weights too, which are 4 bytes each, samples are the loads of one byte; where it does not
# (they are parameters or constants) samples are the bytes of all loads, of whatever width.
#
# Status: 0 all agree, 1 not, 77 where nothing can be counted.
set -euo pipefail

test_gpu=$1
PATH=$PATH:/usr/local/cuda/bin
# METHOD:PERCENT by which the count may differ from the model. Loads of several samples at once are
# as wide at a block's edge as elsewhere, and reach beyond the halo.
methods=(direct:0 constant:0 tiled:0 cached:0 shared:0 special:2)
failed=0
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# count_samples WEIGHTS: reads ncu's table of instructions, whose quoted fields have commas within.
count_samples() {
    awk -v weights="$1" '
        { line = $0; sub(/^"/, "", line); sub(/"\r?$/, "", line); count = split(line, field, /","/) }
        field[1] == "Address" || field[2] == "Source" {
            for (i = 1; i <= count; i++) column[field[i]] = i
            source = column["Source"]
            threads = column["Predicated-On Thread Instructions Executed"]
            next
        }
        threads && field[source] ~ /(^| )LDG(STS)?\./ {
            bytes = 4
            if (field[source] ~ /\.[US]8[. ]/) bytes = 1
            if (field[source] ~ /\.[US]16[. ]/) bytes = 2
            if (field[source] ~ /\.64[. ]/) bytes = 8
            if (field[source] ~ /\.128[. ]/) bytes = 16
            number = field[threads]
            gsub(/,/, "", number)
            if (bytes == 1 || !weights) sum += bytes * number
        }
        END { if (!threads) exit 1; printf "%.0f\n", sum }'
}

# profile METHOD: leaves the profiler's table in $log/table, the model's line in $log/model.
profile() {
    "$test_gpu" --loads "$1" >"$log/model" &&
        ncu --clock-control none --section SourceCounters --force-overwrite \
            --export "$log/report" "$test_gpu" --loads "$1" >"$log/ncu" 2>&1 &&
        ncu --import "$log/report.ncu-rep" --page source --csv >"$log/table" 2>>"$log/ncu"
}

command -v ncu >/dev/null || { echo 'SKIP: no ncu here'; exit 77; }
for entry in "${methods[@]}"; do
    method=${entry%%:*}
    slack=${entry#*:}
    if ! profile "$method"; then
        cat "$log/model"
        tail -n 5 "$log/ncu" 2>/dev/null || true
        if grep -qs 'ERR_NVGPUCTRPERM\|LibraryNotLoaded\|not supported' "$log/ncu"; then
            echo 'SKIP: ncu may not count here'
            exit 77
        fi
        echo "not ok - $method cannot be profiled"
        failed=1
        continue
    fi
    # "shared tiling 8x8: 147456 samples of 1 bytes, 0 weights, 1024 tiles, ..."
    read -r model weights tiles < <(sed 's/.*: //; s/ of 1 bytes//; s/[a-z,]//g' "$log/model")
    counted=$(count_samples "$weights" <"$log/table") || counted=none
    line="$method: $counted samples loaded, $model by the model, ${tiles%% *} tiles"
    if [ "$counted" != none ] && [ $((100 * counted)) -le $(((100 + slack) * model)) ] &&
        [ $((100 * counted)) -ge $(((100 - slack) * model)) ]; then
        echo "ok - $line"
    else
        echo "not ok - $line"
        failed=1
    fi
done
exit "$failed"
