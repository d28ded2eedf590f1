#!/usr/bin/env bats
# Outputs of many maps, contact sheets, and responses stretched from the smallest to the largest. Sheets are
# read as arrays, so that every sample is known.
# shellcheck disable=SC2154 # bats sets stderr
load common

# weights FILE MAPS CHANNELS: kernels of one tap; of map m, from 1 on, every weight is m.
weights() {
    local m c bytes=
    for ((m = 1; m <= $2; m++)); do
        for ((c = 0; c < $3; c++)); do
            bytes+=$(printf '\\x%02x' "$m")
        done
    done
    npy '|u1' 1 "$2, $3, 1, 1" "$bytes" >"$1"
}

# holds PICTURE VALUES: these are its samples.
holds() {
    "$GPUFILTER" "$1" -k identity --depth 8 -o holds.npy --overwrite
    [ "$(values u1 holds.npy)" = "$2" ]
}

# inside FILE WIDTH: the samples of an array of that many columns, without those of the margins (128).
inside() {
    values u1 "$1" | xargs -n "$2" | sed -e 's/^128 128 128 128 \(.*\) 128 128 128 128$/\1/' |
        grep -vE '^128( 128)*$' | xargs
}

row() { # a.npy: the picture 1 2 3
    npy '|u1' 1 '1, 3' '\x01\x02\x03' >a.npy
}

@test "a picture a map, where the format holds no more" {
    row
    weights w.npy 12 1
    gf a.npy -k conv:weights=w.npy --format png
    [ "$status" -eq 0 ]
    [ "$(ls ./*.png)" = "$(printf './a.conv.%02d.png\n' {1..12})" ]
    holds a.conv.01.png '1 2 3'
    holds a.conv.12.png '12 24 36'
    gf a.npy -k conv:weights=w.npy -o out/maps.png
    holds out/maps.07.png '7 14 21'
    gf a.npy -k conv:weights=w.npy -o out/maps.jpg --quality 100
    [ -s out/maps.12.jpg ]
    gf a.npy -k conv:weights=w.npy -o out/maps.npy
    [ "$(values f4 out/maps.npy | wc -w)" -eq 36 ]
    nothing_hidden out
}

@test "one map and three stay one picture, two and four do not" {
    local n
    scene rgb8 a.png 13x9
    for n in 1 2 3 4; do
        weights "w$n.npy" "$n" 3
        gf a.png -k "conv:weights=w$n.npy" -o "out$n/"
        [ "$status" -eq 0 ]
    done
    [ "$(echo out[13]/*)" = 'out1/a.conv.png out3/a.conv.png' ]
    [ "$(echo out2/*)" = "$(echo out2/a.conv.{1,2}.png)" ]
    [ "$(echo out4/*)" = "$(echo out4/a.conv.{1,2,3,4}.png)" ]
}

@test "maps of pictures with opacity and of 16 bits, in bands" {
    local kind
    weights w.npy 5 4
    for kind in rgba8 rgba16; do
        scene "$kind" a.png 211x307
        gf a.png -k "conv:weights=w.npy,scale:factor=0.05" --device cpu -o "$kind/" --memory 200k
        [ "$status" -eq 0 ]
        gf a.png -k "conv:weights=w.npy,scale:factor=0.05" --device reference -o "ref-$kind/"
        "$GPUFILTER" compare "$kind/a.conv-scale.4.png" "ref-$kind/a.conv-scale.4.png" --tolerance 1 >/dev/null
        different_picture "$kind/a.conv-scale.4.png" "$kind/a.conv-scale.5.png"
    done
}

@test "the channels of an array are maps too, also from a pipe" {
    npy '|u1' 1 '5, 1, 2' '\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a' >a.npy
    gf a.npy -k '1x1: 2' --format png --json
    [ "$status" -eq 0 ]
    [[ $output == *'"outputs":["a.custom.1.png","a.custom.2.png","a.custom.3.png","a.custom.4.png","a.custom.5.png"]'* ]]
    holds a.custom.4.png '14 16'
    "$GPUFILTER" - -k '1x1: 3' -o p.png <a.npy
    holds p.5.png '27 30'
}

@test "names of maps are known before anything starts" {
    weights w.npy 11 1
    mkdir one two
    scene gray8 one/a.png 5x5
    cp one/a.png two/a.png
    cp one/a.png one/a.conv.03.png
    gf one/a.png two/a.png -k conv:weights=w.npy -o out/
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: out/a.conv.01.png: both one/a.png and two/a.png would be written here' ]
    gf one -k conv:weights=w.npy -o one --overwrite
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: one/a.conv.03.png: the output is another input of this call, one/a.conv.03.png; give outputs a folder of their own' ]
    npy '|u1' 1 '5, 1, 1' '\x01\x02\x03\x04\x05' >two/b.npy
    cp two/b.npy one/b.npy
    gf one/b.npy two/b.npy -k box --format png -o out/
    [ "$status" -eq 2 ]
    [[ $stderr == *'out/b.box.1.png: both '* ]]
    [ ! -e out ]
}

@test "maps that exist are refused, replaced or passed over" {
    row
    weights w.npy 4 1
    gf a.npy -k conv:weights=w.npy -o m.png
    [ "$status" -eq 0 ]
    rm m.2.png
    gf a.npy -k conv:weights=w.npy,scale:factor=2 -o m.png
    [ "$status" -eq 1 ]
    [[ $stderr == *'m.1.png: exists already'* ]]
    [ ! -e m.2.png ]
    gf a.npy -k conv:weights=w.npy,scale:factor=2 -o m.png --skip-existing
    [ "$status" -eq 0 ]
    holds m.1.png '1 2 3'
    holds m.2.png '4 8 12'
    mkdir out
    mv m.1.png out/a.conv.1.png # of two filters one has a map that is missing
    mv m.2.png out/a.identity.png
    gf a.npy -k conv:weights=w.npy -k identity --name '{stem}.{filter}.png' -o out --skip-existing --json
    [[ $output == *'"existing":["out/a.conv.1.png","out/a.identity.png"],"status":"ok"'* ]]
    holds out/a.conv.2.png '2 4 6'
    holds out/a.identity.png '4 8 12'
    gf a.npy -k conv:weights=w.npy -o m.png --skip-existing
    gf a.npy -k conv:weights=w.npy -o m.png --skip-existing -v
    [[ $stderr == *'its outputs exist'* ]]
    gf a.npy -k conv:weights=w.npy,scale:factor=2 -o m.png --overwrite
    holds m.1.png '2 4 6'
    nothing_hidden
}

@test "standard output and the input's place take no maps" {
    scene gray8 a.png 5x5
    weights w.npy 4 1
    gf a.png -k conv:weights=w.npy -o -
    [ "$status" -eq 1 ]
    [[ $stderr == *'png holds gray or RGB'* ]]
    gf a.png -k conv:weights=w.npy --in-place
    [ "$status" -eq 1 ]
    [[ $stderr == *'png holds gray or RGB'* ]]
}

@test "--range minmax, --montage: numbers that only f64 tells apart" {
    local tail='\x80\x84\x2e\x41' zeros='\x00\x00' # a million, and 2^-12, 2^-11, 2^-10 more
    npy '<f8' 8 '1, 4' "$zeros\x00\x00$tail$zeros\x20\x00$tail$zeros\x40\x00$tail$zeros\x80\x00$tail" >a.npy
    gf a.npy -k identity --range minmax --depth 8 -o b.npy
    [ "$(values u1 b.npy)" = '0 64 128 255' ]
    gf a.npy -k identity --montage c.npy
    [[ $(values u1 c.npy) == *' 0 64 128 255 '* ]]
}

@test "--range minmax: from black to white" {
    row
    gf a.npy -k identity --range minmax --depth 8 -o b.npy
    [ "$(values u1 b.npy)" = '0 128 255' ]
    gf a.npy -k '1x1: -100' --range minmax --depth 16 -o c.npy
    [ "$(values u2 c.npy)" = '65535 32768 0' ]
    gf a.npy -k identity --range minmax -o floats.npy
    [ "$(values f4 floats.npy)" = '1 2 3' ]
    npy '|u1' 1 '2, 1, 3' '\x01\x02\x03\x0a\x14\x28' >pair.npy # two channels share a scale
    gf pair.npy -k identity --range minmax --depth 8 -o d.npy
    [ "$(values u1 d.npy)" = '0 7 13 59 124 255' ]
    npy '|u1' 1 '2, 1, 1, 3' '\x01\x02\x03\x0a\x14\x28' >two.npy # two pictures do not
    gf two.npy -k identity --range minmax --depth 8 -o e.npy
    [ "$(values u1 e.npy)" = '0 128 255 0 85 255' ]
    # 1, NaN, infinity, 2
    npy '<f4' 4 '1, 4' '\x00\x00\x80\x3f\x00\x00\xc0\x7f\x00\x00\x80\x7f\x00\x00\x00\x40' >odd.npy
    gf odd.npy -k identity --range minmax --depth 8 -o odd8.npy
    [ "$(values u1 odd8.npy)" = '0 0 255 255' ]
    scene rgba8 f.png 17x11
    gf f.png -k identity --range minmax -o f2.png
    [ "$status" -eq 0 ]
    gf f.png -k sobel:x --range minmax --alpha copy -o f3.png
    [ "$status" -eq 0 ]
}

@test "a response that is the same everywhere is gray" {
    npy '|u1' 1 '1, 1' '\x07' >one.npy
    gf one.npy -k identity --range minmax --depth 8 -o b.npy
    [ "$(values u1 b.npy)" = '128' ]
    gf one.npy -k identity --montage m.npy
    [ "$(values u1 m.npy | tr ' ' '\n' | sort -u)" = '128' ]
    [ "$(values u1 m.npy | wc -w)" -eq 81 ]
    # Sums that cancel leave nothing but what rounding leaves of them.
    npy '|u1' 1 '9, 40' "$(printf '\\xc8%.0s' {1..360})" >flat.npy
    local kernel
    for kernel in gabor log:sigma=4 farid dog gaussian; do
        gf flat.npy -k "$kernel" --range minmax --depth 8 -o c.npy --overwrite
        [ "$(values u1 c.npy | tr ' ' '\n' | sort -u)" = 128 ]
    done
    gf flat.npy --bank gabor --montage m.npy --overwrite
    [ "$(values u1 m.npy | tr ' ' '\n' | sort -u)" = 128 ]
    gf flat.npy --bank gabor --montage m.npy --overwrite --montage-scale common
    [ "$(values u1 m.npy | tr ' ' '\n' | sort -u)" = 128 ]
}

@test "--range minmax: filters in one array, each of its own scale" {
    npy '|u1' 1 '2, 1, 1, 3' '\x0a\x14\x1e\x00\x04\x01' >two.npy
    gf two.npy -k identity -k '1x1: -1' --range minmax --depth 8 -o both.npy
    [ "$status" -eq 0 ]
    [ "$(values u1 both.npy)" = '0 128 255 255 128 0 0 255 64 255 0 191' ]
}

@test "--range minmax shows the least difference of a mask" {
    # 9 x 9 samples of 16 bits, all 0 but one 1
    npy '<u2' 2 '9, 9' "$(printf '\\x00%.0s' {1..80})"'\x01'"$(printf '\\x00%.0s' {1..81})" >mask.npy
    gf mask.npy -k box:size=3 --range minmax --depth 8 -o a.npy
    [ "$(values u1 a.npy | tr ' ' '\n' | sort -n | uniq -c | tr -s ' ' | tr '\n' ';')" = ' 72 0; 9 255;' ]
}

@test "--compare holds responses against each other before they are stretched" {
    row
    gf a.npy -k sobel:x --range minmax --compare --device cpu
    [ "$status" -eq 0 ]
    [[ $output =~ beyond\ ([0-9.e-]+) ]] # a step, of integers
    [ "${BASH_REMATCH[1]}" != 1 ]
    gf a.npy -k sobel:x --compare --device cpu --name '{stem}.x{ext}'
    [ "$status" -eq 2 ]
    [[ $stderr == *'is a comparison'* ]]
}

@test "a montage of one map, and of two on one scale, each on its own, on none" {
    row
    gf a.npy -k identity --montage one.npy
    [ "$status" -eq 0 ]
    [ "$(values u1 one.npy | wc -w)" -eq $((11 * 9)) ]
    [ "$(inside one.npy 11)" = '0 128 255' ]
    gf a.npy -k identity -k '1x1: 2' --montage map.npy
    [ "$(inside map.npy 18)" = '0 128 255 128 128 128 128 0 128 255' ]
    gf a.npy -k identity -k '1x1: 2' --montage common.npy --montage-scale common
    [ "$(inside common.npy 18)" = '0 51 102 128 128 128 128 51 153 255' ]
    gf a.npy -k identity -k '1x1: -2' --montage none.npy --montage-scale none --range abs
    [ "$(inside none.npy 18)" = '1 2 3 128 128 128 128 2 4 6' ]
    gf a.npy -k identity -k '1x1: 2' --montage column.npy --montage-columns 1
    [ "$(inside column.npy 11)" = '0 128 255 0 128 255' ]
}

@test "a montage of a hundred maps" {
    scene rgb8 a.png 11x7
    weights w.npy 100 3
    gf a.png -k conv:weights=w.npy,scale:factor=0.001 --montage m.npy --montage-scale none
    [ "$status" -eq 0 ]
    [ "$(values u1 m.npy | wc -w)" -eq $(((10 * 15 + 4) * (10 * 11 + 4))) ]
    gf a.png -k conv:weights=w.npy --bank laws --montage n.png
    [ "$status" -eq 0 ]
    [ "$(ls)" = $'a.png\nm.npy\nn.png\nw.npy' ]
}

@test "gray, colour and opacity; sizes that differ; every device" {
    local kind device
    for kind in gray8 ga8 rgb8 rgba8 gray16 rgba16; do
        scene "$kind" a.png 31x17
        for device in cpu reference; do
            gf a.png --bank robinson -k avgpool:size=2 -k '1x1: 1' --montage "$kind-$device.png" \
                --device "$device"
            [ "$status" -eq 0 ]
        done
        "$GPUFILTER" compare "$kind-cpu.png" "$kind-reference.png" --tolerance 1 >/dev/null
    done
}

@test "sheets of a directory are named by a template" {
    mkdir -p in/sub
    scene gray8 in/a.png 9x9
    scene rgb8 in/sub/b.png 9x9
    gf in -r --bank kirsch --montage '{stem}.maps{ext}' -o out
    [ "$status" -eq 0 ]
    [ "$(cd out && find . -type f | sort | xargs)" = './a.maps.png ./sub/b.maps.png' ]
    gf in -r --bank kirsch --montage 'sheets/{dir}/{index}-{stem}.jpg'
    [ "$status" -eq 0 ]
    [ "$(cd sheets && find . -type f | sort | xargs)" = './1-a.jpg ./sub/2-b.jpg' ]
    gf in -r --bank kirsch --montage all.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: all.png: both in/a.png and in/sub/b.png would be written here; put {stem} into --montage' ]
    scene gray8 in/sub/a.png 9x9
    gf in -r --bank kirsch --montage '{stem}.png'
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: a.png: both in/a.png and in/sub/a.png would be written here; put {index} into --montage' ]
    gf in/a.png -k box --montage '{stm}.png'
    [ "$stderr" = 'gpufilter: --montage: unknown {stm}; did you mean {stem}?' ]
}

@test "a montage exists, is passed over, is the input" {
    scene gray8 a.png 9x9
    gf a.png --bank kirsch --montage m.png
    gf a.png --bank robinson --montage m.png
    [ "$status" -eq 1 ]
    [[ $stderr == *'m.png: exists already'* ]]
    gf a.png --bank robinson --montage m.png --skip-existing -v
    [[ $stderr == *'its outputs exist'* ]]
    gf a.png --bank robinson --montage a.png --overwrite
    [ "$status" -eq 2 ]
    [[ $stderr == *'the output is the input'* ]]
    gf a.png --bank robinson --montage m.png --overwrite --json --stats
    [ "$status" -eq 0 ]
    [[ $output == *'"outputs":["m.png"],"status":"ok"'* ]]
    [[ $stderr == *robinson-n$'\n'*robinson-ne$'\n'* ]]
    nothing_hidden
}

@test "a montage to standard output, and what does not go with one" {
    scene gray8 a.png 9x9
    "$GPUFILTER" a.png --bank kirsch --montage - >m.png
    "$GPUFILTER" - --bank kirsch --montage n.png <a.png
    same_picture m.png n.png
    gf a.png -k box --montage m.png --in-place
    [ "$stderr" = 'gpufilter: --in-place and --montage exclude each other' ]
    gf a.png -k box --montage-columns 3
    [ "$stderr" = 'gpufilter: --montage-columns goes with --montage' ]
    gf a.png -k box --montage m.png --depth f32
    [ "$stderr" = 'gpufilter: --depth: a montage has 8 or 16 bits' ]
    gf a.png -k box --montage m.webp
    [ "$status" -eq 2 ]
    [[ $stderr == *'nothing is known of the extension .webp'* ]]
    gf a.png -k box --montage m.png -o x.png
    [ "$stderr" = 'gpufilter: -o x.png: with --montage it names the folder of the sheets' ]
    gf a.png -k box --montage m.png --range minmax --montage-scale none
    [ "$status" -eq 2 ]
    npy '|u1' 1 '2, 1, 1, 3' '\x01\x02\x03\x0a\x14\x28' >two.npy
    gf two.npy -k box --montage two.png
    [ "$status" -eq 1 ]
    [[ $stderr == *'a montage is of one picture, and this file holds 2' ]]
}

@test "what is held in memory has a limit" {
    scene gray8 a.png 301x299
    # 8 maps of 299 rows of 1216 bytes: 2840.5 KiB.
    gf a.png --bank kirsch --montage m.png --memory 1M
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: a.png: the responses that a stretch or a montage holds in memory need 2841 KiB, the limit is 1024 KiB (--memory)' ]
    [ ! -e m.png ]
    gf a.png --bank kirsch --montage m.png --memory 3M
    [ "$status" -eq 0 ]
    gf a.png -k sobel:x --range minmax --memory 300k
    [ "$status" -eq 1 ]
    gf a.png -k sobel:x --range minmax --memory 400k
    [ "$status" -eq 0 ]
    nothing_hidden
}

@test "--compare compares responses and writes the sheet" {
    scene rgb8 a.png 33x21
    gf a.png --bank robinson --montage m.png --compare --device cpu
    [ "$status" -eq 0 ]
    gf a.png --bank robinson --montage n.png --device cpu
    same_picture m.png n.png
    weights w.npy 5 3
    gf a.png -k conv:weights=w.npy --compare --device cpu -o out/
    [ "$status" -eq 0 ]
    [ "$(find out -name 'a.conv.?.png' | wc -l)" -eq 5 ]
}

@test "a bank in one array has its statistics" {
    row
    gf a.npy --bank kirsch -o all.npy --stats -v
    [ "$status" -eq 0 ]
    [[ $stderr == *kirsch-n$'\n'*kirsch-ne$'\n'* ]]
    [[ $stderr == *'a.npy: kirsch-ne computed by'* ]]
}

@test "--verbose names no file that is not written: of maps the input and the filter" {
    scene gray8 a.png 9x9
    weights w.npy 5 1
    gf a.png -k conv:weights=w.npy -k box -o out/ -v --device cpu
    [ "$status" -eq 0 ]
    [[ $stderr == *'a.png: conv computed by'*'out/a.box.png: computed by'* ]]
}
