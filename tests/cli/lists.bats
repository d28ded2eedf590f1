#!/usr/bin/env bats
# Lists of inputs: --files-from reads them, --failures writes them.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
load common

# tree: in/ with two good pictures and two bad ones, one each in a folder.
tree() {
    mkdir -p in/sub
    scene gray8 in/a.png 8x8
    cp in/a.png in/sub/c.png
    echo bad >in/b.png
    echo bad >in/sub/d.png
}

@test "--files-from: lines, zero bytes, standard input, with comments" {
    scene gray8 a.png 8x8
    cp a.png $'b\nc.png'
    cp a.png '#d.png'
    printf '# a comment\n\na.png\n#d.png\n' >lines
    printf '# a comment\0a.png\0b\nc.png' >zeros
    gf -T lines -k box -o out
    [ "$status" -eq 0 ]
    [ "$(find out -type f | wc -l)" -eq 2 ]
    [ -s 'out/#d.box.png' ]
    run -0 "$GPUFILTER" --files-from - -k box -o zeros.out <zeros
    [ -s zeros.out/a.box.png ]
    [ -s $'zeros.out/b\nc.box.png' ]
    # What editors put in front of UTF-8 is no part of a name.
    printf '\xef\xbb\xbfa.png\n' >marked
    gf -T marked -k box -o marked.out
    [ "$status" -eq 0 ]
    [ -s marked.out/a.box.png ]
    # Nor is the end of a line as Windows has it; a name that ends so is listed with zero bytes.
    printf 'a.png\r\n\r\n#d.png\r\n' >returns
    gf -T returns -k box -o returns.out
    [ "$status" -eq 0 ]
    [ "$(find returns.out -type f | wc -l)" -eq 2 ]
    echo no picture >$'e.png\r'
    gf $'e.png\r' -k box -o e.out/ --failures failed
    cp a.png $'e.png\r'
    gf -T failed -k box -o e.out
    [ "$status" -eq 0 ]
}

@test "--files-from: outputs beside the inputs, folders, other operands" {
    tree
    scene gray8 x.png 8x8
    echo x.png >list
    gf -T list -k box
    [ "$status" -eq 0 ]
    [ -s x.box.png ]
    echo in/sub/ >list
    gf x.png -T list -k box -o out
    [ "$status" -eq 1 ]
    [ -s out/x.box.png ]
    [ -s out/c.box.png ]
}

@test "--files-from: the tree of the outputs begins at /./" {
    tree
    echo in/./sub/c.png >list
    gf -T list -k box -o out
    [ "$status" -eq 0 ]
    [ -s out/sub/c.box.png ]
    echo in/./sub >list
    gf -T list -k box -o folder
    [ -s folder/sub/c.box.png ]
    echo in/./../x.png >list
    gf -T list -k box -o out
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --files-from: in/./../x.png leaves the folder before /./' ]
}

@test "--files-from: what cannot be read, and what is empty" {
    gf -T missing -k box
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --files-from missing: No such file or directory' ]
    gf -T . -k box
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --files-from .: Is a directory' ]
    : >list
    gf -T list -k box
    [ "$status" -eq 0 ]
    [ "$stderr" = 'gpufilter: list: nothing is listed here' ]
    run "$GPUFILTER" - -T - -k box <<<-
    [ "$status" -eq 2 ]
}

@test "--failures: what failed and why, until nothing does" {
    tree
    gf in -r -k box -o out --failures list -j 1
    [ "$status" -eq 1 ]
    [ "$(<list)" = '# gpufilter: inputs that were not done, for --files-from
# not a PNG, JPEG or .npy picture
in/b.png
# not a PNG, JPEG or .npy picture
in/./sub/d.png' ]
    cp in/a.png in/sub/d.png
    gf -T list -k box -o out --failures list
    [ "$status" -eq 1 ]
    [ -s out/sub/d.box.png ]
    [ "$(tail -n +2 list)" = '# not a PNG, JPEG or .npy picture
in/b.png' ]
    cp in/a.png in/b.png
    gf -T list -k box -o out --failures list
    [ "$status" -eq 0 ]
    [ -s out/b.box.png ]
    [ "$(wc -l <list)" -eq 1 ]
    nothing_hidden
}

@test "--failures: names with newlines, and names like comments" {
    mkdir in
    echo bad >$'in/a\nb.png'
    echo bad >'# c.png'
    gf in '# c.png' -k box -o out --failures list
    [ "$status" -eq 1 ]
    [ "$(tr '\0\n' '\n?' <list | grep -v '^# ')" = $'in/a?b.png\n./# c.png' ]
    scene gray8 $'in/a\nb.png' 8x8
    scene gray8 '# c.png' 8x8
    gf -T list -k box -o out
    [ "$status" -eq 0 ]
    [ -s 'out/# c.box.png' ]
}

@test "--failures: paths with double slashes and dots lead to the same places again" {
    tree
    local entry
    for entry in in/.//sub//./d.png in/./sub//; do
        gf -T - -k box -o out --failures list <<<"$entry"
        [ "$status" -eq 1 ]
        [ "$(grep -v '^#' list)" = in/./sub/d.png ]
    done
    gf in/././sub in/./b.png -k box -o flat --failures list
    [ "$(grep -v '^#' list)" = $'in/sub/d.png\nin/b.png' ]
    mkdir in/sub/deep
    mv in/sub/d.png in/sub/deep
    gf in/./sub -r -k box -o flat --overwrite --failures list
    [ "$(grep -v '^#' list)" = in/sub/./deep/d.png ]
    cp in/a.png in/sub/deep/d.png
    gf -T list -k box -o flat
    [ "$status" -eq 0 ]
    [ -s flat/deep/d.box.png ]
}

@test "--failures: a folder that cannot be read" {
    [ "$(id -u)" -ne 0 ] || skip 'root may read everywhere'
    tree
    chmod 0 in/sub
    gf in -r -k box -o out --failures list
    [ "$status" -eq 1 ]
    grep -qx 'in/./sub' list
    chmod 755 in/sub
    gf -T list -r -k box -o out
    [ -s out/sub/c.box.png ]
}

@test "--failures: what a full disk or a signal left undone" {
    [ -c /dev/full ] || skip 'no /dev/full'
    mkdir in out
    scene gray8 in/a.png 300x300
    cp in/a.png in/b.png
    cp in/a.png in/c.png
    ln -s /dev/full out/b.box.png
    gf in -k box -o out -j 1 --failures list
    [ "$status" -eq 3 ]
    [ "$(tail -n +2 list)" = '# out/b.box.png: writing failed: No space left on device
in/b.png
# not started
in/c.png' ]
    rm out/b.box.png
    gf -T list -k box -o out
    [ "$status" -eq 0 ]
    local i process
    for ((i = 0; i < 300; i++)); do cp in/a.png "in/$i.png"; done
    env --default-signal "$GPUFILTER" in -k gaussian:sigma=9 -o slow -j 1 --failures list 2>/dev/null &
    process=$!
    wait_for slow/0.gaussian.png
    kill -s INT "$process"
    wait "$process" || status=$?
    [ "$status" -eq 130 ] || skip 'it was faster than the signal'
    gf -T list -k gaussian:sigma=9 -o slow
    [ "$status" -eq 0 ]
    [ "$(find slow -type f | wc -l)" -eq 303 ]
}

@test "--failures: places that are refused before anything starts" {
    scene gray8 a.png 8x8
    echo 'my notes' >notes
    gf a.png -k box --failures notes
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --failures notes: exists, and is no list of failures' ]
    gf a.png -k box --failures other.png
    [ "$status" -eq 2 ]
    gf a.png -k box --failures missing/list
    [ "$status" -eq 2 ]
    gf a.png -k box --failures -
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --failures -: a list does not go to standard output; name a file' ]
    [ ! -e a.box.png ]
    [ "$(<notes)" = 'my notes' ]
    ln -s . here
    gf a.png -k box -o plain --format png --failures here/./plain
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --failures here/./plain: an output of this call is written here' ]
    [ ! -e plain ]
}

@test "--failures: a list a shard" {
    tree
    local k
    for k in 1 2; do
        gf in -r -k box -o out --shard "$k/10" --failures 'list.{shard}'
    done
    grep -qx in/b.png list.02
    [ "$(wc -l <list.01)" -eq 1 ]
    mkdir 2
    gf in -r -k box -o out --overwrite --shard 2/3 --failures '{shard}/list.{shard}'
    [ -s 2/list.2 ]
    local name
    for name in 'list.{index}' 'list.{' '{shard}.{shard'; do
        gf in -r -k box -o out --overwrite --failures "$name"
        [ "$status" -eq 2 ]
        [ "$stderr" = "gpufilter: --failures $name: there is no other word in braces than {shard}" ]
    done
    PMI_RANK=0 PMI_SIZE=2 gf in -r -k box -o out2 --shard auto --failures list
    [ "$status" -eq 2 ]
    [[ $stderr == *'every shard needs a list of its own; put {shard} into the name' ]]
    gf in -r -k box -o out2 --shard 1/2 --failures list
    [ "$status" -eq 2 ]
    [[ $stderr == *'every shard needs a list of its own; put {shard} into the name' ]]
    gf in -r -k box -o out2 --shard 1/1 --failures list
    [ -e list ]
}

@test "--failures: names that count are refused" {
    scene rgb8 a.png
    local option
    for option in --name --montage; do
        gf a.png -k box "$option" 'p{index}.png' --failures list
        [ "$status" -eq 2 ]
        [ "$stderr" = 'gpufilter: --failures goes with names that do not depend on {index}: a run over the list counts anew' ]
        [ ! -e p1.png ]
    done
}

@test "--files-from: two lists are refused" {
    scene rgb8 a.png
    echo a.png >list
    gf -T list -T list -k box
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --files-from is given twice; put the lists into one (- reads standard input)' ]
    [ ! -e a.box.png ]
}

@test "--failures: the lists of all shards go together, whoever has the name with a newline" {
    mkdir in
    local k
    for k in a b c $'d\n'; do echo bad >"in/$k.png"; done
    for k in 1 2; do
        gf in -k box -o out --shard "$k/2" --failures 'list.{shard}'
        [ "$status" -eq 1 ]
    done
    # shellcheck disable=SC2016
    run --separate-stderr bash -c 'cat list.* | "$GPUFILTER" -T - -k box -o out'
    [[ $stderr == *'gpufilter: 0 written, 4 failed, 0 skipped in '* ]]
}

@test "--files-from: a folder without pictures fails, the others are done" {
    tree
    mkdir -p empty/deep
    cp in/a.png empty/deep
    printf '%s\n' empty in/a.png >list
    gf -T list -k box -o out --failures failed
    [ "$status" -eq 1 ]
    [[ ${stderr_lines[0]} == 'gpufilter: empty: no pictures in it (names that end in .png '*'; -r goes down into its folders' ]]
    [ -s out/a.box.png ]
    [ "$(grep -v '^#' failed)" = empty ]
    gf -T failed -r -k box -o out
    [ "$status" -eq 0 ]
    [ -s out/deep/a.box.png ]
    # What the call itself names is a mistake of the call.
    gf empty -T list -k box -o out
    [ "$status" -eq 2 ]
}

@test "--files-from: a pipe that does not block" {
    command -v python3 >/dev/null || skip 'no python3'
    scene gray8 a.png 8x8
    local unblock='import os, sys; os.set_blocking(0, False); os.execv(sys.argv[1], sys.argv[1:])'
    { sleep 0.5; echo a.png; } | python3 -c "$unblock" "$GPUFILTER" -T - -k box -o out
    [ -s out/a.box.png ]
}

@test "--files-from: standard input is not a list and a picture" {
    scene gray8 a.png 8x8
    local arguments
    for arguments in '- -T -' '-T - -'; do
        # shellcheck disable=SC2086 # several words
        gf $arguments -k box -o out <<<a.png
        [ "$status" -eq 2 ]
        [ "$stderr" = 'gpufilter: standard input (-) can be read only once' ]
    done
}

@test "--files-from: one entry is not one output for ever" {
    scene gray8 a.png 8x8
    echo a.png >list
    gf -T list -k box -o x.png
    [ "$status" -eq 2 ]
    [ "$stderr" = "gpufilter: -o x.png is a picture's name, but a list may give several outputs; name a folder (end it with / if it is one)" ]
}
