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
    gf compare - - <a.npy
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: standard input (-) can be read only once' ]
    gf compare a.npy - <b.npy
    [ "$status" -eq 1 ]
    [ -c /dev/full ] || skip 'no /dev/full'
    gf compare a.npy b.npy --report /dev/full
    [ "$status" -eq 2 ]
}

@test "compare: what numbers without an end leave undefined says so" {
    npy '<f4' 4 '2, 2' '\x00\x00\x80\x7f\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00\x80\x3f' >a.npy
    npy '<f4' 4 '2, 2' '\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00\x80\x3f' >b.npy
    gf compare a.npy a.npy
    [ "$status" -eq 0 ]
    [[ $output == *'PSNR                inf (the pictures are equal)'*'SSIM                1.00000000'* ]]
    gf compare a.npy b.npy
    [ "$status" -eq 1 ]
    [[ $output == *'largest difference  inf'*'SSIM                undefined (samples are infinite, NaN or too large)'* ]]
    gf compare a.npy b.npy --json
    [[ $output == *'"ssim":null'* ]]
    # 1 and 3 times 2^600: the square of the range they span is infinite, but they are not equal.
    npy '<f8' 8 '1, 2' '\x00\x00\x00\x00\x00\x00\x70\x65\x00\x00\x00\x00\x00\x00\x88\x65' >c.npy
    npy '<f8' 8 '1, 2' '\x00\x00\x00\x00\x00\x00\x70\x65\x00\x00\x00\x00\x00\x00\x70\x65' >d.npy
    gf compare c.npy d.npy
    [ "$status" -eq 1 ]
    [[ $output != *equal* && $output != *nan* ]]
}

@test "compare: PSNR and SSIM do not depend on how large samples are" {
    # 3 and 1, 1 and 1: one of two samples differs by the range, 2, so PSNR is 10 log10 2. In units of
    # the range means are 1 and 0.5, variances 0.25 and 0, the covariance 0.
    # As they are, times 2^600 and times 2^-600.
    for numbers in '\xf0\x3f \x08\x40' '\x70\x65 \x88\x65' '\x70\x1a \x88\x1a'; do
        read -r one three <<<"$numbers"
        npy '<f8' 8 '1, 2' "\x00\x00\x00\x00\x00\x00$one\x00\x00\x00\x00\x00\x00$three" >a.npy
        npy '<f8' 8 '1, 2' "\x00\x00\x00\x00\x00\x00$one\x00\x00\x00\x00\x00\x00$one" >b.npy
        gf compare a.npy b.npy
        [[ $output == *'PSNR                3.01 dB'*'SSIM                0.00286973'* ]]
    done
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
    [ "$stderr" = 'gpufilter: a.png and b.png: the sizes differ: 64 x 48 and 65 x 48' ]
    gf compare a.png c.png
    [ "$status" -eq 2 ]
    [[ $stderr == *'the sample types differ: u8 and u16'* ]]
    gf compare a.png d.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: a.png and d.png: the channels differ: 1 and 3' ]
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

@test "--compare: of a flat picture's edges nothing but rounding is left, which passes" {
    npy '<f4' 4 '12, 13' "$(printf '\\x9a\\x99\\x99\\x3e%.0s' {1..156})" >flat.npy
    gf flat.npy -k gabor -k log:sigma=2 -k dog -k farid --device cpu --compare
    [ "$status" -eq 0 ]
    [[ $output == *'beyond 3e-13'* ]]
    npy '<f4' 4 '12, 13' "$(printf '\\x00%.0s' {1..624})" >zero.npy
    gf zero.npy -k gabor --device cpu --compare
    [ "$status" -eq 0 ]
    [[ $output == *'beyond 0 '* ]]
}

@test "--compare: what is left of samples that cancel has the rounding of f32" {
    # 1 and -0.99 in turn: the mean is 0.005.
    npy '<f4' 4 '16, 16' "$(printf '\\x00\\x00\\x80\\x3f\\xa4\\x70\\x7d\\xbf%.0s' {1..128})" >turns.npy
    gf turns.npy -k gaussian:sigma=2 --border wrap --device cpu --compare
    [ "$status" -eq 0 ]
    [[ $output == *'beyond 2.38419e-07'* ]]
    gf turns.npy -k gaussian:sigma=2 --border wrap --device cpu --compare --depth f64
    [ "$status" -eq 0 ]
    [[ $output == *'beyond 5.01453e-08'* ]]
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
    # Whole numbers have one exact sum, and no two ways to it: a kernel of whole taps on 8 bits.
    scene rgb8 b.png
    gf b.png -k laplacian:8 --compare --device cpu --border wrap --tolerance 0
    [ "$status" -eq 0 ]
    [[ $output == *'largest difference  0'* ]]
    # In floats the sums of f32 and f64 differ somewhere, by less than the tolerance that is usual.
    gf b.png -k identity -o f.npy
    gf f.npy -k gaussian:sigma=2 --compare --device cpu --tolerance 0
    [ "$status" -eq 1 ]
    gf f.npy -k gaussian:sigma=2 --compare --device cpu
    [ "$status" -eq 0 ]
    rm f.npy
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

@test "the picture of differences replaces no input and no output" {
    scene gray8 a.png
    gf a.png -k box -o b.png
    cp a.png kept.png
    ln a.png hard.png
    ln -s b.png soft.png
    local image
    for image in a.png ./b.png hard.png soft.png; do
        gf compare a.png b.png --diff-image "$image" --overwrite
        printf '%s: %s\n' "$image" "$stderr"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
    done
    [ "$stderr" = 'gpufilter: --diff-image soft.png: this is b.png, which would be lost' ]
    # That it exists is found before anything is computed.
    cp a.png exists.png
    gf a.png -k box --compare --device cpu --diff-image exists.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --diff-image exists.png: exists already' ]
    [ -z "$output" ]
    gf compare a.png b.png --diff-image . --overwrite
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --diff-image .: is a directory' ]
    [ -z "$output" ]
    gf a.png -k box --compare --device cpu --diff-image hard.png --overwrite
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --diff-image hard.png: this is a.png, which would be lost' ]
    ln -s . here
    gf a.png -k box --compare --device cpu -o new.png --diff-image here/new.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --diff-image here/new.png: this is new.png, which would be lost' ]
    [ ! -e new.png ]
    cmp a.png kept.png
}

@test "--compare stops at a full disk and lists what was not started" {
    [ -c /dev/full ] || skip 'no /dev/full'
    mkdir in out
    scene gray8 in/a.png
    cp in/a.png in/b.png
    cp in/a.png in/c.png
    ln -s /dev/full out/b.box.png
    gf in -k box --compare --device cpu -o out
    [ "$status" -eq 3 ]
    [ "${stderr_lines[0]}" = 'gpufilter: in/b.png: out/b.box.png: writing failed: No space left on device' ]
    [ "${stderr_lines[1]}" = 'gpufilter: in/c.png: not started' ]
    [ "${#stderr_lines[@]}" -eq 2 ]
    [ -s out/a.box.png ]
    [ ! -e out/c.box.png ]
}

@test "--compare --strip writes what a run without it writes" {
    scene rgb8 a.png
    gf a.png -k box --strip -o one.png
    gf a.png -k box --strip --compare --device cpu -o other.png
    [ "$status" -eq 0 ]
    cmp one.png other.png
}

@test "figures that cannot be printed are trouble" {
    [ -c /dev/full ] || skip 'no /dev/full'
    scene gray8 a.png
    local status=0
    "$GPUFILTER" compare a.png a.png >/dev/full 2>message || status=$?
    [ "$status" -eq 2 ]
    [ "$(cat message)" = 'gpufilter: standard output: No space left on device' ]
    gf compare a.png a.png --diff-image -
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --diff-image -: the figures go to standard output' ]
}
