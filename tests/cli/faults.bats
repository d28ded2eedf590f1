#!/usr/bin/env bats
# Things that go wrong: nothing half-written is ever left, and the status says what happened.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
load common

# many N: in/ with N pictures.
many() {
    local i
    mkdir in
    scene rgb8 in/0.png 400x300
    for ((i = 1; i < $1; i++)); do
        cp in/0.png "in/$i.png"
    done
}

# whole FOLDER: every picture in it decodes.
whole() {
    local file
    for file in "$1"/*.png; do
        [ -e "$file" ] || continue
        same_picture "$file" "$file" || return 1
    done
}

@test "a damaged picture is an error, with --tolerant a note" {
    scene rgb8 a.png 200x150
    head -c 20000 a.png >b.png
    gf b.png -k box
    [ "$status" -eq 1 ]
    [ ! -e b.box.png ]
    nothing_hidden
    gf b.png -k box --tolerant
    [ "$status" -eq 0 ]
    [[ $stderr == 'gpufilter: b.png: '* ]]
    [ -s b.box.png ]
    # So is a wrong checksum of the last chunk.
    head -c -1 a.png >c.png
    printf '\0' >>c.png
    gf c.png -k box
    [ "$status" -eq 1 ]
    gf c.png -k box --tolerant
    [ "$status" -eq 0 ]
    [ "$stderr" = 'gpufilter: c.png: damage accepted: IEND: CRC error' ]
}

@test "pixels over the limit are refused" {
    scene gray8 a.png
    gf a.png -k box --max-pixels 3k
    [ "$status" -eq 1 ]
    [[ $stderr == 'gpufilter: a.png: 64 x 48 pixels are over the limit of 3000 pixels' ]]
    # By default it is 2^30, as the help says, which is more than 1G.
    gf --help
    [[ $output == *'--max-pixels N '*'default 2^30'* ]]
    npy '|u1' 1 '32768, 32769' '' >more.npy
    gf more.npy -k box
    [ "$stderr" = 'gpufilter: more.npy: 32769 x 32768 pixels are over the limit of 1073741824 pixels' ]
    npy '|u1' 1 '32768, 32768' '' >most.npy
    gf most.npy -k box
    [[ $stderr == *'most.npy: the .npy file holds 0 bytes of samples'* ]]
    gf most.npy -k box --max-pixels 1G
    [ "$stderr" = 'gpufilter: most.npy: 32768 x 32768 pixels are over the limit of 1000000000 pixels' ]
}

@test "a full disk ends the run with status 3" {
    [ -c /dev/full ] || skip 'no /dev/full'
    scene gray8 a.png
    gf a.png -k box -o /dev/full
    [ "$status" -eq 3 ]
    [ "$stderr" = 'gpufilter: a.png: /dev/full: writing failed: No space left on device' ]
    run bash -c '"$GPUFILTER" a.png -k box -o - >/dev/full'
    [ "$status" -eq 3 ]
    [ "$output" = 'gpufilter: a.png: standard output: writing failed: No space left on device' ]
}

@test "a full disk in a directory: what was not started is listed" {
    [ -c /dev/full ] || skip 'no /dev/full'
    mkdir in out
    scene gray8 in/a.png
    cp in/a.png in/b.png
    cp in/a.png in/c.png
    ln -s /dev/full out/b.box.png
    gf in -k box -o out -j 1
    [ "$status" -eq 3 ]
    [ "${stderr_lines[1]}" = 'gpufilter: in/c.png: not started' ]
    [[ ${stderr_lines[2]} == 'gpufilter: 1 written, 1 failed, 0 skipped, 1 not done in '* ]]
    [ -s out/a.box.png ]
    [ ! -e out/c.box.png ]
}

# on_disk SIZE: a file system of that size at disk/ for the rest of the test, where that is allowed.
on_disk() {
    mkdir disk
    mount -t tmpfs -o "size=$1" none disk 2>/dev/null || skip 'nothing can be mounted here'
}

teardown() {
    ! mountpoint -q disk || umount -l disk
}

@test "a disk that fills up: nothing half-written; with more room the list finishes the work" {
    many 30
    on_disk 1M
    gf in -k box -o disk/out --failures list -j 4
    [ "$status" -eq 3 ]
    whole disk/out
    nothing_hidden disk
    local done_before
    done_before=$(find disk/out -type f | wc -l)
    [ "$done_before" -lt 30 ]
    mount -o remount,size=100M disk
    gf -T list -k box -o disk/out
    [ "$status" -eq 0 ]
    [ "$(grep -c '^in/' list)" -eq $((30 - done_before)) ]
    [ "$(find disk/out -type f | wc -l)" -eq 30 ]
}

@test "a temporary directory that is none is named" {
    scene rgb8 a.png
    TMPDIR=nowhere run bash -c '"$GPUFILTER" a.png -k box -o - >b.png'
    [ "$status" -eq 1 ]
    [ "$output" = 'gpufilter: a.png: standard output: no temporary file can be made in nowhere (TMPDIR): No such file or directory' ]
}

@test "a full temporary directory is not taken for a full output" {
    scene rgb8 a.png 300x300
    on_disk 40k
    TMPDIR=disk run bash -c '"$GPUFILTER" a.png -k box -o - >b.png'
    [ "$status" -eq 3 ]
    [ "$output" = 'gpufilter: a.png: standard output: the temporary file cannot be written (TMPDIR): No space left on device' ]
    [ ! -s b.png ]
}

@test "a file system that becomes read-only" {
    many 5
    on_disk 10M
    mkdir disk/out
    mount -o remount,ro disk
    gf in -k box -o disk/out --failures list
    [ "$status" -eq 1 ]
    [[ ${stderr_lines[0]} == *': Read-only file system' ]]
    [ "$(grep -c '^in/' list)" -eq 5 ]
    mount -o remount,rw disk
    gf -T list -k box -o disk/out
    [ "$status" -eq 0 ]
}

@test "inputs and folders that vanish during the run" {
    many 60
    mkdir in/sub
    cp in/1.png in/sub/z.png
    "$GPUFILTER" in -r -k gaussian:sigma=2 -o out -j 2 --failures list 2>messages &
    local process=$! status=0
    wait_for out/0.gaussian.png
    rm -rf in/9.png in/sub
    wait "$process" || status=$?
    [ "$status" -eq 1 ] || skip 'it was faster than the removal'
    grep -qx 'gpufilter: in/9.png: cannot be opened: No such file or directory' messages
    grep -qx 'in/./sub/z.png' list
    [ "$(find out -type f | wc -l)" -eq 59 ]
    whole out
}

@test "a folder that cannot be written" {
    scene gray8 a.png
    echo file >plain
    gf a.png -k box -o plain/b.png
    [ "$status" -eq 1 ]
    [[ $stderr == 'gpufilter: a.png: plain/b.png: '* ]]
    [ "$(id -u)" -ne 0 ] || skip 'root may write everywhere'
    mkdir -m 555 locked
    gf a.png -k box -o locked/b.png
    [ "$status" -eq 1 ]
}

@test "kill -9 during a run leaves only whole outputs" {
    many 60
    "$GPUFILTER" in -k gaussian:sigma=3 -o out -j 2 2>/dev/null &
    local process=$!
    wait_for out/0.gaussian.png
    kill -9 "$process"
    wait "$process" || true
    whole out
    [ "$(find out -name '*.png' | wc -l)" -lt 60 ] || skip 'it was faster than the signal'
}

@test "killed at random moments and resumed: every output there, whole, written once" {
    many 40
    local process i
    for ((i = 0; i < 12; i++)); do
        "$GPUFILTER" in -k gaussian:sigma=2 -o out -j 2 --skip-existing --json -q >"log.$i" 2>&1 &
        process=$!
        sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
        kill -9 "$process" || true
        wait "$process" || true
        whole out
    done
    gf in -k gaussian:sigma=2 -o out --skip-existing --json
    [ "$status" -eq 0 ]
    printf '%s\n' "$output" >log.last
    nothing_hidden out
    [ "$(find out -name '*.png' | wc -l)" -eq 40 ]
    # A line is printed after the output, so that a kill between them can lose one, never double it.
    [ -z "$(grep -h '"status":"ok"' log.* | sed 's/,"outputs".*//' | sort | uniq -d)" ]
    ! grep -q '"status":"failed"' log.* || false
}

@test "what a killed run left is removed by the next, what another machine left is not" {
    [ -r /proc/sys/kernel/random/boot_id ] || skip 'the running system is not known'
    scene gray8 a.png
    mkdir out
    local id
    id=$(tr -d - </proc/sys/kernel/random/boot_id | head -c 12)
    echo half >"out/.gpufilter-$id-0123456789abcdef"
    echo half >"out/.gpufilter-$id-1123456789abcdef"
    echo half >out/.gpufilter-000000000000-0123456789abcdef
    exec 8<"out/.gpufilter-$id-1123456789abcdef"
    flock -n 8 # as its living owner does
    gf a.png -k box -o out/ -v
    [ "$status" -eq 0 ]
    [[ $stderr == *'unfinished files of runs that were killed are removed: 1'* ]]
    exec 8<&-
    mkdir lists
    echo half >"lists/.gpufilter-$id-0123456789abcdef"
    gf a.png -k box -o new/ --failures lists/failed
    nothing_hidden lists
    [ "$(find out -name '.*' -type f | wc -l)" -eq 2 ]
    [ ! -e "out/.gpufilter-$id-0123456789abcdef" ]
}

@test "two runs over one directory at once: --skip-existing makes them share it" {
    many 60
    "$GPUFILTER" in -k gaussian:sigma=2 -o out -j 2 --skip-existing --json -q >log.1 2>&1 &
    local process=$!
    gf in -k gaussian:sigma=2 -o out -j 2 --skip-existing --json -q
    [ "$status" -eq 0 ]
    printf '%s\n' "$output" >log.2
    wait "$process"
    [ "$(cat log.* | grep -c '"status":"ok"')" -eq 60 ]
    whole out
    nothing_hidden out
}

@test "few descriptors: fewer pictures at once, none fails" {
    many 20
    run bash -c 'ulimit -n 32; "$GPUFILTER" in -k box -k sobel -o out -j 16 -v'
    [ "$status" -eq 0 ]
    [[ $output == *' pictures at once: the limit of open files is 32 (ulimit -n)'* ]]
    [ "$(find out -name '*.png' | wc -l)" -eq 40 ]
}

@test "too few descriptors for the outputs of one picture: said before it fails" {
    scene gray8 a.png
    run bash -c 'ulimit -n 32; "$GPUFILTER" a.png --bank gabor:orientations=9 -o out'
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'gpufilter: 18 outputs of a picture take 38 open files, and the limit leaves '*' (ulimit -n)' ]]
    [[ ${lines[1]} == 'gpufilter: a.png: '*'Too many open files' ]]
    [ -z "$(find out -type f)" ]
    # What those who run the tests have open is closed.
    run bash -c 'for fd in {3..255}; do exec {fd}>&-; done; ulimit -n 8; "$GPUFILTER" a.png -k box -o out'
    [[ ${lines[0]} == 'gpufilter: 1 output of a picture takes 4 open files, and the limit leaves '[23]' (ulimit -n)' ]]
}

@test "a limit of the size of files: pictures over it fail, the others are done" {
    mkdir in
    scene gray8 in/a.png 400x300
    scene gray8 in/b.png 20x20
    run bash -c 'ulimit -f 32; "$GPUFILTER" in -k box -o out --format npy --failures list'
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == 'gpufilter: in/a.png: out/a.box.npy: writing failed: File too large' ]]
    [ -s out/b.box.npy ]
    [ ! -e out/a.box.npy ]
    grep -qx in/a.png list
    nothing_hidden
}

@test "a failure of --in-place names the file once" {
    scene gray8 a.png 400x300
    cp a.png b.png
    run bash -c 'ulimit -f 8; "$GPUFILTER" a.png -k sharpen --in-place'
    [ "$status" -eq 1 ]
    [ "$output" = 'gpufilter: a.png: writing failed: File too large' ]
    cmp a.png b.png
}

@test "little memory: it ends by itself, and what is there is whole" {
    ! grep -qaE '__(asan|tsan)_init' "$GPUFILTER" || skip 'a sanitizer needs more'
    many 12
    local limit program
    program=$(($(stat -c %s "$GPUFILTER") / 1024)) # which itself needs room: CUDA's code is large
    for limit in 30000 60000 120000 250000 500000; do
        rm -rf out
        run bash -c "ulimit -v $((program + limit)) && exec \"\$GPUFILTER\" in -k gaussian:sigma=3 -o out -j 64 --threads 8 --device cpu"
        [ "$status" -lt 128 ]
        [ ! -d out ] || whole out
        [ ! -d out ] || nothing_hidden out
    done
}

# limited KIB ARGUMENT...: runs the program with so much address space beyond its own size.
limited() {
    local program
    program=$(($(stat -c %s "$GPUFILTER") / 1024))
    # shellcheck disable=SC2016
    run --separate-stderr bash -c 'ulimit -v "$0" && exec "$GPUFILTER" "$@"' $((program + $1)) "${@:2}"
}

# Every row took 64 bytes, and limits did not count them.
@test "little address space: a picture of one column takes no more than its samples" {
    ! grep -qaE '__(asan|tsan)_init' "$GPUFILTER" || skip 'a sanitizer needs more'
    {
        npy '|u1' 1 '2000000, 1' ''
        head -c 2000000 /dev/zero
    } >a.npy
    limited 100000 compare a.npy a.npy --memory 2M
    [ "$status" -eq 0 ]
    limited 100000 a.npy -k sobel:x --range minmax --memory 16M -o b.png --threads 1 --device cpu
    [ "$status" -eq 0 ]
    limited 100000 a.npy -k box --border wrap --memory 16M -o c.png --threads 1 --device cpu
    [ "$status" -eq 0 ]
}

@test "little address space: fewer threads and smaller bands, not failures" {
    ! grep -qaE '__(asan|tsan)_init' "$GPUFILTER" || skip 'a sanitizer needs more'
    many 12
    scene rgb8 big.png 3000x2000
    "$GPUFILTER" in -k gaussian:sigma=3 -o expected -q --device cpu
    "$GPUFILTER" big.png -k gaussian:sigma=3 -o expected/big.png --device cpu
    # By the stacks and arenas that the C library would set aside it needed a gigabyte.
    limited 150000 in -k gaussian:sigma=3 -o out -j 16 --threads 16 --device cpu
    [ "$status" -eq 0 ]
    limited 150000 big.png -k gaussian:sigma=3 -o out/big.png --threads 16 --device cpu
    [ "$status" -eq 0 ]
    diff -r expected out
    # Not enough for all threads and strips; whatever comes of it is the whole picture, or memory is named.
    local limit
    for limit in 60000 50000 40000 30000 25000 20000 15000; do
        limited "$limit" big.png -k gaussian:sigma=3 -o "out/$limit.png" --threads 16 --device cpu
        if [ "$status" -eq 0 ]; then
            cmp expected/big.png "out/$limit.png"
        else
            [[ $stderr == 'gpufilter: big.png: '*memory* ]]
            [ ! -e "out/$limit.png" ]
        fi
        nothing_hidden out
    done
}

@test "little address space: threads leave room for the pictures" {
    ! grep -qaE '__(asan|tsan)_init' "$GPUFILTER" || skip 'a sanitizer needs more'
    many 40
    "$GPUFILTER" in -k gaussian:sigma=3 -o expected -q --device cpu
    limited 40000 in -k gaussian:sigma=3 -o out -j 32 --threads 32 --device cpu -v
    [ "$status" -eq 0 ]
    [[ $stderr == *' at once: the address space is limited (ulimit -v)'* ]]
    diff -r expected out
}

@test "a small stack" {
    ! grep -qaE '__(asan|tsan)_init' "$GPUFILTER" || skip 'a sanitizer needs more'
    scene rgb8 a.png 64x48
    local filter
    for filter in box natural; do
        (ulimit -s 64 && "$GPUFILTER" a.png -k "$filter" -o "$filter.npy" --device cpu)
    done
}

@test "little address space: sheets of pictures that fit one at a time" {
    ! grep -qaE '__(asan|tsan)_init' "$GPUFILTER" || skip 'a sanitizer needs more'
    many 4
    local sheets=(in --bank 'gabor:orientations=8' --montage '{stem}.png' --device cpu)
    "$GPUFILTER" "${sheets[@]}" -o expected -q
    # What pictures in flight had taken, stacks and large blocks, did not come back for those that were tried again.
    limited 70000 "${sheets[@]}" -o out -j 8 --threads 8
    [ "$status" -eq 0 ]
    diff -r expected out
}

@test "what is over its share of --memory is done alone, with all of it" {
    many 8
    gf in -k sobel:x --range minmax -o one -j 1 --memory 4M
    [ "$status" -eq 0 ]
    # 400 x 300 x 3 responses of 4 bytes are more than an eighth.
    gf in -k sobel:x --range minmax -o eight -j 8 --memory 4M --json -v
    [ "$status" -eq 0 ]
    [[ $stderr == *'the limit is 512 KiB (--memory); it is tried again, alone'* ]]
    [ "$(grep -c '"status":"ok"' <<<"$output")" -eq 8 ]
    [ "$(wc -l <<<"$output")" -eq 8 ]
    diff -r one eight
    # What is over the limit itself fails once.
    gf in -k sobel:x --range minmax -o none -j 8 --memory 1M
    [ "$status" -eq 1 ]
    [ "$(grep -c 'the limit is 1024 KiB (--memory)$' <<<"$stderr")" -eq 8 ]
    # A full disk stops what is done alone, too. In which order two at once were put aside is chance.
    mkdir full
    ln -s /dev/full full/0.sobel.png
    gf in -k sobel:x --range minmax -o full -j 2 --memory 2M --overwrite
    [ "$status" -eq 3 ]
    local written
    written=$(find full -type f | wc -l)
    [ "$(grep -c 'not started$' <<<"$stderr")" -eq $((7 - written)) ]
    # A pipe is not read again.
    gf in/1.png - -k box -o pipe -j 2 --max-pixels 100 <in/0.png
    [ "$status" -eq 1 ]
    [ "$(grep -c '400 x 300 pixels are over the limit of 100 pixels$' <<<"$stderr")" -eq 2 ]
}

@test "SIGINT, SIGTERM, SIGHUP, SIGXCPU: outputs whole, nothing left, a summary, 128 and the number" {
    many 80
    local signal process status
    for signal in INT TERM HUP XCPU; do
        rm -rf out
        env --default-signal "$GPUFILTER" in -k gaussian:sigma=3 -o out -j 2 2>messages &
        process=$!
        wait_for out/0.gaussian.png
        kill -s "$signal" "$process"
        status=0
        wait "$process" || status=$?
        cat messages
        [ "$status" -ne 0 ] || skip 'it was faster than the signal'
        [ "$status" -eq $((128 + $(kill -l "$signal"))) ]
        whole out
        nothing_hidden out
        grep -q '^gpufilter: .* written, 0 failed, 0 skipped, .* not done in ' messages
    done
}

@test "a limit of processor time: what it left undone is listed" {
    scene gray8 a.png 600x400
    cp a.png b.png
    run bash -c 'ulimit -St 1; exec env --default-signal "$GPUFILTER" a.png b.png -k gaussian:sigma=8 -o out \
        -j 1 --device reference --failures list'
    [ "$status" -ne 0 ] || skip 'it was faster than the limit'
    [ "$status" -eq 152 ]
    [[ $output == *'gpufilter: 1 written, 0 failed, 0 skipped, 1 not done in '* ]]
    grep -qx b.png list
    nothing_hidden
}

@test "a run that waits for standard input ends at the first signal" {
    mkfifo pipe
    env --default-signal "$GPUFILTER" - -k box -o out.png <pipe &
    local process=$! status=0
    exec 9>pipe
    sleep 0.3
    kill -s INT "$process"
    wait "$process" || status=$?
    exec 9>&-
    [ "$status" -eq 130 ]
    [ ! -e out.png ]
}

@test "a run whose reader is stuck, or does not come, ends at the first signal" {
    scene rgb8 a.png 400x300
    mkfifo pipe
    local output process status begin reader
    for output in - pipe; do
        sleep 10 <>pipe 3>&- &
        reader=$!
        begin=$SECONDS
        env --default-signal "$GPUFILTER" a.png -k identity --format npy -o "$output" >pipe &
        process=$!
        sleep 0.5
        kill -s TERM "$process"
        status=0
        wait "$process" || status=$?
        [ "$status" -eq 143 ]
        [ $((SECONDS - begin)) -lt 5 ]
        kill "$reader"
        wait "$reader" || true
    done
    env --default-signal "$GPUFILTER" a.png -k identity --format npy -o pipe 2>messages &
    process=$!
    sleep 0.5
    kill -s TERM "$process"
    status=0
    wait "$process" || status=$?
    [ "$status" -eq 143 ]
    [ ! -s messages ]
    mkdir in out
    cp a.png in
    cp a.png in/b.png
    mkfifo out/a.box.png
    env --default-signal "$GPUFILTER" in -k box -o out -j 1 --failures list 2>messages &
    process=$!
    sleep 0.5
    kill -s TERM "$process"
    status=0
    wait "$process" || status=$?
    [ "$status" -eq 143 ]
    [[ $(<messages) == 'gpufilter: 0 written, 0 failed, 0 skipped, 2 not done in '* ]]
    [ "$(grep -c '^in/' list)" -eq 2 ]
}

@test "--compare and the reference end at the first signal" {
    ! grep -qa '__tsan_init' "$GPUFILTER" || skip 'ThreadSanitizer keeps signals back while threads compute'
    scene gray8 a.png 1200x1200
    local process status begin arguments
    for arguments in '--compare --report out.html' '--device reference -o out.png'; do
        begin=$SECONDS
        # shellcheck disable=SC2086 # two or three words
        env --default-signal "$GPUFILTER" a.png -k gaussian:sigma=8 $arguments 2>messages &
        process=$!
        sleep 0.5
        kill -s TERM "$process"
        status=0
        wait "$process" || status=$?
        [ "$status" -eq 143 ]
        [ $((SECONDS - begin)) -lt 5 ]
        [ -z "$(find . -name 'out.*')" ]
        nothing_hidden
    done
}

@test "a reader that goes away is no noise" {
    many 3
    run bash -c 'set -o pipefail; "$GPUFILTER" in -k box -o out --json -q | head -c 1 >/dev/null'
    [[ $status -eq 141 || $status -eq 0 ]]
    [ -z "$output" ]
    nothing_hidden out
}

@test "a reader that goes away takes no list of failures with it" {
    many 300
    run bash -c 'set -o pipefail; "$GPUFILTER" in -k box -o out -j 1 --json -q --failures list | head -c 1 >/dev/null'
    [ "$status" -eq 141 ] || skip 'it was faster than the reader'
    [ -z "$output" ]
    [ $(($(find out -name '*.png' | wc -l) + $(grep -c ^in/ list))) -eq 300 ]
    whole out
    nothing_hidden
}

@test "no line of JSON is lost to a signal, or to a pipe that does not block" {
    mkdir in
    scene gray8 in/0.png 8x8
    local i process status=0
    for ((i = 1; i < 200; i++)); do # more than a pipe holds
        cp in/0.png "in/$i.png"
    done
    mkfifo pipe
    env --default-signal "$GPUFILTER" in -k box -o out --json -q -j 1 >pipe 2>messages &
    process=$!
    exec 9<pipe
    sleep 1
    kill -s INT "$process" || true
    sleep 0.3
    cat <&9 >lines
    exec 9<&-
    wait "$process" || status=$?
    [[ $status -eq 130 || $status -eq 0 ]]
    [ ! -s messages ]
    [ "$(grep -c '^{.*}$' lines)" -eq 200 ]
    [ "$(grep -c '"status":"ok"' lines)" -eq "$(find out -name '*.png' | wc -l)" ]
    command -v python3 >/dev/null || skip 'no python3'
    local unblock='import os, sys; os.set_blocking(1, False); os.execv(sys.argv[1], sys.argv[1:])'
    python3 -c "$unblock" "$GPUFILTER" in -k box -o again --json -q | {
        sleep 1
        cat
    } >lines
    [ "$(grep -c '^{.*}$' lines)" -eq 200 ]
}

@test "the bar fits the terminal, and there is none on a dumb one" {
    [ -n "$(command -v script)" ] || skip 'no script'
    ! grep -qaE '__(asan|tsan)_init' "$GPUFILTER" || skip 'sanitizers take minutes for it'
    mkdir in
    scene rgb8 in/a.png 400x300
    cp in/a.png in/b.png
    cp in/a.png in/c.png
    local columns call=" '$GPUFILTER' in -k gaussian:sigma=4 -o out -j 1 --device reference --overwrite"
    # states COLUMNS TERM: of the bar.
    states() {
        script -qec "stty cols $1; TERM=$2 $call" log </dev/null >/dev/null
        tr '\r' '\n' <log | sed $'s/\e\\[K//' | grep ' % .* pictures' || true
    }
    for columns in 50 64 200; do
        states "$columns" xterm >bars
        [ "$(grep -c . bars)" -gt 0 ]
        [ "$(awk -v most="$columns" 'length >= most' bars | wc -l)" -eq 0 ]
    done
    [ "$(grep -c '^\[[#.]\{30\}\] ' bars)" -gt 0 ]
    [ -z "$(states 200 dumb)" ]
}

@test "--device cuda without a GPU is a usage error" {
    scene gray8 a.png
    if "$GPUFILTER" devices | grep -q '^cuda:0'; then
        skip 'there is a GPU'
    fi
    gf a.png -k box --device cuda
    [ "$status" -eq 2 ]
    [[ $stderr == 'gpufilter: --device cuda: '* ]]
    [ ! -e a.box.png ]
    gf a.png -k box
    [ "$status" -eq 0 ]
}
