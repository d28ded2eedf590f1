#!/usr/bin/env bats
# Many pictures at once.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
load common

# tree: in/ with five pictures in three folders, one of them damaged, and files that are no pictures.
tree() {
    mkdir -p in/sub/deep in/other
    scene rgb8 in/b.png
    scene gray8 in/a.PNG
    scene rgba8 in/sub/c.png
    scene gray16 in/sub/deep/d.png
    scene gray8 in/other/bad.png
    truncate -s -200 in/other/bad.png
    echo text >in/notes.txt
    cp in/b.png in/.hidden.png
    ln -s .. in/sub/up
}

@test "one bad file is reported, the rest are done, status 1" {
    tree
    gf in -r -k sobel -o out
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [ "$(cd out && find . -type f | LC_ALL=C sort | tr '\n' ' ')" = './a.sobel.PNG ./b.sobel.png ./sub/c.sobel.png ./sub/deep/d.sobel.png ' ]
    [[ ${stderr_lines[0]} == 'gpufilter: in/other/bad.png: '* ]]
    [[ ${stderr_lines[1]} == 'gpufilter: 4 written, 1 failed, 0 skipped in '*' s' ]]
    nothing_hidden out
}

@test "without -r only the directory's own files" {
    tree
    gf in/ -k sobel -o out
    [ "$status" -eq 0 ]
    [ "$(cd out && find . -type f | LC_ALL=C sort | tr '\n' ' ')" = './a.sobel.PNG ./b.sobel.png ' ]
}

@test "a directory needs -o, and pictures" {
    mkdir -p in/sub
    scene gray8 in/sub/a.png
    gf in -r -k sobel
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: a directory needs -o FOLDER for its outputs' ]
    gf in -k sobel -o out
    [ "$status" -eq 2 ]
    [[ $stderr == 'gpufilter: in: no pictures in it (names that end in .png '*'; -r goes down into its folders' ]]
}

@test "the folder of the outputs is not read again" {
    mkdir in
    scene gray8 in/a.png
    gf in -r -k box -o in/out
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    gf in -r -k box -o in/out --overwrite
    [ "$status" -eq 0 ]
    [ "$stderr" = 'gpufilter: in/out: left out, since the outputs go there' ]
    [ "$(find in/out -type f | wc -l)" -eq 1 ]
    gf in/out -r -k box -o in/out
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ -e in/out/a.box.box.png ]
}

@test "files and directories together, in a second run all skipped" {
    tree
    scene gray8 single.png
    gf single.png in -k box -o out
    [ "$status" -eq 0 ]
    [ -s out/single.box.png ]
    [ -s out/b.box.png ]
    gf single.png in -k box -o out --skip-existing
    [ "$status" -eq 0 ]
    [[ $stderr == 'gpufilter: 0 written, 0 failed, 3 skipped in '* ]]
}

@test "-j 4 gives the same bytes as -j 1" {
    tree
    gf in -r -k gaussian:sigma=2,sobel -o one -j 1
    gf in -r -k gaussian:sigma=2,sobel -o four -j 4
    diff -r one four
}

@test "64 threads and 64 pictures at once give the same bytes as one" {
    tree
    gf in -r -k gaussian:sigma=2,sobel -k log -o one -j 1 --threads 1 --device cpu
    gf in -r -k gaussian:sigma=2,sobel -k log -o many -j 64 --threads 64 --device cpu
    diff -r one many
}

@test "in a long run failures are repeated at the end, -q shows them once" {
    mkdir in
    local i
    for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
        scene gray8 "in/$i.png" 8x8
    done
    echo broken >in/5.png
    gf in -k box -o out
    [ "$status" -eq 1 ]
    [ "$(grep -c 'in/5.png: not a PNG' <<<"$stderr")" -eq 2 ]
    gf in -k box -o quiet -q
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: in/5.png: not a PNG, JPEG or .npy picture' ]
}

@test "--in-place on a directory" {
    mkdir in
    scene gray8 in/a.png
    scene gray8 in/b.png
    gf in/a.png -k box -o expected.png
    gf in -k box --in-place
    [ "$status" -eq 0 ]
    [ "$(find in -type f | wc -l)" -eq 2 ]
    same_picture in/a.png expected.png
}

@test "a link that leads nowhere is a failure among the others" {
    mkdir in
    scene gray8 in/a.png
    ln -s nowhere.png in/b.png
    gf in -k box -o out
    [ "$status" -eq 1 ]
    [ "${stderr_lines[0]}" = 'gpufilter: in/b.png: cannot be opened: No such file or directory' ]
    [ -s out/a.box.png ]
}

@test "what a folder lists but does not let in fails, under the names that count" {
    [ "$(id -u)" -ne 0 ] || skip 'root may read everywhere'
    tree
    chmod 644 in/sub
    gf in -r -k box -o out --failures list
    [ "$status" -eq 1 ]
    [ "$(grep '^gpufilter: in/sub' <<<"$stderr")" = 'gpufilter: in/sub/c.png: cannot be read: Permission denied
gpufilter: in/sub/deep: cannot be read: Permission denied' ]
    grep -qx 'in/./sub/c.png' list
    gf -T list -r -k box -o out --failures again # deep may be a folder: it is no second picture of that name
    [ "$status" -eq 1 ]
    diff list again
    gf in/sub -k box -o flat
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: in/sub/c.png: cannot be read: Permission denied' ]
    chmod 755 in/sub
    cp in/b.png in/other/bad.png
    gf -T list -r -k box -o out
    [ "$status" -eq 0 ]
    [ -s out/sub/c.box.png ]
    [ -s out/sub/deep/d.box.png ]
}

@test "pictures whose paths are too long for the system fail, the others are done" {
    mkdir in
    scene gray8 in/a.png 8x8
    local name i top=$PWD
    name=$(printf 'x%.0s' {1..250})
    cd in
    for ((i = 0; i < 16; i++)); do
        mkdir "$name"
        cd "$name" # a path of its own would be too long
    done
    cp "$top/in/a.png" "$name.png"
    echo text >"$name.txt"
    cd "$top"
    gf in -r -k box -o out
    [ "$status" -eq 1 ]
    [[ ${stderr_lines[0]} == 'gpufilter: in/xxx'*': cannot be read: File name too long' ]]
    [[ ${stderr_lines[1]} == 'gpufilter: 1 written, 1 failed, 0 skipped in '* ]]
    [ -s out/a.box.png ]
}
