#!/usr/bin/env bats
# --bank and --combine, and what the kernels of filters and banks look like.
# shellcheck disable=SC2154 # bats sets stderr
load common

@test "every bank of the list writes its members, on every device the same" {
    local bank banks
    scene rgb8 a.png 37x23
    banks=$("$GPUFILTER" filters | sed -n 's/^--bank \([a-z]*\) .*/\1/p')
    [ "$(wc -w <<<"$banks")" -ge 6 ]
    for bank in $banks; do
        gf a.png --bank "$bank" -o "$bank/" --device cpu
        [ "$status" -eq 0 ]
        [ "$(find "$bank" -name "a.$bank-*.png" | wc -l)" -gt 4 ]
        gf a.png --bank "$bank" --combine l2 -o "$bank.png"
        [ "$status" -eq 0 ]
        gf a.png --bank "$bank" --compare --device cpu
        [ "$status" -eq 0 ]
        gf a.png --bank "$bank" --combine max --compare --device cpu
        [ "$status" -eq 0 ]
    done
}

@test "members are named by their parameters" {
    scene gray8 a.png 9x7
    gf a.png --bank gabor:orientations=4:wavelengths=4,5.5 --bank laws:size=3 -k sobel -o out/
    [ "$status" -eq 0 ]
    [ "$(ls out)" = "$(printf 'a.%s.png\n' gabor-4-{000,045,090,135} gabor-5.5-{000,045,090,135} \
        laws-{e3,l3,s3}{e3,l3,s3} sobel)" ]
}

@test "two banks of the same members are named by their texts" {
    scene gray8 a.png 9x7
    gf a.png --bank kirsch --bank kirsch:scale=2 -o out/
    [ "$status" -eq 0 ]
    [ -s out/a.kirsch_kirsch-n.png ]
    [ -s out/a.kirsch_scale_2_kirsch-n.png ]
    gf a.png --bank kirsch --bank kirsch -o twice/
    [ "$status" -eq 2 ]
    [[ $stderr == *'two kernels would be written here'* ]]
    gf a.png --bank laplacian --combine sum -k laplacian -o both/
    [ "$status" -eq 0 ]
    [ "$(ls both)" = $'a.laplacian.png\na.laplacian_sum.png' ]
}

@test "members are the kernels that --kernel would take" {
    scene rgb8 a.png 31x17
    gf a.png --bank robinson -o out/
    gf a.png -k '3x3: 1 2 1  0 0 0  -1 -2 -1' -o n.png
    same_picture n.png out/a.robinson-n.png
    gf a.png -k '3x3: 0 1 2  -1 0 1  -2 -1 0' -o ne.png
    same_picture ne.png out/a.robinson-ne.png
    gf a.png --bank robinson --combine max -o max.png
    different_picture max.png out/a.robinson-n.png
}

@test "the levels of a pyramid sum to the picture" {
    scene rgb8 a.png 61x43
    gf a.png --bank laplacian:levels=3 --combine sum -o sum.png
    same_picture a.png sum.png
    scene rgba16 b.png 61x43
    gf b.png --bank laplacian --combine sum -o sum16.png
    [ "$status" -eq 0 ]
    gf b.png --bank laplacian --combine sum -o copied.png --alpha copy
    same_picture b.png copied.png
}

@test "a bank goes into one array, and in the order of the call" {
    npy '|u1' 1 '1, 3' '\x01\x02\x04' >a.npy
    gf a.npy -k identity --bank laplacian:levels=1:sigma=0.3 -k '1x1: 2' -o all.npy
    [ "$status" -eq 0 ]
    [ "$(values f4 all.npy | wc -w)" -eq 12 ]
    [[ $(values f4 all.npy) == '1 2 4 '*' 2 4 8' ]]
}

@test "what is wrong with a bank is told before anything starts" {
    gf missing.png --bank gabro
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --bank "gabro": unknown bank "gabro"; did you mean "gabor"?' ]
    gf missing.png --bank gabor:wavelengths=4,4
    [ "$stderr" = 'gpufilter: --bank "gabor:wavelengths=4,4": gabor: wavelengths=4,4 has a number twice' ]
    gf missing.png -k laws
    [ "$stderr" = 'gpufilter: --kernel "laws": "laws" is a bank of filters; write --bank laws' ]
    gf missing.png -k sobel --combine max
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --combine makes one output of a --bank, and none is given' ]
    scene gray8 a.png 9x7
    gf a.png --bank kirsch --in-place
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --in-place and several filters exclude each other' ]
    gf a.png --bank kirsch --combine max --in-place
    [ "$status" -eq 0 ]
    gf a.png --bank kirsch -o one.png
    [ "$status" -eq 2 ]
    [[ $stderr == *'there are several outputs; name a folder'* ]]
}

@test "gpufilter filters --bank: parameters, members, what combines them" {
    gf filters --bank robinson --combine max
    [ "$status" -eq 0 ]
    [[ $output == *'Parameters:'*scale*robinson-n*robinson-ne*'Combined: largest response'* ]]
    gf filters sobel box
    [ "$status" -eq 0 ]
    [[ $output == 'sobel: '*'box: '* ]]
}

@test "completion knows banks" {
    "$GPUFILTER" completion bash >script
    # shellcheck disable=SC2016
    [ "$(bash -c '. ./script; COMP_WORDS=(gpufilter --bank kir); COMP_CWORD=2; _gpufilter
        echo "${COMPREPLY[@]}"')" = kirsch ]
}

@test "filters --picture draws kernels, zero in the middle" {
    local side=128
    gf filters '1x1: -3' --picture one.npy
    [ "$status" -eq 0 ]
    [ "$output" = 'row 1: custom' ]
    [ "$(values u1 one.npy | tr ' ' '\n' | sort -n | uniq -c | tr -s ' ')" = \
        " $((side * side)) 1"$'\n'" $(((side + 8) * (side + 8) - side * side)) 32" ]
    gf filters '3x1: -1 0 2' --picture row.npy
    # Three taps of 42 x 42 pixels: -1 of 2 is half way down.
    [ "$(values u1 row.npy | tr ' ' '\n' | sort -n | uniq -c | awk '{print $2}' | xargs)" = '32 64 128 255' ]
}

@test "filters --picture: banks, layers, all filters; replaced only when asked" {
    gf filters --picture all.png
    [ "$status" -eq 0 ]
    [[ $output == *'sobel 1, sobel 2'* ]]
    [[ $output != *relu* && $output != *unsharp* ]]
    gf filters --picture all.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: all.png: exists already' ]
    gf filters --bank laws --picture all.png --overwrite
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 5 ]
    npy '|i1' 1 '2, 3, 1, 1' '\x01\x00\x00\x00\xff\x00' >rgb.npy
    gf filters conv:weights=rgb.npy --picture rgb.out.npy
    [ "$output" = 'row 1: conv 1, conv 2' ]
    [ "$(values u1 rgb.out.npy | wc -w)" -eq $((3 * 136 * 268)) ]
    npy '|i1' 1 '2, 2, 1, 1' '\x01\x00\x00\xff' >two.npy
    gf filters conv:weights=two.npy --picture two.out.npy
    [ "$(values u1 two.out.npy | wc -w)" -eq $((268 * 268)) ]
    gf filters relu --picture none.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: relu has no kernel that could be drawn' ]
    gf a.png -k box --picture x.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --picture goes with gpufilter filters' ]
    gf filters --bank laws --combine max --picture x.png
    [ "$stderr" = 'gpufilter: --combine and --picture exclude each other' ]
    nothing_hidden
}
