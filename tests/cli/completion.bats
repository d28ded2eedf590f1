#!/usr/bin/env bats
# The completion scripts, in the shells themselves where these are there.
# shellcheck disable=SC2154 # bats sets stderr
load common

# completed WORD...: what bash offers for the last word.
completed() {
    "$GPUFILTER" completion bash >script
    # shellcheck disable=SC2016
    bash -c '. ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpufilter; echo "${COMPREPLY[@]}"' \
        bash "$@"
}

@test "bash completes calls, options, filters and methods" {
    [ "$(completed gpufilter fil)" = filters ]
    [ "$(completed gpufilter a.png --ker)" = --kernel ]
    [ "$(completed gpufilter a.png -k so)" = sobel ]
    [ "$(completed gpufilter a.png --algorithm sp)" = special ]
    [ -z "$(completed gpufilter a.png b)" ]
}

@test "parameters that are files are completed by files" {
    : >net-weights.npy
    [ "$(completed gpufilter a.png -k conv:weights=net)" = conv:weights=net-weights.npy ]
    [ "$(completed gpufilter a.png -k conv:stride=2:bias=net)" = conv:stride=2:bias=net-weights.npy ]
    [ "$(completed gpufilter a.png -k conv : weights = net)" = net-weights.npy ] # cut by the shell
    [ -z "$(completed gpufilter a.png -k sobel:direction=net)" ]
}

@test "every option of the help is completed" {
    local option options
    options=$("$GPUFILTER" --help | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
    [ "$(wc -w <<<"$options")" -gt 20 ]
    for option in $options; do
        [[ " $(completed gpufilter a.png "$option") " == *" $option "* ]]
    done
}

# What is typed, and after it what has to stand there.
typed_lines='gpufilter a.png --ker                  => <a.png> <--kernel>
gpufilter a.png -k gauss                            => <a.png> <-k> <gaussian>
gpufilter a.png -k gaussian:siz                     => <a.png> <-k> <gaussian:size=>
gpufilter a.png -k gaussian:sigma=2,sob             => <a.png> <-k> <gaussian:sigma=2,sobel>
gpufilter a.png -k sobel:direction=mag              => <a.png> <-k> <sobel:direction=magnitude>
gpufilter a.png -k sobel:mag                        => <a.png> <-k> <sobel:magnitude>
gpufilter a.png -k gaussian:sigma=1.5:sigma_x=2,conv:padding=same_ => <a.png> <-k> <gaussian:sigma=1.5:sigma_x=2,conv:padding=same_lower>
gpufilter a.png --kernel=prew                       => <a.png> <--kernel=prewitt>
gpufilter a.png -k conv:weights=net-                => <a.png> <-k> <conv:weights=net-w.npy>
gpufilter a.png -k @net.j                           => <a.png> <-k> <@net.json>
gpufilter a.png --kernel=@net.j                     => <a.png> <--kernel=@net.json>
gpufilter a.png -k gaussian:sigma=2,@net.j          => <a.png> <-k> <gaussian:sigma=2,@net.json>
gpufilter a.png --bank gabor:orie                   => <a.png> <--bank> <gabor:orientations=>
gpufilter a.png --bank=kir                          => <a.png> <--bank=kirsch>
gpufilter a.png --bank kirsch --combine ma          => <a.png> <--bank> <kirsch> <--combine> <max>
gpufilter a.png --device cuda:a                     => <a.png> <--device> <cuda:all>
gpufilter a.png --border val                        => <a.png> <--border> <valid>
gpufilter a.png --range min                         => <a.png> <--range> <minmax>
gpufilter a.png --gray --luma bt7                   => <a.png> <--gray> <--luma> <bt709>
gpufilter a.png --montage-scale com                 => <a.png> <--montage-scale> <common>
gpufilter a.png --shard au                          => <a.png> <--shard> <auto>
gpufilter a.png --algorithm imp                     => <a.png> <--algorithm> <implicit>
gpufilter --files-from net-                         => <--files-from> <net-w.npy>
gpufilter a.png --failures net-                     => <a.png> <--failures> <net-w.npy>
gpufilter fil                                       => <filters>
gpufilter filters scha                              => <filters> <scharr>
gpufilter completion zs                             => <completion> <zsh>
gpufilter net-                                      => <net-w.npy>'

# typed_part LINE: what stands before the arrow, without the spaces between.
typed_part() {
    local part=${1%=> <*}
    printf '%s' "${part%"${part##*[! ]}"}"
}

# typed SHELL: types all of them into a real shell in a terminal and compares.
typed() {
    local line lines=()
    command -v "$1" >/dev/null || skip "no $1"
    "$GPUFILTER" completion "$1" >script
    : >net-w.npy
    : >net.json
    while read -r line; do lines+=("$(typed_part "$line")"); done <<<"$typed_lines"
    "$BATS_TEST_DIRNAME/../typist.py" "$1" script "${lines[@]}" >got
    diff <(while read -r line; do printf '%s\n' "${line##*=> }"; done <<<"$typed_lines") got
}

@test "bash completes what is typed" {
    typed bash
}

@test "zsh completes what is typed" {
    typed zsh
}

# shellcheck disable=SC2016 # the names are to stay as they are
@test "names of files are quoted, folders go on" {
    mkdir folder 'a folder'
    : >'$(id).npy'
    : >'sp ace.npy'
    : >'n$(id).json'
    "$GPUFILTER" completion bash >script
    "$BATS_TEST_DIRNAME/../typist.py" bash script 'gpufilter -k conv:weights=$' 'gpufilter -k conv:weights=sp' \
        'gpufilter -k conv:weights=fol' 'gpufilter -k @n$' 'gpufilter -k @fol' 'gpufilter -k @a' >got
    [ "$(<got)" = '<-k> <conv:weights=$(id).npy>
<-k> <conv:weights=sp ace.npy>
<-k> <conv:weights=folder/>
<-k> <@n$(id).json>
<-k> <@folder/>
<-k> <@a folder/>' ]
}

@test "fish completes what is typed" {
    command -v fish >/dev/null || skip 'no fish'
    local line wanted
    "$GPUFILTER" completion fish >script.fish
    : >net-w.npy
    : >net.json
    while read -r line; do
        wanted=${line##*<}
        run env HOME="$PWD" fish --no-config -c "source script.fish; complete -C '$(typed_part "$line")'"
        [ "${output%%$'\t'*}" = "${wanted%>}" ]
    done <<<"$typed_lines"
}

@test "a word is offered for every option that is a choice, and for every bank and filter" {
    [[ " $(completed gpufilter a.png --border '') " == *' reflect101 '* ]]
    [ "$(completed gpufilter a.png --depth '')" = '8 16 f32 f64' ]
    [ "$(completed gpufilter a.png --format '')" = 'png jpeg npy' ]
    [ "$(completed gpufilter a.png --bank '' | wc -w)" -ge 6 ]
    local filter
    for filter in $("$GPUFILTER" filters | grep -oE '^[a-z][a-z0-9]* {2,}'); do
        [[ " $(completed gpufilter a.png --kernel "$filter") " == *" $filter "* ]]
    done
}

@test "other shells are refused" {
    gf completion tcsh
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: completion: nothing is known of the shell "tcsh"; bash, zsh or fish' ]
}
