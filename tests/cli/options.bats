#!/usr/bin/env bats
# What the command line accepts, and what it says when it does not.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
load common

# says STATUS MESSAGE ARGUMENT...: the call fails so, with that one line and nothing on stdout.
says() {
    local status_wanted=$1 message=$2
    shift 2
    gf "$@"
    printf '%s\n' "status $status: $stderr"
    [ "$status" -eq "$status_wanted" ]
    [ "$stderr" = "gpufilter: $message" ]
    [ -z "$output" ]
}

@test "--help goes to standard output, begins with examples and exits 0" {
    gf --help
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [[ $output == *Examples:*"--kernel sobel"*"What to compute:"*--border* ]]
    local wide
    wide=$(awk 'length > 100' <<<"$output")
    [ -z "$wide" ]
    gf compare -h
    [ "$status" -eq 0 ]
}

@test "--version" {
    gf --version
    [ "$status" -eq 0 ]
    [[ ${lines[0]} =~ ^gpufilter\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    local library line=1
    for library in libpng libjpeg zlib ISA-L libdeflate lcms2 jansson CUDA; do
        [[ ${lines[line]} =~ ^$library(-turbo)?\ ([0-9]+(\.[0-9]+)+(\ \(running\ with\ .*\))?|not\ compiled\ in)$ ]]
        line=$((line + 1))
    done
    if [[ ${lines[line]} == GPUs:* ]]; then
        [[ ${lines[line]} =~ ^GPUs:\ up\ to\ 64,\ compute\ capability\ [0-9.\ ]+,\ 96\ KiB\ of\ shared\ memory\ a\ block$ ]]
        line=$((line + 1))
    fi
    [ "${lines[line]}" = 'limits: kernels of 4095 x 4095, layers of 65535 channels, weights of 268435456 numbers' ]
    [ "${#lines[@]}" -eq $((line + 1)) ]
    if command -v pkg-config >/dev/null && pkg-config --exists libpng; then
        [[ $output == *"libpng $(pkg-config --modversion libpng)"* ]]
    fi
}

@test "a call without a filter or a picture shows how it is done" {
    says 2 'no picture and no filter; for example: gpufilter photo.png --kernel sobel'
    says 2 'no picture; for example: gpufilter photo.png --kernel sobel' -k sobel
    says 2 'no filter for a.png: --kernel or --bank is missing; for example: gpufilter photo.png --kernel sobel' a.png
}

@test "misspelt options get the nearest known one" {
    says 2 'unknown option --kernl; did you mean --kernel?' a.png --kernl sobel
    says 2 'unknown option --zzz (gpufilter --help lists them)' a.png --zzz
    says 2 'unknown option -x (gpufilter --help lists them)' a.png -x
    says 2 '--qu is the beginning of --quality and --quiet' a.png --qu -k sobel
    says 2 '--m is the beginning of --montage, --montage-scale, --montage-columns, --max-pixels and --memory' --m
    says 2 'unknown option -- (gpufilter --help lists them)' --=3
    says 2 '--kernel needs a value: FILTER' a.png -k
    says 2 '--flip takes no value' a.png --flip=1
    says 2 '-kernel: long options begin with two dashes, --kernel' a.png -kernel sobel
    says 2 '-output: long options begin with two dashes, --output' a.png -k sobel -output b.png
    says 2 '-output: long options begin with two dashes, --output' a.png -k sobel -output=b.png
    gf -help
    [ "$status" -eq 0 ]
    says 2 'unknown option --k\x1b[31m (gpufilter --help lists them)' $'--k\e[31m'
}

@test "a short option has no =" {
    says 2 '-o=b.png: after one dash no = belongs; write -o b.png or --output=b.png' a.png -k box -o=b.png
    says 2 '-k=box: after one dash no = belongs; write -k box or --kernel=box' a.png -k=box
    says 2 '-j=4: after one dash no = belongs; write -j 4 or --jobs=4' a.png -k box -rj=4
    scene gray8 a.png
    gf a.png -k box -o =b.png
    [ "$status" -eq 0 ]
    [ -s =b.png ]
    gf a.png -k box --output==c.png
    [ -s =c.png ]
}

@test "an option for a format that no output has is told of" {
    scene gray8 a.png
    gf a.png -k box -o b.png --quality 50
    [ "$status" -eq 0 ]
    [ "$stderr" = 'gpufilter: --quality changes nothing: no output is of format jpeg' ]
    gf a.png -k box -o b.jpg --png-level 9
    [ "$status" -eq 0 ]
    [ "$stderr" = 'gpufilter: --png-level changes nothing: no output is of format png' ]
    gf a.png -k box -o c.jpg --png-level 9 -q
    [ -z "$stderr" ]
    gf a.png -k box -o d.png --png-level 9
    [ -z "$stderr" ]
    # Among several outputs one is enough, and what a pipe holds is not known.
    gf a.png b.jpg -k box --quality 50 -q -o out
    gf a.png b.jpg -k box --quality 50 --png-level 9 -o out --overwrite
    [[ $stderr != *changes* ]]
    "$GPUFILTER" - -k box --quality 50 -o - <a.png >e.png 2>said
    [ ! -s said ]
}

@test "misspelt words get the nearest known one" {
    says 2 '--kernel "sobl": unknown filter "sobl"; did you mean "sobel"?' a.png -k sobl
    says 2 '--kernel "median": unknown filter "median": it sorts samples, which is not linear and out of scope; kernels here have fixed weights' a.png -k median
    says 2 '--border: unknown "refelct"; did you mean "reflect"?' a.png -k box --border refelct
    says 2 '--range: unknown "soft"; it is one of: auto, clamp, abs, offset, minmax' a.png -k box --range soft
    says 2 '--algorithm: unknown "direc"; did you mean "direct"?' a.png -k box --algorithm direc
    says 2 '--name: unknown {sterm}; did you mean {stem}?' a.png -k box --name '{sterm}'
    says 2 '--name: a { without its }' a.png -k box --name '{stem'
    says 2 'unknown filter "sobl"; did you mean "sobel"?' filters sobl
    says 2 '--kernel "LoG": unknown filter "LoG"; did you mean "log"?' a.png -k LoG
    # The nearest by letters are deblur, compass and cpu.
    says 2 '--kernel "blur": unknown filter "blur"; did you mean "gaussian"?' a.png -k blur
    says 2 '--kernel "lowpass": unknown filter "lowpass"; did you mean "gaussian"?' a.png -k lowpass
    says 2 '--kernel "mean:size=3": unknown filter "mean"; did you mean "box"?' a.png -k mean:size=3
    says 2 '--device: unknown "gpu"; did you mean "cuda"?' a.png -k box --device gpu
}

@test "kernels that are not written as they should be" {
    says 2 '--kernel "0 -1 0 -1 5 -1 0 -1 0": "0 -1 0 -1 5 -1 0 -1 0": a kernel'\''s size comes first, as in "3x3: 0 -1 0  -1 5 -1  0 -1 0"' a.png -k '0 -1 0 -1 5 -1 0 -1 0'
    says 2 '--kernel "3x1: 1,2,3": the 3x1 kernel has 1 number instead of 3 (separate them by spaces: a comma begins the next filter)' a.png -k '3x1: 1,2,3'
}

@test "files of weights and networks that are given as kernel files" {
    npy '<f4' 4 '1, 1' '\0\0\0\0' >k.npy
    says 2 '--kernel "./k.npy": kernel file: ./k.npy: an .npy array, not a text file; it is written conv:weights=FILE.npy' a.png -k ./k.npy
    printf '\x02\0\0\0\0\0\0\0{}' >k.safetensors
    says 2 '--kernel "k.safetensors": kernel file: k.safetensors: a .safetensors file, not a text file; it is written conv:weights=FILE.safetensors' a.png -k k.safetensors
    printf '\n {"gpufilter": 1}' >k.json
    says 2 '--kernel "k.json": kernel file: k.json: a filter file (JSON), not a kernel; it is written @FILE' a.png -k k.json
}

@test "words that are no pictures' names" {
    says 2 '"sobel" is a filter; write --kernel sobel' sobel a.png
    says 2 '"gaussian:sigma=2" is a filter; write --kernel gaussian:sigma=2' a.png gaussian:sigma=2
    says 2 '"compass" is a filter; write --kernel compass' compass a.png
    says 2 '"help" is no call; did you mean "--help"?' help
    says 2 '"version" is no call; did you mean "--version"?' version
    says 2 'the name of a picture is empty' a.png '' -k box
    says 2 'the name of a picture is empty' compare a.png ''
    # Files of such names are pictures.
    scene gray8 sobel
    says 2 'no filter for sobel: --kernel or --bank is missing; for example: gpufilter photo.png --kernel sobel' sobel
    gf sobel -k box -o out.png
    [ "$status" -eq 0 ]
}

@test "pictures beside the outputs have extensions that are known, or none" {
    says 2 '--picture: nothing is known of the extension .gif; use .png, .jpg or .npy' filters box --picture k.gif
    says 2 '--diff-image: nothing is known of the extension .\x1b; use .png, .jpg or .npy' compare a.png b.png --diff-image $'d.\e'
    gf filters box --picture dir.d/kernels
    [ "$status" -eq 2 ]
    mkdir dir.d
    gf filters box --picture dir.d/kernels
    [ "$status" -eq 0 ]
    [ -s dir.d/kernels ]
}

@test "mirror is refused with both of its meanings" {
    gf a.png -k sobel --border mirror
    [ "$status" -eq 2 ]
    [[ $stderr == *reflect101*SciPy*reflect* ]]
}

@test "numbers outside their range are refused" {
    says 2 '--jobs: "0" is not a whole number from 1 to 256' a.png -k box -j 0
    says 2 '--jobs: "-1" is not a whole number from 1 to 256' a.png -k box -j -1
    says 2 '--quality: "101" is not a whole number from 1 to 100' a.png -k box --quality 101
    says 2 '--png-level: "x" is not a whole number from 0 to 9' a.png -k box --png-level x
    says 2 '--memory: "5x" is not a size such as 4096, 500k, 64M or 2G' a.png -k box --memory 5x
    says 2 '--max-pixels: "99999999999999999999" is not a size such as 4096, 500k, 64M or 2G' a.png -k box --max-pixels 99999999999999999999
    # What no float holds is refused like what is no number; a number below 0 is a number.
    local value
    for value in nan inf -inf 1e39 -1e39 1e400 3.40282357e38 '' ' 5' 5x; do
        says 2 "--border: \"$value\" is not a number from -3.40282e+38 to 3.40282e+38" a.png -k box --border "constant:$value"
    done
    says 2 '--kernel "1x1: 1e39": a filter'\''s numbers are beyond what floats can hold' a.png -k '1x1: 1e39'
    says 2 '--kernel "clamp:high=1e39": clamp: high=1e39 is outside -3.40282e+38 to 3.40282e+38' a.png -k clamp:high=1e39
    # The largest float is mostly written with these decimals, which are a little more.
    scene gray8 a.png
    for value in 3.4028235e38 -3.4028235e38; do
        gf a.png -k "1x1: $value" --border "constant:$value" -o "$value.npy"
        [ "$status" -eq 0 ]
    done
    gf a.png -k clamp:low=-3.4028235e38:high=3.4028235e38 -o clamped.png
    same_picture a.png clamped.png
    says 2 '--tolerance: "nan" is not a number from 0 on' a.png -k box --compare --tolerance nan
    says 2 '--tolerance: "-1" is not a number from 0 on' a.png -k box --compare --tolerance -1
    says 2 '--device: "300" is not a whole number from 0 to 255' a.png -k box --device cuda:300
    says 2 '--depth: unknown "12"; did you mean "16"?' a.png -k box --depth 12
}

@test "options that exclude each other" {
    says 2 '--overwrite and --skip-existing exclude each other' a.png -k box --overwrite --skip-existing
    says 2 '--in-place and --output exclude each other' a.png -k box --in-place -o b.png
    says 2 '--in-place and --skip-existing exclude each other' a.png -k box --in-place --skip-existing
    says 2 '--compare and --skip-existing exclude each other' a.png -k box --compare --skip-existing
    says 2 '--json and -o - exclude each other' a.png -k box --json -o -
    says 2 '--output is given twice; it names one file, or the folder of all outputs' a.png -k box -o b.png --output c.png
    says 2 '--algorithm names a GPU method; it needs --device cuda' a.png -k box --algorithm direct --device cpu
    says 2 '--tolerance goes with --compare, or with gpufilter compare A B' a.png -k box --tolerance 1
    says 2 '--montage-scale goes with --montage' a.png -k box --montage-scale map
    says 2 '--montage-columns goes with --montage' a.png -k box --montage-columns 2
    says 2 '--overwrite goes with --picture' filters sobel --overwrite
    says 2 '--overwrite goes with --picture' weights a.npy --overwrite
    says 2 '--overwrite goes with --diff-image or --report' compare a.png b.png --overwrite
}

@test "the other calls take their operands and options only" {
    says 2 'usage: gpufilter compare A B' compare a.png
    says 2 'usage: gpufilter devices' devices all
    says 2 '--kernel does not go with "compare"' compare -k box a.png b.png
    says 2 '--verbose does not go with "compare"' compare -v a.png b.png
    says 2 '"compare" comes first: gpufilter compare A B' --json compare a.png b.png
}

@test "-- ends the options, and a file may be called like a call" {
    scene gray8 filters
    scene gray8 --x.png
    gf -k box -o a.png -- --x.png
    [ "$status" -eq 0 ]
    gf ./filters -k box -o b.png
    [ "$status" -eq 0 ]
    same_picture a.png b.png
}

@test "a closed or full standard output is an error" {
    run bash -c '"$GPUFILTER" --version >&-'
    [ "$status" -eq 3 ]
    [[ $output == *'standard output: '* ]]
    [ -c /dev/full ] || skip 'no /dev/full'
    run bash -c '"$GPUFILTER" --help >/dev/full'
    [ "$status" -eq 3 ]
    # Lists that stdio would write in pieces.
    local list
    for list in 'completion bash' 'completion zsh' 'completion fish' 'filters --table'; do
        # shellcheck disable=SC2016,SC2086 # two words
        run bash -c '"$GPUFILTER" "$@" >/dev/full' - $list
        [ "$status" -eq 3 ]
        [ "$output" = 'gpufilter: standard output: No space left on device' ]
    done
}

@test "a picture that standard output cannot take is one of the failures of status 3" {
    scene gray8 a.png
    run bash -c '"$GPUFILTER" a.png -k box -o - >&-'
    [ "$status" -eq 3 ]
    [ "$output" = 'gpufilter: a.png: standard output: writing failed: Bad file descriptor' ]
}

# In a namespace of its own the program finds no /dev/null.
@test "a closed standard output that nothing can stand in for is told" {
    unshare -rm mount -t tmpfs none /dev 2>/dev/null || skip 'no namespaces of mounts'
    # shellcheck disable=SC2016 # for the shell within
    run unshare -rm bash -c 'mount -t tmpfs none /dev && exec "$GPUFILTER" --version >&-'
    [ "$status" -eq 2 ]
    [ "$output" = 'gpufilter: /dev/null: No such file or directory; it is for a standard stream that is closed' ]
}

@test "the lists" {
    gf filters
    [ "$status" -eq 0 ]
    [[ $output == *sobel*gradient* ]]
    gf filters sobel:x
    [ "$status" -eq 0 ]
    [[ $output == *'Kernel, 3 x 3, times 1'* ]]
    [ "$(grep -cE '^ +-2 +0 +2$' <<<"$output")" -eq 1 ]
    gf filters unsharp
    [[ $output == *'Kernel 2 of 2'*Combined:* ]]
    gf filters '2x1/4+3: 1 -2'
    [[ $output == *'Kernel, 2 x 1, times 0.25, plus 3'* ]]
    gf filters --table
    [ "$status" -eq 0 ]
    [ "$(awk '/^[a-z]/ { name = $1 } name == "farid" && /^      size /' <<<"$output")" = \
        '      size        odd, 3 to 7, default 5' ]
    [ "$(grep -c '^[a-z]' <<<"$output")" -eq "$("$GPUFILTER" filters | sed '/^$/,$d' | wc -l)" ]
    echo '1 1e39' >k.txt
    says 2 "kernel file: k.txt: a filter's numbers are beyond what floats can hold" filters sobel,k.txt
    # Nothing is shown where something cannot be read.
    says 2 'unknown bank "nope.json" (gpufilter filters lists them)' filters sobel --bank nope.json
    says 2 'kernel file: nope.txt: No such file or directory' filters sobel nope.txt
    says 2 '--table shows the whole catalogue, and takes no names' filters --table sobel
    says 2 '--table shows the whole catalogue, and takes no names' filters --table --bank laws
    says 2 '--table and --picture exclude each other' filters --table --picture a.png
    gf devices
    [ "$status" -eq 0 ]
    [[ $output == cpu*threads*cuda* ]]
    gf algorithms
    [ "$status" -eq 0 ]
    [[ $output == *direct* ]]
}

@test "misspelt calls get the nearest known one" {
    gf devics
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: "devics" is no call; did you mean "devices"?' ]
}

@test "docs/filters.md has a row and a picture of every filter" {
    local docs=$BATS_TEST_DIRNAME/../../docs name summary
    gf filters
    while read -r name summary; do
        grep -qF "| \`$name\` | $summary | " "$docs/filters.md"
    done < <(sed '/^$/,$d' <<<"$output")
    while read -r name; do
        [ -s "$docs/$name" ]
    done < <(sed -n 's/.*(\(pictures[^)]*\)).*/\1/p' "$docs/filters.md")
}

@test "options behind a name count, also where POSIXLY_CORRECT is set" {
    scene gray8 a.png
    POSIXLY_CORRECT=1 gf a.png -k box -o b.png
    [ "$status" -eq 0 ]
    [ -s b.png ]
}
