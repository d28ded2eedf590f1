#!/usr/bin/env bats
# --json, --stats, -v, and what is not said.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
load common

# json_lines FIELD...: the fields of each line of $output, read by a real parser.
json_lines() {
    command -v python3 >/dev/null || skip 'no python3'
    python3 -c '
import json, sys
for line in sys.stdin:
    entry = json.loads(line)
    print(*(entry.get(name) for name in sys.argv[1:]))' "$@" <<<"$output"
}

@test "--json: the picture is read once, whatever is made of it" {
    scene rgb8 a.png 64x48
    gf a.png -k sobel -k box -k identity -o out/ --json
    [[ $output == *'"bytes":36864.0,'* ]] # 9216 each, the picture and three outputs
    gf a.png -k gaussian:sigma=20 -o b.png --json
    [[ $output == *'"bytes":19720.0,"intensity":'* ]] # 18432, and 2 x 161 weights of 4
}

@test "--json: a line a picture, whatever became of it" {
    mkdir in
    scene rgb8 in/a.png
    echo broken >in/b.png
    scene gray16 in/c.png
    mkdir out
    echo old >out/c.sobel.png
    gf in -k sobel -o out --json --skip-existing -j 1
    [ "$status" -eq 1 ]
    run -0 json_lines input status width channels sample
    [ "${#lines[@]}" -eq 3 ]
    [ "${lines[0]}" = 'in/a.png ok 64 3 u8' ]
    [ "${lines[1]}" = 'in/b.png failed None None None' ]
    [ "${lines[2]}" = 'in/c.png skipped None None None' ]
}

@test "--json: what is passed over is in existing, and was not computed" {
    scene gray8 a.png 64x48
    gf a.png -k box --json
    [[ $output != *'"existing"'* ]]
    gf a.png -k sobel -k box -k identity --json --skip-existing --device cpu
    run -0 json_lines status outputs existing
    [ "$output" = "ok ['a.sobel.png', 'a.box.png', 'a.identity.png'] ['a.box.png']" ]
    rm a.sobel.png
    gf a.png -k sobel -k box -k identity --json --skip-existing --device cpu
    [[ $output == *'"methods":[["'*'"],[],[]],"bands":'*'"bytes":6144.0,'*'"steps":[[{'*'}],[],[]],'* ]]
    gf a.png -k sobel -k box --json --skip-existing
    run -0 json_lines status outputs existing
    [ "$output" = "skipped ['a.sobel.png', 'a.box.png'] ['a.sobel.png', 'a.box.png']" ]
}

@test "--json: names that are no UTF-8" {
    local name=$'a\xff"\n.png'
    scene gray8 "$name"
    gf "$name" -k box --json
    [ "$status" -eq 0 ]
    run -0 json_lines input outputs
    [ "$output" = 'a\xff"\x0a.png ['\''a\\xff"\\x0a.box.png'\'']' ]
}

@test "--json: times, device, methods" {
    scene gray8 a.png
    gf a.png -k sobel,box -k box --json --device cpu -o out/
    [ "$status" -eq 0 ]
    [[ $output == *'"device":"cpu ('*'"methods":[['*'"bands":1,'*'"seconds":{'*'"total":'* ]]
}

@test "--json of comparisons" {
    scene gray8 a.png
    gf compare a.png a.png --json
    run -0 json_lines psnr ssim within beyond
    [ "$output" = 'None 1.0 True 0' ]
    gf a.png -k box --compare --json --device cpu
    run -0 json_lines input filter a b within
    [ "$output" = 'a.png box cpu reference True' ]
}

@test "--stats: the stages and their rates, on standard error" {
    scene gray8 a.png
    gf a.png -k box --stats
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [[ $stderr == 'a.png: 64 x 48, 1 channel, u8; '*decode*'bands of 48 rows: 1'*filter*GB/s*GFLOP/s*OP/B*transfer*encode*total* ]]
}

@test "-v says what was chosen and why" {
    scene gray8 a.png
    gf a.png -k box -v
    [[ $stderr == *'computing on cpu ('*'a.box.png: computed by '* ]]
}

# needs_terminal: skips where no terminal can be made, as in some containers.
needs_terminal() {
    script --version 2>/dev/null | grep -q util-linux || skip 'no script of util-linux'
    timeout 10 script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip 'no terminals here'
}

# on_terminal ARGUMENT...: the program with a terminal for its messages; what it shows is in $shown.
on_terminal() {
    local command
    printf -v command '%q ' "$GPUFILTER" "$@"
    shown=$(timeout 60 script -qec "$command" /dev/null </dev/null)
}

@test "a progress bar on a terminal, wiped at the end" {
    needs_terminal
    scene gray8 a.png
    mkfifo pipe
    # The time limit is for a pipe that nobody opens; bats waits for who holds its descriptor 3.
    timeout 60 sh -c 'sleep 1; cat a.png >pipe' 3>&- &
    on_terminal a.png pipe -k box -o out/ -j 1
    wait
    printf '%q\n' "$shown"
    [[ $shown == *$'\r['*'] '*' of 2 pictures, '*' s left'$'\e[K'*$'\r\e[Kgpufilter: 2 written, '* ]]
    [[ ${shown##*2 written} != *$'\e'* ]]
    on_terminal a.png a.png -k box -o out/ --name '{index}{ext}' -q
    [ -z "$shown" ]
}

@test "no progress bar where there is no terminal" {
    scene gray8 a.png
    scene gray8 b.png
    gf a.png b.png -k box:size=99
    [[ $stderr != *$'\r'* && $stderr != *$'\e'* ]]
}

@test "--json: names as they are, a line also for what was not started" {
    [ -c /dev/full ] || skip 'no /dev/full'
    mkdir in out
    scene gray8 $'in/a\e\u202e.png'
    cp in/a* in/b.png
    cp in/a* $'in/c\xff.png'
    ln -s /dev/full out/b.box.png
    gf in -k box -o out -j 1 --json
    [ "$status" -eq 3 ]
    run python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
print([line["status"] for line in lines])
print(lines[0]["input"] == "in/a\x1b\u202e.png", lines[2]["input"])
' <<<"$output"
    [ "${lines[0]}" = "['ok', 'failed', 'stopped']" ]
    [ "${lines[1]}" = 'True in/c\xff.png' ]
}
