#!/usr/bin/env bash
# corpora.sh DECODE PROGRAM: the sets of pictures and weights in $GPUFILTER_CORPORA (README.md there) against
# their verdicts.
#
# handmade/EXPECTED.tsv is law. ORACLE.tsv is what a strict reader on the same libraries made of the
# other sets; its "warn" means damage, which is an error here, or odd metadata, which is not. The
# fuzz sets must neither crash nor hang the reader.
set -euo pipefail

decode=${1:?path of the decode program}
program=${2:?path of gpufilter}
if [ -z "${GPUFILTER_CORPORA:-}" ]; then
    echo 'skipped: GPUFILTER_CORPORA is not set'
    exit 77
fi
corpora=$(realpath "$GPUFILTER_CORPORA")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0 checks=0

complain() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# read_one OPTIONS... FILE: sets result ("ok ...", "error KIND ...") and rss_kb.
read_one() {
    local status=0
    result=$(timeout 120 "$decode" --rss "$@") || status=$?
    [ "$status" -le 1 ] || complain "$* crashed or hung"
    rss_kb=${result##* rss_kb }
    result=${result% rss_kb *}
    checks=$((checks + 1))
}

# The 64 MB that a refusal may take mean nothing under a sanitizer.
sanitized=false
! grep -qaE '__(asan|tsan)_init' "$decode" || sanitized=true
bounded() { "$sanitized" || [ "$rss_kb" -lt 65536 ]; }

expect() { # FILE PATTERN OPTIONS...
    local file=$1 pattern=$2
    shift 2
    read_one "$@" "$file"
    # shellcheck disable=SC2053
    [[ $result == $pattern ]] || complain "$file $*: $result, not $pattern"
}

handmade() {
    local file verdict path
    while IFS=$'\t' read -r file verdict _; do
        path=$corpora/handmade/$file
        case $file:$verdict in
        weights/*) continue ;;
        # Its 900 megapixels are within the default limit and stream; a smaller limit refuses them.
        png/bomb_30000x30000_1bit.png:*)
            expect "$path" "error LIMIT *" --max-pixels=500000000
            expect "$path" "ok *"
            ;;
        # The verdict supposes a limit of 500 scans; with the default of 100 it is a bomb too.
        jpeg/scanbomb_4096_400.jpg:*)
            expect "$path" "error LIMIT *"
            expect "$path" "error INPUT *" --max-scans=500
            expect "$path" "ok *note: damage accepted*" --max-scans=500 --tolerant
            ;;
        *:ok | *:ok-bounded) expect "$path" "ok *" ;;
        *:error) expect "$path" "error *" ;;
        *:limit) expect "$path" "error LIMIT *" ;;
        *:warn)
            expect "$path" "error INPUT *"
            expect "$path" "ok *note: damage accepted*" --tolerant
            ;;
        *-or-*) read_one "$path" ; continue ;;
        *) [ "$file" = file ] || complain "$file: unknown verdict $verdict" ; continue ;;
        esac
        bounded || complain "$file took $rss_kb KB"
    done <"$corpora/handmade/EXPECTED.tsv"
}

# A kernel is made of the file, which needs no picture. A refusal names the file, and takes no more than two
# seconds and 64 MB; of address space half as much again, because libraries lie there too.
weights() {
    local file verdict path filter status message
    while IFS=$'\t' read -r file verdict _; do
        [[ $file == weights/* ]] || continue
        path=$corpora/handmade/$file filter=conv:weights=$path status=0
        [ "$file" != weights/ok_f16_bf16_f64.safetensors ] || filter+=:tensor=b
        message=$("$sanitized" || ulimit -v 98304
            timeout 2 "$program" filters "$filter" 2>&1 >"$scratch/kernel") || status=$?
        checks=$((checks + 1))
        case $verdict:$status in
        ok:0 | policy:0) [ -s "$scratch/kernel" ] || complain "$file: nothing was read" ;;
        error:2 | policy:2)
            [[ $message == *"$path: "?* ]] || complain "$file: not named: $message"
            [[ $message != *[[:cntrl:]]* ]] || complain "$file: a control character in the message"
            ;;
        *) complain "$file: $verdict, but status $status: $message" ;;
        esac
    done <"$corpora/handmade/EXPECTED.tsv"
}

# xargs_decode REPORT OPTION...: all files named on standard input, a line each in REPORT. xargs exits
# with 123 when decode exits with 1, as for most files here it should, and with 124 and up for worse.
xargs_decode() {
    local report=$1 status=0
    shift
    xargs -0 timeout 300 "$decode" "$@" >"$report" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 123 ] || complain "decode $*: xargs exit status $status"
}

# What ORACLE.tsv's verdict and message mean here.
meaning() { # VERDICT MESSAGE
    case $1:$2 in
    ok:*) echo ok ;;
    warn:iCCP:* | warn:tRNS* | warn:bKGD:*) echo ok ;;
    warn:*"before marker 0xe1" | warn:*"before marker 0xdb") echo ok ;; # among the headers
    *) echo error ;;
    esac
}

oracle() {
    local file verdict message path found
    while IFS=$'\t' read -r file _ verdict _ _ _ _ _ _ message; do
        path=$corpora/$file
        case $file in file | handmade/*) continue ;; esac
        [ -f "$path" ] || continue
        meaning "$verdict" "$message" >>"$scratch/meant"
        printf '%s\0' "$path" >>"$scratch/paths"
    done <"$corpora/ORACLE.tsv"
    xargs_decode "$scratch/found" <"$scratch/paths"
    while IFS=$'\t' read -r path found; do
        read -r verdict <&3
        checks=$((checks + 1))
        [[ $found == $verdict* ]] || complain "$path: $found, not $verdict"
    done <"$scratch/found" 3<"$scratch/meant"
    [ "$(wc -l <"$scratch/found")" = "$(wc -l <"$scratch/meant")" ] || complain "the sets were not read to their end"
}

# One scene in the nine ways of storing it.
orientations() {
    local file
    for file in "$corpora"/exif-orientation/Landscape_?.jpg; do
        expect "$file" "ok 1800x1200x3 *"
    done
}

pickles() {
    local file
    for file in "$corpora"/npy-pickle/*; do
        expect "$file" "error INPUT *"
    done
}

fuzz() {
    mkdir "$scratch/fuzz"
    tar -xJf "$corpora/fuzz.tar.xz" -C "$scratch/fuzz" || complain "fuzz.tar.xz cannot be unpacked"
    find "$scratch/fuzz" -type f -print0 >"$scratch/fuzz.paths"
    local mode files
    for mode in strict tolerant; do
        local options=(--max-pixels=50000000)
        [ $mode = strict ] || options+=(--tolerant)
        xargs_decode "$scratch/fuzzed" "${options[@]}" <"$scratch/fuzz.paths"
        files=$(wc -l <"$scratch/fuzzed")
        checks=$((checks + files))
        [ "$files" -gt 2000 ] || complain "fuzz, $mode: only $files files were read"
    done
}

handmade
weights
oracle
orientations
pickles
fuzz
echo "$checks checks, $failures failures"
[ "$failures" -eq 0 ]
