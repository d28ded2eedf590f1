#!/usr/bin/env bats
# Where outputs go, what they are called, and what is never overwritten.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
load common

@test "the output stands beside the input" {
    mkdir in
    scene rgb8 in/a.png
    gf in/a.png --kernel sobel
    [ "$status" -eq 0 ]
    [ -z "$output$stderr" ]
    [ -s in/a.sobel.png ]
    nothing_hidden
}

@test "-o names a file, or a folder that exists or ends in a slash" {
    scene gray8 a.png
    gf a.png -k box -o b.png
    [ -s b.png ]
    gf a.png -k box -o new/deep/c.png
    [ -s new/deep/c.png ]
    gf a.png -k box -o new
    [ -s new/a.box.png ]
    gf a.png -k box -o fresh/
    [ -s fresh/a.box.png ]
}

@test "the extension decides the format, without one it is the input's" {
    scene gray8 a.png
    gf a.png -k identity -o b.jpg
    [ "$(od -An -N3 -tx1 b.jpg)" = ' ff d8 ff' ]
    gf b.jpg -k identity -o c
    [ "$(od -An -N3 -tx1 c)" = ' ff d8 ff' ]
    gf a.png -k identity --format npy
    [ "$(head -c 6 a.identity.npy | tail -c 5)" = NUMPY ]
    gf a.png -k identity -o x.webp
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: x.webp: nothing is known of the extension .webp; use .png, .jpg or .npy, or say --format' ]
    gf a.png -k identity -o x.jpg --format png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: x.jpg: the name says jpeg, --format says png' ]
}

@test "a profile that PNG cannot hold is left out with a note, one for all outputs" {
    scene rgb8 a.png
    gf a.png -k identity -o b.jpg
    {
        head -c 2 b.jpg
        printf '\xff\xe2\x00\x90ICC_PROFILE\0\1\1' # 128 bytes: a header, no tags
        head -c 16 /dev/zero
        printf 'RGB '
        head -c 108 /dev/zero
        tail -c +3 b.jpg
    } >c.jpg
    gf c.jpg -k identity -k box --format png
    [ "$status" -eq 0 ]
    [ "$stderr" = 'gpufilter: c.jpg: its colour profile is left out: libpng does not accept it' ]
    gf c.jpg -k identity -o d.jpg
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "what cICP says of colours is left out with a note" {
    scene rgb8 a.png
    {
        head -c 33 a.png # signature and header
        printf '\0\0\0\x04cICP\x09\x10\0\1%b' '\x4d\x23\x23\xfe'
        tail -c +34 a.png
    } >b.png
    gf b.png -k identity
    [ "$status" -eq 0 ]
    [ "$stderr" = 'gpufilter: b.png: what cICP says of its colours is left out' ]
    same_picture a.png b.identity.png
}

@test "Photoshop's block, in which IPTC stands, goes from JPEG to JPEG" {
    scene gray8 a.png
    gf a.png -k identity -o b.jpg
    {
        head -c 2 b.jpg
        printf '\xff\xed\0\x28Photoshop 3.0\0'         # 38 bytes: a resource of 24,
        printf '8BIM\4\4\0\0\0\0\0\x0c'               # of 12 bytes of IPTC,
        printf '\x1c\2\x74\0\7(c) me '                  # a copyright notice
        tail -c +3 b.jpg
    } >c.jpg
    gf c.jpg -k box -o d.jpg
    [ "$status" -eq 0 ]
    grep -qaF 'Photoshop 3.0' d.jpg
    grep -qaF '(c) me' d.jpg
    gf c.jpg -k box -o e.jpg --strip
    [ "$status" -eq 0 ]
    [ "$(grep -caF '(c) me' e.jpg)" = 0 ]
    gf c.jpg -k box -o f.png
    [ "$status" -eq 0 ]
    [ "$(grep -caF '(c) me' f.png)" = 0 ]
}

@test "content decides how a file is read, and names outputs of files without extension" {
    scene gray8 picture
    gf picture -k box
    [ -s picture.box.png ]
    cp picture wrong.jpg
    gf wrong.jpg -k box -o ok.png
    [ "$status" -eq 0 ]
    same_picture ok.png picture.box.png
}

@test "a bank writes a picture a kernel" {
    scene gray8 a.png
    gf a.png -k sobel -k laplacian -o out/
    [ "$status" -eq 0 ]
    [ -s out/a.sobel.png ]
    [ -s out/a.laplacian.png ]
    gf a.png -k sobel -o one.png
    same_picture one.png out/a.sobel.png
}

@test "two kernels of one filter are named by their text" {
    scene gray8 a.png
    gf a.png -k gaussian:sigma=1 -k gaussian:sigma=2 -k '1x1: 2'
    [ "$status" -eq 0 ]
    [ -s a.gaussian_sigma_1.png ]
    [ -s a.gaussian_sigma_2.png ]
    [ -s a.custom.png ]
}

@test "a bank to one .npy is an array of pictures" {
    npy '|u1' 1 '1, 3' '\x01\x02\x03' >a.npy
    gf a.npy -k identity -k '1x1: 2' -o maps.npy
    [ "$status" -eq 0 ]
    [[ $(head -c 128 maps.npy | tr -d '\0') == *"(2, 1, 1, 3)"* || $(head -c 128 maps.npy | tr -d '\0') == *"(2, 1, 3)"* ]]
    [ "$(values f4 maps.npy)" = '1 2 3 2 4 6' ]
}

@test "an array of pictures goes to .npy only" {
    npy '|u1' 1 '2, 1, 1, 2' '\x01\x02\x03\x04' >a.npy
    gf a.npy -k '1x1: 2' -o b.npy
    [ "$status" -eq 0 ]
    [ "$(values f4 b.npy)" = '2 4 6 8' ]
    gf a.npy -k '1x1: 2' -k identity -o c.npy
    [ "$(values f4 c.npy)" = '2 4 1 2 6 8 3 4' ]
    gf a.npy -k identity -o b.png
    [ "$status" -eq 1 ]
    [[ $stderr == *'b.png: png holds one picture, not 2'* ]]
    [ ! -e b.png ]
}

@test "an array keeps its axes, also with --strip" {
    local option
    npy '|u1' 1 '1, 1, 1, 2' '\x01\x02' >a.npy
    for option in --depth=8 --strip; do
        gf a.npy -k identity -o b.npy "$option" --overwrite
        [[ $(head -c 128 b.npy | tr -d '\0') == *"(1, 1, 1, 2)"* ]]
    done
}

@test "templates" {
    mkdir -p in/sub
    scene gray8 in/a.png
    scene gray8 in/sub/b.png
    gf in -r -k box -o out --name '{filter}/{dir}/{stem}-{index}100%{ext}'
    [ "$status" -eq 0 ]
    [ -s 'out/box/a-1100%.png' ]
    [ -s 'out/box/sub/b-2100%.png' ]
    gf in/a.png -k box --name '{stem}.jpg'
    [ -s in/a.jpg ]
}

@test "an existing output is refused, replaced or passed over" {
    scene gray8 a.png
    echo old >a.box.png
    gf a.png -k box
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: a.png: a.box.png: exists already (--overwrite replaces, --skip-existing passes over)' ]
    [ "$(cat a.box.png)" = old ]
    gf a.png -k box --skip-existing
    [ "$status" -eq 0 ]
    [ "$(cat a.box.png)" = old ]
    gf a.png -k box -k sobel --skip-existing
    [ "$status" -eq 0 ]
    [ "$(cat a.box.png)" = old ]
    [ -s a.sobel.png ]
    gf a.png -k box --overwrite
    [ "$status" -eq 0 ]
    same_picture a.box.png a.box.png
}

# untouched FOLDER: inode, size and times of each file there.
untouched() {
    stat -c '%n %i %s %y %z' "$1"/* | sort
}

@test "--skip-existing makes the missing outputs of a picture and no others" {
    local before
    mkdir in
    scene rgb8 in/a.png 65x47
    scene rgb8 in/b.png 65x47
    scene rgb8 in/c.png 65x47
    gf in -k box -k sobel -k log -o whole
    cp -r whole out
    rm out/a.box.png out/b.sobel.png out/b.log.png
    before=$(untouched out)
    # One lane after another: what is left out differs from picture to picture.
    gf in -k box -k sobel -k log -o out --skip-existing -j 1 -v
    [ "$status" -eq 0 ]
    diff -r whole out
    [ -z "$(comm -23 <(echo "$before") <(untouched out))" ]
    [[ $stderr == *'out/a.sobel.png: exists already'*'out/a.log.png: exists already'*'out/a.box.png: computed by'* ]]
    [[ $stderr == *'out/b.box.png: exists already'*'out/b.sobel.png: computed by'*'out/b.log.png: computed by'* ]]
    [[ $stderr != *'out/a.sobel.png: computed by'* ]]
    [[ $stderr == *'in/c.png: its outputs exist'*'2 written, 0 failed, 1 skipped in'* ]]
}

@test "--skip-existing chooses no device where nothing is to be done" {
    mkdir in
    scene gray8 in/a.png
    scene gray8 in/b.png
    gf in -k box -o out --skip-existing --device auto -v
    [[ $stderr == *'computing on '* ]]
    gf in -k box -o out --skip-existing --device auto -v
    [ "$status" -eq 0 ]
    [[ $stderr == *'0 written, 0 failed, 2 skipped'* && $stderr != *'computing on '* ]]
}

@test "--skip-existing with --range minmax and several filters" {
    scene gray8 a.png 30x20
    gf a.png -k sobel -k log --range minmax -o whole/
    mkdir out
    echo old >out/a.sobel.png
    gf a.png -k sobel -k log --range minmax -o out --skip-existing
    [ "$status" -eq 0 ]
    [ "$(cat out/a.sobel.png)" = old ]
    cmp whole/a.log.png out/a.log.png
}

@test "--skip-existing has outputs on the disk before they have their names" {
    strace true 2>/dev/null || skip 'no strace'
    export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 # for which it would need ptrace() itself
    scene gray8 a.png
    strace -f -e trace=fdatasync,linkat,renameat,renameat2 -o calls "$GPUFILTER" a.png -k box --skip-existing
    [ -s a.box.png ]
    grep -o -e fdatasync -e linkat -e 'renameat[2(]' calls | head -n 1 | grep -qx fdatasync
    strace -f -e trace=fdatasync -o calls "$GPUFILTER" a.png -k sobel
    run grep fdatasync calls
    [ "$status" -eq 1 ]
}

@test "--overwrite is not advised where it was given" {
    scene gray8 a.png
    ln -s nowhere.png b.png
    gf a.png -k box -o b.png --overwrite
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: a.png: b.png: is a symbolic link to a file that does not exist' ]
}

@test "a failure leaves the old output as it was" {
    scene gray8 a.png 200x200
    truncate -s -100 a.png
    echo old >a.box.png
    gf a.png -k box --overwrite
    [ "$status" -eq 1 ]
    [ "$(cat a.box.png)" = old ]
    nothing_hidden
}

@test "a file that is replaced keeps owner, group and permissions" {
    scene gray8 a.png
    cp a.png b.png
    chown 12345:23456 a.png b.png 2>/dev/null || skip 'nothing can be given away here'
    chmod 640 a.png b.png
    gf a.png -k box -o b.png --overwrite
    [ "$status" -eq 0 ]
    gf a.png -k box --in-place
    [ "$status" -eq 0 ]
    [ "$(stat -c %u:%g:%a a.png b.png | uniq)" = 12345:23456:640 ]
}

@test "the input is not overwritten unless --in-place" {
    scene gray8 a.png
    ln a.png link.png
    gf a.png -k box -o a.png --overwrite
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: a.png: the output is the input; --in-place allows that' ]
    gf a.png -k box -o link.png --overwrite
    [ "$status" -eq 2 ]
    gf a.png -k box --name '{stem}{ext}'
    [ "$status" -eq 2 ]
    cp a.png b.png
    gf a.png -k box -o c.png
    gf b.png -k box --in-place
    [ "$status" -eq 0 ]
    same_picture b.png c.png
}

@test "an output that is another input is refused" {
    scene gray8 a.png
    scene gray8 a.box.png
    gf a.png a.box.png -k box --overwrite
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: a.box.png: the output is another input of this call, a.box.png; give outputs a folder of their own' ]
}

@test "two outputs of one name are found before anything starts" {
    mkdir x y
    scene gray8 x/a.png
    scene gray8 y/a.png
    gf x/a.png y/a.png -k box -o out/
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: out/a.box.png: both x/a.png and y/a.png would be written here' ]
    [ ! -e out ]
    gf x/a.png -k box -k sobel -o out/ --name 'same{ext}'
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: out/same.png: two kernels would be written here; put {index} into --name, or leave one out' ]
    gf x/a.png ./x/../x//a.png -k box
    [ "$status" -eq 2 ]
    gf x/a.png x -k box -o out/
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: out/a.box.png: x/a.png is given twice, and would be written here both times' ]
    [ ! -e out ]
}

@test "an output where another one needs a folder is found before anything starts" {
    mkdir -p in/a.png
    scene gray8 a.png
    scene gray8 a.png-b.png
    cp a.png in/a.png/b.png
    local call=(in a.png a.png-b.png -r -k box --name '{dir}/{stem}{ext}' -o)
    gf "${call[@]}" out
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: out/a.png: a.png would be written here, and in/a.png/b.png below it, to out/a.png/b.png' ]
    [ ! -e out ]
    # Also where a file is there already.
    mkdir out
    echo old >out/a.png
    gf "${call[@]}" out --overwrite
    [ "$status" -eq 2 ]
    [ "$(cat out/a.png)" = old ]
    # Names that only begin alike are fine.
    gf in a.png-b.png -r -k box --name '{dir}/{stem}{ext}' -o other
    [ "$status" -eq 0 ]
}

@test "two outputs that links make one file are found before anything starts" {
    mkdir -p p/x
    scene gray8 p/x/a.png
    ln -s x p/y
    gf p/x/a.png p/y/a.png -k box --overwrite
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: p/x/a.box.png: both p/x/a.png and p/y/a.png would be written here' ]
    [ ! -e p/x/a.box.png ]
    # Folders that are still to be made lie below ones that are links.
    mkdir q
    gf p/x/a.png p/y/a.png -k box -o q --name '../p/y/new/{stem}{ext}'
    [ "$status" -eq 2 ]
    # An output that is a link stays one: what it leads to is written.
    mkdir out
    echo old >out/b.box.png
    ln -s b.box.png out/a.box.png
    cp p/x/a.png b.png
    gf p/x/a.png b.png -k box -o out --overwrite
    [ "$status" -eq 2 ]
    [ "$(cat out/b.box.png)" = old ]
    # Without links it is fine.
    gf p/x/a.png b.png -k box -o fresh/er/
    [ "$status" -eq 0 ]
}

@test "--in-place keeps the format that a file holds, whatever its name says" {
    scene rgb8 a.png
    cp a.png a.jpg
    gf a.jpg -k identity --in-place
    [ "$status" -eq 0 ]
    same_picture a.png a.jpg
    [ "$(head -c 4 a.jpg | tail -c 3)" = PNG ]
    npy '<f4' 4 '1, 2' '\x00\x00\x80\x3e\x00\x00\x00\x3f' >b.png # 0.25, 0.5
    gf b.png -k '1x1: 2' --in-place
    [ "$status" -eq 0 ]
    [ "$(values f4 b.png)" = '0.5 1' ]
}

@test "--in-place: what a format cannot hold is told before any file is touched" {
    mkdir in
    scene rgb8 in/a.png
    cp in/a.png a.png
    gf in/a.png -k identity -o in/b.jpg
    gf in -k box --in-place --depth 16
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: in/b.jpg: --depth: jpeg cannot hold samples of type u16' ]
    cmp a.png in/a.png
}

@test "a pipe is not read and written at once" {
    scene rgb8 a.png
    mkfifo pipe.png
    cat a.png >pipe.png &
    gf pipe.png -k box --in-place
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: pipe.png: the output is the input, which is a pipe' ]
    gf pipe.png -k box -o ./pipe.png
    [ "$status" -eq 2 ]
    cmp a.png pipe.png # which nobody has read
    wait
}

@test "/dev/stdout is standard output" {
    scene rgb8 a.png
    gf a.png -k box -o b.png
    "$GPUFILTER" a.png -k box -o /dev/stdout >c.png
    cmp b.png c.png
}

@test "--in-place takes a file once, whatever it is called" {
    scene gray8 h1.png
    cp h1.png kept.png
    ln -s h1.png h3.png
    gf h1.png h3.png -k box --in-place
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: h3.png: the same file as h1.png; --in-place takes it once' ]
    ln h1.png h2.png
    gf h2.png h1.png -k box --in-place
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: h1.png: the same file as h2.png; --in-place takes it once' ]
    cmp h1.png kept.png
    gf h3.png -k box --in-place
    [ "$status" -eq 0 ]
    [ -L h3.png ]
    different_picture h1.png kept.png
}

@test "several outputs and the name of a picture do not go together" {
    scene gray8 a.png
    scene gray8 b.png
    gf a.png b.png -k box -o c.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: -o c.png is a picture'\''s name, but there are several outputs; name a folder (end it with / if it is one)' ]
    gf a.png b.png -k box -o b.png
    [ "$status" -eq 2 ]
    gf a.png b.png -k box -o c.png/
    [ "$status" -eq 0 ]
    [ -s c.png/a.box.png ]
}

@test "hostile file names forge no line and move no cursor" {
    local name=$'a\ngpufilter: all is well\e[2J.png'
    gf "$name" -k box
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: a\x0agpufilter: all is well\x1b[2J.png: cannot be opened: No such file or directory' ]
    scene gray8 "$name"
    gf "$name" -k box
    [ "$status" -eq 0 ]
    [ -s $'a\ngpufilter: all is well\e[2J.box.png' ]
    scene gray8 '{filter}%s.png'
    gf '{filter}%s.png' -k box
    [ -s '{filter}%s.box.png' ]
}

@test "standard input and output" {
    scene rgb8 a.png
    gf a.png -k sobel -o file.png
    "$GPUFILTER" - -k sobel -o - <a.png >pipe.png
    cmp file.png pipe.png
    "$GPUFILTER" - -k sobel <a.png | cat >pipe2.png
    cmp file.png pipe2.png
    "$GPUFILTER" a.png -k sobel -o - --format jpeg >pipe.jpg
    [ "$(od -An -N3 -tx1 pipe.jpg)" = ' ff d8 ff' ]
    "$GPUFILTER" a.png -k sobel -v -o - 2>said >pipe.png
    grep -q '^gpufilter: standard output: computed by ' said
    gf a.png - - -k sobel -o out/
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: standard input (-) can be read only once' ]
    gf a.png -k sobel -k box -o -
    [ "$status" -eq 2 ]
    run bash -c 'echo no picture | "$GPUFILTER" - -k box'
    [ "$status" -eq 1 ]
    [ "$output" = 'gpufilter: standard input: not a PNG, JPEG or .npy picture' ]
    gf - -k box --in-place <a.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --in-place replaces files, not standard input' ]
    gf - -k box --name b.png <a.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --name does not count where the output goes to standard output; -o names a folder' ]
}

@test "a named pipe as input" {
    scene gray8 a.png
    mkfifo pipe
    cat a.png >pipe &
    gf pipe -k box -o b.png
    wait
    [ "$status" -eq 0 ]
    gf a.png -k box -o c.png
    cmp b.png c.png
}

@test "--name with an extension that nothing is known of is refused" {
    scene gray8 a.png
    gf a.png -k box --name '{stem}.tif'
    [ "$status" -eq 2 ]
    [[ $stderr == *'a.tif: nothing is known of the extension .tif'* ]]
    gf a.png -k box --name '{stem}.tif' --format png
    [ "$status" -eq 0 ]
    [ -s a.tif ]
}

@test "the input is not overwritten by a way through folders that are still to be made" {
    mkdir -p d/sub
    scene gray8 a.png
    cp a.png kept.png
    cp a.png d/a.png
    ln -s d/sub link
    local way
    for way in new/../a.png ./new/.//deep/../../a.png "$PWD/d/../new/../a.png"; do
        gf a.png -k box -o "$way" --overwrite
        [ "$status" -eq 2 ]
        [ "$stderr" = "gpufilter: $way: the output is the input; --in-place allows that" ]
    done
    gf d/a.png -k box -o new/../link/../a.png --overwrite
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: new/../link/../a.png: the output is the input; --in-place allows that' ]
    [ ! -e new ]
    cmp a.png kept.png
    # The folder above a link is not the one that the link is in.
    gf a.png -k box -o new/../link/../a.png --overwrite
    [ "$status" -eq 0 ]
    cmp a.png kept.png
    different_picture d/a.png kept.png
    gf a.png kept.png -k box -o out --name '../lost/../{stem}/../same{ext}'
    [ "$status" -eq 2 ]
    [[ $stderr == *': both a.png and kept.png would be written here' ]]
    [ ! -e out ]
}

@test "--name and --montage begin at the same place however the input is spelt" {
    scene gray8 a.png
    local input
    for input in a.png ./a.png; do
        gf "$input" -k box --name "$PWD/b{ext}"
        [ "$status" -eq 2 ]
        [ "$stderr" = "gpufilter: --name begins in the input's folder, not at /; -o names another" ]
        gf "$input" -k box --name '{dir}/named{ext}' --overwrite
        [ "$status" -eq 0 ]
        [ -s named.png ]
        rm named.png
        gf "$input" -k box -k sobel --montage '{dir}/{stem}.maps{ext}' --overwrite
        [ "$status" -eq 0 ]
        [ -s a.maps.png ]
        rm a.maps.png
    done
    gf a.png -k box -k sobel --montage "$PWD/sheets/{stem}.png"
    [ -s sheets/a.png ]
}

@test "--skip-existing passes over no folder and no link that leads nowhere" {
    scene gray8 a.png
    mkdir a.box.png
    gf a.png -k box --skip-existing
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: a.png: a.box.png: is a directory' ]
    rmdir a.box.png
    ln -s nowhere a.box.png
    gf a.png -k box --skip-existing
    [ "$status" -eq 1 ]
    [[ $stderr == 'gpufilter: a.png: a.box.png: is a symbolic link to a file that does not exist'* ]]
    cp a.png nowhere
    gf a.png -k box --skip-existing
    [ "$status" -eq 0 ]
    cmp a.png nowhere
}
