#!/usr/bin/env bats
# Pictures that come out: values known by hand, and bits that do not depend on how they were computed.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
load common

# refuses REASON ARGUMENT...: a call with arguments fails for want of memory, and says why.
refuses() {
    local reason=$1
    shift
    gf "$@"
    printf '%s\n%s\n' "$stderr" "$reason"
    [ "$status" -ne 0 ]
    [ "$stderr" = "gpufilter: $reason" ]
}

@test "correlation, and --flip for convolution" {
    npy '|u1' 1 '1, 3' '\x01\x02\x04' >a.npy
    gf a.npy -k '3x1: 1 10 100' -o b.npy --border zero
    [ "$(values f4 b.npy)" = '210 421 42' ]
    gf a.npy -k '3x1: 1 10 100' -o c.npy --border zero --flip
    [ "$(values f4 c.npy)" = '12 124 240' ]
}

@test "every border mode, on literal rows" {
    npy '|u1' 1 '1, 3' '\x01\x02\x04' >a.npy
    expect() { # MODE VALUES
        rm -f b.npy
        gf a.npy -k '3x1: 1 0 10' -o b.npy --border "$1"
        printf '%s: %s\n' "$1" "$(values f4 b.npy)"
        [ "$(values f4 b.npy)" = "$2" ]
    }
    expect replicate '21 41 42'
    expect edge '21 41 42'
    expect nearest '21 41 42'
    expect copy '21 41 42'
    expect reflect101 '22 41 22'
    expect reflect '21 41 42'
    expect wrap '24 41 12'
    expect circular '24 41 12'
    expect zero '20 41 2'
    expect constant '20 41 2'
    expect constant:7 '27 41 72'
    expect valid '41'
}

@test "a chain is one filter after the other, not rounded between" {
    npy '|u1' 1 '1, 1' '\x03' >a.npy
    gf a.npy -k '1x1/2: 1,1x1: 2' -o b.npy --depth 8
    [ "$(values u1 b.npy)" = 3 ]
}

@test "a kernel file" {
    printf '# three taps, divided by 2\n3 1 2 0\n1 0 3\n' >kernel.txt
    npy '|u1' 1 '1, 3' '\x02\x04\x06' >a.npy
    gf a.npy -k ./kernel.txt -o b.npy
    [ "$(values f4 b.npy)" = '7 10 11' ]
    gf a.npy -k ./none.txt -o c.npy
    [ "$status" -eq 2 ]
}

@test "ranges: clamp, abs, offset, and the signed response in .npy" {
    npy '|u1' 1 '1, 3' '\x00\x0a\x04' >a.npy
    expect() { # VALUES OPTION...
        local values=$1
        shift
        gf a.npy -k '2x1: -1 1' -o b.npy --overwrite "$@"
        printf '%s: %s\n' "$*" "$(od -An -tx1 -j128 b.npy)"
        [ "$(values "$format" b.npy)" = "$values" ]
    }
    local format=u1
    expect '0 10 0' --depth 8 --range clamp
    expect '0 10 6' --depth 8 --range abs
    expect '0 10 6' --depth 8
    expect '128 138 122' --depth 8 --range offset
    format=f4
    expect '0 10 -6'
    expect '0 10 6' --range abs
    format=f8
    expect '0 10 -6' --depth f64
}

@test "a response that is moved off zero is not made positive" {
    npy '|u1' 1 '1, 5' '\x00\x00\xc8\x00\x00' >a.npy
    gf a.npy -k '3x1: -1 2 -1,scale:offset=128' --depth 8 -o b.npy
    [ "$(values u1 b.npy)" = '128 0 255 0 128' ]
}

@test "sums of fractions are not taken for sums of integers" {
    local device taps
    taps="$(printf '3000 %.0s' {1..10})0 $(printf '%s3000 ' -{,,,,,,,,,})" # 0 of what is flat
    npy '|u1' 1 '1, 1' '\xff' >a.npy
    for device in cpu reference; do
        gf a.npy -k "clamp:high=185.1,21x1+100.51: $taps" --range clamp --depth 8 --device "$device" \
            -o b.npy --overwrite
        [ "$(values u1 b.npy)" = 101 ]
        gf a.npy -k "21x1+100.51: $taps" --border constant:185.1 --range clamp --depth 8 \
            --device "$device" -o b.npy --overwrite
        [ "$(values u1 b.npy)" = 101 ]
    done
}

@test "rounding is half to even, then saturation" {
    npy '|u1' 1 '1, 4' '\x01\x03\x05\xff' >a.npy
    gf a.npy -k '1x1/2: 1' -o b.npy --depth 8
    [ "$(values u1 b.npy)" = '0 2 2 128' ]
    gf a.npy -k '1x1: 3' -o c.npy --depth 8
    [ "$(values u1 c.npy)" = '3 9 15 255' ]
}

@test "rounding is to nearest, on every kind of sample and on both CPU backends" {
    npy '|u1' 1 '1, 5' '\x01\x03\x05\x07\x09' >half.npy
    npy '|u1' 1 '1, 6' '\x01\x02\x03\x05\x06\x07' >quarter.npy
    npy '<u2' 2 '1, 4' '\x01\x00\x03\x00\xfd\xff\xff\xff' >wide.npy
    npy '<f4' 4 '1, 4' '\x00\x00\x20\x40\x00\x00\x60\x40\xcd\xcc\x0c\x42\x00\x00\x80\xbf' >float.npy
    expect() { # IN KERNEL DEPTH FORMAT VALUES
        local device
        for device in cpu reference; do
            gf "$1.npy" -k "$2" -o "$device.$1.npy" --depth "$3" --device "$device"
            printf '%s %s: %s\n' "$device" "$1" "$(values "$4" "$device.$1.npy")"
            [ "$(values "$4" "$device.$1.npy")" = "$5" ]
        done
    }
    expect half '1x1/2: 1' 8 u1 '0 2 2 4 4'        # 0.5 1.5 2.5 3.5 4.5
    expect quarter '1x1/4: 1' 8 u1 '0 0 1 1 2 2'   # 0.25 0.5 0.75 1.25 1.5 1.75
    expect wide '1x1/2: 1' 16 u2 '0 2 32766 32768' # 0.5 1.5 32766.5 32767.5
    expect float '1x1: 1' 8 u1 '2 4 35 0'          # 2.5 3.5 35.2 -1
    # PNG has no floats to take refuge in.
    gf half.npy -k '1x1/2: 1' -o half.png --depth 8
    gf half.png -k identity -o back.npy
    [ "$(values f4 back.npy)" = '0 2 2 4 4' ]
}

@test "8 and 16 bits stay what they are, and change by --depth" {
    scene gray16 a.png
    gf a.png -k identity -o b.png
    same_picture a.png b.png
    gf a.png -k identity -o c.png --depth 8
    [ "$(od -An -j24 -N1 -tu1 c.png)" -eq 8 ]
    scene gray8 d.png
    gf d.png -k identity -o e.png --depth 16
    [ "$(od -An -j24 -N1 -tu1 e.png)" -eq 16 ]
    gf e.png -k identity -o f.png --depth 8
    same_picture d.png f.png
    gf a.png -k identity -o g.jpg
    [ "$status" -eq 0 ]
    gf a.png -k identity -o h.png --depth f32
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: h.png: --depth: png cannot hold samples of type f32' ]
}

@test "every kind of picture goes through identity unchanged" {
    local kind
    for kind in gray8 ga8 rgb8 rgba8 gray16 rgb16 rgba16; do
        scene "$kind" "$kind.png" 37x23
        gf "$kind.png" -k identity
        [ "$status" -eq 0 ]
        same_picture "$kind.png" "$kind.identity.png"
    done
}

@test "every way to treat opacity" {
    local how
    scene rgba8 a.png
    for how in auto premul copy filter; do
        gf a.png -k gaussian -o "$how.png" --alpha "$how"
        [ "$status" -eq 0 ]
    done
    same_picture auto.png premul.png
    different_picture premul.png filter.png
    different_picture premul.png copy.png
    gf a.png -k sobel -o sobel.png
    gf a.png -k sobel -o sobel-copy.png --alpha copy
    same_picture sobel.png sobel-copy.png
    gf a.png -k box -o a.jpg
    [ "$status" -eq 1 ]
    [[ $stderr == *'a.jpg: jpeg cannot hold opacity; write .png or .npy: by the name after -o, or else by --format png' ]]
    [ ! -e a.jpg ]
    cp a.png named.jpg
    gf named.jpg -k box
    [ "$status" -eq 1 ]
    [[ $stderr == *'named.box.jpg: jpeg cannot hold opacity; '* ]]
    gf named.jpg -k box --format png
    [ "$status" -eq 0 ]
    gf a.png -k box
    same_picture a.box.png named.box.png
}

@test "bits do not depend on threads" {
    scene rgb8 a.png 301x203
    gf a.png -k gaussian:sigma=3,sobel -o one.png --device cpu --threads 1
    gf a.png -k gaussian:sigma=3,sobel -o eight.png --device cpu --threads 8
    cmp one.png eight.png
}

@test "bits do not depend on the height of bands, in any border mode" {
    local mode kernel
    scene rgba8 a.png 37x301
    for mode in replicate reflect101 reflect constant:9 valid; do
        for kernel in gaussian:sigma=4 sobel,box:size=5; do
            rm -f one.png many.png
            gf a.png -k "$kernel" -o one.png --border "$mode" --device cpu --json
            [ "$status" -eq 0 ]
            [[ $output == *'"bands":1,'* ]] # the whole picture is less than the smallest band
            gf a.png -k "$kernel" -o many.png --border "$mode" --device cpu --json --memory 52k
            printf '%s %s: %s\n' "$mode" "$kernel" "$output$stderr"
            [ "$status" -eq 0 ]
            [[ $output =~ \"bands\":([0-9]+), ]]
            [ "${BASH_REMATCH[1]}" -ge 4 ]
            cmp one.png many.png
        done
    done
}

@test "a picture whose rows do not fit into --memory is refused" {
    scene rgb8 a.png 400x300
    gf a.png -k gaussian:sigma=20 --memory 300k
    [ "$status" -eq 1 ]
    [[ $stderr == *'the limit is 300 KiB'* ]]
    [ ! -e a.gaussian.png ]
}

@test "a --memory of less than 1 KiB is told in bytes" {
    scene gray8 a.png
    refuses 'a.png: 16 rows of 64 x 1 samples are over the limit of 1023 bytes' a.png -k box --memory 1023
    refuses 'a.png: 16 rows of 64 x 1 samples are over the limit of 1 byte' compare a.png a.png --memory 1
    refuses 'a.png: a comparison holds the picture in memory, and it is over the limit of 1 KiB' compare a.png a.png --memory 1025
    scene gray8 b.png 8x100
    # All 100 rows of 8 bytes, and twice what they give: 2400 bytes.
    refuses 'b.png: the rows in flight need 3 KiB, the limit is 500 bytes (--memory)' b.png -k box:size=99 --memory 500 --device cpu
    # 100 rows of 8 floats: 3200 bytes.
    refuses 'b.png: the responses that a stretch or a montage holds in memory need 4 KiB, the limit is 1000 bytes (--memory)' b.png -k box --memory 1000 --range minmax
}

@test "--memory is a limit however many pictures are in flight" {
    scene gray8 a.png
    cp a.png b.png
    gf a.png b.png -k box --memory 1 -j 2
    [ "$status" -eq 1 ]
    [ "$(find . -name '*.box.png')" = '' ]
}

@test "kernels larger than the picture" {
    local mode
    scene gray8 a.png 3x2
    for mode in replicate reflect101 reflect wrap zero; do
        rm -f a.box.png
        gf a.png -k box:size=31 --border "$mode"
        [ "$status" -eq 0 ]
    done
    gf a.png -k box:size=31 --border valid -o v.png
    [ "$status" -eq 1 ]
    [[ $stderr == 'gpufilter: a.png: border valid: '* ]]
}

@test "CPU and reference agree, whichever way they are asked" {
    local kernel
    scene rgba16 a.png
    scene rgb8 b.png
    for kernel in sobel gaussian:sigma=2 unsharp laplacian '3x3: 1 2 3 4 5 6 7 8 9'; do
        gf a.png -k "$kernel" --device cpu -o cpu.png --overwrite
        gf a.png -k "$kernel" --device reference -o reference.png --overwrite
        gf compare cpu.png reference.png --tolerance 1
        [ "$status" -eq 0 ]
        # A step between them can only come from a near-tie: truncation would be half a step off.
        awk '$1 == "mean" && $3 > 0.05 { exit 1 }' <<<"$output"
    done
    # Sums of whole numbers are exact on both.
    for kernel in laplacian sobel:x '3x3/16: 1 2 1 2 4 2 1 2 1'; do
        gf b.png -k "$kernel" --device cpu -o cpu.png --overwrite
        gf b.png -k "$kernel" --device reference -o reference.png --overwrite
        same_picture cpu.png reference.png
    done
}

# gray_alpha WIDTH HEIGHT SAMPLE...: a PNG of gray and opacity on standard output.
gray_alpha() {
    command -v python3 >/dev/null || skip 'no python3'
    python3 -c '
import struct, sys, zlib
width, height, *samples = map(int, sys.argv[1:])
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
rows = [b"\0" + bytes(samples[2 * width * y:2 * width * (y + 1)]) for y in range(height)]
sys.stdout.buffer.write(b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 4, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b""))' "$@"
}

@test "opacity with border valid, by hand" {
    gray_alpha 3 1 100 255 200 51 40 0 >row.png
    gray_alpha 1 3 100 255 200 51 40 0 >column.png
    expect() { # ALPHA TAPS GRAY-AND-OPACITY
        local device way
        for device in cpu reference; do
            for way in 'row 3x1' 'column 1x3'; do
                gf "${way% *}.png" -k "${way#* }$2" --alpha "$1" --border valid --device "$device" \
                    -o out.png --overwrite
                [ "$status" -eq 0 ]
                gf out.png -k identity --depth 8 -o out.npy --overwrite
                printf '%s %s %s: %s\n' "$device" "$way" "$1" "$(values u1 out.npy)"
                [ "$(values u1 out.npy)" = "$3" ]
            done
        done
    }
    # Opacity (255 + 2 * 51 + 0) / 4 = 89.25; gray (100 + 2 * 200 * 51 / 255 + 0) / 4 = 45, by
    # 89.25 / 255 = 128.57. Not weighed: (100 + 400 + 40) / 4 = 135.
    expect premul '/4: 1 2 1' '129 89'
    expect auto '/4: 1 2 1' '129 89'
    expect copy '/4: 1 2 1' '135 51'
    expect filter '/4: 1 2 1' '135 89'
    expect auto ': -1 0 1' '60 51'
    # Functions are of the colour, 128.57, whatever the opacity.
    expect auto '/4: 1 2 1,scale:offset=10' '139 89'
    expect premul '/4+10: 1 2 1' '139 89'
    expect auto '/4: 1 2 1,clamp:high=120' '120 89'
    expect auto '/4: 1 2 1,scale:factor=-1,abs' '129 89'
    expect auto '/4: 1 2 1,scale:offset=-28.57,1x1/4: 1,scale:offset=1' '26 89'
}

@test "functions before kernels are of the colour, too" {
    local device
    gray_alpha 3 1 100 255 200 51 40 0 >row.png
    for device in cpu reference; do # (110 + 2 * 210 * 51 / 255 + 0) / 4 = 48.5, by 89.25 / 255
        gf row.png -k 'scale:offset=10,3x1/4: 1 2 1' --border valid --device "$device" -o out.png --overwrite
        gf out.png -k identity --depth 8 -o out.npy --overwrite
        [ "$(values u1 out.npy)" = '139 89' ]
    done
}

@test "colours of no opacity are black, also where opacities cancel" {
    local device
    gray_alpha 4 1 255 255 0 255 0 255 0 0 >row.png
    # .101 + .112 - .213 of opacity, which is 0, and in f64 about 7e-15.
    for device in cpu reference; do
        gf row.png -k '4x1: .101 .112 -.213 1' --border valid --device "$device" -o out.png --overwrite
        gf out.png -k identity --depth 8 -o out.npy --overwrite
        printf '%s: %s\n' "$device" "$(values u1 out.npy)"
        [ "$(values u1 out.npy)" = '0 0' ]
    done
}

@test "opacity with border valid: the middle of what replicate gives" {
    local how kernel middle='5x5: 0 0 0 0 0  0 0 0 0 0  0 0 1 0 0  0 0 0 0 0  0 0 0 0 0'
    scene rgba8 a.png 41x33
    for how in auto premul copy filter; do
        for kernel in gaussian:size=5 sobel:size=5; do
            rm -f valid.png full.png middle.png
            gf a.png -k "$kernel" --border valid --alpha "$how" --device cpu -o valid.png --json
            printf '%s %s: %s\n' "$how" "$kernel" "$output$stderr"
            [ "$status" -eq 0 ]
            gf a.png -k "$kernel" --alpha "$how" --device cpu -o full.png
            [ "$status" -eq 0 ]
            gf full.png -k "$middle" --border valid --alpha filter --range clamp --device cpu -o middle.png
            [ "$status" -eq 0 ]
            [ "$(od -An -j16 -N8 --endian=big -tu4 valid.png | tr -s ' ')" = ' 37 29' ]
            same_picture valid.png middle.png
        done
    done
}

@test "gray: luma, opacity as it is, gray pictures as they are" {
    # .299 * 200 + .587 * 100 + .114 * 50 = 124.2; .2126 * 200 + .7152 * 100 + .0722 * 50 = 117.65.
    npy '|u1' 1 '3, 1, 2' '\xc8\x00\x64\xff\x32\x00' >rgb.npy
    gf rgb.npy -k identity --gray --depth 8 --device cpu -o gray.npy
    [ "$status" -eq 0 ]
    [ "$(values u1 gray.npy)" = '124 150' ]
    gf rgb.npy -k identity --gray --luma bt709 --depth 8 --device cpu -o gray.npy --overwrite
    [ "$(values u1 gray.npy)" = '118 182' ]
    scene rgba8 a.png 41x33
    gf a.png -k gaussian --gray --device cpu --compare -o out.png
    [ "$status" -eq 0 ]
    [ "$(od -An -j25 -N1 -tu1 out.png | tr -d ' ')" = 4 ]
    scene gray16 g.png
    gf g.png -k gaussian --gray --device cpu -o with.png
    gf g.png -k gaussian --device cpu -o without.png
    same_picture with.png without.png
    gf g.png -k gaussian --luma bt709
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --luma goes with --gray' ]
}

@test "linear: light is filtered, what is stored is as before" {
    # Half the light is stored as 255 (1.055 * 0.5^(1 / 2.4) - 0.055) = 187.5; as 255 sqrt(0.5) = 180.3
    # where numbers are the square root of light.
    npy '|u1' 1 '1, 2' '\x00\xff' >two.npy
    gf two.npy -k '2x1/2: 1 1' --linear --depth 8 --device cpu -o out.npy
    [ "$status" -eq 0 ]
    [ "$(values u1 out.npy)" = '0 188' ]
    gf two.npy -k '2x1/2: 1 1' --linear --border constant:188 --depth 8 --device cpu -o out.npy --overwrite
    [ "$(values u1 out.npy)" = '137 188' ]
    scene rgba8 a.png 41x33
    for kernel in gaussian sobel unsharp; do
        gf a.png -k "$kernel" --linear --device cpu --compare -o out.png --overwrite
        [ "$status" -eq 0 ]
    done
    gf a.png -k identity --linear --device cpu -o same.png
    same_picture a.png same.png
    gf a.png -k gaussian --device cpu -o stored.png
    gf a.png -k gaussian --linear --device cpu -o light.png
    different_picture stored.png light.png
}
