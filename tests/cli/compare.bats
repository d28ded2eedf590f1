#!/usr/bin/env bats
# gpufilter compare A B, and --compare.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
load common

@test "compare: status 0 within the tolerance, 1 beyond, 2 trouble" {
    npy '|u1' 1 '2, 2' '\x00\x0a\x14\x1e' >a.npy
    npy '|u1' 1 '2, 2' '\x00\x0a\x14\x20' >b.npy
    gf compare a.npy a.npy
    [ "$status" -eq 0 ]
    [[ $output == *'PSNR                inf'*'SSIM                1.00000000'* ]]
    gf compare a.npy b.npy
    [ "$status" -eq 1 ]
    [[ $output == *'largest difference  2'*'mean difference     0.5'* ]]
    [[ $output == *'beyond 0            1 of 4 samples (25 %)'* ]]
    # 10 log10(255^2 / (4 / 4))
    [[ $output == *'PSNR                48.13 dB'* ]]
    gf compare a.npy b.npy --tolerance 2
    [ "$status" -eq 0 ]
    gf compare a.npy none.npy
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: none.npy: cannot be opened: No such file or directory' ]
}

@test "compare: SSIM by its formula" {
    npy '|u1' 1 '2, 2' '\x00\x0a\x14\x1e' >a.npy
    npy '|u1' 1 '2, 2' '\x00\x0a\x14\x20' >b.npy
    gf compare a.npy b.npy
    # One window: means 15 and 15.5, variances 125 and 140.75, covariance 132.5.
    [[ $output == *'SSIM                0.99715842'* ]]
    npy '|u1' 1 '12, 13' "$(printf '\\x64%.0s' {1..156})" >c.npy
    npy '|u1' 1 '12, 13' "$(printf '\\x6e%.0s' {1..156})" >d.npy
    gf compare c.npy d.npy
    # Flat: (2 * 100 * 110 + C1) / (100^2 + 110^2 + C1), C1 = (0.01 * 255)^2.
    [[ $output == *'SSIM                0.99547644'* ]]
}

@test "compare: what differs in kind is trouble" {
    scene gray8 a.png
    scene gray8 b.png 65x48
    scene gray16 c.png
    scene rgb8 d.png
    gf compare a.png b.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: the sizes differ: 64 x 48 and 65 x 48' ]
    gf compare a.png c.png
    [ "$status" -eq 2 ]
    [[ $stderr == *'the sample types differ: 8-bit and 16-bit'* ]]
    gf compare a.png d.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: the channels differ: 1 and 3' ]
}

@test "compare: floats, and NaN" {
    npy '<f4' 4 '1, 2' '\x00\x00\x80\x3f\x00\x00\xc0\x7f' >a.npy
    npy '<f4' 4 '1, 2' '\x00\x00\x00\x40\x00\x00\xc0\x7f' >b.npy
    npy '<f4' 4 '1, 2' '\x00\x00\x80\x3f\x00\x00\x80\x3f' >c.npy
    gf compare a.npy b.npy --tolerance 1
    [ "$status" -eq 0 ]
    gf compare a.npy c.npy --tolerance 1000
    [ "$status" -eq 1 ]
    [[ $output == *'largest difference  inf'* ]]
}

@test "compare: the picture of differences" {
    npy '|u1' 1 '1, 3' '\x00\x0a\x14' >a.npy
    npy '|u1' 1 '1, 3' '\x04\x0a\x12' >b.npy
    gf compare a.npy b.npy --diff-image d.npy
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: d.npy: white is a difference of 4' ]
    [ "$(values u1 d.npy)" = '255 0 128' ]
    gf compare a.npy b.npy --diff-image d.npy
    [ "$status" -eq 2 ]
    gf compare a.npy b.npy --diff-image d.npy --overwrite -q
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    scene rgba8 e.png
    gf e.png -k box -o f.png
    gf compare e.png f.png --diff-image g.png
    [ "$(od -An -j25 -N1 -tu1 g.png)" -eq 2 ]
}

@test "--compare agrees, says what with what, and writes nothing unasked" {
    scene rgb8 a.png
    gf a.png -k sobel -k gaussian:sigma=2 --compare
    [ "$status" -eq 0 ]
    [[ $output == *'a.png: sobel: '*' against '*'a.png: gaussian:sigma=2: '* ]]
    [ "$(find . -type f | wc -l)" -eq 1 ]
    gf a.png -k sobel --compare -o b.png
    [ "$status" -eq 0 ]
    gf a.png -k sobel -o c.png
    same_picture b.png c.png
}

@test "--compare on the CPU is held against the reference" {
    scene gray16 a.png
    gf a.png -k unsharp --compare --device cpu
    [ "$status" -eq 0 ]
    [[ $output == *'cpu ('*'against reference ('* ]]
    gf a.png -k log --compare --device cpu --depth 8 --border wrap --tolerance 0.5
    [ "$status" -le 1 ]
    npy '<f4' 4 '1, 2' '\x00\x00\x80\x3f\x00\x00\x40\x40' >f.npy
    gf f.npy -k gaussian --compare --device cpu
    [ "$status" -eq 0 ]
}

@test "--compare goes on after a bad file" {
    mkdir in
    scene gray8 in/a.png
    scene gray8 in/c.png
    echo broken >in/b.png
    gf in -k box --compare --device cpu
    [ "$status" -eq 1 ]
    [[ $output == *in/a.png*in/c.png* ]]
    [ "$(grep -c 'in/b.png: not a PNG' <<<"$stderr")" -eq 1 ]
}
